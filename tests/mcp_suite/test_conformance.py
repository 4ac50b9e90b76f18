"""Both endpoints against the conformance suite of the protocol itself. What it asks of servers with
sample tools, resources and prompts is left out: ours have tools alone, and their own."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from agents_manager import bootstrap
from agents_manager.api.app import build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.flow.runs import lifecycle, reports
from agents_manager.webbuild import find_node
from tests.api.scenes import Scene

Judge = Callable[[str, str], Awaitable[None]]
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")


@pytest.fixture
def suite() -> Path:
    folder = os.environ.get("AM_MCP_SUITE")
    if folder is None:
        pytest.skip("the conformance suite is installed by: make test-mcp")
    return Path(folder).absolute() / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


@asynccontextmanager
async def opened(program: Program, token: str) -> AsyncIterator[str]:
    """A server that every client is taken at as the holder of this token: the suite has none."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        feed = Feed(program.services.store, program.database.watch)
        own = doors("127.0.0.1", port)
        app = build(program.services, feed, own, bootstrap.mounts(program))

        async def known(scope: Scope, receive: Receive, send: Send) -> None:
            header = (b"authorization", f"Bearer {token}".encode())
            await app({**scope, "headers": [*scope["headers"], header]}, receive, send)

        config = uvicorn.Config(known, lifespan="off", log_level="critical")
        server = uvicorn.Server(config)
        async with feed.running(), asyncio.TaskGroup() as group:
            group.create_task(server.serve([listening]))
            try:
                yield f"http://127.0.0.1:{port}"
            finally:
                server.should_exit = True


@pytest.fixture
def judge(suite: Path) -> Judge:
    async def judge(url: str, scenario: str) -> None:
        node = find_node()
        assert node is not None
        command = (str(node.node), str(suite), "server", "--url", url, "--scenario", scenario)
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()

    return judge


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_endpoint_of_a_run_conforms(
    judge: Judge, program: Program, scene: Scene, scenario: str
) -> None:
    _, run = await scene.running()
    token = reports.new_token(lifecycle.job_dir(program.services, run.id, 1))
    async with opened(program, token) as address:
        await judge(f"{address}/mcp/run/{run.id}", scenario)


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_endpoint_for_people_conforms(
    judge: Judge, program: Program, token: str, scenario: str
) -> None:
    async with opened(program, token) as address:
        await judge(f"{address}/mcp", scenario)
