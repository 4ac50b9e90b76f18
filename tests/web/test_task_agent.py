"""The agent of a task is chosen in the dialog of a new task, and changed on its page."""

from playwright.sync_api import Page, expect

from tests.web.conftest import Work
from tests.web.looks import faults


def test_an_agent_is_chosen_and_changed(page: Page, work: Work) -> None:
    page.goto(work.url("tasks"))
    page.get_by_role("button", name="New task").first.click()
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Title").fill("Search by tag")
    agent, model = dialog.get_by_label("Agent", exact=True), dialog.get_by_label("Model of agent")
    expect(model).to_be_disabled()
    agent.select_option("scripted")
    model.fill("big")
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text('Agent "scripted" does not accept a model.')
    agent.select_option("codex")
    model.fill("gpt-5.5")
    assert faults(page) == []
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Search by tag")).to_be_visible()
    facts = page.get_by_role("complementary", name="Facts")
    expect(facts.get_by_text("codex (gpt-5.5)")).to_be_visible()

    page.get_by_role("button", name="Edit the words").click()
    words = page.get_by_role("dialog", name="Edit the words")
    expect(words.get_by_label("Model of agent")).to_have_value("gpt-5.5")
    words.get_by_label("Agent", exact=True).select_option("claude-code")
    expect(words.get_by_label("Model of agent")).to_have_value("")
    assert faults(page) == []
    words.get_by_role("button", name="Save").click()
    expect(facts.get_by_text("claude-code", exact=True)).to_be_visible()
