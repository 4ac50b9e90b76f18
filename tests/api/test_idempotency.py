"""Sent twice, done once."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from agents_manager.bootstrap import Program
from agents_manager.flow.ports import Tx
from tests.api.scenes import ANSWER, Scene, told

KEY = "Idempotency-Key"
REPLAYED = "idempotency-replayed"


def new_task(scene: Scene, title: str = "Add search") -> dict[str, Any]:
    return {"project": scene.project.id, "title": title}


async def count_tasks(scene: Scene) -> int:
    return len(
        await scene.s.store.read(
            lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=100)
        )
    )


@contextmanager
def dying(monkeypatch: pytest.MonkeyPatch, scene: Scene) -> Iterator[None]:
    """The process dies when it is about to keep the reply: no fake of the store can say when."""
    real = type(scene.s.store).write

    async def write(self: Any, fn: Any) -> Any:
        if "_now" in fn.__qualname__:
            raise RuntimeError("died")
        return await real(self, fn)

    with monkeypatch.context() as patch, capture_logs():
        patch.setattr(type(scene.s.store), "write", write)
        yield


async def test_the_same_request_gets_the_same_answer(api: httpx.AsyncClient, scene: Scene) -> None:
    headers = {KEY: "k1"}
    first = await api.post("/api/v1/tasks", json=new_task(scene), headers=headers)
    second = await api.post("/api/v1/tasks", json=new_task(scene), headers=headers)
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert REPLAYED not in first.headers
    assert second.headers[REPLAYED] == "true"
    assert second.headers["content-type"] == "application/json"
    assert await count_tasks(scene) == 1


async def test_without_a_key_each_request_counts(api: httpx.AsyncClient, scene: Scene) -> None:
    for _ in range(2):
        assert (await api.post("/api/v1/tasks", json=new_task(scene))).status_code == 201
    assert await count_tasks(scene) == 2


async def test_a_key_belongs_to_one_request(
    api: httpx.AsyncClient, scene: Scene, program: Program
) -> None:
    headers = {KEY: "k1"}
    made = await api.post("/api/v1/tasks", json=new_task(scene), headers=headers)
    task = made.json()["id"]
    others = [
        await api.post("/api/v1/tasks", json=new_task(scene, "Another"), headers=headers),
        await api.post("/api/v1/tasks?x=1", json=new_task(scene), headers=headers),
        await api.post(f"/api/v1/tasks/{task}/start", headers=headers),
    ]
    for response in others:
        assert '"k1"' in told(response, 409, "IdempotencyMismatch")["message"]
    assert await count_tasks(scene) == 1


async def test_two_at_the_same_moment_are_one(api: httpx.AsyncClient, scene: Scene) -> None:
    async def send() -> httpx.Response:
        return await api.post("/api/v1/tasks", json=new_task(scene), headers={KEY: "k1"})

    responses = await asyncio.gather(*(send() for _ in range(8)))
    assert {r.status_code for r in responses} == {201}
    assert len({r.json()["id"] for r in responses}) == 1
    assert sorted(REPLAYED in r.headers for r in responses) == [False] + [True] * 7
    assert await count_tasks(scene) == 1


async def test_a_refusal_stands(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    url, body, headers = f"/api/v1/tasks/{task.id}/move", {"to": "done"}, {KEY: "k1"}
    first = await api.post(url, json=body, headers=headers)
    second = await api.post(url, json=body, headers=headers)
    assert told(first, 409, "TransitionRefused") == told(second, 409, "TransitionRefused")
    assert second.headers[REPLAYED] == "true"
    history = await scene.s.store.read(lambda tx: tx.history.of_task(task.id))
    assert [h.result for h in history] == ["refused"]


async def test_a_form_can_be_corrected_under_its_key(api: httpx.AsyncClient, scene: Scene) -> None:
    headers = {KEY: "k1"}
    told(
        await api.post("/api/v1/tasks", json=new_task(scene, ""), headers=headers),
        422,
        "InvalidInput",
    )
    response = await api.post("/api/v1/tasks", json=new_task(scene), headers=headers)
    assert response.status_code == 201


async def test_an_answer_survives_a_crash_before_its_reply_was_kept(
    api: httpx.AsyncClient, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = await scene.asking()
    url, headers = f"/api/v1/prompts/{prompt.id}/answer", {KEY: "k1"}
    with dying(monkeypatch, scene):
        assert (await api.post(url, json=ANSWER, headers=headers)).status_code == 500
    again = await api.post(url, json=ANSWER, headers=headers)
    assert again.status_code == 200
    assert again.json()["repeated"] is True
    other = {
        "answers": [{"question_id": "q1", "option": "Red"}, {"question_id": "q2", "text": "."}]
    }
    told(await api.post(url, json=other, headers=headers), 409, "IdempotencyMismatch")

    def moves(tx: Tx) -> list[str]:
        return [h.to for h in tx.history.of_task(prompt.task_id)]

    assert await scene.s.store.read(moves) == ["planning", "needs_info", "planning"]


@pytest.mark.parametrize("key", ["", "x" * 201, "two words", "ä"])
async def test_a_key_is_plain_text(api: httpx.AsyncClient, key: str) -> None:
    headers = [(KEY.encode(), key.encode())]
    response = await api.post("/api/v1/tasks", json={}, headers=headers)
    assert KEY in told(response, 422, "InvalidInput")["message"]


async def test_two_keys_are_refused(api: httpx.AsyncClient) -> None:
    headers = [(KEY, "a"), (KEY, "b")]
    told(await api.post("/api/v1/tasks", json={}, headers=headers), 422, "InvalidInput")


async def test_a_review_sent_again_is_not_taken_for_the_next_one(
    api: httpx.AsyncClient, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = await scene.asking("plan_complete", {})
    url, headers = f"/api/v1/tasks/{prompt.task_id}/review", {KEY: "k1"}
    review = {"decision": "changes_requested", "summary": "Shorter."}
    with dying(monkeypatch, scene):
        assert (await api.post(url, json=review, headers=headers)).status_code == 500
    again = await api.post(url, json=review, headers=headers)
    assert again.status_code == 200
    assert (again.json()["repeated"], again.json()["prompt"]["id"]) == (True, prompt.id)


async def test_an_open_address_has_no_key(stranger: httpx.AsyncClient) -> None:
    told(await stranger.post("/healthz", headers={KEY: "k1"}), 405, "MethodNotAllowed")


async def test_reading_has_no_key(api: httpx.AsyncClient, scene: Scene) -> None:
    for _ in range(2):
        response = await api.get("/api/v1/tasks", headers={KEY: "k1"})
        assert response.status_code == 200
        assert REPLAYED not in response.headers
