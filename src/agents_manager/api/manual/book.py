"""The pages of the documentation: where each is, in which order, and what they say."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from agents_manager.api.manual import markdown

INDEX = "README.md"
PAGE = ".md"
BESIDE = frozenset({".png", ".svg", ".yaml"})
"""What pages show or link to."""
DECISIONS = "decisions/"
TITLE_COUNTS, PAGE_COUNTS, HEADING_COUNTS, MOST_TIMES = 20, 3, 8, 5
MOST_FOUND = 30
SHOWN_BEFORE, SHOWN = 60, 240


@dataclass(frozen=True)
class Entry:
    label: str
    address: str


@dataclass(frozen=True)
class Group:
    label: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Page:
    address: str
    title: str
    body: str
    headings: tuple[markdown.Heading, ...]


@dataclass(frozen=True)
class Found:
    address: str
    title: str
    heading: str
    text: str


class Book:
    """A folder of Markdown files. Its README is the first page, and names the others in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, tuple[int, Page]] = {}

    @cached_property
    def pages(self) -> Mapping[str, Path]:
        """By address; that of a README is its folder."""
        return {
            address_of(path.relative_to(self._folder).as_posix()): path
            for path in sorted(self._folder.rglob(f"*{PAGE}"))
        }

    @cached_property
    def files(self) -> Mapping[str, Path]:
        found = (path for path in self._folder.rglob("*") if path.suffix in BESIDE)
        return {path.relative_to(self._folder).as_posix(): path for path in found}

    @cached_property
    def groups(self) -> Sequence[Group]:
        """The navigation: what the first page links to under each of its headings."""
        found = list[tuple[str, list[Entry]]]()
        text = self.pages[""].read_text() if "" in self.pages else ""
        for before, token in pairwise(markdown.parse(text)):
            if before.type == "heading_open" and before.tag == "h2":
                found.append((markdown.plain(token), []))
            for words, target in markdown.links([token]) if found else ():
                address = self._led("", target)
                if address in self.pages:
                    found[-1][1].append(Entry(words, address))
        return [Group(label, tuple(entries)) for label, entries in found]

    @cached_property
    def order(self) -> Sequence[Entry]:
        return [entry for group in self.groups for entry in group.entries]

    def page(self, address: str) -> Page:
        """Written anew when its file was changed."""
        path = self.pages[address]
        changed = path.stat().st_mtime_ns
        known = self._written.get(address)
        if known is None or known[0] != changed:
            known = (changed, self._write(address, path))
            self._written[address] = known
        return known[1]

    def find(self, words: Sequence[str]) -> list[Found]:
        """Parts of pages that have all of the words, the best first."""
        scored = [
            (score, found) for found in self._parts if (score := _score(found, words)) is not None
        ]
        scored.sort(key=lambda each: -each[0])
        return [_shortened(found, words) for _, found in scored[:MOST_FOUND]]

    def _write(self, address: str, path: Path) -> Page:
        tokens = markdown.parse(path.read_text())
        found = tuple(markdown.headings(tokens))
        title = found[0].text if found else address
        body = markdown.html(tokens, lambda target: self._way(address, target))
        return Page(address, title, body, found)

    def _way(self, address: str, target: str) -> str | None:
        """A link of the page as it is written there, with the address of a page for its file."""
        where = self._led(address, target)
        if where not in self.pages and where not in self.files:
            return None
        path, hash_, anchor = target.partition("#")
        return (address_of(path) or "./") + hash_ + anchor

    def _led(self, address: str, target: str) -> str:
        path = target.partition("#")[0]
        return address_of(posixpath.normpath(posixpath.join(posixpath.dirname(address), path)))

    @cached_property
    def _parts(self) -> Sequence[Found]:
        return list(self._all_parts())

    def _all_parts(self) -> Iterator[Found]:
        for address, path in self.pages.items():
            said = markdown.parts(markdown.parse(path.read_text()))
            for part in said:
                heading = part.heading
                where = address if heading.level == 1 else f"{address}#{heading.anchor}"
                yield Found(where, said[0].heading.text, heading.text, part.text)


def address_of(path: str) -> str:
    """Of a page by its file, and of any other file by itself."""
    folder, _, name = path.rpartition("/")
    if name == INDEX:
        return f"{folder}/" if folder else ""
    return path.removesuffix(PAGE)


def _score(found: Found, words: Sequence[str]) -> int | None:
    """None where a word is missing."""
    title, heading, text = found.title.lower(), found.heading.lower(), found.text.lower()
    for_title = TITLE_COUNTS if heading == title else PAGE_COUNTS
    score = 0
    for word in words:
        here = word in title, word in heading, text.count(word)
        if not any(here):
            return None
        score += for_title * here[0] + HEADING_COUNTS * here[1] + min(here[2], MOST_TIMES)
    # Why it is so is read after how it is.
    return score // 4 if found.address.startswith(DECISIONS) else score


def _shortened(found: Found, words: Sequence[str]) -> Found:
    places = [at for word in words if (at := found.text.lower().find(word)) >= 0]
    start = max(0, min(places, default=0) - SHOWN_BEFORE)
    text = found.text[start : start + SHOWN]
    if start:
        text = "… " + text.partition(" ")[2]
    if start + SHOWN < len(found.text):
        text = text.rpartition(" ")[0] + " …"
    return Found(found.address, found.title, found.heading, text)
