"""One task from creation to merge by HTTP alone, led by nothing but the stream."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse

from agents_manager import bootstrap
from agents_manager.settings import Settings
from tests import ready
from tests.api.scenes import serving
from tests.repos import run, scripted_home

API = "/api/v1"
SCRIPT = {
    "plan": [
        [{"ask": {"question": "Which?", "options": [{"label": "hi", "recommended": True}]}}],
        [{"say": "# Plan\n\nAppend a line."}, {"outcome": "plan_ready"}],
    ],
    "implement": [
        [
            {"modify": {"path": "README.md", "append": "hi\n"}},
            {"commit": "Say hi"},
            {"outcome": "pr_ready"},
        ]
    ],
}


async def get(api: httpx.AsyncClient, path: str) -> Any:
    response = await api.get(f"{API}{path}")
    assert response.status_code == 200, response.text
    return response.json()


async def post(api: httpx.AsyncClient, path: str, body: Any = None) -> Any:
    response = await api.post(f"{API}{path}", json=body)
    assert response.status_code in (200, 201), response.text
    return response.json()


async def answer(api: httpx.AsyncClient, event: dict[str, Any]) -> None:
    prompt = event["data"]["prompt"]
    if event["data"]["prompt_type"] == "info_request":
        await post(api, f"/prompts/{prompt}/accept")
    else:
        await post(api, f"/tasks/{event['task_id']}/review", {"decision": "approved"})


async def test_from_creation_to_merge(tmp_path: Path, repo: Path) -> None:
    settings = Settings(ready.home(scripted_home(tmp_path / "home")), None)
    async with bootstrap.worker(settings) as program, serving(program) as api:
        await post(api, "/projects", {"path": str(repo)})
        description = f"```agent-script\n{json.dumps(SCRIPT)}\n```"
        new = {"project": "shop", "title": "Say hi", "description": description}
        task = (await post(api, "/tasks", new))["id"]
        params = {"task": task, "after": 0}
        seen: list[dict[str, Any]] = []
        async with (
            asyncio.timeout(60),
            aconnect_sse(api, "GET", f"{API}/events/stream", params=params) as source,
        ):
            await post(api, f"/tasks/{task}/start")
            async for sent in source.aiter_sse():
                seen.append(sent.json())
                if seen[-1]["type"] == "prompt_created":
                    await answer(api, seen[-1])
                if seen[-1]["data"].get("to") == "done":
                    break
        assert [e["seq"] for e in seen] == list(range(1, len(seen) + 1))
        kept = (await get(api, f"/tasks/{task}/events"))["items"]
        assert kept[: len(seen)] == seen

        view = await get(api, f"/tasks/{task}")
        assert (view["status"]["category"], view["next_mover"]["kind"]) == ("final", "finished")
        assert view["pull"]["state"] == "merged"
        assert (await get(api, "/prompts"))["items"] == []
        runs = (await get(api, f"/runs?task={task}"))["items"]
        assert [r["outcome"] for r in runs] == ["pr_ready", "plan_complete", "needs_info"]
        assert "Say hi" in (await api.get(f"{API}/runs/{runs[0]['id']}/prompt")).text
        assert "pr_ready" in (await get(api, f"/runs/{runs[0]['id']}/transcript"))["text"]
        diff = (await api.get(f"{API}/tasks/{task}/diff")).text
        assert "+hi" in diff.splitlines()
    assert run(repo, "show", "main:README.md") == "Hello\nhi"
