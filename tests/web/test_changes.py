"""The changes of a task, and a review that is written over them and sent once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Work

WRITES: dict[str, Any] = {
    "implement": [
        [
            {"write": {"path": "search.py", "text": "def search():\n    return 1\n"}},
            {"write": {"path": "package-lock.json", "text": "{}\n"}},
            {"commit": "Search"},
            {"outcome": "pr_ready"},
        ],
        [
            {"modify": {"path": "search.py", "replace": "return 1", "with": "return 2"}},
            {"commit": "As asked"},
            {"outcome": "pr_ready"},
        ],
    ]
}


def reviewed(page: Page, work: Work) -> str:
    task = work.task("Add search", WRITES, pipeline="simple")
    work.prompt(task)
    page.goto(work.url(f"tasks/{task}", tab="changes"))
    expect(page.get_by_text("def search")).to_be_visible()
    return task


@pytest.mark.quick
def point_at(page: Page, line: str) -> None:
    """Until the line notices: what is drawn again under a mouse that stands still does not."""
    button = page.locator("[data-utility-button]").first
    for _ in range(100):
        page.mouse.move(0, 0)
        page.get_by_text(line).hover()
        page.wait_for_timeout(200)
        if button.is_visible():
            return
    raise AssertionError(f"{line} offers no comment")


def test_comments_are_gathered_and_sent_once(page: Page, work: Work) -> None:
    task = reviewed(page, work)
    point_at(page, "return 1")
    page.locator("[data-utility-button]").first.click()
    comment = page.get_by_label("Comment on line 2")
    comment.fill("Two is better.")
    page.reload()
    expect(page.get_by_label("Comment on line 2")).to_have_value("Two is better.")
    assert work.view(task)["task"]["status"] == "review"
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.url) if request.method == "POST" else None
    )
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_text("Sent back with your comments.")).to_be_visible()
    assert len([url for url in sent if url.endswith("/answer")]) == 1
    [told] = [
        e for e in work.site.get(f"tasks/{task}/events")["items"] if e["type"] == "review_submitted"
    ]
    assert "1 comment" in told["summary"]


def test_what_came_since_the_last_review(page: Page, work: Work) -> None:
    task = reviewed(page, work)
    answer = {"decision": "changes_requested", "summary": "Two.", "comments": []}
    first = work.prompt(task)["id"]
    work.site.post(f"prompts/{first}/answer", answer)
    page.wait_for_timeout(100)
    expect(page.get_by_label("Which changes")).to_contain_text("Since the last review")
    page.get_by_label("Which changes").select_option("1")
    expect(page.get_by_text("return 2")).to_be_visible()
    expect(page.get_by_role("region", name="package-lock.json")).to_have_count(0)
    assert "since=1" in page.url


def test_generated_files_are_folded_and_marks_are_kept(page: Page, work: Work) -> None:
    reviewed(page, work)
    expect(page.get_by_role("button", name="Unfold package-lock.json")).to_be_visible()
    page.get_by_role("region", name="search.py").get_by_label("Viewed").check()
    expect(page.get_by_role("button", name="Unfold search.py")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="search.py").get_by_label("Viewed")).to_be_checked()


def test_changes_cannot_be_asked_for_without_a_word(page: Page, work: Work) -> None:
    task = reviewed(page, work)
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_role("alert")).to_contain_text("Say what is to be changed")
    assert work.view(task)["task"]["status"] == "review"
    page.get_by_role("button", name="Approve").click()
    work.status(task, "done")
