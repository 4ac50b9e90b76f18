"""What is answered under /docs. A request only ever names a page or file that was found."""

import re
from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from agents_manager.api.manual.book import DECISIONS, Book, Found, Page

HERE = Path(__file__).parent
OWN = {"site.css": "text/css", "site.js": "text/javascript"}
TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".yaml": "text/plain"}
SEARCH = "search"
LONGEST = 100
"""Characters of what is looked for."""
MOST_WORDS = 6
ASK_AGAIN = {"Cache-Control": "no-cache"}
CONTENTS = 3
"""From how many headings on a page has a table of contents."""


class Site:
    def __init__(self, folder: Path) -> None:
        self._book = Book(folder)

    def answer(self, path: str, query: bytes) -> Response:
        if not path:
            return RedirectResponse("docs/", 308)
        address = path.removeprefix("/")
        if address in OWN:
            return Response((HERE / address).read_bytes(), 200, ASK_AGAIN, OWN[address])
        if file := self._book.files.get(address):
            return Response(file.read_bytes(), 200, ASK_AGAIN, TYPES[file.suffix])
        if address == SEARCH:
            asked = parse_qs(query.decode("latin-1")).get("q", [""])[0]
            return self._shown(self._results(asked.strip()[:LONGEST]), asked[:LONGEST])
        if address in self._book.pages:
            return self._shown(self._book.page(address))
        return self._shown(_missing(address), status=404)

    @cached_property
    def _frame(self) -> Template:
        return Template((HERE / "page.html").read_text())

    def _shown(self, page: Page, asked: str = "", status: int = 200) -> Response:
        text = self._frame.substitute(
            title=escape(page.title),
            root=_root(page.address),
            asked=escape(asked),
            navigation=self._navigation(page.address),
            body=page.body,
            contents=_contents(page),
            around=self._around(page.address),
        )
        return Response(text, status, ASK_AGAIN, "text/html")

    def _navigation(self, here: str) -> str:
        root = _root(here)
        made = list[str]()
        for number, group in enumerate(self._book.groups):
            items, opened = list[str](), " open" if not here and not number else ""
            for entry in group.entries:
                within = entry.address == DECISIONS and here.startswith(DECISIONS)
                current = entry.address == here or within
                mark = ' aria-current="page"' if current else ""
                opened = opened or (" open" if current else "")
                where = escape(root + entry.address)
                items.append(f'<li><a href="{where}"{mark}>{escape(entry.label)}</a></li>')
            label = escape(group.label)
            made.append(
                f"<details{opened}><summary>{label}</summary><ul>{''.join(items)}</ul></details>"
            )
        return "\n".join(made)

    def _around(self, here: str) -> str:
        """The pages before and after, in the order of the navigation."""
        order = self._book.order
        at = next((i for i, entry in enumerate(order) if entry.address == here), None)
        if at is None:
            return ""
        root = _root(here)
        around = [("prev", at - 1), ("next", at + 1)]
        return "".join(
            f'<a rel="{way}" href="{escape(root + order[i].address)}">{escape(order[i].label)}</a>'
            for way, i in around
            if 0 <= i < len(order)
        )

    def _results(self, asked: str) -> Page:
        words = asked.lower().split()[:MOST_WORDS]
        found = self._book.find(words) if words else []
        shown = "".join(_result(each, words) for each in found)
        if words and not found:
            shown = "<p>No page has all of these words.</p>"
        title = f"Search: {asked}" if words else "Search"
        return Page(SEARCH, title, f"<h1>{escape(title)}</h1>\n{shown}", ())


def _result(found: Found, words: Sequence[str]) -> str:
    name = found.title if found.heading == found.title else f"{found.title}: {found.heading}"
    any_word = re.compile("|".join(re.escape(escape(word)) for word in words), re.IGNORECASE)
    text = any_word.sub(lambda hit: f"<mark>{hit[0]}</mark>", escape(found.text))
    return (
        f'<p class="result"><a href="./{escape(found.address)}">{escape(name)}</a><br>{text}</p>\n'
    )


def _contents(page: Page) -> str:
    shown = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(shown) < CONTENTS or not page.address:
        return ""
    links = (f'<a href="#{escape(each.anchor)}">{escape(each.text)}</a>' for each in shown)
    items = "".join(
        f'<li class="level-{each.level}">{link}</li>'
        for each, link in zip(shown, links, strict=True)
    )
    label = "On this page"
    return f'<nav class="contents" aria-label="{label}"><h2>{label}</h2><ul>{items}</ul></nav>'


def _missing(address: str) -> Page:
    body = f"""<h1>There is no such page</h1>
<p>The address may be wrong, or the page has another name now. Search for it, or go to
<a href="{_root(address)}">the first page</a>.</p>"""
    return Page(address, "No such page", body, ())


def _root(address: str) -> str:
    """The way from a page to the first one, whatever folder a proxy shows us in."""
    return "../" * address.count("/") or "./"
