"""The inbox and answering, where the first answer wins."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.flow import access, removal, tasks
from agents_manager.flow.ports import Tx
from tests import forms
from tests.api.scenes import ANN, ANSWER, OWNER, Scene, told
from tests.repos import make_repo

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


async def test_an_answer_with_a_delay_is_undone(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    url = f"{API}/prompts/{prompt.id}"
    held = (await api.post(f"{url}/answer", json={**ANSWER, "delay_s": 5})).json()
    assert held["task"]["status"] == "planning"
    assert held["prompt"]["undo_until"] is not None
    assert "delay_s" not in held["prompt"]["response"]
    undone = (await api.post(f"{url}/undo")).json()
    assert (undone["task"]["status"], undone["prompt"]["status"]) == ("needs_info", "pending")
    assert (undone["prompt"]["revision"], undone["prompt"]["undo_until"]) == (2, None)
    again = await api.post(f"{url}/undo")
    assert "no answer to take back" in told(again, 409, "UndoRefused")["message"]
    newer = undone["prompt"]["id"]
    assert (
        newer in told(await api.post(f"{url}/answer", json=ANSWER), 409, "PromptClosed")["message"]
    )
    accepted = await api.post(f"{API}/prompts/{newer}/accept", json={"delay_s": 2.5})
    assert accepted.json()["prompt"]["undo_until"] is not None
    assert told(await api.post(f"{API}/prompts/nonesuch/undo"), 404, "PromptNotFound")


async def test_a_review_with_a_delay_is_undone(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking("plan_complete", {})
    url = f"{API}/tasks/{prompt.task_id}/review"
    sent = (await api.post(url, json={"decision": "approved", "delay_s": 5})).json()
    assert sent["task"]["status"] == "in_progress"
    undone = (await api.post(f"{API}/prompts/{prompt.id}/undo")).json()
    assert undone["task"]["status"] == "planned"


@pytest.mark.parametrize("delay", ["5", True, None, [], -1, 301, 1e300])
async def test_a_wrong_delay_changes_nothing(
    api: httpx.AsyncClient, scene: Scene, delay: Any
) -> None:
    prompt = await scene.asking()
    for url in (f"prompts/{prompt.id}/answer", f"tasks/{prompt.task_id}/review"):
        response = await api.post(f"{API}/{url}", json={**ANSWER, "delay_s": delay})
        assert response.status_code in (422, 404), response.text
    wrong = await api.post(f"{API}/prompts/{prompt.id}/accept", json={"delay_s": delay})
    told(wrong, 422, "InvalidInput")
    view = (await api.get(f"{API}/prompts/{prompt.id}")).json()
    assert view["prompt"]["status"] == "pending"


async def test_only_some_may_answer(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, scene: Scene
) -> None:
    prompt = await scene.asking()
    now = scene.s.clock.now()

    def write(tx: Tx) -> None:
        tx.prompts.update(prompt.id, roles=("lead",))
        for role in ("dev", "lead"):
            tx.access.add_token(
                access.digest_of(f"token-of-{role}-0123456789"), f"a {role}", role, now
            )

    await scene.s.store.write(write)
    url = f"{API}/prompts/{prompt.id}"
    assert (await api.get(url)).json()["prompt"]["roles"] == ["lead"]
    stranger.headers["Authorization"] = "Bearer token-of-dev-0123456789"
    refused = await stranger.post(f"{url}/answer", json=ANSWER)
    says = f"a dev may not answer prompt {prompt.id}; an admin or the role lead may."
    assert told(refused, 403, "NotAllowed")["message"] == says
    told(await stranger.post(f"{url}/accept"), 403, "NotAllowed")
    stranger.headers["Authorization"] = "Bearer token-of-lead-0123456789"
    given = (await stranger.post(f"{url}/answer", json=ANSWER)).json()
    assert given["prompt"]["responded_by"] == "a lead"


async def test_those_with_tasks_behind_come_first_then_the_oldest(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    first, second, third = [await scene.asking(title=t) for t in ("first", "second", "third")]
    await scene.task("behind", dependencies=[third.task_id, second.task_id])
    over = await scene.task("over", dependencies=[first.task_id])
    await tasks.move(scene.s, over.id, ANN, to="cancelled")
    items = (await api.get(f"{API}/prompts")).json()["items"]
    assert [(i["task"]["title"], i["waiting_behind"]) for i in items] == [
        ("second", ["behind"]),
        ("third", ["behind"]),
        ("first", []),
    ]


async def test_the_inbox_comes_in_pages(api: httpx.AsyncClient, scene: Scene) -> None:
    asked = [await scene.asking(title=f"task {n}") for n in range(5)]
    await scene.task("behind", dependencies=[asked[4].task_id])
    order = [asked[4], *asked[:4]]
    assert await seen(api, limit=5) == [p.id for p in order]
    assert await seen(api, limit=1) == [p.id for p in order]
    assert await seen(api, limit=2) == [p.id for p in order]


async def test_the_inbox_of_a_project(api: httpx.AsyncClient, scene: Scene, tmp_path: Path) -> None:
    here = [await scene.asking(title=f"task {n}") for n in range(3)]
    other = await tasks.add_project(scene.s, make_repo(tmp_path / "other"), "other", None)
    there = await Scene(scene.s, other).asking(title="there")
    assert await seen(api, project=scene.project.name, limit=2) == [p.id for p in here]
    assert await seen(api, project=other.id) == [there.id]
    totals = [
        (await api.get(f"{API}/prompts", params=query)).json()["total"]
        for query in ({"limit": 1}, {"limit": 1, "project": scene.project.name})
    ]
    assert totals == [4, 3]
    told(await api.get(f"{API}/prompts", params={"project": "none"}), 404, "ProjectNotFound")


async def test_a_cursor_holds_when_its_question_is_gone_or_moved(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    asked = [await scene.asking(title=f"task {n}") for n in range(4)]
    first = (await api.get(f"{API}/prompts", params={"limit": 2})).json()
    await api.post(f"{API}/prompts/{asked[0].id}/answer", json=ANSWER)
    await scene.task("behind", dependencies=[asked[1].task_id])
    assert await seen(api, cursor=first["next"]) == [asked[2].id, asked[3].id]
    await removal.delete(scene.s, asked[1].task_id, ANN, force=True)
    assert await seen(api, cursor=first["next"]) == [asked[2].id, asked[3].id]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "2-1-a", "1--a", "1-1-", "0-9999999999999999999-a", "0-999999999999999999-a"],
)
async def test_a_cursor_of_something_else(api: httpx.AsyncClient, cursor: str) -> None:
    response = await api.get(f"{API}/prompts", params={"cursor": cursor})
    body = told(response, 422, "InvalidInput")
    assert body["message"] == "The cursor is not one of this listing."


async def seen(api: httpx.AsyncClient, **query: Any) -> list[str]:
    """The questions of all pages from there on."""
    page = (await api.get(f"{API}/prompts", params=query)).json()
    ids = [item["prompt"]["id"] for item in page["items"]]
    if page["next"] is None:
        return ids
    assert len(ids) == query["limit"]
    return ids + await seen(api, **{**query, "cursor": page["next"]})


async def test_a_form_is_shown_refused_by_field_and_answered(
    api: httpx.AsyncClient, scene: Scene, repo: Path
) -> None:
    forms.bring_form(repo)
    prompt = await scene.asking(forms.OUTCOME, forms.SUGGESTING, pipeline=forms.PIPELINE)
    [item] = (await api.get(f"{API}/prompts")).json()["items"]
    assert item["summary"] == "Which release? Search, and a fix."
    assert item["acceptable"] == {"value": forms.VALUE}
    assert item["prompt"]["payload"]["schema"] == forms.RELEASE["answer"]
    url = f"{API}/prompts/{prompt.id}/answer"
    for body, details in (
        ({"version": "1.2"}, {'value: send {"value": {"version": …}} and nothing beside it'}),
        ({"value": [1]}, {"value: must be an object with the fields of the form"}),
        (
            {"value": {"version": "1.2", "announce": 1, "contact": {"name": ""}}},
            {"value.announce: must be true (yes) or false (no)", "value.contact.name: is missing"},
        ),
    ):
        refused = told(await api.post(url, json=body), 422, "InvalidAnswer")
        assert details <= set(refused["details"])
    answered = (await api.post(url, json={"value": forms.VALUE, "delay_s": 5})).json()
    assert answered["prompt"]["response"] == {"value": forms.VALUE}
    assert answered["task"]["status"] == "in_progress"
