"""The task page: who moves next, what can be done and why not, and what happened."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests import repos
from tests.e2e.am_program import until
from tests.web.conftest import Work
from tests.web.test_inbox import SPLIT, ends

SIMPLE: dict[str, Any] = {"pipeline": "simple"}
WORKS = {
    "implement": [
        [
            {"say": "I write it."},
            {"write": {"path": "search.html", "text": "<input type=search>\n"}},
            {"commit": "Add a search box"},
            {"usage": {"input_tokens": 1200, "output_tokens": 300, "cost_usd": 0.02}},
            {"outcome": "pr_ready"},
        ]
    ]
}
HANGS = {"implement": [[{"say": "I think."}, {"hang": True}]]}


def heading(page: Page, title: str = "Add search") -> None:
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


@pytest.mark.quick
def test_parts_have_addresses_and_keys(page: Page, work: Work) -> None:
    task = work.task(script=WORKS, **SIMPLE)
    work.prompt(task)
    page.goto(work.url(f"tasks/{task}"))
    heading(page)
    expect(page.get_by_text("waits for you since")).to_be_visible()
    expect(page.get_by_role("region", name="Question")).to_be_visible()
    page.keyboard.press("5")
    runs = page.get_by_role("region", name="Runs and costs")
    expect(runs.get_by_text("$0.02").first).to_be_visible()
    assert "tab=runs" in page.url
    page.keyboard.press("4")
    expect(page.get_by_role("region", name="Timeline")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_text("I write it.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("I write it.")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("region", name="Timeline")).to_be_visible()


def test_a_move_that_is_refused_says_why_before_it_is_made(page: Page, work: Work) -> None:
    first = work.task("Build the shop", start=False)
    task = work.task(start=False, dependencies=[first], **SIMPLE)
    pipelines: list[Route] = []
    page.route("**/api/v1/pipelines/simple*", lambda route: pipelines.append(route))
    page.goto(work.url(f"tasks/{task}"))
    heading(page)
    page.keyboard.press("t")
    # What a move does is not known yet: "Cancel" must not pass for one that needs no second click.
    expect(page.get_by_role("menuitem")).to_have_text([re.compile("Move by force")])
    for route in pipelines:
        route.continue_()
    start = page.get_by_role("menuitem", name="Start")
    expect(start).to_contain_text('It waits for "Build the shop".')
    expect(start).to_be_disabled()
    page.get_by_role("menuitem", name="Cancel").click()
    asked = page.get_by_role("dialog", name="Cancel?")
    expect(asked).to_contain_text("ends it")
    assert work.view(task)["task"]["status"] == "open"
    asked.get_by_role("button", name="Cancel").click()
    work.status(task, "cancelled")
    expect(page.get_by_text("The task is finished.", exact=True)).to_be_visible()


def test_an_admin_moves_by_force_only_with_a_reason(page: Page, work: Work) -> None:
    other = work.task("Build the shop", start=False)
    task = work.task(start=False, dependencies=[other], **SIMPLE)
    page.goto(work.url(f"tasks/{task}"))
    heading(page)
    page.keyboard.press("t")
    page.get_by_role("menuitem", name="Move by force").click()
    dialog = page.get_by_role("dialog", name="Move by force")
    dialog.get_by_label("To").select_option("in_progress")
    expect(dialog.get_by_role("button", name="Move by force")).to_be_disabled()
    dialog.get_by_label("Why").fill("It cannot wait.")
    dialog.get_by_role("button", name="Move by force").click()
    first = until(lambda: next(iter(work.site.get(f"tasks/{task}/history")["items"]), None))
    assert (first["result"], first["reason"]) == ("forced", "It cannot wait.")


def test_a_running_agent_is_stopped_and_run_with_options(page: Page, work: Work) -> None:
    task = work.task(script=HANGS, **SIMPLE)
    page.goto(work.url(f"tasks/{task}"))
    expect(page.get_by_text("scripted works, last sign of life")).to_be_visible()
    page.keyboard.press(".")
    page.get_by_role("dialog").get_by_role("button", name="Stop the agent").click()
    until(lambda: work.view(task)["run"] is None)
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Run with options").click()
    dialog = page.get_by_role("dialog", name="Run with options")
    dialog.get_by_label("Mode", exact=True).select_option("plan")
    dialog.get_by_label("Settings").fill("nonsense")
    dialog.get_by_role("button", name="Start the agent").click()
    expect(dialog.get_by_role("alert")).to_contain_text('"nonsense" is no setting')
    dialog.get_by_label("Settings").fill("timeout=60000")
    dialog.get_by_role("button", name="Start the agent").click()
    run = until(lambda: next((r for r in work.view(task)["runs"] if r["mode"] == "plan"), None))
    assert run["overrides"]["run"] == {"timeout": 60000}


def test_somebody_elses_words_are_shown_and_ones_own_are_kept(page: Page, work: Work) -> None:
    task = work.task(start=False, description="Mine was first.")
    page.goto(work.url(f"tasks/{task}"))
    heading(page)
    page.get_by_role("button", name="Edit the words").click()
    dialog = page.get_by_role("dialog", name="Edit the words")
    dialog.get_by_label("What is to be done").fill("What I want.")
    work.site.http.patch(
        f"tasks/{task}", json={"description": "What they want.", "priority": "high"}
    ).raise_for_status()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("What they want.")
    dialog.get_by_role("button", name="Go on with mine").click()
    expect(dialog.get_by_label("Priority")).to_have_value("high")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    kept = work.view(task)["task"]
    assert (kept["description"], kept["priority"]) == ("What I want.", "high")


def test_the_timeline_tells_what_guards_said(page: Page, work: Work) -> None:
    task = work.task(script=WORKS, **SIMPLE)
    work.prompt(task)
    moved = next(
        e for e in work.site.get(f"tasks/{task}/events")["items"] if e["type"] == "status.changed"
    )
    page.goto(work.url(f"tasks/{task}", tab="timeline") + f"#{moved['seq']}")
    timeline = page.get_by_role("region", name="Timeline")
    row = timeline.locator(f"[data-seq='{moved['seq']}']")
    expect(row).to_contain_text("Moved from open to in_progress")
    expect(timeline.get_by_text("No agent is running.")).to_be_hidden()
    calls = timeline.get_by_role("button", name="tool call")
    expect(calls).to_contain_text("commit 1")
    expect(timeline.get_by_text("commit: ")).to_be_hidden()
    calls.click()
    expect(timeline.get_by_text("commit: ")).to_be_visible()
    timeline.get_by_role("button", name="Full").click()
    expect(row.get_by_text("No agent is running.")).to_be_visible()
    page.keyboard.press("x")
    expect(row.locator("pre")).to_contain_text('"type": "status.changed"')
    page.keyboard.press("x")
    timeline.get_by_role("button", name="git").click()
    expect(row).to_be_hidden()
    expect(timeline.get_by_text("was created from main")).to_be_visible()


def test_a_run_tells_what_it_was_told_and_what_its_checks_said(page: Page, work: Work) -> None:
    task = work.task(script={"implement": [[{"say": "No."}, {"crash": 3}]]}, **SIMPLE)
    run = until(lambda: next((r for r in work.view(task)["runs"] if r["ended_at"]), None))
    page.goto(work.url(f"tasks/{task}", tab="runs"))
    table = page.get_by_role("region", name="Runs and costs")
    expect(table.get_by_text("unknown").first).to_be_visible()
    expect(table.get_by_text("$0")).to_be_hidden()
    table.get_by_role("button", name="1. implement").click()
    table.get_by_role("button", name="What it was told").click()
    told = work.site.http.get(f"runs/{run['id']}/prompt").text
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text(told.splitlines()[0])


def test_the_next_task_is_one_key_away(page: Page, work: Work) -> None:
    older = work.task("The older", start=False)
    work.task("The newer", start=False)
    page.goto(work.url(f"tasks/{older}"))
    heading(page, "The older")
    page.keyboard.press("[")
    heading(page, "The newer")
    page.keyboard.press("]")
    heading(page, "The older")


def test_a_task_is_deleted_only_when_that_was_meant(page: Page, work: Work) -> None:
    task = work.task(start=False)
    page.goto(work.url(f"tasks/{task}"))
    heading(page)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Leave it").click()
    assert work.view(task)["task"]["id"] == task
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The task was deleted.")).to_be_visible()
    assert work.site.http.get(f"tasks/{task}").status_code == 404


def test_it_fits_a_phone(phone: Page, work: Work) -> None:
    task = work.task("A title of so many words that it takes two lines", WORKS, **SIMPLE)
    work.prompt(task)
    for tab in ("overview", "transcript", "timeline", "runs"):
        phone.goto(work.url(f"tasks/{task}", tab=tab))
        heading(phone, "A title of so many words that it takes two lines")
        if tab == "transcript":
            phone.get_by_role("button", name="Answer", exact=True).tap()
        expect(phone.get_by_role("region", name="Question")).to_be_visible()
        wide = "document.getElementById('main').scrollWidth - window.innerWidth"
        assert phone.evaluate(wide) <= 0


def test_phases_that_have_not_begun_are_moved_and_left_out(page: Page, work: Work) -> None:
    task = work.task(script={**ends("propose_split", SPLIT), **HANGS})
    prompt = work.prompt(task)
    work.site.post(f"prompts/{prompt['id']}/answer", {"decision": "approved"})
    page.goto(work.url(f"tasks/{task}"))
    rows = page.get_by_role("listitem").filter(has=page.get_by_text("Keep it.")).locator("../li")
    expect(rows).to_contain_text(["Store", "Show", "Tidy"])
    page.get_by_role("button", name="Move up: Tidy").click()
    expect(rows).to_contain_text(["Store", "Tidy", "Show"])
    page.get_by_role("button", name="Skip: Show").click()
    page.get_by_role("dialog").get_by_role("button", name="Skip the phase").click()
    expect(rows.nth(2)).to_contain_text("skipped")
    states = {one["name"]: one["status"] for one in work.view(task)["phases"]}
    assert states == {"Store": "active", "Tidy": "pending", "Show": "skipped"}


def test_a_snapshot_is_restored_to_a_branch(page: Page, work: Work) -> None:
    left = [{"write": {"path": "draft.html", "text": "<p>\n"}}, {"say": "Wait."}, {"hang": True}]
    task = work.task(script={"implement": [left, *HANGS["implement"]]}, **SIMPLE)
    run = until(lambda: (work.view(task)["run"] or {}).get("id"))
    output = work.site.home / "jobs" / run / "1" / "output"
    until(lambda: output.exists() and "Wait." in output.read_text())
    work.site.post(f"runs/{run}/stop")
    work.prompt(task)
    work.site.post(f"tasks/{task}/runs")
    page.goto(work.url(f"tasks/{task}"))
    page.get_by_role("button", name="Restore").click()
    dialog = page.get_by_role("dialog", name="Restore snapshot 1?")
    dialog.get_by_label("As a new branch").fill("main")
    dialog.get_by_role("button", name="Restore").click()
    expect(dialog.get_by_role("alert")).to_contain_text("main")
    dialog.get_by_label("As a new branch").fill("kept")
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Snapshot 1 is restored to kept.")).to_be_visible()
    assert repos.run(work.repo, "show", "kept:draft.html") == "<p>"


def test_versions_of_a_plan_are_compared(page: Page, work: Work) -> None:
    words = ("A box.", "A page of its own.", "A page of its own.")
    plans = [[{"say": f"# Plan\n\n{one}\n"}, {"outcome": "plan_complete"}] for one in words]
    task = work.task(script={"plan": plans})
    again = {"decision": "changes_requested", "summary": "Not a box.", "comments": []}
    for version in (2, 3):
        work.site.post(f"prompts/{work.prompt(task)['id']}/answer", again)
        until(lambda v=version: len(work.site.get(f"tasks/{task}/documents")["items"]) == v)
    page.goto(work.url(f"tasks/{task}"))
    page.get_by_role("button", name="What changed").click()
    expect(page.get_by_text("Nothing changed.")).to_be_visible()
    page.get_by_label("Version of plan").select_option("2")
    expect(page.get_by_text("-A box.")).to_be_visible()
    expect(page.get_by_text("+A page of its own.")).to_be_visible()
    page.get_by_label("Version of plan").select_option("1")
    expect(page.get_by_role("button", name="What changed")).to_be_disabled()
    expect(page.get_by_text("A box.", exact=True)).to_be_visible()
