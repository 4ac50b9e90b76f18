"""The blocks of code that the documentation shows, and what each of them is.

The first line of a block says it: its language, where that is not enough what kind of text it is,
the file that the reader is to save it as, and why it is not run, if it is not.

    ```json answer saved as other.json
    ```sh not run: needs an account of GitHub
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents_manager.api.manual import markdown

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
LINE = re.compile(
    r"(?P<language>\w+)(?: (?!not run|saved as)(?P<kind>[a-z-]+))?(?: saved as (?P<file>[\w.]+))?"
    r"(?: not run: (?P<reason>\S.+))?"
)
RUNS = re.compile(r"^ *```(sh|console|python)(?! not run)", re.MULTILINE)
NAMED = re.compile(r"(?<!`)`am ([^`]+)`(?!`)")
TYPED = "$ "
"""Before what is typed in a terminal; other lines are what it prints."""


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    text: str
    language: str = ""
    kind: str | None = None
    file: str | None = None
    reason: str | None = None
    """Why it is not run."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> str:
        """What of it is for a shell."""
        if self.language == "console":
            lines = self.text.splitlines()
            return "\n".join(line.removeprefix(TYPED) for line in lines if line.startswith(TYPED))
        return self.text if self.language == "sh" else ""


def of(page: Path) -> Iterator[Block]:
    for token in markdown.parse(page.read_text()):
        if token.type in ("fence", "code_block"):
            said = LINE.fullmatch(token.info.strip())
            at = token.map[0] + 1 if token.map else 0
            yield Block(page, at, token.content, **(said.groupdict() if said else {}))


def named(page: Path) -> Iterator[list[str]]:
    """The words behind `am` of the commands that a page names in its sentences."""
    for words in NAMED.findall(page.read_text()):
        yield words.split()
