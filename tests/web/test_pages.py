"""Every page, in light and dark, at a desk and on a phone: nothing that keeps people out, nothing
that runs off the side."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import DESKTOP, PHONE, Work
from tests.web.looks import faults

ASKS = {"plan": [[{"ask": {"question": "Which colour?", "options": ["red", "blue"]}}]]}
PAGES = {
    "inbox": "inbox",
    "board": "board",
    "tasks": "tasks",
    "schedules": "schedules",
    "runs": "runs",
    "knowledge": "knowledge",
    "graph of knowledge": "knowledge/graph",
    "context map": "knowledge/map",
    "blockers": "knowledge/blockers",
    "curation": "knowledge/queue",
    "pipelines": "pipelines",
    "costs": "costs",
    "performance": "performance",
    "projects": "projects",
    "hosts": "hosts",
    "this browser": "settings?section=appearance",
    "configuration": "settings?section=project",
    "agents": "settings?section=agents",
    "channels": "settings?section=channels",
    "access": "settings?section=access",
    "record": "settings?section=audit",
    "task": "tasks/{task}",
    "transcript": "tasks/{task}?tab=transcript",
    "changes": "tasks/{task}?tab=changes",
    "timeline": "tasks/{task}?tab=timeline",
    "costs of a task": "tasks/{task}?tab=runs",
    "first page of the documentation": "docs/",
    "page with pictures": "docs/how-to/web",
    "page with code and tables": "docs/concepts/pipelines",
    "search of the documentation": "docs/search?q=sandbox",
}
SIZES = {"desk": (DESKTOP, {}), "phone": (PHONE, {"has_touch": True, "is_mobile": True})}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(
    visit: Callable[..., Page], work: Work, size: str, scheme: str
) -> None:
    task = work.task("Paint it", ASKS)
    work.prompt(task)
    view, options = SIZES[size]
    page = visit(view, color_scheme=scheme, **options)
    found = {name: _seen(page, work, path.format(task=task)) for name, path in PAGES.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def _seen(page: Page, work: Work, path: str) -> list[str]:
    path, _, query = path.partition("?")
    page.goto(work.url(path, **dict(part.split("=") for part in query.split("&") if part)))
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    expect(page.get_by_label("Loading")).to_have_count(0)
    return faults(page)
