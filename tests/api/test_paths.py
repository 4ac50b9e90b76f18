"""The ways of tasks and the times that they took, over HTTP."""

from datetime import timedelta

import httpx

from agents_manager.domain.task import Result
from agents_manager.flow import tasks
from agents_manager.flow.ports import Tx
from tests.api.scenes import ANN, Scene, told
from tests.contract.store_values import a_history

API = "/api/v1"


async def walked(scene: Scene) -> str:
    """A task that was in `open` for 10 s, `planning` for 20, `planned` for 5, and back again."""
    task = await scene.task()
    moves = (("open", "planning", 10), ("planning", "planned", 30), ("planned", "planning", 35))

    def write(tx: Tx) -> None:
        for number, (source, to, seconds) in enumerate(moves):
            at = task.created_at + timedelta(seconds=seconds)
            fields = {"source": source, "to": to, "time": at, "transition_id": f"to-{to}"}
            tx.history.add(a_history(f"{task.id}-{number}", task.id, actor=ANN, **fields))
        refused = a_history(f"{task.id}-r", task.id, result=Result.REFUSED, to="done")
        tx.history.add(refused)
        tx.tasks.move(task, "planning", task.created_at)

    await scene.s.store.write(write)
    return task.id


async def test_the_path_of_a_task(api: httpx.AsyncClient, scene: Scene) -> None:
    task_id = await walked(scene)
    path = (await api.get(f"{API}/tasks/{task_id}/path")).json()
    visits = [step["visit"] for step in path["steps"]]
    assert [(v["status"], v["seconds"], v["transition_id"]) for v in visits] == [
        ("open", 10, "to-planning"),
        ("planning", 20, "to-planned"),
        ("planned", 5, "to-planning"),
        ("planning", None, None),
    ]
    assert [step["by"] and step["by"]["name"] for step in path["steps"]] == [*["ann"] * 3, None]
    assert path["totals"][1] == {"status": "planning", "visits": 2, "again": 1, "seconds": 20}


async def test_a_task_that_was_never_moved(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    path = (await api.get(f"{API}/tasks/{task.id}/path")).json()
    assert [(s["visit"]["status"], s["visit"]["left"]) for s in path["steps"]] == [("open", None)]
    told(await api.get(f"{API}/tasks/nothing/path"), 404, "TaskNotFound")


async def test_counts_of_a_pipeline(api: httpx.AsyncClient, scene: Scene) -> None:
    await walked(scene)
    await walked(scene)
    fresh = await scene.task(pipeline="simple")
    await tasks.move(scene.s, fresh.id, ANN, to="cancelled")
    found = (await api.get(f"{API}/pipelines/feature/counts?project=shop")).json()
    assert (found["pipeline_id"], found["version"]) == ("feature", 1)
    by_status = {one["status"]: one for one in found["statuses"]}
    assert list(by_status)[:2] == ["open", "planning"]
    assert by_status["open"] == {
        **{"status": "open", "tasks": 0, "visits": 2, "median_s": 10, "mean_s": 10}
    }
    assert by_status["planning"]["tasks"] == 2
    assert by_status["done"] == {
        **{"status": "done", "tasks": 0, "visits": 0, "median_s": None, "mean_s": None}
    }
    taken = {one["transition_id"]: one["times"] for one in found["transitions"]}
    assert taken == {"to-planning": 4, "to-planned": 2}
    told(await api.get(f"{API}/pipelines/nothing/counts"), 404, "PipelineNotFound")
    told(await api.get(f"{API}/pipelines/feature/counts?project=x"), 404, "ProjectNotFound")
