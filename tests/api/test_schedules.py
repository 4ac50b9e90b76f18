"""Schedules, and tasks that begin later, over HTTP."""

from typing import Any

import httpx
import pytest

from tests.api.scenes import Scene

URL = "/api/v1/schedules"


def schedule(scene: Scene, **more: Any) -> dict[str, Any]:
    task = {"title": "Tidy {date}", "pipeline": "simple"}
    said = {"name": "Tidy", "rule": "every day at 09:00", "zone": "Europe/Berlin", "task": task}
    return {"project": scene.project.name, **said, **more}


async def test_a_schedule_is_added_looked_at_changed_and_removed(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    added = await api.post(URL, json=schedule(scene))
    assert added.status_code == 201
    made = added.json()
    assert (made["state"], made["start"], made["when_open"]) == ("active", False, "skip")
    one = f"{URL}/{made['id']}"
    view = (await api.get(one)).json()
    assert (view["schedule"], len(view["next"]), view["firings"]) == (made, 5, [])
    assert view["next"][0] == made["next_at"]
    changed = {"rule": "0 18 * * 5", "task": {"title": "Tidy up"}, "most": 3}
    edited = (await api.patch(one, json=changed)).json()
    assert (edited["rule"], edited["template"]["title"], edited["most"]) == (
        *("0 18 * * 5", "Tidy up", 3),
    )
    task = await api.post(f"{one}/run")
    assert (task.status_code, task.json()["title"]) == (201, "Tidy up")
    assert (await api.post(f"{one}/pause")).json()["state"] == "paused"
    assert (await api.post(f"{one}/resume")).json()["state"] == "active"
    listed = (await api.get(URL, params={"project": scene.project.name})).json()["items"]
    assert [item["id"] for item in listed] == [made["id"]]
    assert (await api.delete(one)).status_code == 200
    assert (await api.get(one)).json()["error"] == "ScheduleNotFound"
    assert (await api.get(f"/api/v1/tasks/{task.json()['id']}")).status_code == 200


async def test_its_tasks_are_made_for_an_agent(scene: Scene, api: httpx.AsyncClient) -> None:
    words = {"title": "Update", "agent": "codex", "model": "gpt-5.5"}
    made = (await api.post(URL, json=schedule(scene, task=words))).json()
    assert (made["template"]["agent"], made["template"]["model"]) == ("codex", "gpt-5.5")
    one = f"{URL}/{made['id']}"
    await api.patch(one, json={"task": {"agent": "claude-code"}})
    task = (await api.post(f"{one}/run")).json()
    assert (task["agent"], task["model"]) == ("claude-code", None)


async def test_a_rule_is_tried_before_it_is_kept(api: httpx.AsyncClient) -> None:
    given = {"rule": "every 2 weeks on monday at 08:00", "zone": "America/New_York"}
    found = (await api.get(f"{URL}/preview", params=given)).json()["next"]
    assert len(found) == 5
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"rule": "0 9 31 2 *"}, "never comes"),
        ({"rule": "* * * * *"}, "every 15 minutes"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"until": "2020-01-01T00:00:00Z"}, "is over"),
        ({"until": "2050-01-01T00:00:00"}, "timezone"),
        ({"most": 0}, "greater than"),
        ({"when_open": "perhaps"}, "skip"),
        ({"task": {"title": ""}}, "No task can be made"),
        ({"task": {"title": "A", "pipeline": "gone"}}, "no pipeline"),
        ({"project": "gone"}, "no such project"),
    ],
)
async def test_what_is_wrong_is_said(
    scene: Scene, api: httpx.AsyncClient, wrong: dict[str, Any], why: str
) -> None:
    refused = await api.post(URL, json=schedule(scene, **wrong))
    assert refused.status_code in (404, 422)
    assert why in refused.text
    if "rule" in wrong:
        asked = await api.get(f"{URL}/preview", params={"rule": wrong["rule"]})
        assert (asked.status_code, asked.json()["error"]) == (422, "InvalidInput")


async def test_a_task_begins_later(scene: Scene, api: httpx.AsyncClient) -> None:
    at = "2050-01-01T09:00:00+01:00"
    said = {"project": scene.project.name, "title": "Later", "starts_at": at}
    task = (await api.post("/api/v1/tasks", json=said)).json()
    assert task["starts_at"] == "2050-01-01T08:00:00Z"
    one = f"/api/v1/tasks/{task['id']}"
    assert "It starts at 2050-01-01 08:00:00 UTC." in (await api.get(f"{one}/why")).json()["why"]
    changed = await api.put(f"{one}/start-time", json={"at": None, "expect_version": 1})
    assert changed.json()["starts_at"] is None
    stale = await api.put(f"{one}/start-time", json={"at": at, "expect_version": 1})
    assert stale.json()["error"] == "StaleTask"
    over = await api.put(f"{one}/start-time", json={"at": "2020-01-01T09:00:00Z"})
    assert (over.status_code, over.json()["error"]) == (422, "InvalidInput")
