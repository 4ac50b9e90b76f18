"""A private Postgres for the tests: one cluster per test process, one database per test."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from tests.debian import have

START_TIMEOUT_S = 30
LOOPBACK = "127.0.0.1"
SAFE = {"fsync": "on"}
# Autovacuum would go round a database for each test all the time.
QUICK = {
    **{"fsync": "off", "full_page_writes": "off", "autovacuum": "off"},
    **{"wal_level": "minimal", "max_wal_senders": 0, "max_wal_size": "8GB"},
}


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a cluster that is this process's own. Tests want `fresh_database` of it."""
    with cluster(have("postgresql", find_programs)) as url:
        yield url


def fresh_database(url: str) -> str:
    """Creates an empty database in the cluster and returns its address."""
    name = f"am_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return make_url(url).set(database=name).render_as_string(hide_password=False)


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


@contextmanager
def cluster(programs: Path, *, fsync: bool = False) -> Iterator[str]:
    """Makes a cluster on a free loopback port, and removes it at the end."""
    with data(programs) as home, server(programs, home, fsync=fsync) as url:
        yield url


@contextmanager
def data(programs: Path) -> Iterator[Path]:
    """The folder of a new cluster, in which its server has its files, log and socket."""
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
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def server(
    programs: Path,
    home: Path,
    *,
    fsync: bool = False,
    listen: str = LOOPBACK,
    inside: Sequence[str | Path] = (),
) -> Iterator[str]:
    """With `inside`, what its command begins with, it is in a network of its own: its address is
    that of the socket then."""
    port = free_port()
    settings = {
        "listen_addresses": listen,
        "port": port,
        "unix_socket_directories": home,
        "max_connections": 200,
        **(SAFE if fsync else QUICK),
    }
    command = [programs / "postgres", "-D", home / "data"]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    identity = unprivileged()
    if inside:
        command = [*inside, *_as(identity), *command]
        with (home / "data" / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {listen}/24 trust\n")
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=home,
            **({} if inside else identity),
        )
    try:
        socket_of_it = f"postgresql://postgres@/postgres?host={home}&port={port}"
        url = socket_of_it if inside else f"postgresql://postgres@{listen}:{port}/postgres"
        wait_until_ready(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGQUIT)  # At once: nobody wants what is in it any more.
        process.wait(START_TIMEOUT_S)


def _as(identity: Mapping[str, Any]) -> list[str]:
    """What a command begins with that root is to leave to somebody else. Whoever made a namespace
    of users is root there, too."""
    if identity:
        who = (f"--reuid={identity['user']}", f"--regid={identity['group']}")
        return ["setpriv", *who, "--clear-groups"]
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000"]


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
