"""Pipelines: listed, drawn, walked, written and migrated to."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.unit.pipeline_documents import document
from tests.web.conftest import PHONE, Site, Work
from tests.web.looks import faults

Visit = Callable[..., Page]
ASKS = {"implement": [[{"ask": {"question": "Which colour?", "options": ["red", "blue"]}}]]}


def saved(site: Site, name: str, **fields: Any) -> dict[str, Any]:
    """A pipeline of this test, for all projects."""
    whole = {**document(), "id": name, "name": name.title(), **fields}
    site.post("pipelines", whole)
    return whole


def box(page: Page, title: str) -> Locator:
    return page.locator(".react-flow__node").filter(has_text=title)


def drawn(page: Page, number: int) -> None:
    expect(page.locator(".react-flow__node")).to_have_count(number, timeout=60_000)


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary")


def test_the_list_tells_where_each_is_from_and_which_files_are_broken(
    page: Page, work: Work
) -> None:
    folder = work.repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    (folder / "own.json").write_text(json.dumps({**document(), "id": "own", "name": "Our own"}))
    (folder / "odd.json").write_text('{\n  "id": "odd",\n  "nmae": "Odd"\n}')
    saved(work.site, "listed")
    page.goto(work.url("pipelines"))
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="Feature")).to_contain_text("built in")
    expect(rows.filter(has_text="Listed")).to_contain_text("saved")
    expect(rows.filter(has_text="Our own")).to_contain_text(f"@{work.name}")
    broken = page.get_by_role("listitem").filter(has_text="odd.json")
    expect(broken.first).to_contain_text('there is no key "nmae". Did you mean "name"?')
    assert faults(page) == []
    page.get_by_role("link", name="Our own").click()
    expect(page.get_by_role("heading", name="Our own")).to_be_visible()
    drawn(page, 9)


@pytest.mark.quick
def test_the_graph_shows_live_counts_and_what_a_click_is_about(page: Page, work: Work) -> None:
    page.goto(work.url("pipelines/simple"))
    drawn(page, 9)
    expect(box(page, "In progress")).not_to_contain_text("tasks")
    work.prompt(work.task("Paint it", ASKS, pipeline="simple"))
    expect(box(page, "Needs info")).to_contain_text("1 tasks")
    page.locator(".react-flow__edgelabel-renderer").get_by_text("changes asked for").click()
    expect(panel(page)).to_contain_text("review_changes_requested")
    expect(panel(page)).to_contain_text("The review asked for changes.")
    expect(panel(page)).to_contain_text("start_agent")
    assert faults(page) == []


def test_the_list_beside_the_graph_is_enough_for_the_keyboard(page: Page, work: Work) -> None:
    page.goto(work.url("pipelines/simple"))
    panel(page).get_by_role("button", name="In progress (an agent works)").focus()
    page.keyboard.press("Enter")
    ways = panel(page).get_by_role("button", name="pr ready leads to Review")
    ways.focus()
    page.keyboard.press("Enter")
    expect(panel(page)).to_contain_text("push_and_create_pr")


def test_the_path_of_a_task_is_lit(page: Page, work: Work) -> None:
    task = work.task("Paint it", ASKS, pipeline="simple")
    work.prompt(task)
    page.goto(work.url("pipelines/simple", task=task))
    drawn(page, 9)
    times = panel(page).get_by_role("list", name="Time in each status")
    expect(times.get_by_role("listitem")).to_have_count(3)
    expect(panel(page)).to_contain_text("It never came back.")
    expect(box(page, "Needs info").locator(".pulse-dot")).to_be_visible()
    expect(box(page, "Merging").locator(".border-dashed")).to_be_visible()
    work.site.post(
        f"prompts/{work.prompt(task)['id']}/answer",
        {"answers": [{"question_id": "q1", "option": "red"}]},
    )
    expect(panel(page)).to_contain_text("It came back")
    assert faults(page) == []


def test_a_simulation_is_walked_on_the_graph(page: Page, work: Work) -> None:
    saved(work.site, "walked")
    page.goto(work.url("pipelines/walked"))
    drawn(page, 9)
    page.keyboard.press("s")
    for choice in (
        "By hand: to working",
        "Agent: needs info",
        "Answer the question",
        "Agent: pr ready",
        "Review: approved",
    ):
        panel(page).get_by_role("button", name=choice).click()
    expect(panel(page).get_by_role("status")).to_contain_text("The task is finished.")
    expect(box(page, "done").locator(".pulse-dot")).to_be_visible()
    expect(panel(page)).to_contain_text("pr_merged: Pull request #1 is merged.")
    expect(box(page, "working")).to_contain_text("2\N{MULTIPLICATION SIGN}")
    assert faults(page) == []
    # Each decision shows the walk up to it.
    panel(page).get_by_role("button", name="open to working").click()
    expect(box(page, "working").locator(".pulse-dot")).to_be_visible()
    page.reload()
    page.get_by_role("tab", name="Simulate").click()
    expect(panel(page).get_by_role("status")).to_contain_text("The task is finished.")
    assert work.site.get("tasks", project=work.name)["items"] == []


def test_a_built_in_pipeline_is_changed_and_saved_under_another_id(page: Page, work: Work) -> None:
    page.goto(work.url("pipelines/simple"))
    drawn(page, 9)
    page.keyboard.press("e")
    form = panel(page)
    form.get_by_role("button", name="Review (waits for a review)").click()
    form.get_by_label("Title").fill("Look at it")
    expect(box(page, "Look at it")).to_be_visible()
    form.get_by_label("Id").fill("look")
    form.get_by_label("Id").press("Enter")
    page.get_by_role("tab", name="JSON").click()
    text = json.loads(page.get_by_label("The pipeline as JSON").input_value())
    assert {"look"} == {t["to"] for t in text["transitions"] if t["id"] == "ready"}
    expect(page.get_by_text("no errors")).to_be_visible()
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Save as")
    dialog.get_by_label("Id").fill("simple")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_label("Id").fill(f"of_{work.name}")
    dialog.get_by_label("Name").fill("With a look")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="With a look")).to_be_visible()
    kept = work.site.get(f"pipelines/of_{work.name}")
    assert next(s for s in kept["statuses"] if s["id"] == "look")["title"] == "Look at it"
    drawn(page, 9)


def test_errors_stand_on_the_graph_and_keep_it_from_being_saved(page: Page, work: Work) -> None:
    saved(work.site, "mended")
    page.goto(work.url("pipelines/mended", edit="true"))
    drawn(page, 9)
    form = panel(page)
    form.get_by_role("button", name="agent failed leads to stuck").click()
    form.get_by_role("button", name="Remove").click()
    expect(box(page, "working").get_by_label("error")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_role("tab", name="Findings 1").click()
    expect(form).to_contain_text("no transition takes its agent_error")
    expect(form).to_contain_text("Add a transition with the trigger agent_error")
    assert faults(page) == []
    page.keyboard.press("Control+s")
    expect(page.get_by_text("It is saved once it has no errors.")).to_be_visible()
    assert len(work.site.get("pipelines/mended/versions")["items"]) == 1
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Throw them away").click()
    page.get_by_role("tab", name="Form").click()
    form.get_by_label("Name").fill("Mended again")
    expect(page.get_by_role("button", name="Save")).to_be_enabled()
    form.get_by_label("Name").press("Control+s")
    expect(page.get_by_text("Saved as version 2 of mended.")).to_be_visible()
    expect(page.get_by_role("heading", name="Mended again")).to_be_visible()
    assert "edit" not in page.url


def test_what_cannot_be_checked_is_not_called_sound(page: Page, work: Work) -> None:
    saved(work.site, "unsure")
    page.route("**/pipelines/lint", lambda route: route.fulfill(status=413, json={}))
    page.goto(work.url("pipelines/unsure", edit="true"))
    expect(page.get_by_text("not checked: The server answered 413.")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()


def test_broken_json_says_where_and_keeps_what_was_typed(page: Page, work: Work) -> None:
    saved(work.site, "typed")
    page.goto(work.url("pipelines/typed", edit="true"))
    drawn(page, 9)
    page.get_by_role("tab", name="JSON").click()
    text = page.get_by_label("The pipeline as JSON")
    text.fill('{\n  "id": "typed",\n  "name" "Typed"\n}')
    expect(panel(page).get_by_role("alert")).to_contain_text("Line 3, column 10")
    drawn(page, 9)
    panel(page).get_by_role("button", name="Go there").click()
    expect(text).to_be_focused()
    assert text.evaluate("area => area.value.slice(area.selectionStart)") == '"Typed"\n}'
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.once("dialog", lambda asked: asked.accept())
    page.reload()
    page.get_by_role("tab", name="JSON").click()
    expect(text).to_have_value('{\n  "id": "typed",\n  "name" "Typed"\n}')
    page.get_by_role("link", name="Pipelines", exact=True).last.click()
    asked = page.get_by_role("dialog", name="Your changes are not saved")
    asked.get_by_role("button", name="Go on editing").click()
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Throw them away").click()
    expect(text).to_have_value(
        json.dumps(work.site.get("pipelines/typed/document"), indent=2) + "\n"
    )


def test_the_cursor_stays_where_it_is_typed(page: Page, work: Work) -> None:
    saved(work.site, "long")
    page.goto(work.url("pipelines/long", edit="true"))
    panel(page).get_by_role("button", name="stuck (waits for a person)").click()
    page.get_by_role("tab", name="JSON").click()
    text = page.get_by_label("The pipeline as JSON")
    chosen = text.evaluate("area => area.value.slice(area.selectionStart).trim().slice(0, 30)")
    assert '"id": "stuck"' in chosen
    # Lines above the chosen status move it down; who types there is not taken along.
    text.evaluate("area => { area.focus(); area.setSelectionRange(1, 1); }")
    page.keyboard.type("\n\n\n")
    assert text.evaluate("area => area.selectionStart") == 4


def test_versions_are_compared_and_tasks_taken_to_the_newest(page: Page, work: Work) -> None:
    old = saved(work.site, "aged")
    task = work.task("Paint it", ASKS, pipeline="aged", start=False)
    renamed = json.loads(
        json.dumps(old)
        .replace('"open"', '"new"')
        .replace('"category": "new"', '"category": "open"')
    )
    work.site.post("pipelines", renamed)
    page.goto(work.url("pipelines"))
    link = page.get_by_role("link", name="Aged aged")  # Not "Staged".
    expect(page.get_by_role("row").filter(has=link)).to_contain_text("1 task")
    link.click()
    page.get_by_role("button", name="Versions").click()
    dialog = page.get_by_role("dialog", name="Versions of Aged")
    expect(dialog).to_contain_text("1 unfinished task is on older versions.")
    differs = dialog.get_by_role("region", name="Lines that differ")
    expect(differs).to_contain_text('taken out:       "id": "open"')
    expect(differs).to_contain_text('added:       "id": "new"')
    take = dialog.get_by_role("button", name="Take them there")
    expect(take).to_be_disabled()
    dialog.get_by_label("Where open goes").select_option("new")
    expect(take).to_be_enabled()
    assert faults(page) == []
    take.click()
    page.get_by_role("dialog", name="Take 1 task to version 2?").get_by_role(
        "button", name="Take them there"
    ).click()
    expect(page.get_by_text("1 task is on version 2.")).to_be_visible()
    moved = work.view(task)["task"]
    assert (moved["status"], moved["pipeline_version"]) == ("new", 2)


def huge(statuses: int) -> dict[str, Any]:
    row = [{"id": "open", "category": "open"}]
    row += [{"id": f"step_{n}", "category": "open"} for n in range(1, statuses - 1)]
    row += [{"id": "done", "category": "final"}]
    ids = [status["id"] for status in row]
    steps = [
        {"id": f"t{n}", "from": a, "to": b, "trigger": "manual"}
        for n, (a, b) in enumerate(pairwise(ids))
    ]
    return {"id": "huge", "name": "Huge", "statuses": row, "transitions": steps}


def test_a_thousand_statuses_are_a_list_first(page: Page, work: Work) -> None:
    work.site.post("pipelines", huge(1_000))
    page.goto(work.url("pipelines/huge"))
    expect(page.get_by_text("1000 statuses are easier to read as a list.")).to_be_visible()
    expect(page.locator(".react-flow__node")).to_have_count(0)
    assert page.evaluate("document.querySelectorAll('*').length") < 4_000
    # While the graph is laid out, the page answers.
    page.get_by_role("button", name="Draw the graph").click()
    page.get_by_role("tab", name="Findings").click()
    expect(panel(page)).to_contain_text("Nothing is wrong")


def test_on_a_phone_it_is_a_list_to_read(visit: Visit, work: Work) -> None:
    page = visit(PHONE, has_touch=True, is_mobile=True)
    page.goto(work.url("pipelines"))
    page.get_by_role("link", name="Simple").click()
    row = panel(page).get_by_role("button", name="In progress (an agent works)")
    row.tap()
    expect(panel(page)).to_contain_text("Ways out")
    expect(page.locator(".react-flow")).to_have_count(0)
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    assert faults(page) == []


def test_pages_are_for_everybody_in_the_dark_too(visit: Visit, work: Work) -> None:
    page = visit(color_scheme="dark")
    page.goto(work.url("pipelines/feature"))
    drawn(page, 16)
    assert faults(page) == []
    page.keyboard.press("e")
    panel(page).get_by_role("button", name="approved leads to Merging").click()
    expect(panel(page).get_by_label("Add a guard…")).to_be_visible()
    assert faults(page) == []
