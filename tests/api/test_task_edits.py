"""Editing, deleting, explaining and mending tasks over HTTP."""

from typing import Any

import httpx
import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain.effects import Notify
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Policy
from agents_manager.flow import access, planning
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene, told

TASKS = "/api/v1/tasks"


async def test_a_task_is_edited(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    body = {"title": "Find things", "tags": ["UI"], "priority": "high", "expect_version": 1}
    edited = (await api.patch(f"{TASKS}/{task.id}", json=body)).json()
    assert edited["fields"] == ["title", "priority", "tags"]
    assert edited["run"] is None
    assert (edited["task"]["title"], edited["task"]["tags"]) == ("Find things", ["ui"])
    assert edited["task"]["description"] == task.description
    emptied = (await api.patch(f"{TASKS}/{task.id}", json={"tags": []})).json()
    assert (emptied["task"]["tags"], emptied["task"]["version"]) == ([], 3)
    late = await api.patch(f"{TASKS}/{task.id}", json={"objective": "x", "expect_version": 2})
    told(late, 409, "StaleTask")
    aimed = (await api.patch(f"{TASKS}/{task.id}", json={"objective": "Less looking."})).json()
    assert aimed["task"]["objective"] == "Less looking."


async def test_the_agent_of_a_task_is_chosen_and_changed(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    body: dict[str, Any] = {"project": scene.project.name, "title": "x", "agent": "codex"}
    made = (await api.post(TASKS, json={**body, "model": "gpt-5.5"})).json()
    assert (made["agent"], made["model"]) == ("codex", "gpt-5.5")
    one = f"{TASKS}/{made['id']}"
    shown = (await api.get(one)).json()["task"]
    assert (shown["agent"], shown["model"]) == ("codex", "gpt-5.5")
    edited = (await api.patch(one, json={"agent": "claude-code"})).json()
    assert edited["fields"] == ["agent", "model"]
    assert (edited["task"]["agent"], edited["task"]["model"]) == ("claude-code", None)
    cleared = (await api.patch(one, json={"agent": None})).json()["task"]
    assert (cleared["agent"], cleared["model"]) == (None, None)
    unknown = told(await api.post(TASKS, json={**body, "agent": "codecs"}), 422, "InvalidInput")
    assert 'Did you mean "codex"? Known: ' in unknown["details"][0]
    race = {"contenders": [{"agent": "codex"}, {"agent": "claude-code"}]}
    both = told(await api.post(TASKS, json={**body, "race": race}), 422, "InvalidInput")
    assert both["message"].startswith("A race names its own agents.")


async def test_an_edit_during_a_run_says_so(api: httpx.AsyncClient, scene: Scene) -> None:
    task, run = await scene.running()
    edited = (await api.patch(f"{TASKS}/{task.id}", json={"title": "Other"})).json()
    assert edited["run"] == run.id


WRONG: dict[str, tuple[Any, str]] = {
    "nothing": ({}, "title, description"),
    "null": ({"title": None}, "title:"),
    "an unknown field": ({"status": "done"}, "status: there is no such field"),
    "no title": ({"title": ""}, "title: a task needs a title"),
    "a wrong type": ({"priority": 3}, "priority:"),
    "an unknown type": ({"type": "bgu"}, 'type: there is no "bgu". Did you mean "bug"?'),
    "an unknown priority": ({"priority": "hihg"}, 'Did you mean "high"?'),
    "an unknown size": ({"size": "xl"}, "small, medium, large"),
    "an unknown complexity": ({"complexity": "x"}, "low, medium, high"),
    "an empty tag": ({"tags": ["#"]}, "tags:"),
    "a long tag": ({"tags": ["x" * 101]}, "tags.0:"),
    "too many tags": ({"tags": ["x"] * 51}, "tags:"),
    "an empty criterion": ({"acceptance_criteria": [" "]}, "acceptance_criteria:"),
    "a negative version": ({"title": "x", "expect_version": -1}, "expect_version:"),
}


@pytest.mark.parametrize(("body", "said"), WRONG.values(), ids=WRONG.keys())
async def test_wrong_edits_are_named(
    api: httpx.AsyncClient, scene: Scene, body: Any, said: str
) -> None:
    task = await scene.task()
    details = told(await api.patch(f"{TASKS}/{task.id}", json=body), 422, "InvalidInput")["details"]
    assert said in details[0]


async def test_circles_unknown_tasks_and_old_versions(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    own = await api.patch(f"{TASKS}/{task.id}", json={"dependencies": [task.id]})
    assert "waits for" in told(own, 422, "InvalidInput")["details"][0]
    none = await api.patch(f"{TASKS}/{task.id}", json={"dependencies": ["ffff0000"]})
    told(none, 404, "TaskNotFound")
    told(await api.patch(f"{TASKS}/ffff0000", json={"title": "x"}), 404, "TaskNotFound")
    old = await api.patch(f"{TASKS}/{task.id}", json={"title": "x", "expect_version": 9})
    told(old, 409, "StaleTask")


async def test_a_task_is_deleted_once(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    deleted = (await api.delete(f"{TASKS}/{task.id}")).json()
    assert (deleted["task"]["id"], deleted["branches"], deleted["left"]) == (task.id, [], None)
    told(await api.get(f"{TASKS}/{task.id}"), 404, "TaskNotFound")
    told(await api.delete(f"{TASKS}/{task.id}"), 404, "TaskNotFound")
    assert (await api.get("/api/v1/tasks")).json()["items"] == []


async def test_a_deletion_under_a_key_is_answered_again(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task = await scene.task()
    headers = {"Idempotency-Key": "gone"}
    first, second = [await api.delete(f"{TASKS}/{task.id}", headers=headers) for _ in range(2)]
    assert (first.status_code, first.json()) == (200, second.json())


async def test_a_task_in_use_is_not_deleted(api: httpx.AsyncClient, scene: Scene) -> None:
    busy, run = await scene.running()
    told_ = told(await api.delete(f"{TASKS}/{busy.id}?force=true"), 409, "TaskInUse")
    assert run.id in told_["message"]
    first = await scene.task("First")
    second = await scene.task("Second", dependencies=[first.id])
    refused = told(await api.delete(f"{TASKS}/{first.id}"), 409, "TaskInUse")
    assert second.id in refused["details"][0]
    deleted = (await api.delete(f"{TASKS}/{first.id}?force=true")).json()
    assert deleted["released"] == [second.id]


async def test_an_agent_that_has_not_begun_is_called_off_with_its_task(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    busy, _ = await scene.running()
    assert (await api.delete(f"{TASKS}/{busy.id}?stop=true")).json()["task"]["id"] == busy.id
    told(await api.get(f"{TASKS}/{busy.id}"), 404, "TaskNotFound")


async def test_a_project_is_removed(api: httpx.AsyncClient, scene: Scene) -> None:
    await scene.running()
    url = f"/api/v1/projects/{scene.project.name}"
    assert "--force" in told(await api.delete(url), 409, "ProjectInUse")["message"]
    told(await api.delete(f"{url}?force=true"), 409, "ProjectInUse")
    removed = (await api.delete(f"{url}?force=true&stop=true")).json()
    assert removed == {
        "project": {"id": scene.project.id, "name": scene.project.name},
        "tasks": 1,
        "left": [],
    }
    told(await api.get(url), 404, "ProjectNotFound")
    assert (await api.get(TASKS)).json()["items"] == []


async def test_only_an_admin_deletes(
    api: httpx.AsyncClient, scene: Scene, program: Program
) -> None:
    task, now = await scene.task(), scene.s.clock.now()
    digest = access.digest_of("guest-token")
    await program.services.store.write(lambda tx: tx.access.add_token(digest, "bob", "member", now))
    api.headers["Authorization"] = "Bearer guest-token"
    told(await api.delete(f"{TASKS}/{task.id}"), 403, "NotAllowed")
    told(await api.delete(f"/api/v1/projects/{scene.project.name}?force=true"), 403, "NotAllowed")
    assert (await api.patch(f"{TASKS}/{task.id}", json={"title": "x"})).status_code == 200


async def test_a_task_is_explained(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    told_ = (await api.get(f"{TASKS}/{prompt.task_id}/why")).json()
    assert told_["next_mover"]["id"] == prompt.id
    assert "with needs_info" in told_["why"]
    assert "A person answers: Which colour? (+1 more)" in told_["why"]
    view = (await api.get(f"{TASKS}/{prompt.task_id}")).json()
    assert view["why"] == told_["why"]
    told(await api.get(f"{TASKS}/ffff0000/why"), 404, "TaskNotFound")


async def test_a_failed_hook_is_retried(api: httpx.AsyncClient, scene: Scene) -> None:
    task, _ = await scene.running()
    url = f"{TASKS}/{task.id}/retry-hook"
    assert "no failed hook" in told(await api.post(url), 409, "RetryRefused")["message"]

    def fail(tx: Tx) -> None:
        entry, name = tx.history.of_task(task.id)[-1], EffectId("effect-x")
        words = Notify(title="Look")
        planning.add(tx, scene.s, task, words, name, entry.id, 9, Policy.BEST_EFFORT)
        tx.effects.update(name, status="failed", error="No.")

    await scene.s.store.write(fail)
    unknown = await api.post(url, json={"effect": "merge_pr"})
    assert told(unknown, 409, "RetryRefused")["details"] == ["effect-x notify: No."]
    again = (await api.post(url, json={"effect": "notify"})).json()
    assert again == {"id": "effect-x", "task_id": task.id, "kind": "notify", "attempt": 2}
