"""A private Postgres for the tests: one cluster per test process, one database per test.

Where Postgres is not installed, root installs Debian's package; anyone else gets the tests marked
as not run, and a failure in CI.
"""

import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import psycopg
import pytest

START_TIMEOUT_S = 30
INSTALL_LOCK = Path(tempfile.gettempdir()) / "agents-manager-install-postgres.lock"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a cluster that is this process's own. Tests want `fresh_database` of it."""
    programs = find_programs() or install()
    if programs is None:
        missing("Postgres is not installed: sudo apt-get install postgresql")
    with cluster(programs) as url:
        yield url


def missing(reason: str) -> NoReturn:
    """Ends the test as not run, or as failed in CI, where every part must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def fresh_database(url: str) -> str:
    """Creates an empty database in the cluster and returns its address."""
    name = f"am_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{url.rpartition('/')[0]}/{name}"


def find_programs() -> Path | None:
    """The folder of initdb and postgres: Debian's newest, or the one on PATH."""
    folders = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda folder: float(folder.parent.name),
        reverse=True,
    )
    if on_path := shutil.which("initdb"):
        folders.append(Path(on_path).parent)
    return folders[0] if folders else None


def install() -> Path | None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    # RUNLEVEL=1 keeps the package from starting a server of its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with INSTALL_LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not find_programs():
            for command in (
                ["apt-get", "update", "-qq"],
                ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "postgresql"],
            ):
                subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return find_programs()


@contextmanager
def cluster(programs: Path, *, fsync: bool = False) -> Iterator[str]:
    """Makes a cluster on a free loopback port, and removes it at the end."""
    identity = unprivileged()
    home = Path(tempfile.mkdtemp(prefix="am-postgres-"))
    try:
        if identity:
            os.chown(home, identity["user"], identity["group"])
        initdb = [programs / "initdb", "-D", home / "data", "-U", "postgres", "-A", "trust"]
        subprocess.run(
            [*initdb, "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=home,
            **identity,
        )
        with server(programs, home, identity, fsync=fsync) as url:
            yield url
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def server(programs: Path, home: Path, identity: dict[str, Any], *, fsync: bool) -> Iterator[str]:
    port = free_port()
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": home,
        "fsync": "on" if fsync else "off",
        "max_connections": 200,
    }
    command = [programs / "postgres", "-D", home / "data"]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=home, **identity
        )
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        wait_until_ready(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGINT)  # Postgres's fast shutdown
        process.wait(START_TIMEOUT_S)


def unprivileged() -> dict[str, Any]:
    """For root: whom to be instead, as Postgres refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(url: str, process: subprocess.Popen[Any], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"Postgres did not start:\n{log.read_text()}", pytrace=False)
            time.sleep(0.05)
