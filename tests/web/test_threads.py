"""Comments on changes as threads: answered, resolved, and where their code is now."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.web.conftest import Work

FIRST = "def search():\n    # slow\n    return 1\n"
SECOND = f'"""Finds things."""\n\n{FIRST.replace("# slow", "# quick")}'


def wrote(text: str) -> list[dict[str, Any]]:
    return [
        {"write": {"path": "search.py", "text": text}},
        {"commit": "Search"},
        {"outcome": "pr_ready"},
    ]


def remark(line: int | None, comment: str) -> dict[str, Any]:
    return {"file": "search.py", "line": line, "severity": "should_fix", "comment": comment}


def two_rounds(page: Page, work: Work) -> str:
    """Work that was sent back with comments, and came again."""
    task = work.task("Add search", {"implement": [wrote(FIRST), wrote(SECOND)]}, pipeline="simple")
    first = work.prompt(task)["id"]
    said = [remark(2, "Why **slow**?"), remark(3, "Return all."), remark(None, "A test, please.")]
    answer = {"decision": "changes_requested", "summary": "Nearly.", "comments": said}
    work.site.post(f"prompts/{first}/answer", answer)
    work.site.post(f"tasks/{task}/comments", {"text": "What of the docs?"})
    assert work.prompt(task)["id"] != first
    page.goto(work.url(f"tasks/{task}", tab="changes"))
    expect(page.get_by_text("Finds things")).to_be_visible()
    return task


def test_a_thread_stands_where_its_code_is_and_is_answered_and_resolved(
    page: Page, work: Work
) -> None:
    two_rounds(page, work)
    region = page.get_by_role("region", name="search.py")
    moved = region.get_by_role("article").filter(has_text="was line 3")
    expect(moved).to_contain_text("Return all.")
    expect(moved).to_contain_text("review 1")
    gone = region.get_by_role("article").filter(has_text="slow")
    expect(gone).to_contain_text("lines changed")
    expect(gone.locator("pre")).to_have_text("def search():\n    # slow")
    whole = page.get_by_role("region", name="Comments on the whole")
    expect(whole).to_contain_text("What of the docs?")

    moved.get_by_role("button", name="Answer").click()
    moved.get_by_label("Answer to").fill("All of <b>them</b>?")
    page.reload()
    expect(moved.get_by_label("Answer to")).to_have_value("All of <b>them</b>?")
    moved.get_by_role("button", name="Send answer").click()
    expect(moved.get_by_label("1 answer")).to_contain_text("All of")
    moved.get_by_role("button", name="Resolve").click()
    expect(moved).to_contain_text("resolved")
    expect(moved).not_to_contain_text("Return all.")


def test_a_resolved_thread_is_folded_and_opened_again(page: Page, work: Work) -> None:
    task = two_rounds(page, work)
    whole = page.get_by_role("region", name="Comments on the whole").get_by_role("article")
    whole.get_by_role("button", name="Resolve").click()
    expect(whole).not_to_contain_text("What of the docs?")
    whole.get_by_role("button", name="Show").click()
    whole.get_by_role("button", name="Open again").click()
    expect(whole.get_by_role("button", name="Resolve")).to_be_visible()
    states = [c["state"] for c in work.site.get(f"tasks/{task}/comments")["items"]]
    assert states == ["changed", "open", "open", "open"]
    types = [e["type"] for e in work.site.get(f"tasks/{task}/events")["items"]]
    assert types.count("comment.resolved") == 2
