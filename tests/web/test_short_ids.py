"""Addresses with the beginning of an id, as people copy it from the command line."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web import test_knowledge
from tests.web.conftest import Work
from tests.web.test_inbox import RECOMMENDED, asks
from tests.web.test_task import SIMPLE, WORKS, heading

SHORT = 8


@pytest.mark.quick
def test_a_task_opened_by_a_short_id_is_updated(page: Page, work: Work) -> None:
    task = work.task(start=False, **SIMPLE)
    page.goto(work.url(f"tasks/{task[:SHORT]}", tab="timeline"))
    heading(page)
    expect(page).to_have_url(re.compile(rf"/tasks/{task}\?.*tab=timeline"))
    work.site.post(f"tasks/{task}/move", {"to": "cancelled"})
    expect(page.get_by_text("The task is finished.", exact=True)).to_be_visible()


def test_a_short_run_id_chooses_the_run(page: Page, work: Work) -> None:
    task = work.task(script=WORKS, **SIMPLE)
    work.prompt(task)
    run = work.view(task)["runs"][0]["id"]
    page.goto(work.url(f"tasks/{task[:SHORT]}", tab="transcript", run=run[:SHORT]))
    expect(page.get_by_text("I write it.")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"/tasks/{task}\?.*run={run}"))


def test_a_question_opened_by_a_short_id_can_be_answered(page: Page, work: Work) -> None:
    prompt = work.prompt(work.task(script=asks(RECOMMENDED)))["id"]
    page.goto(work.url("inbox", prompt=prompt[:SHORT]))
    expect(page).to_have_url(re.compile(rf"prompt={prompt}"))
    expect(page.get_by_role("button", name="Snooze")).to_be_enabled()
    expect(page.get_by_role("button", name="Accept recommended")).to_be_visible()


def test_a_finding_opened_by_a_short_id_shows_its_full_address(page: Page, work: Work) -> None:
    test_knowledge.learned(work)
    found = test_knowledge.node(work, test_knowledge.SESSION)["id"]
    page.goto(work.url(f"knowledge/nodes/{found[:SHORT]}"))
    expect(page).to_have_url(re.compile(rf"/knowledge/nodes/{found}"))
    expect(page.get_by_role("heading", level=1, name=test_knowledge.SESSION)).to_be_visible()


def test_a_pipeline_shows_the_path_of_a_task_with_a_short_id(page: Page, work: Work) -> None:
    task = work.task("Add a till", start=False, **SIMPLE)
    page.goto(work.url("pipelines/simple", task=task[:SHORT]))
    expect(page).to_have_url(re.compile(rf"task={task}"))
    expect(page.get_by_text("the path of Add a till")).to_be_visible()
