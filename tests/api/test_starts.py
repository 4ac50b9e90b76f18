"""Starting tasks with open dependencies over HTTP, MCP and chat."""

import httpx

from agents_manager.domain.task import Task
from agents_manager.flow.channels import commands
from agents_manager.flow.ports import Act
from tests.api.scenes import ANN, Scene, told
from tests.api.test_mcp_admin import tool

WAITS = 'It starts when "First" (Open, not started) is finished.'


async def dependent(scene: Scene) -> Task:
    first = await scene.task("First", pipeline="simple")
    return await scene.task("Second", pipeline="simple", dependencies=[first.id])


async def test_a_start_over_http_says_what_it_waits_for(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await dependent(scene)
    one = f"/api/v1/tasks/{task.id}"
    start = next(m for m in (await api.get(one)).json()["moves"] if m["id"] == "start")
    assert (start["allowed"], start["when_ready"]) == (False, True)
    moved = (await api.post(f"{one}/start")).json()
    assert (moved["task"]["status"], moved["waits"]) == ("open", WAITS)
    assert (await api.get(f"{one}/why")).json()["why"].endswith(WAITS)
    taken_back = await api.put(f"{one}/start-time", json={"at": None})
    assert taken_back.json()["starts_at"] is None
    assert WAITS not in (await api.get(f"{one}/why")).json()["why"]
    (first,) = task.dependencies
    await api.post(f"/api/v1/tasks/{first}/move", json={"to": "cancelled"})
    other = await scene.task("Third", pipeline="simple")
    await api.patch(one, json={"dependencies": [first, other.id]})
    refused = told(await api.post(f"{one}/start"), 409, "TransitionRefused")
    assert "which was cancelled" in refused["message"]


async def test_a_start_by_a_tool_says_what_it_waits_for(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await dependent(scene)
    good, started = await tool(api, "start_task", task=task.id)
    assert (good, started["status"], started["waits"]) == (True, "open", WAITS)


async def test_a_start_in_a_chat_says_what_it_waits_for(scene: Scene) -> None:
    task = await dependent(scene)
    act = Act(key="1", person="7", called="Ann", place="1")
    reply = await commands.order(scene.s, "telegram", act, ANN, "run", task.id)
    assert reply.card is not None
    assert reply.card.title == "Starts later: Second"
    assert WAITS in str(reply.card)
