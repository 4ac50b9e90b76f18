"""What a task has to show, over HTTP."""

from pathlib import Path

import httpx

from agents_manager.domain.task import ArtifactType, Task
from agents_manager.flow import artifacts
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene, told
from tests.repos import run


async def planned(scene: Scene) -> str:
    """A task with two versions of its plan."""
    task: Task = await scene.task()

    def write(tx: Tx) -> None:
        for number in (1, 2):
            data = {"text": f"Same.\nStep {number}."}
            kind, key = ArtifactType.DOCUMENT, f"plan-{number}"
            artifacts.keep(tx, scene.s, task, kind, key, "Plan", data)

    await scene.s.store.write(write)
    return task.id


async def test_versions_are_listed_read_and_compared(scene: Scene, api: httpx.AsyncClient) -> None:
    base = f"/api/v1/tasks/{await planned(scene)}"
    items = (await api.get(f"{base}/documents")).json()["items"]
    assert [(d["name"], d["version"]) for d in items] == [("plan", 1), ("plan", 2)]
    assert (await api.get(f"{base}/documents/plan")).json()["text"] == "Same.\nStep 2."
    older = await api.get(f"{base}/documents/plan", params={"version": 1})
    assert older.json()["text"] == "Same.\nStep 1."
    changed = (await api.get(f"{base}/documents/plan/diff")).text
    assert "-Step 1.\n+Step 2.\n" in changed
    back = (await api.get(f"{base}/documents/plan/diff", params={"from": 2, "to": 1})).text
    assert "-Step 2.\n+Step 1.\n" in back
    kinds = (await api.get(f"{base}/artifacts")).json()["items"]
    assert [a["type"] for a in kinds] == ["document", "document"]


async def test_what_is_not_there(scene: Scene, api: httpx.AsyncClient) -> None:
    base = f"/api/v1/tasks/{await planned(scene)}"
    told(await api.get(f"{base}/documents/plam"), 404, "DocumentNotFound")
    told(await api.get(f"{base}/documents/plan?version=3"), 404, "DocumentNotFound")
    told(await api.get(f"{base}/documents/plan/diff?to=1"), 404, "DocumentNotFound")
    told(await api.get(f"{base}/documents/plan?version=x"), 422, "InvalidInput")
    told(await api.get("/api/v1/tasks/none/documents"), 404, "TaskNotFound")
    told(await api.post(f"{base}/artifacts/collect"), 422, "InvalidRepository")


async def test_a_document_is_committed(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await planned(scene)
    address = f"/api/v1/tasks/{task}/documents/plan/commit"
    body = {"path": "docs/plan.md", "version": 1}
    done = (await api.post(address, json=body)).json()
    assert (done["path"], done["version"], done["new"]) == ("docs/plan.md", 1, True)
    assert (
        run(Path(scene.project.path), "show", f"{done['branch']}:docs/plan.md") == "Same.\nStep 1."
    )
    again = (await api.post(address, json=body)).json()
    assert again == {**done, "new": False}
    told(await api.post(address, json={"path": "docs/plan.md"}), 409, "Conflict")
    replaced = await api.post(address, json={"path": "docs/plan.md", "replace": True})
    assert (replaced.json()["version"], replaced.json()["new"]) == (2, True)
    assert (await api.post(address)).json()["path"] == "docs/plans/add-search.md"
    told(await api.post(address, json={"path": "../plan.md"}), 422, "InvalidInput")
    told(await api.post(address, json={"paht": "x"}), 422, "InvalidInput")
    told(await api.post(address.replace("plan/", "design/")), 404, "DocumentNotFound")
