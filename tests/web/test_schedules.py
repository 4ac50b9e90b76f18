"""Schedules, and tasks that begin later, in the browser."""

from playwright.sync_api import Page, expect

from tests.web.conftest import Work


def test_a_schedule_is_added_previewed_paused_and_removed(page: Page, work: Work) -> None:
    page.goto(work.url("schedules"))
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog", name="Add a schedule")
    dialog.get_by_label("Name").fill("Tidy")
    dialog.get_by_label("Rule").fill("0 9 31 2 *")
    expect(dialog.get_by_role("alert")).to_contain_text("a day that never comes")
    dialog.get_by_label("Rule").fill("every 2 weeks on friday at 16:00")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    expect(dialog.get_by_label("Next times").get_by_role("listitem")).to_have_count(5)
    dialog.get_by_label("Title of its tasks").fill("Tidy {date}")
    dialog.get_by_role("button", name="Add it").click()
    one = page.get_by_role("article", name="Tidy")
    expect(one).to_contain_text("every 2 weeks on friday at 16:00 · Europe/Berlin · next Fri")
    one.get_by_role("button", name="Run now").click()
    expect(one.get_by_role("link", name="the last one")).to_be_visible()
    one.get_by_role("button", name="Pause").click()
    expect(one).to_contain_text("paused")
    one.get_by_role("button", name="Edit").click()
    changed = page.get_by_role("dialog", name="Change the schedule")
    changed.get_by_label("Rule").fill("weekdays at 08:00")
    changed.get_by_role("button", name="Change it").click()
    one.get_by_role("button", name="Resume").click()
    expect(one).to_contain_text("weekdays at 08:00 · Europe/Berlin · next")
    one.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove the schedule").click()
    expect(page.get_by_text("No schedule yet")).to_be_visible()


def test_a_task_begins_later_or_not_at_all(page: Page, work: Work) -> None:
    page.goto(work.url("tasks"))
    page.get_by_role("button", name="New task").first.click()
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Title").fill("Later")
    dialog.get_by_label("Start later").fill("2050-01-02T09:30")
    dialog.get_by_role("button", name="Create and start then").click()
    expect(page.get_by_text("It starts at 2050-01-0").first).to_be_visible()
    page.get_by_role("button", name="Cancel start").click()
    expect(page.get_by_role("button", name="Cancel start")).to_have_count(0)
    [task] = work.site.get("tasks", project=work.name)["items"]
    assert (task["title"], task["starts_at"], task["status"]) == ("Later", None, "open")
