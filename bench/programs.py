"""`am` as its users start it: a command, or a server that is ended with all that it started."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.world import observed

AM = str(Path(sys.executable).with_name("am"))
READY_S = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    pid: int
    ready_s: float
    """From the start of the command until its address answered."""
    address: str
    begun: float
    """When it was started, by the monotonic clock."""


def run(home: Path, *arguments: str, database_url: str | None = None) -> None:
    environment = _environment(home, database_url)
    subprocess.run([AM, *arguments], env=environment, check=True, capture_output=True)


@contextmanager
def serve(home: Path, database_url: str | None = None) -> Generator[Server]:
    environment = _environment(home, database_url)
    port = _free_port()
    begun = time.monotonic()
    process = subprocess.Popen(
        [AM, "serve", "--port", str(port)], env=environment, stdout=subprocess.DEVNULL
    )
    try:
        while not _answers(port):
            if process.poll() is not None or time.monotonic() - begun > READY_S:
                raise RuntimeError("am serve did not get ready")
            time.sleep(0.01)
        address = f"http://127.0.0.1:{port}"
        observed.server()
        yield Server(process.pid, time.monotonic() - begun, address, begun)
    finally:
        _end(process)


def kill(server: Server) -> None:
    """Without a word of goodbye, and no child with it."""
    own = psutil.Process(server.pid)
    own.kill()
    own.wait(10)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        started = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        started = []
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in started:
        # psutil compares the start time too, so an id that was given again is not touched.
        if child.is_running():
            child.kill()


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (ConnectionError, TimeoutError):
        return False
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _environment(home: Path, database_url: str | None) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AM_")}
    elsewhere = {"AM_DATABASE_URL": database_url} if database_url else {}
    return {**inherited, **elsewhere, "AM_HOME": str(home)}
