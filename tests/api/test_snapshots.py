"""Snapshots over HTTP."""

from pathlib import Path

import httpx

from tests.api.scenes import Scene, told
from tests.repos import run, write


async def left_over(scene: Scene) -> str:
    """A task whose last run is over and left a file."""
    task = await scene.task()
    repo = Path(scene.project.path)
    made = await scene.s.workspaces.prepare(repo, task.id, "agent/x", scene.project.base_branch)
    write(made.path, {"left": "over"})
    await scene.s.workspaces.remove(repo, task.id)
    return task.id


async def test_snapshots_are_listed_and_restored(scene: Scene, api: httpx.AsyncClient) -> None:
    task_id = await left_over(scene)
    base = f"/api/v1/tasks/{task_id}/snapshots"
    [item] = (await api.get(base)).json()["items"]
    assert (item["number"], item["files"]) == (1, ["left"])
    restored = (await api.post(f"{base}/1/restore", json={})).json()
    assert (Path(restored["workspace"]) / "left").read_text() == "over"
    branch = await api.post(f"{base}/1/restore", json={"to": "rescued"})
    assert (branch.json()["branch"], branch.json()["workspace"]) == ("rescued", None)
    assert run(Path(scene.project.path), "show", "rescued:left") == "over"


async def test_what_cannot_be_restored(scene: Scene, api: httpx.AsyncClient) -> None:
    task_id = await left_over(scene)
    base = f"/api/v1/tasks/{task_id}/snapshots"
    told(await api.post(f"{base}/2/restore", json={}), 404, "SnapshotNotFound")
    taken = {"to": scene.project.base_branch}
    told(await api.post(f"{base}/1/restore", json=taken), 409, "RestoreRefused")
    told(await api.post(f"{base}/1/restore", json={"to": "--force"}), 422, "InvalidInput")
    told(await api.get("/api/v1/tasks/none/snapshots"), 404, "TaskNotFound")
    _, live = await scene.running("Busy")
    busy = f"/api/v1/tasks/{live.task_id}/snapshots/1/restore"
    told(await api.post(busy, json={}), 404, "SnapshotNotFound")
