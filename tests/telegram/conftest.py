"""The lane of `make test-telegram`: a Bot API that is not ours is installed first."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agents_manager.webbuild import find_node


@pytest.fixture(scope="session")
def emulator() -> Iterator[httpx.Client]:
    """It plays Telegram, and the people as well, for whom it has a side of its own."""
    folder = os.environ.get("AM_TELEGRAM_API")
    if folder is None:
        pytest.skip("telegram-test-api is installed by: make test-telegram")
    node = find_node()
    assert node is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("emulator.cjs")
    command = [str(node.node), str(script), str(Path(folder).absolute()), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
                yield client
        finally:
            process.terminate()
