"""What runs cost and how they went, over HTTP."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from agents_manager.domain.run import CostBasis, RunStatus
from tests.api.scenes import Scene, told

API = "/api/v1"


async def ran(scene: Scene, usd: float | None) -> None:
    _, run = await scene.running()
    now = scene.s.clock.now()
    fields: dict[str, Any] = {
        "status": RunStatus.COMPLETED,
        "agent": "scripted",
        "started_at": now - timedelta(seconds=20),
        "ended_at": now,
        "cost_usd": usd,
        "cost_basis": None if usd is None else CostBasis.COMPUTED,
    }
    await scene.s.store.write(lambda tx: tx.runs.update(run.id, **fields))


async def test_cost_and_stats(api: httpx.AsyncClient, scene: Scene) -> None:
    await ran(scene, 0.5)
    await ran(scene, None)
    spent = {"runs": 2, "unknown": 1, "cost_usd": 0.5}
    share = {"key": scene.project.id, "name": "shop", "spent": spent}
    assert (await api.get(f"{API}/cost")).json() == {
        **{"by": "project", "since": None, "total": spent, "shares": [share], "left_out": 0},
        "budgets": [],
    }
    first = (await api.get(f"{API}/cost?by=task&limit=1&since=1d&project=shop")).json()
    assert (first["total"], first["left_out"]) == (spent, 1)
    assert first["shares"][0]["spent"]["cost_usd"] == 0.5
    stats = (await api.get(f"{API}/stats?since=2000-01-01&project=shop")).json()
    assert stats["since"] == "2000-01-01T00:00:00Z"
    assert (stats["work"]["success_rate"], stats["work"]["mean_duration_s"]) == (1.0, 20.0)
    assert stats["work"]["spent"] == spent
    assert [a["agent"] for a in stats["agents"]] == ["scripted"]
    runs = (await api.get(f"{API}/runs")).json()["items"]
    assert [(r["cost_usd"], r["cost_basis"]) for r in runs] == [(None, None), (0.5, "computed")]


async def test_budgets_and_what_is_left(api: httpx.AsyncClient, scene: Scene) -> None:
    await ran(scene, 0.5)
    await ran(scene, None)
    limits = {"budgets": {"projectUsd": 2, "taskUsd": 0.4, "dayUsd": 9}}
    (scene.s.home / "config.json").write_text(json.dumps(limits))
    told = (await api.get(f"{API}/cost?by=task")).json()["budgets"]
    assert [(b["scope"], b["limit_usd"], b["left_usd"], b["unknown"]) for b in told] == [
        ("project", 2, 1.5, 1),
        ("task", 0.4, 0, 0),
        ("task", 0.4, 0.4, 1),
        ("day", 9, 8.5, 1),
    ]
    assert told[0] == {
        **{"scope": "project", "subject": scene.project.id, "name": "shop", "unknown": 1},
        **{"limit_usd": 2, "granted_usd": 0, "spent_usd": 0.5, "left_usd": 1.5},
    }


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ("cost?by=colour", 422, "InvalidInput"),
        ("cost?since=yesterday", 422, "InvalidInput"),
        ("cost?limit=0", 422, "InvalidInput"),
        ("cost?bye=task", 422, "InvalidInput"),
        ("cost?project=nowhere", 404, "ProjectNotFound"),
        ("stats?since=2026-02-30", 422, "InvalidInput"),
        ("stats?by=task", 422, "InvalidInput"),
        ("stats?project=nowhere", 404, "ProjectNotFound"),
    ],
)
async def test_bad_questions(api: httpx.AsyncClient, query: str, status: int, error: str) -> None:
    told(await api.get(f"{API}/{query}"), status, error)
