"""Work that a failed run left, and tasks that wait for each other, led to their merges."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.am_program import PATIENCE_S
from tests.e2e.test_cli_starts import AFTER, task_list
from tests.web.conftest import DESKTOP, PHONE, Work
from tests.web.looks import faults
from tests.web.test_inbox import open_inbox

CRASHES: dict[str, Any] = {
    "implement": [
        [
            {"write": {"path": "search.html", "text": "<input type=search>\n"}},
            {"commit": "Add a search box"},
            {"crash": 3},
        ]
    ]
}


def merged(work: Work) -> list[str]:
    log = ["git", "-C", str(work.repo), "log", "--reverse", "--format=%s", "main"]
    return subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_commits_of_a_run_that_crashed_are_reviewed_as_they_are_and_merged(
    visit: Callable[..., Page], work: Work, size: Any
) -> None:
    page = visit(size)
    work.site.am("config", "set", "--project", work.name, "--yes", "retries.crash.tries", "0")
    task = work.task(script=CRASHES, pipeline="simple")
    prompt = work.prompt(task)
    panel = open_inbox(page, work, prompt["id"])
    expect(panel).to_contain_text("The agent failed: The agent exited with code 3.")
    expect(panel.get_by_role("radio", name="Check again")).to_be_visible()
    panel.get_by_role("radio", name="Review as it is").check()
    assert faults(page) == []
    panel.get_by_role("button", name="Review as it is").click()
    work.status(task, "review")
    assert "Add a search box" not in merged(work)
    panel = open_inbox(page, work, work.prompt(task)["id"])
    panel.get_by_role("button", name="Approve").click()
    work.status(task, "done")
    assert "Add a search box" in merged(work)


def test_ten_imported_tasks_are_started_at_once_and_merged_in_their_order(
    page: Page, work: Work
) -> None:
    page.goto(work.url("tasks"))
    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import tasks")
    dialog.get_by_label("List", exact=True).fill(task_list())
    dialog.get_by_label("Start the new tasks when their dependencies are finished").check()
    dialog.get_by_role("button", name="Show what would be made").click()
    dialog.get_by_role("button", name="Make 10 tasks").click()
    made = "10 tasks made, 2 started, 8 waiting for dependencies."
    expect(dialog.get_by_role("status")).to_have_text(made)
    page.goto(work.url("board"))
    expect(page.get_by_role("article")).to_have_count(10)
    assert faults(page) == []
    end = time.monotonic() + 4 * PATIENCE_S
    while len(work.site.get("tasks", project=work.name, status="done")["items"]) < len(AFTER):
        assert time.monotonic() < end, "they were not merged in time"
        for item in work.site.get("prompts", project=work.name)["items"]:
            assert item["prompt"]["type"] == "review"
            work.site.post(f"tasks/{item['task']['id']}/review", {"decision": "approved"})
        page.wait_for_timeout(100)
    place = {name: merged(work).index(f"Add {name}") for name in AFTER}
    assert all(place[one] < place[name] for name, after in AFTER.items() for one in after)
    expect(page.get_by_role("region", name="Done")).to_contain_text("10")
