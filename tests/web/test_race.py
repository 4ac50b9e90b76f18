"""Three agents race at a task: set up in the browser, compared on its page, one of them picked."""

import json
from collections.abc import Callable
from typing import Any

import yaml
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import PHONE, Site, make_work
from tests.web.looks import faults

AGENTS = ("ada", "bob", "cleo")
CONFIG = {
    "agents": {name: {"adapter": "scripted"} for name in (*AGENTS, "judge")},
    "checks": {"test": {"command": "grep -q hello greeting.txt"}},
    "maxFixRounds": 0,
}
FILES = {"greeting.txt": "hi\n", ".agents-manager/config.json": json.dumps(CONFIG)}


def works(text: str, cost: float) -> list[dict[str, Any]]:
    others = ("hello a", "bye", "hello c")
    return [
        {"write": {"path": "greeting.txt", "text": f"{text}\n"}},
        {"commit": f"Say {text}"},
        *({"meet": f"Say {one}"} for one in others),
        {"usage": {"input_tokens": 900, "output_tokens": 100, "cost_usd": cost}},
        {"outcome": "pr_ready"},
    ]


SCRIPT = {"implement": [works("hello a", 0.5), works("bye", 0.1), works("hello c", 0.25)]}


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("article", name=name)


def test_three_agents_race(visit: Callable[..., Page], site: Site) -> None:
    work = make_work(site, FILES)
    page = visit()
    page.goto(work.url("tasks"))
    page.get_by_role("button", name="New task").first.click()
    dialog = page.get_by_role("dialog", name="New task")
    dialog.get_by_label("Title").fill("Greet people")
    script = f"```agent-script\n{yaml.safe_dump(SCRIPT)}```"
    dialog.get_by_label("What is to be done").fill(script)
    dialog.get_by_label("Pipeline").select_option("simple")
    dialog.get_by_label("Several agents side by side").check()
    start = dialog.get_by_role("button", name="Create and start")
    expect(start).to_be_disabled()
    dialog.get_by_role("button", name="One more").click()
    for number, name in enumerate(AGENTS, 1):
        dialog.get_by_label(f"Agent {number}", exact=True).select_option(name)
    assert faults(page) == []
    start.click()

    expect(page.get_by_role("heading", name="Greet people")).to_be_visible()
    for name in AGENTS:
        expect(card(page, name)).to_be_visible()
    # The page follows them by itself.
    expect(card(page, "ada")).to_contain_text("done", timeout=120_000)
    expect(page.get_by_text("All have ended. Whose work is taken?").first).to_be_visible()
    expect(card(page, "ada")).to_contain_text("passed")
    expect(card(page, "ada")).to_contain_text("1 file +1 \u22121")
    expect(card(page, "ada")).to_contain_text("$0.50")
    expect(card(page, "bob")).to_contain_text("failed: test")
    expect(card(page, "bob").get_by_role("button", name="Take")).to_have_count(0)
    card(page, "cleo").get_by_role("button", name="Diff").click()
    diff = page.get_by_role("dialog", name="What cleo changed")
    expect(diff).to_contain_text("+hello c")
    page.keyboard.press("Escape")
    assert faults(page) == []
    there = page.url

    card(page, "cleo").get_by_role("button", name="Take: cleo").click()
    expect(card(page, "cleo")).to_contain_text("picked", timeout=60_000)
    expect(card(page, "ada")).to_contain_text("snapshot")
    task = there.partition("/tasks/")[2].partition("?")[0]
    work.status(task, "review")
    expect(page.get_by_text("Review", exact=True).first).to_be_visible()

    # Somebody else thinks better of it, before anything is merged.
    page = visit(PHONE, color_scheme="dark", has_touch=True, is_mobile=True)
    page.goto(there)
    card(page, "ada").get_by_role("button", name="Take instead: ada").click()
    expect(card(page, "ada")).to_contain_text("picked", timeout=60_000)
    expect(card(page, "cleo")).to_contain_text("put aside")
    assert faults(page) == []
    site.post(f"tasks/{task}/review", {"decision": "approved"})
    work.status(task, "done")
    assert (work.repo / "greeting.txt").read_text() == "hello a\n"


def test_who_cannot_race_is_told_so(visit: Callable[..., Page], site: Site) -> None:
    work = make_work(site, FILES)
    task = work.task("Greet people", SCRIPT, start=False, pipeline="simple")
    page = visit()
    page.goto(work.url(f"tasks/{task}"))
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Several agents side by side…").click()
    dialog = page.get_by_role("dialog", name="Several agents side by side")
    for number in (1, 2):
        dialog.get_by_label(f"Agent {number}", exact=True).select_option("ada")
    dialog.get_by_role("button", name="Start them").click()
    expect(dialog.get_by_role("alert")).to_contain_text("ada is there twice")
    dialog.get_by_label("Agent 2", exact=True).select_option("bob")
    dialog.get_by_label("Judge", exact=True).select_option("bob")
    dialog.get_by_role("button", name="Start them").click()
    expect(dialog.get_by_role("alert")).to_contain_text("an author never judges")
    assert faults(page) == []
