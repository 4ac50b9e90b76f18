"""The stages of a task: how far each is, what it gave back and was given, and who had whom run
again."""

from collections.abc import Callable
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.staged_walk import FAILING, FILES, ends, sample, script
from tests.web.conftest import PHONE, Site, Work, make_work


def walk() -> dict[str, Any]:
    """A plan that cannot be taken at first, and tests that fail at first."""
    wrong = sample("implementation_plan")
    wrong["batches"][0]["features"][0]["create"] = ["a.py", "b.py"]
    return script(
        plan_agent=[
            {"steps": ends("implementation_plan", wrong), "repair": ends("implementation_plan")}
        ],
        test_agent=[ends("test_report", FAILING), ends("test_report")],
    )


def stage(page: Page, number: str) -> Locator:
    return page.locator(f"#stage-{number}")


def faults(page: Page) -> list[str]:
    found = [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        found.append("it runs off the side")
    return found


def test_the_stages_of_a_task(visit: Callable[..., Page], site: Site) -> None:
    work = make_work(site, FILES)
    task = work.task("Add a health check", walk(), pipeline="staged")
    prompt = work.prompt(task)
    page = visit()
    page.goto(work.url(f"tasks/{task}"))
    expect(page.get_by_role("link", name="Stages")).to_be_visible()
    page.keyboard.press("6")
    expect(stage(page, "0")).to_contain_text("done")
    expect(stage(page, "0")).to_contain_text("2 features, 1 risk")
    expect(stage(page, "1")).to_contain_text("waiting")
    expect(page.get_by_text("No agent had another run again.")).to_be_visible()

    # It goes on while somebody looks at it.
    site.post(f"prompts/{prompt['id']}/answer", {"decision": "approved"})
    expect(stage(page, "8")).to_contain_text("COMPLETE", timeout=120_000)
    expect(stage(page, "5")).to_contain_text("done")
    expect(stage(page, "6")).to_contain_text("again \u00d71")
    expect(page.get_by_text("14 of 14 stages done")).to_be_visible()

    loop = page.get_by_role("article", name="LB1")
    expect(loop).to_contain_text("1 of 12 tests fail")
    expect(loop).to_contain_text("debugger ended with debug_report.")
    for name in ("debugger", "logical-agent", "test-agent", "high", "completed"):
        expect(loop.get_by_text(name, exact=True).last).to_be_visible()
    retry = page.get_by_role("article", name="plan-agent, attempt 2")
    expect(retry).to_contain_text("batch 1 has 3 files to modify or create")
    expect(retry).to_contain_text("It was asked again in the same session")

    review = stage(page, "7")
    review.get_by_role("button", name="Review").click()
    rows = review.get_by_role("table", name="Criteria").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("GET /health answers 200 with the status")
    review.get_by_role("button", name="JSON of Review").click()
    expect(review.get_by_text('"verdict": "MET"').first).to_be_visible()
    review.get_by_role("button", name="What it was given").click()
    given = page.get_by_role("dialog", name="What review-agent was given")
    expect(given).to_contain_text("characters that the others had said")
    expect(given.get_by_role("heading", name="Stage 2: Implementation Plan")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open all").click()
    assert faults(page) == []

    page = visit(PHONE, color_scheme="dark", has_touch=True, is_mobile=True)
    page.goto(work.url(f"tasks/{task}", tab="stages") + "#stage-4")
    expect(stage(page, "4")).to_contain_text("How each builder ended")
    page.get_by_role("button", name="Open all").click()
    assert faults(page) == []


def test_a_task_without_stages_does_not_offer_them(page: Page, work: Work) -> None:
    task = work.task(start=False)
    page.goto(work.url(f"tasks/{task}", tab="stages"))
    expect(page.get_by_text("This task has no stages")).to_be_visible()
    expect(page.get_by_role("link", name="Runs & costs")).to_be_visible()
    expect(page.get_by_role("link", name="Stages")).to_have_count(0)
