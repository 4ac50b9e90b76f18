"""What is answered under /docs. A request only ever names a page or file that was found."""

import re
from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from agents_manager.api.manual.book import DECISIONS, Book, Entry, Found, Page

HERE = Path(__file__).parent
OWN = {"site.css": "text/css", "site.js": "text/javascript"}
TYPES = {".png": "image/png", ".svg": "image/svg+xml", ".yaml": "text/plain"}
SEARCH = "search"
LONGEST = 100
"""Characters of what is looked for."""
MOST_WORDS = 6
ASK_AGAIN = {"Cache-Control": "no-cache"}
CURRENT = ' aria-current="page"'
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
        first = self._book.groups[0] if self._book.groups and not here else None
        made = list[str]()
        for group in self._book.groups:
            current = [entry for entry in group.entries if _shows(entry, here)]
            links = (
                _link(_root(here) + entry.address, entry.label, CURRENT * (entry in current))
                for entry in group.entries
            )
            items = "".join(f"<li>{link}</li>" for link in links)
            opened = " open" if current or group is first else ""
            summary = f"<summary>{escape(group.label)}</summary>"
            made.append(f"<details{opened}>{summary}<ul>{items}</ul></details>")
        return "\n".join(made)

    def _around(self, here: str) -> str:
        """The pages before and after, in the order of the navigation."""
        order = self._book.order
        at = next((i for i, entry in enumerate(order) if entry.address == here), None)
        if at is None:
            return ""
        around = {"prev": order[max(at - 1, 0) : at], "next": order[at + 1 : at + 2]}
        return "".join(
            _link(_root(here) + entry.address, entry.label, f' rel="{way}"')
            for way, entries in around.items()
            for entry in entries
        )

    def _results(self, asked: str) -> Page:
        words = asked.lower().split()[:MOST_WORDS]
        found = self._book.find(words) if words else []
        shown = "".join(_result(each, words) for each in found)
        if words and not found:
            shown = "<p>No page has all of these words.</p>"
        title = f"Search: {asked}" if words else "Search"
        return Page(SEARCH, title, f"<h1>{escape(title)}</h1>\n{shown}", ())


def _shows(entry: Entry, here: str) -> bool:
    """Whether the page belongs to the entry; records of decisions have none of their own."""
    return entry.address == here or (entry.address == DECISIONS and here.startswith(DECISIONS))


def _result(found: Found, words: Sequence[str]) -> str:
    name = found.title if found.heading == found.title else f"{found.title}: {found.heading}"
    parts = re.split(f"({'|'.join(map(re.escape, words))})", found.text, flags=re.IGNORECASE)
    text = "".join(
        f"<mark>{escape(part)}</mark>" if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
    return f'<p class="result">{_link(f"./{found.address}", name)}<br>{text}</p>\n'


def _contents(page: Page) -> str:
    shown = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(shown) < CONTENTS or not page.address:
        return ""
    items = "".join(
        f'<li class="level-{each.level}">{_link(f"#{each.anchor}", each.text)}</li>'
        for each in shown
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


def _link(where: str, words: str, more: str = "") -> str:
    return f'<a href="{escape(where)}"{more}>{escape(words)}</a>'
