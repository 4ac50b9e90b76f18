"""The documentation in a browser: found from the app, searched, read and copied from."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.web.conftest import PHONE, Work

HOW_TO = "Add a project"


def test_from_the_app_to_a_page_and_back(visit: Callable[..., Page], work: Work) -> None:
    page = visit()
    page.goto(work.url("board"))
    page.get_by_role("link", name="Docs").click()
    expect(page.get_by_role("heading", level=1, name="Documentation")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("add a project")
    page.keyboard.press("Enter")
    page.get_by_role("main").get_by_role("link", name=HOW_TO).first.click()
    expect(page.get_by_role("heading", level=1, name=HOW_TO)).to_be_visible()
    current = page.get_by_role("navigation", name="Documentation").locator("[aria-current]")
    expect(current).to_have_text(HOW_TO)
    page.get_by_role("link", name="Open the app").click()
    page.wait_for_url("**/board*")


def test_code_is_copied(visit: Callable[..., Page], work: Work) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{work.site.address}/docs/how-to/project")
    code = page.locator(".code", has_text="am project trust")
    code.hover()
    code.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "am project trust"


def test_on_a_phone_the_pages_are_one_press_away(visit: Callable[..., Page], work: Work) -> None:
    phone = visit(PHONE, has_touch=True, is_mobile=True)
    phone.goto(f"{work.site.address}/docs/how-to/phone")
    phone.get_by_role("link", name="Pages").click()
    phone.get_by_text("Concepts", exact=True).click()
    phone.get_by_role("link", name="The engine").click()
    expect(phone.get_by_role("heading", level=1, name="The engine")).to_be_visible()
