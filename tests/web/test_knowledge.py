"""The pages of what is known: found, looked at, cared for, drawn; what runs left and were told."""

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.am_program import until
from tests.web.conftest import Work
from tests.web.looks import faults
from tests.web.test_pages import SIZES

WRITES = [
    {"write": {"path": "src/auth/session.py", "text": "x = 1\n"}},
    {"commit": "Keep sessions"},
]
SESSION = "Sessions are kept in Redis"
LIMIT = "The payment service allows 100 calls a minute"
LEFT: dict[str, Any] = {
    "outcome": "completed",
    "files_created": [{"path": "src/auth/session.py", "purpose": "Keeps sessions"}],
    "patterns_discovered": [
        {"pattern": SESSION, "location": "src/auth/session.py:1-1", "applies_to": ["auth"]}
    ],
    "gotchas": [
        {
            "issue": LIMIT,
            "discovered_in": "src/auth/session.py",
            "mitigation": "Wait and try again",
            "severity": "high",
        }
    ],
    "suggested_next_steps": [{"step": "Expire old sessions", "priority": "high"}],
    "open_questions": [
        {"question": "How long does a session last?", "context": "Nobody said.", "blocking": False}
    ],
}
ASKS = {"plan": [[{"ask": {"question": "Which colour?", "options": ["red", "blue"]}}]]}


def script(**fields: Any) -> dict[str, Any]:
    told = {"handoff": {**LEFT, **fields}}
    return {"implement": [[*WRITES, told, {"outcome": "pr_ready"}]]}


def learned(work: Work, title: str = "Add login", **fields: Any) -> str:
    """A task whose run found something out."""
    task = work.task(title, script(**fields), pipeline="simple", tags=["login"])
    until(lambda: work.view(task)["memory"]["handoff"])
    return task


def nodes(work: Work, **query: Any) -> list[dict[str, Any]]:
    found = work.site.get("knowledge/nodes", project=work.name, **query)
    return [one["node"] for one in found["items"]]


def node(work: Work, text: str) -> dict[str, Any]:
    return next(one for one in nodes(work) if one["text"] == text)


def brought(work: Work, many: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
    """Findings by the hundred, as from another project."""
    now = datetime.now(UTC).isoformat()
    bare: dict[str, Any] = {
        **{"kind": "pattern", "detail": {}, "severity": None, "tags": [], "state": "active"},
        **{"sources": [], "used": 0, "helpful": 0, "created_at": now, "updated_at": now},
        **{"confirmed_at": None, "confirmed_commit": None},
    }
    document = {
        "format": "agents-manager/knowledge",
        "version": 1,
        "about": {"project": "elsewhere", "exported_at": now},
        "nodes": [{**bare, **one} for one in many],
        "edges": edges,
    }
    file = Path(work.site.folder, f"{work.name}.json")
    file.write_text(json.dumps(document))
    work.site.am("knowledge", "import", str(file), "--project", work.name)


def test_tasks_that_discovered_patterns_about_auth_are_one_page(page: Page, work: Work) -> None:
    first = learned(work)
    learned(work, "Pay", patterns_discovered=[], gotchas=[], open_questions=[])
    page.goto(work.url("knowledge"))
    row = page.get_by_role("article", name=SESSION)
    expect(row.get_by_role("link", name="Add login")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile("/board"))
    page.goto(work.url("knowledge", kind="pattern", tag="auth", by="task"))
    shown = page.get_by_role("region", name="Findings")
    expect(shown.get_by_role("heading")).to_have_text(re.compile("Add login"))
    expect(shown.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("status").get_by_text("1 finding, told by 1 task")).to_be_visible()
    shown.get_by_role("link", name="Add login").click()
    expect(page).to_have_url(re.compile(f"/tasks/{first}"))


def test_findings_are_narrowed_and_walked_by_keys(page: Page, work: Work) -> None:
    many = [{"id": f"many-{n:04}", "text": f"Finding number {n}"} for n in range(250)]
    brought(work, [*many, {"id": "tagged-1", "text": "Cookies are signed", "tags": ["auth"]}], [])
    page.goto(work.url("knowledge"))
    shown = page.get_by_role("region", name="Findings")
    expect(shown.get_by_role("article").first).to_be_visible()
    assert shown.get_by_role("article").count() < 60, "a long list is not all drawn"
    page.keyboard.press("f")
    page.keyboard.type("cookies")
    expect(shown.get_by_role("article")).to_have_count(1)
    assert "q=cookies" in page.url
    page.get_by_label("Words").fill("")
    page.get_by_label("Tag").select_option("auth")
    expect(shown.get_by_role("article")).to_have_count(1)
    page.get_by_role("button", name="No longer narrowed to: tag auth").click()
    expect(page.get_by_role("status").get_by_text("100 findings so far")).to_be_visible()
    page.get_by_label("State").select_option("retired")
    expect(page.get_by_text("Nothing is known that fits")).to_be_visible()
    page.get_by_label("State").select_option("")
    expect(shown.get_by_role("article").first).to_be_visible()
    page.get_by_label("State").blur()
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = shown.locator("[aria-current]").get_attribute("aria-label")
    page.keyboard.press("o")
    expect(page.get_by_role("heading", level=1, name=second, exact=True)).to_be_visible()


def test_a_finding_tells_its_sources_and_is_cared_for(page: Page, work: Work) -> None:
    learned(work)
    found = node(work, SESSION)
    page.goto(work.url(f"knowledge/nodes/{found['id']}"))
    expect(page.get_by_role("heading", level=1, name=SESSION)).to_be_visible()
    expect(page.get_by_text("An agent: scripted")).to_be_visible()
    expect(page.get_by_role("link", name="src/auth/session.py")).to_be_visible()
    expect(page.get_by_text("found by", exact=True)).to_be_visible()

    page.get_by_role("button", name="Edit").click()
    edit = page.get_by_role("dialog", name="Edit the pattern")
    edit.get_by_label("What it says").fill("Sessions are kept in Redis for a day")
    edit.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name=re.compile("for a day"))).to_be_visible()
    expect(page.get_by_role("blockquote").get_by_text(SESSION, exact=True)).to_be_visible()

    page.get_by_role("button", name="Contradict…").click()
    other = page.get_by_role("dialog", name="Which finding says otherwise?")
    other.get_by_label("Find it by its words").fill("payment")
    other.get_by_text(LIMIT).click()
    other.get_by_role("button", name="Put both in doubt").click()
    expect(page.get_by_text("contradicted", exact=True).first).to_be_visible()
    expect(page.get_by_text("contradicts", exact=True)).to_be_visible()

    page.get_by_role("button", name="It holds").click()
    expect(page.get_by_text(re.compile("^confirmed"))).to_be_visible()
    page.get_by_role("button", name="Retire…").click()
    retire = page.get_by_role("dialog", name="Retire this finding?")
    expect(retire.get_by_role("button", name="Retire it")).to_be_disabled()
    retire.get_by_label("Why it holds no longer").fill("We use files now")
    retire.get_by_role("button", name="Retire it").click()
    expect(page.get_by_role("button", name="It holds after all")).to_be_visible()
    assert SESSION not in [one["text"] for one in nodes(work)]


def test_a_stale_edit_is_told_and_loses_nothing(page: Page, work: Work) -> None:
    learned(work)
    found = node(work, SESSION)
    page.goto(work.url(f"knowledge/nodes/{found['id']}"))
    page.get_by_role("button", name="Edit").click()
    edit = page.get_by_role("dialog", name="Edit the pattern")
    edit.get_by_label("What it says").fill("Mine")
    body = {"text": "Theirs", "tags": ["shop"]}
    work.site.http.patch(f"knowledge/nodes/{found['id']}", json=body).raise_for_status()
    edit.get_by_role("button", name="Save").click()
    told = edit.get_by_role("alert")
    expect(told).to_contain_text("Somebody changed this finding while you wrote")
    expect(told).to_contain_text("Theirs")
    told.get_by_role("button", name="Go on with mine").click()
    edit.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name="Mine")).to_be_visible()
    now = node(work, "Mine")
    assert now["tags"] == ["shop"], "what only they changed stays"


def test_files_lead_to_the_tasks_that_wrote_them(page: Page, work: Work) -> None:
    learned(work)
    page.goto(work.url("knowledge/map"))
    file = page.get_by_role("article", name="src/auth/session.py")
    expect(file.get_by_text("Keeps sessions")).to_be_visible()
    file.get_by_role("button", name="auth").click()
    expect(page.get_by_label("File or folder")).to_have_value("src/auth")
    expect(file).to_be_visible()
    page.get_by_label("File or folder").fill("docs")
    expect(page.get_by_text("No run told of a file there.")).to_be_visible()


def test_a_blocker_is_resolved_and_what_it_held_is_told(page: Page, work: Work) -> None:
    held = work.task("Pay by card", start=False, pipeline="simple")
    page.goto(work.url("knowledge/blockers"))
    expect(page.get_by_text("Nothing is in the way")).to_be_visible()
    blocker = {
        "blocker": "No key for the payment service",
        "impact": "Nothing can be paid",
        "suggested_resolution": "Ask for one",
        "blocking_tasks": [held],
    }
    learned(work, outcome="blocked", blockers=[blocker])
    shown = page.get_by_role("article", name="No key for the payment service")
    expect(shown.get_by_role("link", name="Pay by card")).to_be_visible()
    shown.get_by_role("link", name="Pay by card").click()
    expect(page.get_by_text("It holds this task up")).to_be_visible()
    page.get_by_role("link", name="All blockers").click()
    shown.get_by_role("button", name="Resolve…").click()
    asked = page.get_by_role("dialog", name="Is it out of the way?")
    asked.get_by_label("What came of it").fill("Here it is")
    asked.get_by_role("button", name="Resolve it").click()
    expect(page.get_by_text("Nothing is in the way")).to_be_visible()
    page.get_by_label("Resolved ones, too").check()
    expect(shown.get_by_text("Here it is")).to_be_visible()


def test_what_is_in_doubt_is_settled_in_place(page: Page, work: Work) -> None:
    brought(
        work,
        [
            {"id": "stale-1", "text": "Names are unique", "state": "stale"},
            {"id": "first-1", "text": "Prices are in cents", "state": "contradicted"},
            {"id": "other-1", "text": "Prices are in euros", "state": "contradicted"},
        ],
        [{"from": "first-1", "to": "other-1", "kind": "contradicts"}],
    )
    page.goto(work.url("knowledge/queue"))
    stale = page.get_by_role("article", name="Names are unique")
    stale.get_by_role("button", name="It holds: Names are unique").click()
    expect(stale).to_have_count(0)
    page.get_by_role("button", name="Retire: Prices are in euros").first.click()
    asked = page.get_by_role("dialog", name="Retire this finding?")
    expect(asked.get_by_label("Why it holds no longer")).to_have_value(
        "This holds instead: Prices are in cents"
    )
    asked.get_by_role("button", name="Retire it").click()
    expect(page.get_by_text("Nothing to look at")).to_be_visible()


TAGS = ["auth", "payments", "search", "database", "frontend", "tests", "deploy", "logging"]
DRAWS_S = 10
"""Generous: it takes a fraction of that."""


def many(work: Work) -> None:
    """2,000 findings: 50 tasks, each following the one before, and 39 findings of each."""
    for first in range(0, 50, 10):
        made: list[dict[str, Any]] = []
        edges: list[dict[str, Any]] = []
        for t in range(first, first + 10):
            made += [_task(t), *(_finding(t, n) for n in range(39))]
            edges += [_edge(one["id"], _task(t)["id"], "found_by") for one in made[-39:]]
            edges += [_edge(_task(t)["id"], _task(t - 1)["id"], "follows")] * (t > 0)
        # What is there already is left as it is.
        brought(work, [*([_task(first - 1)] if first else []), *made], edges)


def _task(t: int) -> dict[str, Any]:
    return {"id": f"task-{t:03}", "kind": "task", "text": f"Task {t} of the shop"}


def _finding(t: int, n: int) -> dict[str, Any]:
    words = "A rather long finding that says what is to be minded by whoever comes next"
    return {
        "id": f"find-{t:03}-{n:02}",
        "kind": ("pattern", "gotcha", "decision", "question")[n % 4],
        "severity": "high" if n % 4 == 1 else None,
        "text": f"Number {t}-{n}: {words}",
        "tags": [TAGS[(t + n) % 8], f"area-{t}"],
        "state": "stale" if n == 7 else "active",
    }


def _edge(source: str, target: str, kind: str) -> dict[str, str]:
    return {"from": source, "to": target, "kind": kind}


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('main [data-text]')].map((one) => [
    one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
  const found = [];
  boxes.forEach(([text, a], index) => boxes.slice(index + 1).forEach(([other, b]) => {
    const over = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    if (over) found.push(`${text} / ${other}`);
  }));
  return { count: boxes.length, found };
}"""


def readable(page: Page, least: int) -> None:
    seen = page.evaluate(OVERLAPS)
    assert seen["found"] == []
    assert seen["count"] >= least
    drawn = page.evaluate("document.querySelectorAll('*').length")
    assert drawn < 4000, "the page stays small, however much is drawn"


def test_the_graph_of_2000_findings_is_readable(page: Page, work: Work) -> None:
    many(work)
    begun = time.monotonic()
    page.goto(work.url("knowledge/graph"))
    overview = page.get_by_role("region", name="Findings by what they belong to")
    expect(overview.get_by_role("button", name=re.compile("#auth: "))).to_be_visible()
    assert time.monotonic() - begun < DRAWS_S
    expect(page.get_by_text("2000 findings")).to_be_visible()
    readable(page, 16)
    page.get_by_label("Together by").select_option("task")
    expect(overview.get_by_role("button", name=re.compile("smaller ones"))).to_be_visible()
    readable(page, 60)
    page.get_by_label("Together by").select_option("tag")
    overview.get_by_role("button", name=re.compile("#auth: ")).click()
    expect(page.get_by_role("region", name="#auth").get_by_role("link").nth(3)).to_be_visible()

    page.get_by_label("Find in the graph").fill("number 17-3:")
    page.keyboard.press("Enter")
    near = page.get_by_role("region", name=re.compile("What hangs together with: Number 17-3:"))
    expect(near.locator("[aria-current]")).to_contain_text("Number 17-3:")
    expect(near.get_by_text("Task 17 of the shop")).to_be_visible()
    expect(near.get_by_text("and 10 more")).to_be_attached()
    readable(page, 60)
    page.get_by_label("Steps").fill("1")
    expect(near.get_by_text("Number 17-4:")).to_have_count(0)
    assert "hops=1" in page.url
    near.get_by_text("Task 17 of the shop").click()
    focus = page.get_by_role("region", name="What hangs together with: Task 17 of the shop")
    expect(focus.get_by_text("Task 18 of the shop")).to_be_attached()
    page.get_by_role("link", name="Open it").click()
    expect(page.get_by_role("heading", level=1, name="Task 17 of the shop")).to_be_visible()


def test_a_task_shows_what_its_runs_left_and_were_told(page: Page, work: Work) -> None:
    learned(work)
    second = work.task("Add logout", script(), pipeline="simple", tags=["auth"])
    until(lambda: work.view(second)["memory"]["handoff"])
    page.goto(work.url(f"tasks/{second}"))
    expect(page.get_by_text("Expire old sessions", exact=True)).to_be_visible()
    expect(page.get_by_text("How long does a session last?", exact=True)).to_be_visible()
    expect(page.get_by_text("src/auth/session.py", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Make a task of it…").click()
    new = page.get_by_role("dialog", name="New task")
    expect(new.get_by_label("Title")).to_have_value("Expire old sessions")
    new.get_by_role("button", name="Close").click()
    page.keyboard.press("5")
    runs = page.get_by_role("region", name="Runs and costs")
    runs.get_by_role("button", name=re.compile("implement")).click()
    expect(runs.get_by_text("What it was told of what is known")).to_be_visible()
    runs.get_by_text(re.compile(r"^\d+ findings?$")).click()
    expect(runs.get_by_text(re.compile("^because of")).first).to_be_visible()
    expect(runs.get_by_text("Expire old sessions", exact=True)).to_be_visible()


def test_a_handoff_that_was_not_kept_says_why(page: Page, work: Work) -> None:
    bad = {**LEFT, "gotchas": [{"issue": "x", "severity": "urgent"}]}
    played = {"implement": [[*WRITES, {"handoff": bad}, {"outcome": "pr_ready"}]]}
    task = work.task(script=played, pipeline="simple")
    work.prompt(task)
    page.goto(work.url(f"tasks/{task}"))
    expect(page.get_by_text("The handoff of the run was not kept")).to_be_visible()
    expect(page.get_by_text("gotchas.0.severity", exact=True)).to_be_visible()


def test_an_answer_is_kept_as_a_decision_only_when_that_is_said(page: Page, work: Work) -> None:
    for title in ("Paint it", "Paint that"):
        work.prompt(work.task(title, ASKS))
    page.goto(work.url("inbox"))
    keep = page.get_by_label("Keep this answer as a decision")
    expect(keep).not_to_be_checked()
    page.get_by_text("red", exact=True).click()
    keep.check()
    page.get_by_role("button", name="Send").click()
    decided = until(lambda: nodes(work, kind="decision"))
    assert [one["text"] for one in decided] == ["Which colour? red"]
    expect(keep).not_to_be_checked()


PAGES = {
    "search": "knowledge",
    "graph": "knowledge/graph",
    "near": "knowledge/graph?node={node}",
    "map": "knowledge/map",
    "blockers": "knowledge/blockers",
    "queue": "knowledge/queue",
    "finding": "knowledge/nodes/{node}",
    "task": "tasks/{task}",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_no_page_of_knowledge_keeps_anybody_out(
    visit: Any, work: Work, size: str, scheme: str
) -> None:
    held = [work.task("Pay by card", start=False, pipeline="simple")]
    blocker = {"blocker": "No key", "impact": "Nothing", "suggested_resolution": "Ask"}
    task = learned(work, outcome="blocked", blockers=[{**blocker, "blocking_tasks": held}])
    brought(work, [{"id": f"{work.name}-stale", "text": "Names are unique", "state": "stale"}], [])
    view, options = SIZES[size]
    page = visit(view, color_scheme=scheme, **options)
    found: dict[str, list[str]] = {}
    for name, path in PAGES.items():
        place, _, query = path.format(task=task, node=node(work, SESSION)["id"]).partition("?")
        page.goto(work.url(place, **dict(part.split("=") for part in query.split("&") if part)))
        expect(page.get_by_role("heading", level=1)).to_be_attached()
        expect(page.get_by_label("Loading")).to_have_count(0)
        found[name] = faults(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
