"""A program without an interface for people answers its agents on loopback, and who asks whether it
lives; nothing else."""

from collections.abc import AsyncIterator

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.api import server
from agents_manager.bootstrap import Program
from agents_manager.domain.run import Run
from agents_manager.flow.runs import gateway, lifecycle, reports
from tests.api.scenes import Scene, told
from tests.api.test_mcp import report, reported


@pytest.fixture
async def inside(program: Program) -> AsyncIterator[httpx.AsyncClient]:
    agents = bootstrap.for_agents(program)
    async with (
        server.only_agents(program, 0, agents) as address,
        httpx.AsyncClient(base_url=address, trust_env=False) as client,
    ):
        assert program.services.reachable.url == address
        yield client
    assert program.services.reachable.url is None


async def test_agents_report_and_ask_their_model(
    inside: httpx.AsyncClient, program: Program, scene: Scene
) -> None:
    run: Run = (await scene.running())[1]
    folder = lifecycle.job_dir(program.services, run.id, 1)
    told(await inside.post(f"/mcp/run/{run.id}", json={}), 401, "Unauthenticated")
    told(await inside.post(f"{gateway.RUNS}{run.id}/v1/messages"), 401, "Unauthenticated")
    inside.headers["Authorization"] = f"Bearer {reports.new_token(folder)}"
    assert not (await report(inside, run, outcome="plan_ready"))["isError"]
    assert reported(program, run) == {"outcome": "plan_complete", "payload": None}
    told(await inside.post(f"{gateway.RUNS}{run.id}/v1/messages"), 401, "Unauthenticated")


async def test_it_says_whether_it_lives_and_nothing_else(
    inside: httpx.AsyncClient, program: Program, token: str
) -> None:
    assert (await inside.get("/healthz")).json() == {"status": "ok"}
    told(await inside.get("/readyz"), 503, "NotReady")  # No engine was started here.
    told(await inside.get("/metrics"), 401, "Unauthenticated")
    known = {"Authorization": f"Bearer {token}"}
    figures = await inside.get("/metrics", headers=known)
    assert "agents_manager_event_streams 0" in figures.text
    for path in ("/", "/api/v1/tasks", "/openapi.json", "/docs", "/auth/login", "/hooks/slack"):
        assert (await inside.get(path)).status_code in (401, 404)
        assert (await inside.get(path, headers=known)).status_code == 404
    told(await inside.get("/healthz", headers={"Host": "evil.example"}), 421, "WrongHost")


async def test_a_port_that_is_taken_is_said(program: Program, inside: httpx.AsyncClient) -> None:
    port = inside.base_url.port
    assert port is not None
    with pytest.raises(server.PortInUse, match=f"Port {port}"):
        async with server.only_agents(program, port, {}):
            pass
