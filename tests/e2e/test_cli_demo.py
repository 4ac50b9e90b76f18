"""`am demo`: at its address at once, with tasks in every situation that go on when answered."""

import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import Am, until

WAITING = {
    "Mail the list": "needs_info",
    "Keep the list between visits": "options_proposed",
    "Amounts with units": "planned",
    "Sort the list by shop": "pr_review",
    "Import a list from a file": "failed",
    "Remove an item by name": "review",
    "Correct the spelling of tomatoes": "needs_decision",
    "Share a list with the household": "pending_split",
    "Round the prices": "changes_requested",
}
OTHERS = {
    "Show the total price": "done",
    "Speed up the search": "in_progress",
    "Colours for the terminal": "cancelled",
    "Write the notes for release 0.2": "open",
    "Several lists": "open",
}


@pytest.mark.slow
def test_every_question_of_the_demo_can_be_answered(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.repo = tmp_path
    with am.quickly(), am.serving("demo", "--home", str(am.home), "--port", "0") as demo:
        with urllib.request.urlopen(f"{demo['address']}/healthz") as answer:
            assert answer.status == 200
        until(lambda: _has_settled(am))
        runs = {r["status"] for r in am.json("run", "list")}
        assert runs == {"running", "completed", "failed"}
        for item in am.json("prompt", "list"):
            _answer(am, item)
        until(lambda: all(_moved_on(t) for t in am.json("task", "list", "--all")))
        # The agent at work would outlive the demo.
        live = am.json("run", "list", "--live")
        am.text("run", "stop", *(r["id"] for r in live if r["mode"] == "implement"))
        until(lambda: not am.json("run", "list", "--live"))


def _has_settled(am: Am) -> bool:
    """Each where it waits for the reader; the capped one is there often before it is capped."""
    asked = {i["task"]["title"] for i in am.json("prompt", "list")}
    return asked == WAITING.keys() and _statuses(am) == {**WAITING, **OTHERS}


def _statuses(am: Am) -> dict[str, str]:
    return {t["task"]["title"]: t["task"]["status"] for t in am.json("task", "list", "--all")}


def _answer(am: Am, item: dict[str, Any]) -> None:
    prompt, task = item["prompt"], item["task"]["id"]
    if prompt["type"] in ("review", "document_review"):
        am.text("review", task, "--approve")
    elif item["acceptable"]:
        am.text("prompt", "answer", prompt["id"], "--accept")
    else:
        am.text("prompt", "answer", prompt["id"], "--option", "1")


def _moved_on(listed: dict[str, Any]) -> bool:
    """Whether a task that waited has come to its next question, or to its end."""
    task, mover = listed["task"], listed["next_mover"]["kind"]
    first = WAITING.get(task["title"])
    return first is None or (task["status"] != first and mover in ("prompt", "choice", "finished"))
