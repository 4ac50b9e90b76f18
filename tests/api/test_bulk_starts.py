"""Starting many tasks over HTTP."""

from datetime import UTC, datetime, timedelta

import httpx

from tests.api.scenes import Scene, told

START = "/api/v1/tasks/start"


async def test_named_tasks_and_those_of_a_project_are_started(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    first = await scene.task("First", pipeline="simple")
    second = await scene.task("Second", pipeline="simple", dependencies=[first.id])
    third = await scene.task("Third", pipeline="simple")
    done = (await api.post(START, json={"tasks": [first.id, second.id]})).json()["items"]
    assert [(one["task"]["title"], one["state"]) for one in done] == [
        ("First", "started"),
        ("Second", "waiting"),
    ]
    assert '"First" (In progress)' in done[1]["reason"]
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    rest = (await api.post(START, json={"project": scene.project.name, "at": at})).json()["items"]
    assert [(one["task"]["id"], one["state"]) for one in rest] == [(third.id, "scheduled")]


async def test_either_tasks_or_a_project_are_started(scene: Scene, api: httpx.AsyncClient) -> None:
    for form in ({}, {"tasks": ["1"], "project": "shop"}):
        told(await api.post(START, json=form), 422, "InvalidInput")
    told(await api.post(START, json={"tasks": ["unknown"]}), 404, "TaskNotFound")


async def test_imported_tasks_are_started_on_request(scene: Scene, api: httpx.AsyncClient) -> None:
    form = {"project": "shop", "format": "md", "text": "- [ ] Door\n", "start": True}
    (item,) = (await api.post("/api/v1/tasks/import", json=form)).json()["items"]
    assert (item["state"], item["start"], item["start_reason"]) == ("made", "started", "")
    task = (await api.get(f"/api/v1/tasks/{item['task_id']}")).json()
    assert task["task"]["status"] == "planning"
