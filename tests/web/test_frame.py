"""Logging in, the frame around every page, and the live connection."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import Site, Work, make_work, visitor, watched


@pytest.mark.quick
def test_a_link_logs_in_once(browser: Browser, site: Site) -> None:
    link = site.post("login-links")["url"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="Board")).to_be_attached()
    assert link.partition("#")[2] not in page.url
    context.close()
    second = browser.new_context().new_page()
    second.goto(link)
    expect(second.get_by_role("alert")).to_contain_text("used")
    second.context.close()


@pytest.mark.quick
def test_a_wrong_token_is_refused_and_the_right_one_leads_back(
    browser: Browser, work: Work
) -> None:
    page = browser.new_context().new_page()
    page.goto(work.url("tasks"))
    expect(page.get_by_label("Token")).to_be_visible()
    page.get_by_label("Token").fill("am_wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("not known")
    page.get_by_label("Token").fill((work.site.home / "token").read_text().strip())
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    assert f"project={work.name}" in page.url
    page.context.close()


def test_an_ended_session_asks_for_the_login(page: Page, work: Work) -> None:
    page.goto(work.url("board"))
    expect(page.get_by_role("heading", name="Board")).to_be_attached()
    page.context.clear_cookies()
    page.get_by_role("link", name="Runs", exact=False).first.click()
    expect(page.get_by_label("Token")).to_be_visible()


def test_the_palette_finds_a_task(page: Page, work: Work) -> None:
    work.task("Paint the shed", start=False)
    page.goto(work.url("board"))
    expect(page.get_by_role("article")).to_have_count(1)
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a task").fill("paint shed")
    page.get_by_role("option", name="Paint the shed").click()
    expect(page.get_by_role("heading", name="Paint the shed")).to_be_visible()


def test_keys_go_everywhere_and_the_sheet_lists_them(page: Page, work: Work) -> None:
    page.goto(work.url("board"))
    expect(page.get_by_role("heading", name="Board")).to_be_attached()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("Go to Costs")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Costs")).to_be_visible()


@pytest.mark.quick
def test_a_task_is_created_and_its_words_survive_a_reload(page: Page, work: Work) -> None:
    page.goto(work.url("board"))
    expect(page.get_by_role("heading", name="Board")).to_be_attached()
    page.keyboard.press("c")
    page.get_by_label("Title").fill("Paint the shed")
    page.reload()
    expect(page.get_by_role("heading", name="Board")).to_be_attached()
    page.keyboard.press("c")
    expect(page.get_by_label("Title")).to_have_value("Paint the shed")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Paint the shed")).to_be_visible()
    page.keyboard.press("c")
    expect(page.get_by_label("Title")).to_have_value("")


@pytest.fixture
def own(browser: Browser, own_site: Site) -> Iterator[tuple[Site, Page]]:
    with visitor(browser, own_site) as context:
        yield own_site, context.new_page()


@pytest.mark.quick
def test_the_server_goes_and_comes_back(own: tuple[Site, Page]) -> None:
    site, page = own
    work = make_work(site)
    page.goto(work.url("board"))
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_attached()
    port = site.port
    site.stop()
    expect(page.get_by_role("status").filter(has_text="Offline")).to_be_visible()
    site.start(port)
    work.task("While you were away", start=False, pipeline="simple")
    expect(page.get_by_role("article").filter(has_text="While you were away")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_attached()


def test_nine_tabs_share_one_stream(browser: Browser, work: Work) -> None:
    with visitor(browser, work.site) as context:
        faults: list[str] = []
        streams: list[str] = []
        context.on(
            "request",
            lambda request: streams.append(request.url) if "events/stream" in request.url else None,
        )
        tabs = [watched(context.new_page(), faults) for _ in range(9)]
        for tab in tabs:
            tab.goto(work.url("board"))
            expect(tab.get_by_role("heading", name="Board")).to_be_attached()
        assert len(streams) == 1
        work.task("Seen by all", start=False, pipeline="simple")
        for tab in tabs:
            expect(tab.get_by_role("article")).to_have_count(1)
        # The tab that holds the stream goes, and another takes over without a gap.
        tabs[0].close()
        work.task("Seen by the rest", start=False, pipeline="simple")
        for tab in tabs[1:]:
            expect(tab.get_by_role("article")).to_have_count(2)
        assert faults == []


def test_the_theme_is_kept(visit: Callable[..., Page], work: Work) -> None:
    page = visit()
    page.goto(work.url("settings"))
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
    page.reload()
    expect(page.get_by_label("Theme")).to_have_value("dark")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
