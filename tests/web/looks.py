"""What keeps somebody from using a page, and whether it fits its screen."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def faults(page: Page) -> list[str]:
    queue = page.get_by_role("navigation", name="Questions")
    if queue.count():  # Its rows are hidden until it has found its place in them.
        expect(queue.get_by_role("link").first).to_be_visible()
    found = Axe().run(page).response["violations"]
    bad = [v for v in found if v["impact"] in ("serious", "critical")]
    told = [f"{v['id']}: {node['html'][:200]}" for v in bad for node in v["nodes"]]
    return [*told, *(["it runs off the side"] if page.evaluate(TOO_WIDE) else [])]
