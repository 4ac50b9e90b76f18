"""The board: columns from data, moves by drag and by menu, and what is refused."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.am_program import until
from tests.web.conftest import PHONE, Work

ASKS = {"plan": [[{"ask": {"question": "Which colour?", "options": ["red", "blue"]}}]]}


def column(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True)


def card(page: Page, title: str) -> Locator:
    return page.get_by_role("article").filter(has_text=title)


def opened(page: Page, work: Work) -> Page:
    page.goto(work.url("board"))
    expect(column(page, "Open")).to_be_visible()
    return page


@pytest.mark.quick
def test_a_drag_moves_the_task(page: Page, work: Work) -> None:
    task = work.task("Paint it", start=False, pipeline="simple")
    opened(page, work)
    card(page, "Paint it").drag_to(column(page, "Cancelled"))
    expect(column(page, "Cancelled")).to_contain_text("1")
    work.status(task, "cancelled")


def test_a_refused_drag_says_why_before_the_drop(page: Page, work: Work) -> None:
    task = work.task("Paint it", start=False)
    opened(page, work)
    with page.expect_response("**/targets"):
        card(page, "Paint it").hover()
    page.mouse.down()
    target = column(page, "Done").bounding_box()
    assert target
    page.mouse.move(target["x"] + 10, target["y"] + 100, steps=5)
    page.mouse.move(target["x"] + 14, target["y"] + 120, steps=5)
    expect(column(page, "Done").get_by_role("status")).to_be_visible()
    page.mouse.up()
    expect(column(page, "Open").get_by_role("article")).to_have_count(1)
    assert work.view(task)["task"]["status"] == "open"


def test_a_move_that_the_server_refuses_is_taken_back(page: Page, work: Work) -> None:
    task = work.task("Paint it", start=False, pipeline="simple")
    opened(page, work)
    card(page, "Paint it").hover()
    # Somebody else is faster; the page does not hear of it before the drop.
    page.route("**/api/v1/board**", lambda route: route.abort())
    work.site.post(f"tasks/{task}/move", {"to": "cancelled"})
    card(page, "Paint it").drag_to(column(page, "In progress"))
    expect(page.get_by_text("stays where it is")).to_be_visible()


@pytest.mark.quick
def test_a_change_elsewhere_is_seen(page: Page, work: Work) -> None:
    task = work.task("Paint it", start=False, pipeline="simple")
    streams: list[Route] = []
    page.route("**/api/v1/events/stream*", lambda route: streams.append(route))
    opened(page, work)
    expect(card(page, "Paint it")).to_be_visible()
    # What happens between the page's reading and the opening of its stream is not lost.
    work.site.post(f"tasks/{task}/move", {"to": "cancelled"})
    until(lambda: streams or page.wait_for_timeout(50))
    for stream in streams:
        stream.continue_()
    expect(card(page, "Paint it")).to_have_count(0)
    work.task("A second one", start=False, pipeline="simple")
    expect(card(page, "A second one")).to_be_visible()


def test_what_waits_for_a_person_stands_out(page: Page, work: Work) -> None:
    task = work.task("Paint it", ASKS)
    work.prompt(task)
    work.task("Other", start=False)
    opened(page, work)
    expect(card(page, "Paint it")).to_contain_text("Needs you")
    page.get_by_role("button", name="1 task waits for you").click()
    expect(card(page, "Other")).to_have_count(0)
    assert "waiting=me" in page.url
    page.reload()
    expect(card(page, "Paint it")).to_be_visible()
    expect(card(page, "Other")).to_have_count(0)


@pytest.mark.quick
def test_the_menu_is_the_way_of_a_phone(visit: Callable[..., Page], work: Work) -> None:
    task = work.task("Paint it", start=False, pipeline="simple")
    phone = visit(PHONE, has_touch=True, is_mobile=True)
    opened(phone, work)
    phone.get_by_role("button", name="Move Paint it").tap()
    phone.get_by_role("menuitem", name="Cancelled", exact=True).tap()
    work.status(task, "cancelled")
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_keys_walk_over_the_cards(page: Page, work: Work) -> None:
    work.task("First", start=False, priority="high")
    work.task("Second", start=False)
    opened(page, work)
    expect(card(page, "Second")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="First")).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Second")).to_be_focused()
    page.keyboard.press("m")
    expect(page.get_by_role("menuitem", name="Planning", exact=True)).to_be_enabled()


@pytest.mark.quick
def test_text_of_a_task_is_text(page: Page, work: Work) -> None:
    title = "<img src=x onerror=alert(1)> \x1b[31mred \u202efdp.exe"
    work.task(title, start=False, description="<script>alert(1)</script>")
    opened(page, work)
    expect(card(page, "<img src=x onerror=alert(1)>")).to_be_visible()
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
    assert "\u202e" not in page.inner_text("main")
