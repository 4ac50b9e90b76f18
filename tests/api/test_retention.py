"""Retention over HTTP, and what is said about what it removed."""

import httpx

from agents_manager.domain.run import RunStatus
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene

URL = "/api/v1/retention"


async def test_what_would_go_and_what_went(scene: Scene, api: httpx.AsyncClient) -> None:
    planned = (await api.get(URL)).json()
    assert (planned["dry_run"], planned["items"], planned["last"]) == (True, [], None)
    kinds = {"workspaces", "transcripts", "setup", "backups", "databases"}
    assert set(planned["used"]) == kinds
    assert planned["used"]["workspaces"] == 0 < planned["used"]["databases"]
    done = (await api.post(URL)).json()
    assert done["totals"]["worktrees"] == {"count": 0, "bytes": None}
    assert (await api.get(URL)).json()["last"] is not None


async def test_a_removed_transcript_says_so(scene: Scene, api: httpx.AsyncClient) -> None:
    _, run = await scene.running()
    now = scene.s.clock.now()

    def write(tx: Tx) -> None:
        tx.runs.update(run.id, status=RunStatus.COMPLETED, started_at=now, ended_at=now)
        tx.retention.mark([run.id], now)

    await scene.s.store.write(write)
    for turn in (1, 2):
        page = await api.get(f"/api/v1/runs/{run.id}/transcript", params={"turn": turn})
        assert (page.status_code, page.json()["text"]) == (200, "")
        assert page.json()["removed_at"] is not None
    assert (await api.get(f"/api/v1/runs/{run.id}")).json()["transcript_removed_at"] is not None
    stream = await api.get(f"/api/v1/runs/{run.id}/output")
    assert '"removed_at"' in stream.text
