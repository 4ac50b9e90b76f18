"""The board over HTTP."""

import os
from typing import Any

import httpx

from agents_manager.api import pages
from agents_manager.domain.run import RunStatus
from agents_manager.flow import tasks
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import places
from tests.api.scenes import ANN, Scene, told

BOARD = "/api/v1/board"


async def board(api: httpx.AsyncClient, query: str = "") -> dict[str, Any]:
    response = await api.get(BOARD + query)
    assert response.status_code == 200, response.text
    pages.Board.model_validate_json(response.content)
    return response.json()


async def test_an_empty_board(api: httpx.AsyncClient, scene: Scene) -> None:
    nothing = {"lanes": [], "cards": [], "finished": {"total": 0, "shown": 0}}
    assert await board(api) == nothing


async def test_columns_and_cards(api: httpx.AsyncClient, scene: Scene) -> None:
    asked = await scene.asking(title="Asking")
    running, run = await scene.running("Running")
    await scene.task("New", pipeline="simple", tags=["x"])
    over = await scene.task("Over")
    await tasks.move(scene.s, over.id, ANN, to="cancelled")
    found = await board(api)
    feature, simple = found["lanes"]
    assert (feature["id"], simple["id"]) == ("feature", "simple")
    assert feature["columns"][0] == {
        **{"id": "open", "title": "Open", "color": "#6b7280", "category": "open", "count": 0}
    }
    counted = {column["id"]: column["count"] for column in feature["columns"] if column["count"]}
    assert counted == {"planning": 1, "needs_info": 1, "cancelled": 1}
    cards = {card["title"]: card for card in found["cards"]}
    assert [c["mover"] for c in (cards[t] for t in ("Asking", "Running", "New", "Over"))] == [
        *("prompt", "run", "person", "finished")
    ]
    prompt = cards["Asking"]["prompt"]
    assert (prompt["id"], prompt["type"]) == (asked.id, "info_request")
    assert cards["Running"]["run"]["id"] == run.id
    assert cards["Running"]["run"]["printed_at"] is None
    assert (cards["New"]["tags"], cards["New"]["category"]) == (["x"], "open")
    assert cards["Over"]["cost"] is None
    assert cards["Running"]["version"] == running.version
    assert found["finished"] == {"total": 1, "shown": 1}


async def test_every_mover_is_the_one_that_the_task_view_names(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    await scene.asking()
    await scene.running()
    waiting = await scene.task(dependencies=[(await scene.task()).id])
    lost, run = await scene.running()
    stays = await scene.asking("failed", {"reason": "It broke."})

    def write(tx: Tx) -> None:
        tx.runs.update(run.id, status=RunStatus.FAILED)
        for effect in tx.effects.open(lost.id):
            tx.effects.update(effect.id, status="done")
        closed = {"status": "responded", "response": {"choice_id": "stay"}}
        tx.prompts.close(stays.id, **closed)

    await scene.s.store.write(write)
    cards = (await board(api))["cards"]
    for card in cards:
        seen = (await api.get(f"/api/v1/tasks/{card['id']}")).json()
        assert card["mover"] == seen["next_mover"]["kind"], card["title"]
    assert {c["mover"] for c in cards} >= {"prompt", "run", "dependency", "nobody", "person"}
    assert next(c["mover"] for c in cards if c["id"] == waiting.id) == "dependency"


async def test_a_card_tells_when_its_agent_last_printed(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    _, run = await scene.running()
    now = scene.s.clock.now()
    await scene.s.store.write(
        lambda tx: tx.runs.update(run.id, status=RunStatus.RUNNING, started_at=now)
    )
    for turn, time in ((1, 1_000_000_000), (2, 1_000_000_060)):
        output = places.job_dir(scene.s, run.id, turn) / places.OUTPUT
        output.parent.mkdir(parents=True)
        output.write_text("Hello\n")
        os.utime(output, (time, time))
    [card] = (await board(api))["cards"]
    assert card["run"]["printed_at"] == "2001-09-09T01:47:40Z"
    assert card["run"]["status"] == "running"


async def test_a_card_tells_its_round(api: httpx.AsyncClient, scene: Scene) -> None:
    asked = await scene.asking("plan_complete", {})
    again = {"decision": "changes_requested", "summary": "No.", "comments": []}
    answered = await api.post(f"/api/v1/prompts/{asked.id}/answer", json=again)
    assert answered.status_code == 200, answered.text
    [card] = (await board(api))["cards"]
    assert card["round"] == {"number": 1, "max": 5, "status": "planning"}


async def test_statuses_of_older_versions(api: httpx.AsyncClient, scene: Scene) -> None:
    document: dict[str, Any] = {
        "id": "own",
        "name": "Own",
        "statuses": [
            {"id": "open", "category": "open"},
            {"id": "gone", "category": "open", "position": 1, "label": "Gone now"},
            {"id": "done", "category": "final", "position": 2},
        ],
        "transitions": [
            {"from": "open", "to": "gone", "trigger": "manual"},
            {"from": "open", "to": "done", "trigger": "manual"},
            {"from": "gone", "to": "done", "trigger": "manual"},
        ],
    }
    assert (await api.post("/api/v1/pipelines", json=document)).status_code == 200
    old = await scene.task("Old", pipeline="own")
    older = await scene.task("Older", pipeline="own")
    await tasks.move(scene.s, older.id, ANN, to="gone")
    newer = {
        **document,
        "statuses": [document["statuses"][2], {**document["statuses"][0], "label": "To do"}],
        "transitions": [document["transitions"][1]],
    }
    assert (await api.post("/api/v1/pipelines", json=newer)).status_code == 200
    await scene.task("New", pipeline="own")
    [lane] = (await board(api))["lanes"]
    assert lane["version"] == 2
    assert [(c["id"], c["title"], c["count"]) for c in lane["columns"]] == [
        *(("open", "To do", 2), ("done", "done", 0), ("gone", "Gone now", 1)),
    ]
    assert old.pipeline_version == 1


async def test_the_board_of_a_project(api: httpx.AsyncClient, scene: Scene) -> None:
    await scene.task()
    assert len((await board(api, "?project=shop"))["cards"]) == 1
    told(await api.get(f"{BOARD}?project=nowhere"), 404, "ProjectNotFound")
    told(await api.get(f"{BOARD}?projects=shop"), 422, "InvalidInput")


async def test_single_cards_with_all_columns(api: httpx.AsyncClient, scene: Scene) -> None:
    new, other = await scene.task("New"), await scene.task("Other")
    over = await scene.task("Over")
    await tasks.move(scene.s, over.id, ANN, to="cancelled")
    whole = await board(api)
    some = await board(api, f"?task={new.id}&task={over.id}&task=gone")
    assert {card["title"] for card in some["cards"]} == {"New", "Over"}
    assert some["cards"] == [card for card in whole["cards"] if card["id"] != other.id]
    assert some["lanes"] == whole["lanes"]
    assert (await board(api, "?task=gone"))["cards"] == []
    refused = await api.get(BOARD, params={"task": ["x"] * 201})
    assert refused.status_code == 422
