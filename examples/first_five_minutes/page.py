"""The page of the documentation that the walk becomes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from terminal import Terminal

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILE = DOCS / "first-five-minutes.md"
HEAD = """\
# The first five minutes

What a stranger types, and what comes of it: from an empty machine to two merged tasks. This page is
made by `examples/first_five_minutes`, which does all of it with the built package in an empty home;
`make test-install` holds it to what the program says. Ids, times, ports and the folder are
replaced. The model of Claude Code is scripted here; with yours, log in to Claude Code or set
`ANTHROPIC_API_KEY`, and everything else is the same.
"""
PICTURES = {
    "A first task, without a model": ("board", "review"),
    "The same with Claude Code": ("inbox", "question", "transcript", "done"),
}
CAPTIONS = {
    "board": "The board: the task waits for you",
    "review": "What the agent changed",
    "inbox": "The inbox: Claude Code has a question",
    "question": "The question, with what it is about",
    "transcript": "What Claude Code did",
    "done": "Both are merged",
}


class Page:
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._parts: list[str] = []

    @contextmanager
    def part(self, title: str) -> Iterator[None]:
        """What is typed meanwhile."""
        self._terminal.record.clear()
        yield
        pictures = "".join(
            f"\n![{CAPTIONS[name]}](pictures/first-{name}.png)\n"
            for name in PICTURES.get(title, ())
        )
        typed = "\n".join(self._terminal.record)
        self._parts.append(
            f"## {title}\n\n```console not run: make test-install runs it\n{typed}\n```\n{pictures}"
        )

    def text(self) -> str:
        return HEAD + "\n" + self._terminal.told("\n".join(self._parts)) + "\n"

    def write(self) -> None:
        FILE.write_text(self.text(), encoding="utf-8")
