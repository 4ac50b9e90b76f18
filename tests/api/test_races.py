"""Agents side by side over HTTP."""

from typing import Any

import httpx

from tests.api.scenes import Scene, told

THREE = [{"agent": "scripted", "model": name} for name in ("one", "two", "three")]


async def test_a_race_is_ordered_started_and_looked_at(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await scene.task(pipeline="simple")
    base = f"/api/v1/tasks/{task.id}"
    told(await api.get(f"{base}/race"), 404, "NotFound")
    judge = {"agent": "scripted", "model": "judge"}
    started = await api.post(f"{base}/race", json={"contenders": THREE, "judge": judge})
    assert (started.status_code, started.json()["status"]) == (201, "in_progress")
    view = (await api.get(base)).json()
    assert (view["raced"], [run["part"] for run in view["runs"]]) == (
        True,
        ["1-1", "1-2", "1-3"],
    )
    race = (await api.get(f"{base}/race")).json()
    assert (race["judge"], race["picked"], race["prompt"]) == (judge, None, None)
    assert [one["contender"] for one in race["contenders"]] == THREE
    assert {one["unfit"] for one in race["contenders"]} == {"It is not done yet."}
    run = race["contenders"][0]["run"]["id"]
    told(await api.post(f"{base}/race/pick", json={"run": run}), 409, "TransitionRefused")
    told(await api.get(f"{base}/race/none/diff"), 404, "NotFound")
    assert (await api.get(f"{base}/race/{run}/diff")).text == ""
    again = await api.post(f"{base}/race", json={"contenders": THREE})
    told(again, 409, "TransitionRefused")


async def test_a_task_is_created_with_who_races(scene: Scene, api: httpx.AsyncClient) -> None:
    new = {"project": scene.project.name, "title": "Race", "race": {"contenders": THREE}}
    made = await api.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
    again = await api.post("/api/v1/tasks", json=new, headers={"Idempotency-Key": "k"})
    assert (made.status_code, again.json()) == (201, made.json())
    base = f"/api/v1/tasks/{made.json()['id']}"
    assert (made.json()["status"], (await api.get(base)).json()["runs"]) == ("open", [])
    race = (await api.get(f"{base}/race")).json()
    assert [one["run"] for one in race["contenders"]] == [None, None, None]
    events = (await api.get(f"{base}/events")).json()["items"]
    assert [e["type"] for e in events].count("race.ordered") == 1


async def test_who_cannot_race_makes_no_task(scene: Scene, api: httpx.AsyncClient) -> None:
    async def refused(race: dict[str, Any], error: str = "InvalidInput") -> None:
        new = {"project": scene.project.name, "title": "Race", "race": race}
        told(await api.post("/api/v1/tasks", json=new), 422, error)

    await refused({"contenders": THREE[:1]})
    await refused({"contenders": [*THREE, *THREE]})
    await refused({"contenders": THREE, "judge": THREE[0]})
    await refused({"contenders": [{"agent": "nobody"}, *THREE]}, "AgentNotFound")
    await refused({"contenders": [{"agent": ""}, *THREE]})
    assert (await api.get("/api/v1/tasks")).json()["items"] == []
