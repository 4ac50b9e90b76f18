"""A conversation as every API sends it with each request, in one shape, and conditions on it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Entry:
    role: Literal["user", "model", "result"]
    text: str


@dataclass(frozen=True, slots=True)
class Talk:
    model: str
    system: str
    entries: tuple[Entry, ...]
    tools: frozenset[str] = frozenset()
    stream: bool = False

    def earlier(self) -> Iterator["Talk"]:
        """The conversation before each turn that the model has taken in it."""
        for i, entry in enumerate(self.entries):
            if entry.role == "model" and (i == 0 or self.entries[i - 1].role != "model"):
                yield replace(self, entries=self.entries[:i])


def asked(text: str) -> "Said":
    """A person's message holds this text."""
    return Said("user", text)


def resulted(text: str) -> "Said":
    """The result of a tool holds this text."""
    return Said("result", text)


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    text: str

    def __call__(self, talk: Talk) -> bool:
        return any(self.text in entry.text for entry in talk.entries if entry.role == self.role)


def resumed(talk: Talk) -> bool:
    """A person has spoken again after the model had ended its work."""
    pairs = zip(talk.entries, talk.entries[1:], strict=False)
    return any(before.role == "model" and after.role == "user" for before, after in pairs)
