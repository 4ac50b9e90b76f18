"""The server as a process: its address, its end, and how quiet it is."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from agents_manager.api import server
from agents_manager.bootstrap import Program
from agents_manager.domain import event
from agents_manager.errors import InvalidInput
from agents_manager.flow.ports import Tx
from tests.api.scenes import ANN, Scene, serving

SERVE = """
import asyncio, sys
from pathlib import Path
from agents_manager import bootstrap
from agents_manager.api import server
from agents_manager.settings import Settings

assert "fastapi" not in sys.modules
assert "uvicorn" not in sys.modules

async def main():
    async with bootstrap.client(Settings(Path(sys.argv[1]), None)) as program:
        await server.serve(
            program, "127.0.0.1", 0, lambda address: print(address, file=sys.stderr, flush=True)
        )
    print("closed in order", file=sys.stderr)

asyncio.run(main())
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", textwrap.dedent(SERVE), str(tmp_path / "home")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    with process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
async def test_a_signal_ends_it_at_once_with_streams_open(
    process: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    assert process.stderr
    address = (await asyncio.to_thread(process.stderr.readline)).strip()
    token = (tmp_path / "home" / "token").read_text().strip()
    async with httpx.AsyncClient(
        base_url=address, headers={"Authorization": f"Bearer {token}"}, trust_env=False
    ) as api:
        requests = [api.build_request("GET", "/api/v1/events/stream") for _ in range(5)]
        streams = [await api.send(request, stream=True) for request in requests]
        assert (await api.get("/healthz")).status_code == 200
        begun = time.monotonic()
        process.send_signal(number)
        for stream in streams:
            # Ended as a stream should: the client sees its end, and no broken connection.
            assert await stream.aread() == b": open\n\n"
            await stream.aclose()
        spent = time.monotonic() - begun
        out, err = await asyncio.to_thread(process.communicate, timeout=10)
    assert process.returncode == 0
    assert out == ""
    assert err == "closed in order\n"
    assert spent < 1
    assert time.monotonic() - begun < 5, "the interpreter takes its time, but not that much"


@pytest.mark.slow
async def test_half_a_request_does_not_keep_it(process: subprocess.Popen[str]) -> None:
    assert process.stderr
    address = (await asyncio.to_thread(process.stderr.readline)).strip()
    port = int(address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as idle:
        idle.sendall(b"POST /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n")
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate, timeout=10)
    assert process.returncode == 0
    assert time.monotonic() - begun < 2.5


@pytest.mark.slow
async def test_a_stream_nobody_reads_does_not_keep_it(program: Program, scene: Scene) -> None:
    task = await scene.task()

    def shout(tx: Tx) -> None:
        for _ in range(2000):
            tx.events.add(task.id, event.Noted(text="x" * 4000), ANN, scene.s.clock.now())

    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        async with serving(program) as api:
            host, port = "127.0.0.1", api.base_url.port
            request = f"GET /api/v1/events/stream HTTP/1.1\r\nHost: {host}:{port}\r\n"
            deaf.connect((host, port))
            deaf.sendall(f"{request}Authorization: {api.headers['Authorization']}\r\n\r\n".encode())
            await asyncio.to_thread(deaf.recv, 1)
            await scene.s.store.write(shout)
            await asyncio.sleep(0.5)
            assert (await api.get("/api/v1/tasks")).status_code == 200
            begun = time.monotonic()
        assert time.monotonic() - begun < 2.5


async def test_kept_connections_send_small_answers_without_delay(program: Program) -> None:
    async with serving(program) as api:
        assert (await api.get("/healthz")).status_code == 200
        assert (await api.get("/healthz")).status_code == 200
        [accepted] = _accepted_at(api.base_url.port)
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def _accepted_at(port: int | None) -> list[socket.socket]:
    """Duplicates of this process's accepted connections to a port."""
    return [
        socket.socket(fileno=os.dup(connection.fd))
        for connection in psutil.Process().net_connections("tcp4")
        if connection.laddr.port == port and connection.raddr
    ]


async def test_a_port_in_use_is_named_with_the_way_out(program: Program) -> None:
    async with serving(program) as api:
        port = api.base_url.port
        assert port
        with pytest.raises(server.PortInUse, match=rf"Port {port} of 127\.0\.0\.1.*--port"):
            await server.serve(program, "127.0.0.1", port, print)


async def test_a_port_is_free_again_at_once(program: Program) -> None:
    async with serving(program) as api:
        port = api.base_url.port or 0
        assert (await api.get("/healthz")).status_code == 200
    with server._bound("127.0.0.1", port):  # pyright: ignore[reportPrivateUsage]
        pass


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "example.org", "", "localhost.example"]
)
async def test_only_loopback_is_served(program: Program, host: str) -> None:
    with pytest.raises(InvalidInput, match="without TLS"):
        await server.serve(program, host, 0, print)


@pytest.mark.parametrize("port", [-1, 65536])
async def test_a_port_has_bounds(program: Program, port: int) -> None:
    with pytest.raises(InvalidInput, match=f"{port} is not a port"):
        await server.serve(program, "127.0.0.1", port, print)


@pytest.mark.parametrize(
    ("host", "name"), [("localhost", "localhost"), ("::1", "[::1]"), ("127.0.0.2", "127.0.0.2")]
)
async def test_every_loopback_name_can_be_served(program: Program, host: str, name: str) -> None:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        work = group.create_task(server.serve(program, host, 0, ready.set_result))
        address = await ready
        assert address.startswith(f"http://{name}:")
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            assert (await client.get("/healthz")).status_code == 200
        work.cancel()
