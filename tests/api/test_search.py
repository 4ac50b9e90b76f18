"""Finding things, and how work went, over HTTP."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from agents_manager.flow import tasks
from agents_manager.flow.ports import Tx
from tests.api.scenes import ANN, Scene, told
from tests.contract.store_values import a_history

API = "/api/v1"


async def found(api: httpx.AsyncClient, text: str, **more: Any) -> list[tuple[str, str]]:
    response = await api.get(f"{API}/search", params={"q": text, **more})
    assert response.status_code == 200, response.text
    return [(hit["kind"], hit["id"]) for hit in response.json()["items"]]


async def test_words_names_and_ids(api: httpx.AsyncClient, scene: Scene) -> None:
    asked = await scene.asking(title="Add a search box")
    task, run = await scene.running("Faster SEARCH for boxes")
    prompt, first, second = ("prompt", asked.id), ("task", asked.task_id), ("task", task.id)
    assert await found(api, "search") == [prompt, second, first]
    assert await found(api, "box sear", limit=2) == [prompt, second]
    assert await found(api, "colour") == [prompt]
    assert await found(api, run.id) == [("run", run.id)]
    assert await found(api, task.id) == [second]
    assert await found(api, asked.id) == [prompt]
    assert await found(api, "SHOP") == [("project", scene.project.id)]
    assert await found(api, "simple") == [("pipeline", "simple")]
    assert await found(api, "100%_") == []
    assert await found(api, "  ") == []


@pytest.mark.parametrize("query", ["", "?q=", "?q=a&limit=0", "?q=a&words=b"])
async def test_bad_questions(api: httpx.AsyncClient, query: str) -> None:
    told(await api.get(f"{API}/search{query}"), 422, "InvalidInput")


async def test_how_work_went(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task(pipeline="simple")

    def write(tx: Tx) -> None:
        moves = (("open", "in_progress", 10), ("in_progress", "review", 20), ("review", "done", 50))
        for number, (source, to, seconds) in enumerate(moves):
            at = task.created_at + timedelta(seconds=seconds)
            entry = a_history(f"h{number}", task.id, source=source, to=to, time=at, actor=ANN)
            tx.history.add(entry)
        tx.tasks.move(task, "done", task.created_at)

    await scene.s.store.write(write)
    await scene.task("Not finished")
    other = await scene.task("Never moved", pipeline="simple")
    await tasks.move(scene.s, other.id, ANN, to="cancelled")
    told_of = (await api.get(f"{API}/performance?project=shop&since=1d")).json()
    assert told_of["lead_s"]["number"] == 2
    assert told_of["waiting_s"]["mean"] == 15
    assert told_of["working_s"] == {"number": 2, "mean": 0, "median": 0}
    assert told_of["first_pass"] == {"reviewed": 0, "approved": 0, "rate": None}
    assert sum(day["finished"] for day in told_of["days"]) == 2
    told(await api.get(f"{API}/performance?project=nowhere"), 404, "ProjectNotFound")
    told(await api.get(f"{API}/performance?since=never"), 422, "InvalidInput")
