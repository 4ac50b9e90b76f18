"""Ten imported tasks that depend on each other, started at once and merged in order."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import PATIENCE_S, Am

AFTER: dict[str, list[str]] = {
    "one": [],
    "two": ["one"],
    "three": ["one"],
    "four": ["two", "three"],
    "five": ["four"],
    "six": [],
    "seven": ["six", "five"],
    "eight": ["seven"],
    "nine": ["seven"],
    "ten": ["eight", "nine"],
}


def task_list() -> str:
    """A row for each, the last to be merged first."""
    rows = ["title,depends_on,pipeline,description"]
    for name, after in reversed(AFTER.items()):
        script = f'implement: [[{{write: {{path: {name}.txt, text: ""{name}""}}}}'
        script += f", {{commit: Add {name}}}, {{outcome: pr_ready}}]]"
        block = f"```agent-script\n{script}\n```"
        rows.append(f'{name},{";".join(after)},simple,"{block}"')
    return "\n".join(rows)


def approve_until_done(am: Am, wanted: int) -> list[dict[str, Any]]:
    """Approves each review, until as many tasks are done; all tasks."""
    end = time.monotonic() + 4 * PATIENCE_S
    while time.monotonic() < end:
        for item in am.json("prompt", "list"):
            assert item["prompt"]["type"] == "review", item
            am("review", item["task"]["id"], "--approve")
        rows = am.json("task", "list")
        if sum(row["status"]["id"] == "done" for row in rows) >= wanted:
            return rows
        time.sleep(0.2)
    raise AssertionError("they were not merged in time")


@pytest.mark.slow
def test_ten_imported_tasks_are_merged_in_the_order_of_their_dependencies(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        (am.repo / "house.csv").write_text(task_list())
        done = am("task", "import", "house.csv", "--start")
        assert "10 tasks made, 2 started, 8 waiting for dependencies" in done.out, done
        assert 'until "am serve" is started' in done.err
        assert am.json("task", "start", "--all") == []
        ids = {row["task"]["title"]: row["task"]["id"] for row in am.json("task", "list")}
        why = am.text("task", "why", ids["four"])
        assert 'It starts when "two" (Open) and "three" (Open) are finished.' in why
        with am.serving("serve", "--port", "0"):
            approve_until_done(am, 4)
        # What waits does so across a restart of the server.
        with am.serving("serve", "--port", "0"):
            approve_until_done(am, len(AFTER))
        merged = am.git("log", "--reverse", "--format=%s", "main").splitlines()
        place = {name: merged.index(f"Add {name}") for name in AFTER}
        for name, after in AFTER.items():
            assert all(place[one] < place[name] for one in after), merged


@pytest.mark.slow
def test_nothing_is_created_to_start_while_the_commands_are_not_trusted(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        am.text("config", "set", "checks.test.command", "make test", "--yes")
        (am.repo / "list.md").write_text("- [ ] Paint the door\n")
        for command in (
            ("task", "create", "Greet", "--start"),
            ("task", "create", "Greet", "--start", "--agent", "scripted"),
            ("task", "import", "list.md", "--start"),
        ):
            refused = am(*command)
            assert refused.code == 1
            assert "Nothing was created, as it could not start." in refused.err
            assert 'checks.test is new: "make test"' in refused.err
            assert "am project trust shop" in refused.err
        assert am.json("task", "list") == []
        am.text("task", "create", "Greet")
        am.text("project", "trust", "shop")
        am.text("task", "create", "Wave", "--start")
        assert {row["status"]["id"] for row in am.json("task", "list")} == {"open", "planning"}
