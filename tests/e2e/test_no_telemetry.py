"""Nothing is sent anywhere: a server that walks a task to its end opens no connection to the
outside, and looks up no name there. Python itself tells of every attempt."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.am_program import Am, until

TOLD = """
import os, sys
def tell(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        told = args[0] if event.startswith("socket.get") else args[1]
        with open(os.environ["AM_TOLD"], "a") as file:
            file.write(f"{event} {told!r}\\n")
sys.addaudithook(tell)
"""
NEAR = ("'127.", "'localhost'", "'::1'", "None", "'/", "b'/", "b'\\x00", "'\\x00")
"""How the addresses of this machine begin, and those of sockets that are files."""


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    (tmp_path / "told").mkdir()
    (tmp_path / "told" / "sitecustomize.py").write_text(TOLD)
    am.env |= {"PYTHONPATH": str(tmp_path / "told"), "AM_TOLD": str(tmp_path / "told.txt")}
    return am


def outside(am: Am) -> list[str]:
    told = Path(am.env["AM_TOLD"])
    lines = told.read_text().splitlines() if told.exists() else []
    return [line for line in lines if not line.split(" ", 1)[1].lstrip("(").startswith(NEAR)]


@pytest.mark.slow
def test_a_server_opens_no_connection_to_the_outside(am: Am) -> None:
    am.text("project", "add", ".", "--name", "shop")
    with am.serving("serve", "--port", "0"):
        task = am.json("task", "create", "Door", "--pipeline", "simple", "--start")["task"]["id"]
        am.open_prompt(task)
        am.text("review", task, "--approve")
        until(lambda: am.json("task", "show", task)["task"]["status"] == "done")
        am.text("doctor")
    assert outside(am) == []
    # What listens would have heard it.
    attempt = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    subprocess.run([sys.executable, "-c", attempt], env=am.env, check=False)
    assert outside(am) == ["socket.connect ('192.0.2.1', 9)"]
