"""The tool by which Claude Code has a person asked: the answer is in its form, and what was said of
the very same before holds."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain import permission
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import Run
from agents_manager.flow import prompts
from agents_manager.flow.runs import lifecycle, reports
from tests.api.scenes import ANN, Scene

OUTSIDE = {"file_path": "/etc/motd", "content": "hello"}


@pytest.fixture
async def run(scene: Scene, program: Program) -> Run:
    config = program.settings.home / "config.json"
    claude = {"agents": {"claude-code": {"permissions": "workspace"}}}
    config.write_text(json.dumps({**json.loads(config.read_text()), **claude}))
    run = (await scene.running())[1]
    await scene.s.store.write(lambda tx: tx.runs.update(run.id, agent="claude-code"))
    return run


@pytest.fixture
def agent(stranger: httpx.AsyncClient, program: Program, run: Run) -> httpx.AsyncClient:
    token = reports.new_token(lifecycle.job_dir(program.services, run.id, 1))
    stranger.headers["Authorization"] = f"Bearer {token}"
    return stranger


async def want(agent: httpx.AsyncClient, run: Run, **arguments: Any) -> Any:
    params = {"name": "request_permission", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await agent.post(f"/mcp/run/{run.id}", json=message)
    result = response.json()["result"]
    text = result["content"][0]["text"]
    return text if result["isError"] else json.loads(text)


async def asked(program: Program, run: Run) -> Prompt:
    async with asyncio.timeout(10):
        while True:
            found = await program.services.store.read(lambda tx: tx.prompts.pending(run.task_id))
            if found:
                return found[0]
            await asyncio.sleep(0.01)


async def test_a_grant_for_the_run_is_asked_for_once(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(want(agent, run, tool_name="Write", input=OUTSIDE))
        prompt = await asked(program, run)
        assert prompt.payload["tool"] == "Write"
        assert "/etc/motd" in prompt.payload["action"]
        await prompts.answer(program.services, prompt.id, {"allow": True, "scope": "run"}, ANN)
    assert call.result() == {"behavior": "allow", "updatedInput": OUTSIDE}
    again = await want(agent, run, tool_name="Write", input=OUTSIDE, tool_use_id="t2")
    assert again["behavior"] == "allow"
    async with asyncio.TaskGroup() as group:
        other = {**OUTSIDE, "content": "something else"}
        call = group.create_task(want(agent, run, tool_name="Write", input=other))
        prompt = await asked(program, run)
        await prompts.answer(program.services, prompt.id, {"allow": False}, ANN)
    assert call.result()["behavior"] == "deny"


async def test_what_nobody_allows_in_time_is_denied_and_not_asked_any_more(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    config = program.settings.home / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "askHumanTimeout": 0}))
    said = await want(agent, run, tool_name="Write", input=OUTSIDE)
    assert (said["behavior"], "in time" in said["message"]) == ("deny", True)
    (prompt,) = await program.services.store.read(lambda tx: tx.prompts.of_task(run.task_id))
    assert prompt.status is PromptStatus.CANCELLED


async def test_what_is_no_request_opens_no_question(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    for wrong in ({}, {"tool_name": "", "input": {}}, {"tool_name": "Write", "input": "x"}):
        assert (await want(agent, run, **wrong)).startswith("Not asked: ")
    assert await program.services.store.read(lambda tx: tx.prompts.of_task(run.task_id)) == []


async def test_agents_that_do_not_ask_have_no_such_tool(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    await program.services.store.write(lambda tx: tx.runs.update(run.id, agent="codex"))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = (await agent.post(f"/mcp/run/{run.id}", json=message)).json()["result"]["tools"]
    assert "request_permission" not in [tool["name"] for tool in listed]


def test_what_is_too_long_to_be_shown_is_told_apart() -> None:
    long = "x" * 5_000
    one = permission.of_tool("Write", {"file_path": "/a", "content": f"{long}1"})
    two = permission.of_tool("Write", {"file_path": "/a", "content": f"{long}2"})
    assert one.action != two.action
    assert max(len(one.action), len(two.action)) <= permission.MAX_TEXT
    said = permission.of_tool("Bash", {"command": "make", "description": "Builds it"})
    assert said.action == "make"
