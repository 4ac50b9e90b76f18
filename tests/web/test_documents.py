"""A plan becomes a file on the task's branch."""

from playwright.sync_api import Page, expect

from tests.repos import run
from tests.web.conftest import Work

PLANS = {"plan": [[{"say": "First the model."}, {"outcome": "plan_complete"}]]}


def test_a_plan_is_committed(page: Page, work: Work) -> None:
    task = work.task("Add search", PLANS)
    work.prompt(task)
    page.goto(work.url(f"tasks/{task}"))
    page.get_by_role("button", name="Commit…").click()
    dialog = page.get_by_role("dialog", name="Commit version 1 of the plan")
    dialog.get_by_label("Path").fill("../plan.md")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("it leads out of the repository")
    dialog.get_by_label("Path").fill("")
    dialog.get_by_role("button", name="Commit", exact=True).click()
    expect(page.get_by_text("docs/plans/add-search.md is on agent/")).to_be_visible()
    expect(dialog).to_have_count(0)
    [branch] = [a["label"] for a in work.view(task)["artifacts"] if a["type"] == "branch"]
    assert run(work.repo, "show", f"{branch}:docs/plans/add-search.md") == "First the model."
