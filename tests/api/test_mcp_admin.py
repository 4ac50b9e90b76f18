"""The endpoint for people's own programs: the rights of their tokens, the functions of HTTP, and
every mistake told as what it is."""

import json
from typing import Any

import httpx
import pytest

from agents_manager.bootstrap import Program
from agents_manager.flow import access
from tests.api.scenes import ANN, ANSWER, Scene, told


async def tool(client: httpx.AsyncClient, name: str, **arguments: Any) -> tuple[bool, Any]:
    params = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await client.post("/mcp", json=message)
    assert response.status_code == 200, response.text
    result = response.json()["result"]
    text = result["content"][0]["text"]
    return not result["isError"], text if result["isError"] else _read(text)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture
async def viewer(api: httpx.AsyncClient, program: Program) -> httpx.AsyncClient:
    made = await access.create(program.services, "vic", access.VIEWER, ANN)
    api.headers["Authorization"] = f"Bearer {made.secret}"
    return api


async def test_a_task_is_made_started_and_looked_at(api: httpx.AsyncClient, scene: Scene) -> None:
    assert [p["name"] for p in (await tool(api, "list_projects"))[1]] == [scene.project.name]
    good, made = await tool(
        api, "create_task", project=scene.project.name, title="Add search", pipeline="simple"
    )
    assert (good, made["status"]) == (True, "open")
    good, started = await tool(api, "start_task", task=made["id"][:8])
    assert (good, started["status"]) == (True, "in_progress")
    assert [t["id"] for t in (await tool(api, "list_tasks", status="in_progress"))[1]] == [
        made["id"]
    ]
    shown = (await tool(api, "show_task", task=made["id"]))[1]
    assert [run["status"] for run in shown["runs"]] == ["queued"]
    assert "in_progress" in (await tool(api, "why_task", task=made["id"]))[1]["why"]
    (run,) = (await tool(api, "list_runs", task=made["id"], live=True))[1]
    assert (await tool(api, "run_output", run=run["id"]))[1].endswith("has printed nothing.")
    logged = await scene.s.store.read(
        lambda tx: tx.events.of_task(made["id"], after_seq=0, limit=10)
    )
    assert {(e.actor.name, e.actor.via) for e in logged if e.actor.name == "ann"} == {
        ("ann", "mcp")
    }


async def test_a_task_is_made_for_an_agent(api: httpx.AsyncClient, scene: Scene) -> None:
    words = {"project": scene.project.name, "title": "Add search"}
    _, made = await tool(api, "create_task", **words, agent="codex", model="gpt-5.5")
    shown = (await tool(api, "show_task", task=made["id"]))[1]
    assert (shown["agent"], shown["model"]) == ("codex", "gpt-5.5")
    good, said = await tool(api, "create_task", **words, agent="codecs")
    assert not good
    assert 'There is no agent "codecs". Did you mean "codex"?' in said


async def test_a_question_is_answered_by_the_rules_of_all_doors(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    prompt = await scene.asking()
    listed = (await tool(api, "list_prompts"))[1]
    assert ([p["id"] for p in listed["prompts"]], listed["total"]) == ([prompt.id], 1)
    good, said = await tool(api, "answer_prompt", prompt=prompt.id, answer={"answers": []})
    assert not good
    assert "answers" in said
    good, done = await tool(api, "answer_prompt", prompt=prompt.id, answer=ANSWER)
    assert (good, done["task"]["status"]) == (True, "planning")
    good, said = await tool(api, "answer_prompt", prompt=prompt.id)
    assert not good
    assert "ann answered this via mcp" in said


async def test_guards_hold_and_nothing_is_forced(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    good, said = await tool(api, "move_task", task=task.id, to="done")
    assert (good, bool(said)) == (False, True)
    good, said = await tool(api, "move_task", task=task.id, to="done", force=True)
    assert not good
    assert "force" in said
    assert (await scene.s.store.read(lambda tx: tx.tasks.get(task.id))).status == task.status


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        pytest.param("show_task", {"task": "nope"}, "nope", id="no such task"),
        pytest.param("show_task", {}, "task: Field required", id="missing"),
        pytest.param("show_task", {"task": 3}, "task: ", id="not a text"),
        pytest.param("list_tasks", {"limit": 1000}, "limit: ", id="too many"),
        pytest.param("list_tasks", {"titel": "x"}, 'Did you mean "title"?', id="unknown"),
        pytest.param("search_knowledge", {"project": "shop"}, "give one", id="nothing"),
        pytest.param("create_task", {"project": "x", "title": "y"}, "project", id="no project"),
    ],
)
async def test_what_does_not_fit_is_told(
    api: httpx.AsyncClient, scene: Scene, name: str, arguments: Any, words: str
) -> None:
    good, said = await tool(api, name, **arguments)
    assert not good
    assert words in said


async def test_a_viewer_looks_and_changes_nothing(viewer: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    assert (await tool(viewer, "show_task", task=task.id))[0]
    for name, arguments in (
        ("create_task", {"project": scene.project.name, "title": "x"}),
        ("start_task", {"task": task.id}),
        ("move_task", {"task": task.id, "to": "planning"}),
        ("answer_prompt", {"prompt": "x"}),
    ):
        good, said = await tool(viewer, name, **arguments)
        assert not good
        assert "may look and not change anything" in said
    assert (await scene.s.store.read(lambda tx: tx.tasks.get(task.id))).status == task.status


async def test_tools_that_change_something_say_so(api: httpx.AsyncClient) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = (await api.post("/mcp", json=message)).json()["result"]["tools"]
    changing = {t["name"] for t in listed if not t["annotations"]["readOnlyHint"]}
    assert changing == {"create_task", "start_task", "move_task", "answer_prompt"}


async def test_nobody_gets_in_without_a_token(
    stranger: httpx.AsyncClient, program: Program
) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    told(await stranger.post("/mcp", json=ping), 401, "Unauthenticated")
    wrong = {"Authorization": "Bearer nope"}
    told(await stranger.post("/mcp", json=ping, headers=wrong), 401, "Unauthenticated")


async def test_what_is_too_large_or_comes_another_way_is_refused(api: httpx.AsyncClient) -> None:
    large = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 1_100_000})
    told(await api.post("/mcp", content=large), 413, "TooLarge")
    told(await api.get("/mcp"), 405, "OnlyPost")
