"""Splits and phases over HTTP."""

import httpx

from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import Trigger, TriggerType
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import SYSTEM
from agents_manager.flow import transitions
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene

SPLIT = {
    "reason": "Two things.",
    "proposed_phases": [
        {"name": name, "description": name, "complexity": "low"} for name in ("One", "Two", "Three")
    ],
}


async def proposed(scene: Scene) -> str:
    """A task whose agent proposed a split; nobody has decided yet."""
    task, run = await scene.running()

    def write(tx: Tx) -> None:
        tx.runs.update(run.id, status=RunStatus.COMPLETED, ended_at=scene.s.clock.now())
        outcome = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="propose_split")
        fired = Fired(trigger=outcome, payload=SPLIT)
        transitions.report(tx, scene.s, task.id, fired, SYSTEM)

    await scene.s.store.write(write)
    return task.id


async def test_a_split_is_approved_and_its_phases_can_be_changed(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task_id = await proposed(scene)
    [item] = (await api.get("/api/v1/prompts")).json()["items"]
    assert item["prompt"]["type"] == "split_proposal"
    answer = f"/api/v1/prompts/{item['prompt']['id']}/answer"
    refused = await api.post(answer, json={"decision": "approved", "phases": []})
    assert (refused.status_code, refused.json()["error"]) == (422, "InvalidAnswer")
    assert (await api.post(answer, json={"decision": "approved"})).status_code == 200

    base = f"/api/v1/tasks/{task_id}/phases"
    listed = (await api.get(base)).json()["items"]
    assert [(p["number"], p["status"]) for p in listed] == [
        (1, "active"),
        (2, "pending"),
        (3, "pending"),
    ]
    ordered = (await api.post(f"{base}/order", json={"numbers": [3, 2]})).json()["items"]
    assert [p["name"] for p in ordered] == ["One", "Three", "Two"]
    skipped = (await api.post(f"{base}/2/skip")).json()["items"]
    assert skipped[2]["status"] == "skipped"
    view = (await api.get(f"/api/v1/tasks/{task_id}")).json()
    assert view["phases"] == skipped


async def test_phases_that_cannot_be_changed(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await scene.task()
    base = f"/api/v1/tasks/{task.id}/phases"
    assert (await api.get(base)).json() == {"items": []}
    missing = await api.post(f"{base}/1/skip")
    assert (missing.status_code, missing.json()["error"]) == (404, "PhaseNotFound")
    wrong = await api.post(f"{base}/order", json={"numbers": [1]})
    assert (wrong.status_code, wrong.json()["details"]) == (422, ["not begun: none"])
