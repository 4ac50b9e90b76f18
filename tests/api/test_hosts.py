"""The machines over HTTP."""

import httpx

from agents_manager.flow import admission
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene

URL = "/api/v1/hosts"


async def test_who_works_and_who_waits(scene: Scene, api: httpx.AsyncClient) -> None:
    task, run = await scene.running()
    waits, queued = await scene.running("Another")

    def write(tx: Tx) -> None:
        tx.effects.update(run.effect_id, status="started")
        tx.effects.update(queued.effect_id, result={admission.WAITS: "It is full."})

    await scene.s.store.write(write)
    found = (await api.get(URL)).json()
    (host,) = found["hosts"]
    assert (host["state"], host["here"], host["capacity"], host["seen_at"]) == (
        *("up", True, 8, None),
    )
    assert host["free_disk_mb"] > 0
    assert host["projects"] == [scene.project.name]
    assert [start["task_id"] for start in host["working"]] == [task.id]
    assert [(start["task_id"], start["why"]) for start in found["waiting"]] == [
        (waits.id, "It is full.")
    ]
    assert found["waiting_in_all"] == 1


async def test_one_machine_alone_cannot_be_sent_away(api: httpx.AsyncClient) -> None:
    for way in (api.delete(f"{URL}/this"), api.post(f"{URL}/this/drain")):
        refused = await way
        assert (refused.status_code, refused.json()["error"]) == (422, "InvalidInput")
