"""Answering: every kind of question in its form, on a desktop and on a phone."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests import acp, forms
from tests.web.conftest import DESKTOP, PHONE, Site, Work, make_work, visitor
from tests.web.looks import faults

Visit = Callable[..., Page]
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
PLANNED = [{"say": "# Plan\n"}, {"outcome": "plan_complete"}]

QUESTIONS = {
    "questions": [
        {
            "id": "q1",
            "question": "Which colour?",
            "options": [
                {"label": "Red", "recommended": True},
                {"label": "Blue", "description": "Like the sea."},
            ],
        },
        {"id": "q2", "question": "In the dark, too?", "input_type": "boolean"},
        {"id": "q3", "question": "Which name?", "suggested_answer": "Paint"},
    ]
}
RECOMMENDED = {"question": "Which colour?", "options": [{"label": "Red", "recommended": True}]}
OPTIONS = {
    "summary": "It can be kept in **two** ways.",
    "options": [
        {
            "id": "file",
            "label": "A file",
            "description": "Written anew each time.",
            "pros": ["Simple"],
            "cons": ["Slow"],
            "effort": "small",
            "recommended": True,
        },
        {"id": "db", "label": "A database", "description": "With a table."},
    ],
}
SPLIT = {
    "reason": "It is large.",
    "proposedPhases": [
        {"name": "Store", "description": "Keep it.", "complexity": "high"},
        {"name": "Show", "description": "Draw it.", "complexity": "low"},
        {"name": "Tidy", "description": "Clean up.", "complexity": "low"},
    ],
}
DOCUMENT = "# Plan\n\nFirst the model.\n\n- one\n- two\n\n~~~\ncode\n\nmore\n~~~\n"
REMARKS = {
    "summary": "Nearly there.",
    "comments": [
        {"file": "a.py", "line": 1, "severity": "suggestion", "comment": "Rename it."},
        {"file": "a.py", "line": 2, "severity": "must_fix", "comment": "Off by **one**."},
    ],
}


def asks(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"plan": [[{"ask": payload}], PLANNED]}


def ends(name: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"plan": [[{"outcome": {"name": name, "payload": payload}}], PLANNED]}


def changes(*more: Any) -> list[Any]:
    return [{"write": {"path": "a.py", "text": "one\ntwo\n"}}, {"commit": "Add it"}, *more]


WORK = {"implement": [changes({"outcome": "pr_ready"})]}


def open_inbox(page: Page, work: Work, prompt: str) -> Locator:
    """The form of the question."""
    page.goto(work.url("inbox", prompt=prompt))
    panel = page.get_by_role("region", name="Question: ")
    expect(panel).to_be_visible()
    return panel


def answered(work: Work, prompt: str) -> Any:
    found = work.site.get(f"prompts/{prompt}")["prompt"]
    assert (found["status"], found["responded_by"]) == ("responded", "ada")
    return found["response"]


def sent(page: Page) -> None:
    expect(page.get_by_text("Answered", exact=True)).to_be_visible()


@pytest.mark.quick
@SIZES
def test_questions(visit: Visit, work: Work, size: Mapping[str, int]) -> None:
    page = visit(size)
    prompt = work.prompt(work.task(script=asks(QUESTIONS)))["id"]
    panel = open_inbox(page, work, prompt)
    send = panel.get_by_role("button", name="Send answers")
    expect(send).to_be_disabled()
    panel.get_by_role("radio", name="Blue").check()
    panel.get_by_role("radio", name="No").check()
    expect(panel.get_by_text("1 of 3 open")).to_be_visible()
    panel.get_by_role("button", name="Use the suggestion: Paint").click()
    panel.get_by_label("Add to: Which colour?").fill("Dark blue.")
    assert faults(page) == []
    send.click()
    sent(page)
    assert answered(work, prompt)["answers"] == [
        {"question_id": "q1", "option": "Blue", "text": "Dark blue."},
        {"question_id": "q2", "option": None, "text": "no"},
        {"question_id": "q3", "option": None, "text": "Paint"},
    ]


@SIZES
def test_options_with_an_approach_of_ones_own(
    visit: Visit, work: Work, size: Mapping[str, int]
) -> None:
    page = visit(size)
    prompt = work.prompt(work.task(script=ends("options_proposed", OPTIONS)))["id"]
    panel = open_inbox(page, work, prompt)
    expect(panel.get_by_role("list", name="For")).to_have_text("Simple")
    expect(panel.get_by_role("list", name="Against")).to_have_text("Slow")
    expect(panel.get_by_text("small effort")).to_be_visible()
    panel.get_by_role("radio", name="Another approach").check()
    expect(panel.get_by_role("button", name="Choose and go on")).to_be_disabled()
    panel.get_by_label("Describe your approach").fill("Ask the neighbour.")
    panel.get_by_label("Extra instructions").fill("Be kind.")
    assert faults(page) == []
    panel.get_by_role("button", name="Choose and go on").click()
    sent(page)
    assert answered(work, prompt) == {
        "option_id": None,
        "text": "Ask the neighbour.",
        "instructions": "Be kind.",
    }


@SIZES
def test_a_document_with_comments_on_paragraphs(
    visit: Visit, work: Work, size: Mapping[str, int]
) -> None:
    page = visit(size)
    script = {"plan": [[{"say": DOCUMENT}, {"outcome": "plan_complete"}]]}
    prompt = work.prompt(work.task(script=script))["id"]
    panel = open_inbox(page, work, prompt)
    panel.get_by_role("button", name="Comment on line 3").click()
    panel.get_by_role("textbox", name="Comment on line 3").fill("Which model?")
    assert faults(page) == []
    page.reload()
    expect(panel.get_by_role("textbox", name="Comment on line 3")).to_have_value("Which model?")
    panel.get_by_role("button", name="Request changes (1 comment)").click()
    sent(page)
    response = answered(work, prompt)
    assert response["decision"] == "changes_requested"
    (comment,) = response["comments"]
    assert comment["comment"] == "Which model?"
    assert (comment["line"], comment["severity"]) == (3, "must_fix")


@SIZES
def test_a_review_needs_words_to_send_back(
    visit: Visit, work: Work, size: Mapping[str, int]
) -> None:
    page = visit(size)
    task = work.task(script=WORK, pipeline="simple")
    prompt = work.prompt(task)["id"]
    panel = open_inbox(page, work, prompt)
    link = panel.get_by_role("link", name="Look at the changes")
    expect(link).to_contain_text("1 file +2")
    assert f"/tasks/{task}?" in str(link.get_attribute("href"))
    panel.get_by_role("button", name="Request changes").click()
    expect(panel.get_by_label("What must change")).to_be_focused()
    panel.get_by_label("What must change").fill("Say why.")
    assert faults(page) == []
    page.keyboard.press("Control+Enter")
    sent(page)
    assert answered(work, prompt)["decision"] == "changes_requested"
    assert answered(work, prompt)["summary"] == "Say why."


@SIZES
def test_a_review_by_an_agent_is_sent_back_or_approved_anyway(
    visit: Visit, site: Site, size: Mapping[str, int]
) -> None:
    page = visit(size)
    config = {".agents-manager/config.json": json.dumps({"review": {"agent": "scripted"}})}
    work = make_work(site, config)
    script = {
        "plan": [PLANNED],
        "review": [[{"outcome": {"name": "changes_requested", "payload": REMARKS}}]],
        **WORK,
    }
    task = work.task(script=script)
    plan = work.prompt(task)["id"]
    site.post(f"prompts/{plan}/answer", {"decision": "approved"})
    work.status(task, "pr_review")
    prompt = work.prompt(task)["id"]
    panel = open_inbox(page, work, prompt)
    severities = panel.get_by_role("heading", level=4)
    expect(severities).to_have_text(["Must be fixed · 1", "Suggestions · 1"])
    expect(panel.get_by_role("link", name="a.py:2")).to_be_visible()
    assert faults(page) == []
    if size == PHONE:
        panel.get_by_role("button", name="Approve anyway").click()
        sent(page)
        assert answered(work, prompt)["decision"] == "approved"
    else:
        panel.get_by_role("button", name="Send back for rework").click()
        sent(page)
        assert answered(work, prompt)["decision"] == "changes_requested"


@SIZES
def test_a_split_is_edited(visit: Visit, work: Work, size: Mapping[str, int]) -> None:
    page = visit(size)
    prompt = work.prompt(work.task(script=ends("propose_split", SPLIT)))["id"]
    panel = open_inbox(page, work, prompt)
    panel.get_by_label("Phase 1: name").fill("Keep")
    panel.get_by_label("Phase 1: complexity").select_option("medium")
    panel.get_by_role("button", name="Phase 2: move up").click()
    expect(panel.get_by_label("Phase 1: name")).to_have_value("Show")
    panel.get_by_role("button", name="Phase 3: remove").click()
    panel.get_by_role("button", name="Add a phase").click()
    expect(panel.get_by_role("button", name="Split into 3 phases")).to_be_disabled()
    panel.get_by_label("Phase 3: name").fill("Test")
    panel.get_by_label("Phase 3: description").fill("All of it.")
    assert faults(page) == []
    page.reload()
    expect(panel.get_by_label("Phase 3: name")).to_have_value("Test")
    panel.get_by_role("button", name="Split into 3 phases").click()
    sent(page)
    assert answered(work, prompt)["phases"] == [
        {"name": "Show", "description": "Draw it.", "complexity": "low"},
        {"name": "Keep", "description": "Keep it.", "complexity": "medium"},
        {"name": "Test", "description": "All of it.", "complexity": "medium"},
    ]


def test_a_split_is_reordered_by_dragging(page: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=ends("propose_split", SPLIT)))["id"]
    panel = open_inbox(page, work, prompt)
    rows = panel.get_by_role("list", name="Phases").get_by_role("listitem")
    rows.nth(2).locator("span").first.drag_to(rows.nth(0))
    expect(panel.get_by_label("Phase 1: name")).to_have_value("Tidy")
    panel.get_by_role("button", name="As proposed").click()
    expect(panel.get_by_label("Phase 1: name")).to_have_value("Store")


def test_a_rejected_split_says_why(phone: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=ends("propose_split", SPLIT)))["id"]
    panel = open_inbox(phone, work, prompt)
    panel.get_by_role("button", name="Reject…").click()
    reject = panel.get_by_role("button", name="Reject the split")
    expect(reject).to_be_disabled()
    panel.get_by_label("Why should it not be split?").fill("It is small.")
    assert faults(phone) == []
    reject.click()
    sent(phone)
    response = answered(work, prompt)
    assert (response["decision"], response["reason"]) == ("rejected", "It is small.")


@SIZES
def test_a_form_of_the_project(visit: Visit, site: Site, size: Mapping[str, int]) -> None:
    page, work = visit(size), make_work(site)
    forms.bring_form(work.repo)
    script = {"implement": [[{"outcome": {"name": forms.OUTCOME, "payload": forms.PLANNED}}]]}
    prompt = work.prompt(work.task(script=script, pipeline=forms.PIPELINE))["id"]
    panel = open_inbox(page, work, prompt)
    expect(panel.get_by_label("What the agent reports")).to_contain_text("search, a fix")
    send = panel.get_by_role("button", name="Send")
    expect(panel.get_by_text("Still needed: Version, Tell the list")).to_be_visible()
    expect(send).to_be_disabled()
    panel.get_by_label("Version").fill("one")
    panel.get_by_role("group", name="Tell the list").get_by_label("No").check()
    panel.get_by_label("Notes (may be left out)").fill("First\nsecond")
    panel.get_by_role("button", name="Add").click()
    expect(panel.get_by_text("Still needed: Labels / 1")).to_be_visible()
    panel.get_by_role("textbox", name="Entry 1").fill("new")
    assert faults(page) == []
    send.click()
    wrong = panel.get_by_role("alert").filter(has_text="does not fit the pattern")
    expect(wrong).to_be_visible()
    page.reload()
    expect(panel.get_by_label("Notes (may be left out)")).to_have_value("First\nsecond")
    panel.get_by_label("Version").fill("1.2")
    send.click()
    sent(page)
    assert answered(work, prompt)["value"] == {
        "version": "1.2",
        "channel": "stable",
        "announce": False,
        "notes": "First\nsecond",
        "labels": ["new"],
    }
    page.goto(work.url("inbox", prompt=prompt))
    expect(page.get_by_role("region", name="Question: ")).to_contain_text("Tell the list")


def test_the_suggested_answer_of_a_form_is_accepted(page: Page, work: Work) -> None:
    forms.bring_form(work.repo)
    script = {"implement": [[{"outcome": {"name": forms.OUTCOME, "payload": forms.SUGGESTING}}]]}
    prompt = work.prompt(work.task(script=script, pipeline=forms.PIPELINE))["id"]
    panel = open_inbox(page, work, prompt)
    expect(panel.get_by_label("Version")).to_have_value("1.2")
    page.keyboard.press("a")
    sent(page)
    assert answered(work, prompt) == {"value": forms.VALUE}


@SIZES
def test_a_choice(visit: Visit, work: Work, size: Mapping[str, int]) -> None:
    page = visit(size)
    script = {"implement": [[{"outcome": {"name": "no_changes", "payload": {"reason": "Done."}}}]]}
    prompt = work.prompt(work.task(script=script, pipeline="simple"))
    panel = open_inbox(page, work, prompt["id"])
    expect(panel.get_by_text("for admin")).to_be_visible()
    first = prompt["payload"]["choices"][0]
    if size == PHONE:
        panel.get_by_role("radio", name=first["label"]).check()
    else:
        page.keyboard.press("1")
    expect(panel.get_by_role("radio", name=first["label"])).to_be_checked()
    assert faults(page) == []
    panel.get_by_role("button", name=first["label"]).click()
    sent(page)
    assert answered(work, prompt["id"])["choice_id"] == first["id"]


def test_closing_with_unmerged_commits_shows_them_first(page: Page, work: Work) -> None:
    done = {"outcome": {"name": "no_changes", "payload": {"reason": "Done."}}}
    steps = [{"write": {"path": "a.txt", "text": "a"}}, {"commit": "Add a file"}, done]
    task = work.task(script={"implement": [steps]}, pipeline="simple")
    prompt = work.prompt(task)["id"]
    panel = open_inbox(page, work, prompt)
    panel.get_by_role("radio", name="Close as done").check()
    panel.get_by_role("button", name="Close as done").click()
    dialog = page.get_by_role("dialog", name="Close with unmerged commits?")
    expect(dialog.get_by_role("listitem")).to_have_text([re.compile("^[0-9a-f]{8} Add a file$")])
    assert faults(page) == []
    dialog.get_by_role("button", name="Leave it").click()
    expect(panel.get_by_text("It has commits that are not merged.")).to_be_visible()
    assert work.view(task)["task"]["status"] == "needs_decision"
    panel.get_by_role("button", name="Close as done").click()
    dialog.get_by_role("button", name="Close as done").click()
    work.status(task, "done")


@SIZES
def test_a_permission(visit: Visit, site: Site, tmp_path: Path, size: Mapping[str, int]) -> None:
    page = visit(size)
    wanted = {"permission": {"paths": [str(tmp_path / "out.txt")], "title": "Write out.txt"}}
    script = tmp_path / "script.json"
    ready = {"outcome": {"name": "no_changes", "payload": {"reason": "All is said."}}}
    script.write_text(json.dumps({"steps": [wanted, ready]}))
    agent = {"adapter": "acp", "command": acp.command(script)}
    config = {"defaultAgentType": "mine", "agents": {"mine": agent}}
    work = make_work(site, {".agents-manager/config.json": json.dumps(config)})
    for allowed in ("trust", "consent"):
        site.post(f"projects/{work.name}/{allowed}")
    prompt = work.prompt(work.task(pipeline="simple"))["id"]
    panel = open_inbox(page, work, prompt)
    expect(panel).to_contain_text("Write out.txt")
    assert faults(page) == []
    if size == PHONE:
        panel.get_by_role("button", name="Do not allow").click()
    else:
        panel.get_by_role("button", name="Allow for this run").click()
    sent(page)
    said = {"allow": False, "scope": "once"} if size == PHONE else {"allow": True, "scope": "run"}
    assert answered(work, prompt) == said
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


@SIZES
def test_a_budget_is_granted_more(visit: Visit, site: Site, size: Mapping[str, int]) -> None:
    page = visit(size)
    config = {".agents-manager/config.json": json.dumps({"budgets": {"taskUsd": 0.5}})}
    work = make_work(site, config)
    spends: list[Any] = [{"usage": {"cost_usd": 0.6}}, {"sleep": 60}]
    prompt = work.prompt(work.task(script={"implement": [spends]}, pipeline="simple"))
    assert prompt["type"] == "budget"
    panel = open_inbox(page, work, prompt["id"])
    expect(panel).to_contain_text("has spent $0.60 of its budget of $0.50")
    expect(panel.get_by_role("button", name="Grant more")).to_be_disabled()
    panel.get_by_label("How many dollars more may be spent?").fill("0.05")
    panel.get_by_role("button", name="Grant $0.05 more").click()
    expect(panel.get_by_role("alert")).to_contain_text("leaves nothing to spend")
    panel.get_by_role("button", name="$0.60").click()
    assert faults(page) == []
    panel.get_by_role("button", name="Grant $0.60 more").click()
    sent(page)
    assert answered(work, prompt["id"]) == {"decision": "grant", "usd": 0.6}


def test_a_key_accepts_and_goes_on_and_another_takes_it_back(page: Page, work: Work) -> None:
    first = work.prompt(work.task("First", asks(RECOMMENDED)))["id"]
    second = work.prompt(work.task("Second", asks(RECOMMENDED)))["id"]
    page.goto(work.url("inbox"))
    panel = page.get_by_role("region", name="Question: ")
    expect(panel.get_by_role("link", name="First")).to_be_visible()
    page.keyboard.press("j")
    expect(panel.get_by_role("link", name="Second")).to_be_visible()
    page.keyboard.press("k")
    expect(panel.get_by_role("link", name="First")).to_be_visible()
    page.keyboard.press("a")
    expect(panel.get_by_role("link", name="Second")).to_be_visible()
    assert answered(work, first)["answers"][0]["option"] == "Red"
    assert second in page.url
    page.keyboard.press("z")
    expect(panel.get_by_role("link", name="First")).to_be_visible()
    expect(panel.get_by_text("Asked again")).to_be_visible()
    assert work.site.get(f"prompts/{first}")["prompt"]["status"] == "superseded"
    assert first not in page.url


def test_an_answer_taken_back_brings_its_words_back(page: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=asks({"question": "Which name?"})))["id"]
    panel = open_inbox(page, work, prompt)
    page.keyboard.press("e")
    page.keyboard.type("Paint")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(panel.get_by_role("textbox")).to_have_value("Paint")


@pytest.mark.quick
def test_the_second_to_answer_sees_the_first_and_keeps_their_words(
    browser: Browser, work: Work
) -> None:
    prompt = work.prompt(work.task(script=asks({"question": "Which name?"})))["id"]
    with visitor(browser, work.site) as one, visitor(browser, work.site) as two:
        early, late = one.new_page(), two.new_page()
        # The late one hears of nothing before they send.
        late.route("**/events/stream*", lambda route: route.abort())
        for page, words in ((early, "Paint"), (late, "Colour")):
            open_inbox(page, work, prompt).get_by_role("textbox").fill(words)
        early.keyboard.press("Control+Enter")
        sent(early)
        late.keyboard.press("Control+Enter")
        expect(late.get_by_text("answered this via").first).to_be_visible()
        panel = late.get_by_role("region", name="Question: ")
        expect(panel.get_by_text("ada answered via")).to_be_visible()
        expect(panel.get_by_role("definition").first).to_have_text("Paint")
        expect(panel.get_by_label("Your unsent answer")).to_contain_text("Colour")
        late.reload()
        expect(panel.get_by_label("Your unsent answer")).to_contain_text("Colour")
        panel.get_by_role("button", name="Throw it away").click()
        expect(panel.get_by_label("Your unsent answer")).to_have_count(0)


def test_without_a_server_nothing_is_lost(page: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=asks({"question": "Which name?"})))["id"]
    panel = open_inbox(page, work, prompt)
    panel.get_by_role("textbox").fill("Paint")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(panel.get_by_role("alert")).to_contain_text("nothing was sent")
    expect(panel.get_by_role("textbox")).to_have_value("Paint")
    page.context.set_offline(False)
    page.keyboard.press("Control+Enter")
    sent(page)
    assert answered(work, prompt)["answers"][0]["text"] == "Paint"


def test_an_answered_question_has_an_address(phone: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=asks(RECOMMENDED)))["id"]
    work.site.am("prompt", "answer", prompt, "--accept")
    panel = open_inbox(phone, work, prompt)
    expect(panel.get_by_text("ada answered via cli")).to_be_visible()
    expect(panel.get_by_role("definition")).to_have_text("Red")
    assert faults(phone) == []


def test_all_recommended_answers_are_accepted_at_once(page: Page, work: Work) -> None:
    prompts = [work.prompt(work.task(title, asks(RECOMMENDED)))["id"] for title in ("One", "Two")]
    other = work.prompt(work.task("Three", asks({"question": "Which name?"})))["id"]
    page.goto(work.url("inbox"))
    page.get_by_role("button", name="Accept all recommended (2)").click()
    dialog = page.get_by_role("dialog", name="Accept 2 recommended answers?")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    assert faults(page) == []
    dialog.get_by_role("button", name="Accept 2").click()
    expect(page.get_by_text("2 recommended answers taken")).to_be_visible()
    for prompt in prompts:
        assert answered(work, prompt)["answers"][0]["option"] == "Red"
    assert work.site.get(f"prompts/{other}")["prompt"]["status"] == "pending"


def test_questions_are_grouped_and_snoozed(page: Page, work: Work) -> None:
    work.prompt(work.task("First", asks(RECOMMENDED)))
    work.prompt(work.task("Second", ends("options_proposed", OPTIONS)))
    page.goto(work.url("inbox"))
    queue = page.get_by_role("navigation", name="Questions")
    page.get_by_role("button", name="Group by kind").click()
    expect(queue.get_by_role("heading")).to_have_text(["Questions 1", "Options 1"])
    page.keyboard.press("s")
    panel = page.get_by_role("region", name="Question: ")
    expect(panel.get_by_role("link", name="Second")).to_be_visible()
    expect(queue.get_by_text("Snoozed 1")).to_be_visible()
    page.reload()
    expect(queue.get_by_text("Snoozed 1")).to_be_visible()
    page.keyboard.press("o")
    page.wait_for_url("**/tasks/*")


def test_the_queue_reads_on_as_one_goes_through_it(page: Page, work: Work) -> None:
    titles = ["One", "Two", "Three", "Four", "Five"]
    for title in titles:
        work.prompt(work.task(title, asks({"question": "Which name?"})))
    # Pages of two, as hundreds of questions would take too long to ask.
    page.route(
        "**/api/v1/prompts?*limit=100*",
        lambda route: route.continue_(url=route.request.url.replace("limit=100", "limit=2")),
    )
    page.goto(work.url("inbox"))
    queue = page.get_by_role("navigation", name="Questions")
    expect(queue.get_by_role("link")).to_have_count(5)
    panel = page.get_by_role("region", name="Question: ")
    for title in titles:
        expect(panel.get_by_role("link", name=title)).to_be_visible()
        page.keyboard.press("j")


def test_nothing_to_answer_is_a_pleasure(page: Page, work: Work) -> None:
    page.goto(work.url("inbox"))
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert faults(page) == []


def test_what_agents_write_is_only_text(page: Page, work: Work) -> None:
    evil = "<img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \u202etxt.exe [x](javascript:alert(1))"
    payload = {"question": evil, "context": evil, "options": [evil, "No"]}
    prompt = work.prompt(work.task(script=asks(payload)))["id"]
    panel = open_inbox(page, work, prompt)
    expect(panel.locator("legend")).to_contain_text("<img src=x onerror=alert(1)>")
    assert panel.locator("img").count() == 0
    assert panel.locator("a[href^=javascript]").count() == 0
    words = panel.inner_text()
    assert "\x1b" not in words
    assert "\u202e" not in words
