"""Versions of pipelines over HTTP: adding, giving out, migrating."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.domain.task import Project
from tests.api.scenes import Scene, told

PIPELINES = "/api/v1/pipelines"


def mine(**changed: Any) -> dict[str, Any]:
    simple = json.loads(files("agents_manager").joinpath("pipelines/simple.json").read_text())
    return {**simple, "id": "mine", **changed}


def renamed() -> dict[str, Any]:
    """`open` is called `todo`."""
    text = json.dumps(mine()).replace('"id": "open"', '"id": "todo"')
    return json.loads(text.replace('"from": "open"', '"from": "todo"'))


async def test_a_pipeline_is_added_and_given_out(api: httpx.AsyncClient) -> None:
    response = await api.post(PIPELINES, json=mine())
    assert response.status_code == 200
    saved = response.json()
    assert (saved["pipeline"]["id"], saved["pipeline"]["version"]) == ("mine", 1)
    assert (saved["new"], saved["behind"], saved["warnings"]) == (True, 0, [])
    assert (await api.post(PIPELINES, json=mine())).json()["new"] is False
    assert (await api.post(PIPELINES, json=renamed())).json()["pipeline"]["version"] == 2
    assert (await api.get(f"{PIPELINES}/mine/document")).json() == renamed()
    assert (await api.get(f"{PIPELINES}/mine/document?version=1")).json() == mine()
    versions = (await api.get(f"{PIPELINES}/mine/versions")).json()
    assert [(v["version"], v["tasks"]) for v in versions["items"]] == [(2, 0), (1, 0)]
    assert "mine" in [p["id"] for p in (await api.get(PIPELINES)).json()["items"]]


async def test_tasks_are_migrated_after_a_look(api: httpx.AsyncClient, scene: Scene) -> None:
    await api.post(PIPELINES, json=mine())
    task = await scene.task(pipeline="mine")
    assert (await api.post(PIPELINES, json=renamed())).json()["behind"] == 1
    step = {"task_id": task.id, "title": task.title, "version": 1, "from": "open"}

    preview = (await api.post(f"{PIPELINES}/mine/migrate", json={})).json()
    problem = '"open" is not in version 2; say where to with open=STATUS in the map.'
    assert preview == {
        "pipeline_id": "mine",
        "version": 2,
        "applied": False,
        "tasks": [{**step, "to": None, "problem": problem}],
    }
    refused = await api.post(f"{PIPELINES}/mine/migrate", json={"apply": True})
    assert told(refused, 409, "TransitionRefused")["details"] == [f"{task.id}: {problem}"]
    form = {"map": {"open": "todo"}, "apply": True, "to": 2, "task": task.id}
    applied = (await api.post(f"{PIPELINES}/mine/migrate", json=form)).json()
    assert (applied["applied"], applied["tasks"]) == (
        True,
        [{**step, "to": "todo", "problem": None}],
    )
    seen = (await api.get(f"/api/v1/tasks/{task.id}")).json()["task"]
    assert (seen["status"], seen["pipeline_version"]) == ("todo", 2)


async def test_a_project_shows_its_own_pipelines_and_what_is_wrong_with_them(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    folder = repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text(json.dumps(mine()))
    (folder / "broken.yaml").write_text("id: broken\nname: [")
    good, broken = (await api.get("/api/v1/projects/shop/pipelines")).json()["items"][::-1]
    stored = f"mine@{project.id}"
    assert good == {
        "name": "mine",
        "path": str(folder / "mine.json"),
        "pipeline_id": stored,
        "version": 1,
        "errors": [],
    }
    assert (broken["name"], broken["pipeline_id"], broken["version"]) == ("broken", None, None)
    assert "broken.yaml cannot be read" in broken["errors"][0]
    assert (await api.get(f"{PIPELINES}/mine@shop")).json()["id"] == stored
    assert (await api.get(f"{PIPELINES}/{stored}/document")).json() == mine()
    made = await api.post(
        "/api/v1/tasks", json={"project": "shop", "title": "Ours", "pipeline": "mine"}
    )
    assert made.json()["pipeline_id"] == stored
    refused = await api.post(
        "/api/v1/tasks", json={"project": "shop", "title": "Ours", "pipeline": "broken"}
    )
    assert "broken.yaml" in told(refused, 422, "InvalidPipeline")["message"]


UNKNOWN = {
    "GET /pipelines/nowhere/versions": "PipelineNotFound",
    "GET /pipelines/nowhere/document": "PipelineNotFound",
    "GET /pipelines/simple/document?version=99": "PipelineNotFound",
    "GET /pipelines/simple@nowhere/versions": "ProjectNotFound",
    "POST /pipelines/nowhere/migrate": "PipelineNotFound",
    "GET /projects/nowhere/pipelines": "ProjectNotFound",
}


@pytest.mark.parametrize(("request_line", "error"), UNKNOWN.items())
async def test_what_does_not_exist_is_named(
    api: httpx.AsyncClient, request_line: str, error: str
) -> None:
    method, path = request_line.split(" ")
    body = {} if method == "POST" else None
    message = told(await api.request(method, f"/api/v1{path}", json=body), 404, error)["message"]
    assert '"nowhere"' in message or '"simple"' in message


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no pipeline at all": ({}, "statuses: Field required"),
    "unknown key": (mine(colour="red"), 'colour: there is no key "colour"'),
    "unknown guard": (
        mine(
            transitions=[
                {"from": "open", "to": "done", "trigger": "manual", "guards": [{"type": "has_pln"}]}
            ]
        ),
        'Did you mean "has_plan"?',
    ),
    "too many statuses": (
        mine(statuses=[{"id": f"s{i}", "category": "open"} for i in range(1001)]),
        "statuses: Tuple should have at most 1000 items",
    ),
}


@pytest.mark.parametrize(("document", "says"), WRONG.values(), ids=WRONG)
async def test_a_wrong_pipeline_is_refused_with_its_places(
    api: httpx.AsyncClient, document: dict[str, Any], says: str
) -> None:
    details = told(await api.post(PIPELINES, json=document), 422, "InvalidPipeline")["details"]
    assert any(says in detail for detail in details), details


async def test_what_is_built_in_too_large_or_no_object_is_refused(api: httpx.AsyncClient) -> None:
    built_in = told(await api.post(PIPELINES, json=mine(id="simple")), 422, "InvalidPipeline")
    assert '"simple" is built in' in built_in["message"]
    told(await api.post(PIPELINES, json=mine(description="x" * 10_000_000)), 413, "TooLarge")
    told(await api.post(PIPELINES, json=[]), 422, "InvalidInput")
    told(await api.post(f"{PIPELINES}/simple/migrate", json={"too": 2}), 422, "InvalidInput")
    wrong = await api.post(f"{PIPELINES}/simple/migrate", json={"map": {"opne": "done"}})
    assert told(wrong, 422, "InvalidInput")["details"] == [
        'opne: there is no status "opne". Did you mean "open"?'
    ]
