"""Checks what a reader of the documentation relies on: short README, links that lead somewhere,
complete indexes, a changelog, generated pages that fit the code."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gen_docs

from agents_manager.api.manual import markdown
from agents_manager.api.manual.book import DECISIONS as DECISIONS_ADDRESS
from agents_manager.api.manual.book import Book

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = ROOT / "docs" / "decisions"
README_LINES = 150
SKIPPED_FOLDERS = {".agents", ".git", ".venv", ".venv-bench", "node_modules"}


def main() -> int:
    problems = [*readme(), *links(), *listed(), *decisions(), *changelog(), *gen_docs.outdated()]
    print("\n".join(problems) or "Documentation is in order.")
    return 1 if problems else 0


def readme() -> Iterator[str]:
    path = ROOT / "README.md"
    if not path.exists():
        yield "README.md is missing."
    elif (lines := len(path.read_text().splitlines())) >= README_LINES:
        yield f"README.md has {lines} lines; keep it under {README_LINES} and link to docs/."


def links() -> Iterator[str]:
    for page in sorted(ROOT.rglob("*.md")):
        if SKIPPED_FOLDERS.isdisjoint(page.relative_to(ROOT).parts):
            for target in targets(page):
                path, _, anchor = target.partition("#")
                there = (page.parent / path).resolve() if path else page
                if not there.exists() or (anchor and anchor not in anchors(there)):
                    yield f"{page.relative_to(ROOT)}: the link to {target} leads nowhere."


def targets(page: Path) -> Iterator[str]:
    """Files and headings that a page links to, and pictures that it shows."""
    tokens = markdown.parse(page.read_text())
    yield from markdown.pictures(tokens)
    for _, target in markdown.links(tokens):
        if target.startswith("#") or not markdown.ELSEWHERE.match(target):
            yield target


@cache
def anchors(page: Path) -> set[str]:
    if page.suffix != ".md":
        return set()
    return {heading.anchor for heading in markdown.headings(markdown.parse(page.read_text()))}


def listed() -> Iterator[str]:
    """What is in no list is on no reader's way through the site."""
    book = Book(ROOT / "docs")
    known = {entry.address for entry in book.order}
    for address, path in book.pages.items():
        if address and address not in known and not address.startswith(DECISIONS_ADDRESS):
            yield f"{path.relative_to(ROOT)} is not listed in docs/README.md."


def decisions() -> Iterator[str]:
    index = (DECISIONS / "README.md").read_text()
    for record in sorted(DECISIONS.glob("[0-9]*.md")):
        if f"]({record.name})" not in index:
            yield f"docs/decisions/{record.name} is not listed in docs/decisions/README.md."


def changelog() -> Iterator[str]:
    path = ROOT / "CHANGELOG.md"
    if not path.exists() or "## Unreleased" not in path.read_text():
        yield 'CHANGELOG.md with a heading "## Unreleased" is missing.'


if __name__ == "__main__":
    sys.exit(main())
