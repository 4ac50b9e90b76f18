"""What git answered before, remembered for as long as the answer cannot change: what commits hold
never does, and configuration only with its files."""

import os
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

MOST = 256
FRESH_S = 5.0
"""How long an answer from configuration counts, which may include files that are not looked at."""
SYSTEM = Path("/etc/gitconfig")
OF_USER = ("HOME", "XDG_CONFIG_HOME")

K = TypeVar("K")
V = TypeVar("V")
Stamp = tuple[object, ...]


class Answers(Generic[K, V]):
    """The answers to the questions that were asked last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[K, V] = OrderedDict()

    def get(self, question: K) -> V | None:
        return self._known.get(question)

    def keep(self, question: K, answer: V) -> V:
        self._known[question] = answer
        self._known.move_to_end(question)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return answer


@dataclass(frozen=True, slots=True)
class _Stamped(Generic[V]):
    answer: V
    stamp: Stamp
    at: float


class OfSettings(Generic[K, V]):
    """Answers that depend on the configuration of a repository alone."""

    def __init__(self) -> None:
        self._known: Answers[K, _Stamped[V]] = Answers()

    def get(self, question: K, git_dir: Path) -> V | None:
        known = self._known.get(question)
        if known is None or time.monotonic() - known.at >= FRESH_S:
            return None
        return known.answer if known.stamp == stamp(git_dir) else None

    def keep(self, question: K, before: Stamp, answer: V) -> V:
        """`before` is the stamp from before git was asked."""
        self._known.keep(question, _Stamped(answer, before, time.monotonic()))
        return answer


def stamp(git_dir: Path) -> Stamp:
    """Changes with the files that git takes its configuration from."""
    home, settings = (os.environ.get(name) for name in OF_USER)
    files = [SYSTEM, git_dir / "config", git_dir / "config.worktree"]
    if home:
        files += [Path(home, ".gitconfig"), Path(home, ".config/git/config")]
    if settings:
        files.append(Path(settings, "git/config"))
    return (home, settings, *map(_state, files))


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
