"""The inbox and answering, where the first answer wins."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.api.scenes import ANSWER, OWNER, Scene, told

API = "/api/v1"


async def test_the_inbox_shows_what_is_asked(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    inbox = (await api.get(f"{API}/prompts")).json()
    assert [i["prompt"]["id"] for i in inbox["items"]] == [prompt.id]
    item = inbox["items"][0]
    assert item["task"]["status"] == "needs_info"
    assert item["summary"]
    assert item["acceptable"]["answers"][0]["option"] == "Red"
    assert (await api.get(f"{API}/prompts/{prompt.id}")).json() == item
    view = (await api.get(f"{API}/tasks/{prompt.task_id}")).json()
    assert view["prompts"] == [item["prompt"]]
    assert view["next_mover"]["id"] == prompt.id


async def test_an_answer_moves_the_task(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    answered = (await api.post(f"{API}/prompts/{prompt.id}/answer", json=ANSWER)).json()
    assert answered["task"]["status"] == "planning"
    assert answered["prompt"]["status"] == "responded"
    assert answered["prompt"]["responded_by"] == OWNER
    assert answered["prompt"]["responded_via"] == "http"
    assert answered["repeated"] is False
    assert (await api.get(f"{API}/prompts")).json()["items"] == []


async def test_a_second_answer_is_told_who_was_first(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    url = f"{API}/prompts/{prompt.id}/answer"
    responses = await asyncio.gather(*(api.post(url, json=ANSWER) for _ in range(4)))
    assert sorted(r.status_code for r in responses) == [200, 409, 409, 409]
    late = await api.post(url, json=ANSWER)
    message = told(late, 409, "PromptAlreadyAnswered")["message"]
    assert f"{OWNER} answered this via http" in message
    assert "Blue" in message


WRONG_ANSWERS: dict[str, tuple[Any, list[str]]] = {
    "nothing": ({}, ["answers: Field required"]),
    "a wrong shape": ({"answers": [{"option": 1}]}, ["answers.0.questionId: Field required"]),
    "a question left out": (
        {"answers": [{"question_id": "q1", "option": "Red"}]},
        ['question "q2" is not answered'],
    ),
    "an unknown question and option": (
        {
            "answers": [
                {"question_id": "q1", "option": "Green"},
                {"question_id": "q2", "text": "So."},
                {"question_id": "q3", "text": "?"},
            ]
        },
        ["question \"q1\" has no option 'Green'", 'there is no question "q3"'],
    ),
}


@pytest.mark.parametrize(("answer", "said"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
async def test_a_wrong_answer_is_refused_field_by_field(
    api: httpx.AsyncClient, scene: Scene, answer: Any, said: list[str]
) -> None:
    prompt = await scene.asking()
    response = await api.post(f"{API}/prompts/{prompt.id}/answer", json=answer)
    details = told(response, 422, "InvalidAnswer")["details"]
    assert len(details) == len(said)
    for line in said:
        assert any(d.startswith(line) for d in details), details
    assert (await api.get(f"{API}/prompts/{prompt.id}")).json()["prompt"]["status"] == "pending"


async def test_the_recommendation_is_accepted(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    accepted = (await api.post(f"{API}/prompts/{prompt.id}/accept")).json()
    given = accepted["prompt"]["response"]["answers"]
    assert [(a["option"], a["text"]) for a in given] == [("Red", None), (None, "Because.")]


async def test_nothing_recommended_cannot_be_accepted(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking(payload={"questions": [{"id": "q1", "question": "Why?"}]})
    response = await api.post(f"{API}/prompts/{prompt.id}/accept")
    assert "nothing recommended" in told(response, 422, "InvalidAnswer")["message"]


async def test_a_review_is_given_to_the_task(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking("plan_complete", {})
    url = f"{API}/tasks/{prompt.task_id}/review"
    empty = await api.post(url, json={"decision": "changes_requested"})
    assert told(empty, 422, "InvalidAnswer")["details"]
    wrong = await api.post(url, json={"decision": "maybe"})
    assert told(wrong, 422, "InvalidAnswer")["details"][0].startswith("decision:")
    sent = await api.post(url, json={"decision": "changes_requested", "summary": "Shorter."})
    assert sent.json()["task"]["status"] == "planning"
    late = await api.post(url, json={"decision": "approved"})
    assert "does not wait for a review" in told(late, 404, "PromptNotFound")["message"]
