"""What a forge tells us: believed only with its signature, taken once, and never more than a hint
where to look."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.domain.task import Project, Task
from tests.api.scenes import Scene, told
from tests.contract.store_values import a_pull

HOOK = "/api/v1/forges/github/webhook"
SECRET = "it is one"


def delivery(number: int = 7, secret: str = SECRET, id: str = "d-1") -> dict[str, Any]:
    """As GitHub sends it, with a lie about the state."""
    told = {"action": "closed", "pull_request": {"number": number, "merged": True}}
    body = json.dumps(told).encode()
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Delivery": id,
        "X-GitHub-Event": "pull_request",
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    return {"content": body, "headers": headers}


@pytest.fixture
async def task(scene: Scene) -> Task:
    task = await scene.task()
    pull = a_pull(task=task.id, project_id=task.project_id, number=7, forge="github")
    await scene.s.store.write(lambda tx: tx.pulls.add(pull))
    return task


async def looks(scene: Scene, task: Task) -> int:
    found = await scene.s.store.read(lambda tx: tx.effects.open(task.id))
    return sum(effect.kind == "look_at_pull" for effect in found)


async def test_a_signed_delivery_has_its_pull_request_looked_at_once(
    stranger: httpx.AsyncClient, scene: Scene, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_GITHUB_WEBHOOK_SECRET", SECRET)
    response = await stranger.post(HOOK, **delivery())
    assert (response.status_code, response.json()) == (202, {"pulls": 1})
    assert await looks(scene, task) == 1
    again = await stranger.post(HOOK, **delivery())
    assert "was taken before" in told(again, 409, "Conflict")["message"]
    assert (await stranger.post(HOOK, **delivery(id="d-2"))).status_code == 202
    assert await looks(scene, task) == 1, "it has not been looked at since the first"
    assert (await stranger.post(HOOK, **delivery(number=8, id="d-3"))).json() == {"pulls": 0}
    pull = (await scene.s.store.read(lambda tx: tx.pulls.all_of_task(task.id)))[0]
    assert pull.state == "open", "what a message says is not believed"


async def test_without_the_right_signature_nothing_is_taken(
    stranger: httpx.AsyncClient, scene: Scene, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = await stranger.post(HOOK, **delivery(secret=""))
    assert "AM_GITHUB_WEBHOOK_SECRET" in told(off, 401, "Unauthenticated")["message"]
    monkeypatch.setenv("AM_GITHUB_WEBHOOK_SECRET", SECRET)
    wrong = delivery(secret="another")
    changed = {**delivery(), "content": delivery(number=8)["content"]}
    none, strange = delivery(), delivery()
    del none["headers"]["X-Hub-Signature-256"]
    strange["headers"]["X-Hub-Signature-256"] = "sha256=é".encode()
    for one in (wrong, changed, none, strange):
        told(await stranger.post(HOOK, **one), 401, "Unauthenticated")
    nameless = delivery()
    del nameless["headers"]["X-GitHub-Delivery"]
    told(await stranger.post(HOOK, **nameless), 422, "InvalidInput")
    long = {**delivery(), "content": b'"' + b"x" * 2_000_000 + b'"'}
    assert (await stranger.post(HOOK, **long)).status_code == 413
    assert await looks(scene, task) == 0


async def test_the_server_says_why_it_cannot_use_the_forge_of_a_project(
    api: httpx.AsyncClient, project: Project, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AM_GITHUB_TOKEN", raising=False)
    of_project = f"/api/v1/projects/{project.id}/forge"
    assert (await api.get(of_project)).json() == {"type": "local", "trouble": None}
    folder = repo / ".agents-manager"
    folder.mkdir()
    (folder / "config.json").write_text('{"forge": {"type": "github"}}')
    said = (await api.get(of_project)).json()
    assert said["type"] == "github"
    assert said["trouble"]
