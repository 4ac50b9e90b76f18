"""The context of a staged task over HTTP."""

import httpx

from tests.api.scenes import Scene, told
from tests.stage_samples import SAMPLES


async def test_what_the_stages_said_is_shown(scene: Scene, api: httpx.AsyncClient) -> None:
    task, run = await scene.stage("optimized_prompt")
    found = (await api.get(f"/api/v1/tasks/{task.id}/context")).json()
    assert found["agent"] == "task-breakdown"
    assert found["context"]["user_request"] == "Add search"
    assert found["context"]["current_stage"] == 0
    optimized = SAMPLES["optimized_prompt"]["prompt"]
    assert found["context"]["stage_outputs"]["stage_neg1_prompt"] == optimized
    seen = {one["number"]: one for one in found["stages"]}
    assert len(seen) == 14
    assert (seen[-1]["standing"], seen[-1]["output"]) == ("done", optimized)
    assert (seen[0]["standing"], seen[1]["standing"]) == ("live", "waiting")
    assert [one["id"] for one in seen[0]["runs"]] == [run.id]
    assert (found["loop_backs"], found["retries"]) == ([], [])
    assert "### Current Stage\n0 (task-breakdown)" in found["markdown"]
    given = (await api.get(f"/api/v1/tasks/{task.id}/context/{run.id}")).json()
    assert (given["agent"], given["stage"], given["outputs"]) == ("task-breakdown", 0, {})
    assert (given["characters"], given["everything"]) == (0, len(optimized))


async def test_what_has_no_stages_has_no_context(scene: Scene, api: httpx.AsyncClient) -> None:
    task, run = await scene.running()
    fault = told(await api.get(f"/api/v1/tasks/{task.id}/context"), 422, "InvalidInput")
    assert fault["message"] == (
        '"Add search" is in the pipeline feature, which has no stages; only staged tasks have a'
        " context."
    )
    staged, _ = await scene.stage()
    path = f"/api/v1/tasks/{staged.id}/context/{run.id}"
    assert "is not one of" in told(await api.get(path), 404, "NotFound")["message"]
