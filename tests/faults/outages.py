"""What becomes of a database while the server lives: its connections are cut, the answer to a
commit is lost, or Postgres goes and comes back after a while."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGQUIT
from typing import Any, Literal

import psycopg

from agents_manager.errors import StoreUnavailable
from tests.postgres import find_programs, free_port, unprivileged

How = Literal["cut", "unanswered", "stop", "kill"]
START_S = 30.0
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_STARTED: list[subprocess.Popen[Any]] = []
"""By this process."""
SIGNALS = {"stop": SIGQUIT, "kill": SIGKILL}
"""Postgres's immediate shutdown, which is its crash by order, and a real one."""


@dataclass(frozen=True, kw_only=True)
class Outage:
    how: How
    url: str = ""
    """Of the database that is cut off."""
    cluster: str = ""
    """The folder of the Postgres that goes."""
    down_s: float = 1.0

    def strike(self) -> None:
        if self.how == "unanswered":
            raise StoreUnavailable("The answer to the commit was lost.")
        if self.how == "cut":
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(CUT)
            return
        end(Path(self.cluster), self.how)
        restart = (sys.executable, "-m", "tests.faults.outages", self.cluster, str(self.down_s))
        subprocess.Popen(restart, start_new_session=True)


# ------------------------------------------------------------------------------------- a cluster


@contextmanager
def cluster() -> Iterator[Path]:
    """A Postgres of one's own, which may be ended and started: its folder."""
    programs, identity = find_programs(), unprivileged()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="am-postgres-"))
    if identity:
        os.chown(folder, identity["user"], identity["group"])
    make = [programs / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust"]
    make += ["-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL, cwd=folder, **identity)
    (folder / "port").write_text(str(free_port()))
    try:
        start(folder)
        yield folder
    finally:
        end(folder, "stop")
        shutil.rmtree(folder, ignore_errors=True)


def url(folder: Path) -> str:
    return f"postgresql://postgres@127.0.0.1:{(folder / 'port').read_text()}/postgres"


def start(folder: Path) -> None:
    """Again and again: what a killed one left holds its memory for a moment."""
    programs, identity = find_programs(), unprivileged()
    assert programs is not None
    port = (folder / "port").read_text()
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "fsync": "off",
    }
    command = [programs / "postgres", "-D", folder / "data"]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with (folder / "server.log").open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                start_new_session=True,
                **identity,
            )
        _STARTED.append(process)
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(psycopg.OperationalError):
                psycopg.connect(url(folder), connect_timeout=2).close()
                return
            time.sleep(0.05)
        time.sleep(0.1)
    raise AssertionError(f"Postgres did not start:\n{(folder / 'server.log').read_text()}")


def end(folder: Path, how: str) -> None:
    """Returns when all its processes are gone; without one there is nothing to do."""
    note = folder / "data" / "postmaster.pid"
    if not note.exists():
        return
    pid = int(note.read_text().split()[0])
    ended = [pid, *(_children(pid) if how == "kill" else ())]
    for one in ended:
        with suppress(ProcessLookupError):
            os.kill(one, SIGNALS[how])
    deadline = time.monotonic() + START_S
    while any(map(_runs, ended)) and time.monotonic() < deadline:
        time.sleep(0.01)
    # Whoever started it may not have buried it, so that it would be taken for alive.
    note.unlink(missing_ok=True)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def _runs(pid: int) -> bool:
    """The dead whom nobody has buried yet have no command line."""
    for process in _STARTED:
        process.poll()
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    time.sleep(float(sys.argv[2]))
    start(Path(sys.argv[1]))
