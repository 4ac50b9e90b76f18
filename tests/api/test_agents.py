"""Agents and consent over HTTP."""

import httpx

from agents_manager.domain.task import Project
from tests.api.scenes import told


async def test_agents_are_listed_with_what_they_lack(
    api: httpx.AsyncClient, project: Project
) -> None:
    everywhere = (await api.get("/api/v1/agents")).json()["items"]
    assert [one["name"] for one in everywhere] == [
        *("aider", "claude-acp", "claude-code", "codex", "codex-acp", "copilot", "cursor"),
        *("gemini", "goose", "kimi", "opencode", "qwen", "scripted"),
    ]
    able = {one["name"]: one["capabilities"] for one in everywhere}
    lacking = {"harmless": False, "asks_permission": False}
    assert able["claude-code"] == {**dict.fromkeys(able["claude-code"], True), **lacking}
    assert able["gemini"]["asks_permission"]
    assert (able["codex"]["structured_output"], able["codex"]["reports_cost"]) == (True, False)
    here = (await api.get("/api/v1/agents", params={"project": project.name})).json()["items"]
    lacks = {one["name"]: " ".join(one["missing"]) for one in here}
    assert f"am project consent {project.name}" in lacks["codex"]
    assert lacks["scripted"] == ""
    told(await api.get("/api/v1/agents", params={"project": "none"}), 404, "ProjectNotFound")
    told(await api.get("/api/v1/agents", params={"projct": "x"}), 422, "InvalidInput")


async def test_consent_is_given_once_and_can_be_withdrawn(
    api: httpx.AsyncClient, project: Project
) -> None:
    path = f"/api/v1/projects/{project.name}"
    assert (await api.get(path)).json()["consented_at"] is None
    given = (await api.post(f"{path}/consent")).json()["consented_at"]
    assert given is not None
    assert (await api.post(f"{path}/consent")).json()["consented_at"] == given
    assert (await api.delete(f"{path}/consent")).json()["consented_at"] is None
    told(await api.post("/api/v1/projects/none/consent"), 404, "ProjectNotFound")
