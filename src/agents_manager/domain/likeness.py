"""Whether two findings say the same, by a rule that can be told in a sentence: one of them has all
the telling words of the other, in their order, and what it says beyond that turns nothing."""

import re
from difflib import SequenceMatcher

from agents_manager.domain.words import COMMON, in_order, normal

FEWEST = 3
"""Telling words that two texts share at least; of shorter ones every word counts."""
BEYOND = 3
"""The longer one may have one more word for each so many that they share."""
MOST = 200
_TURNS = "against but cannot except instead never no none not old only unless until without"
TURNS = frozenset(_TURNS.split())
_NUMBERS = re.compile(r"[-+<>=!~]*\d[\d.,:/%]*")


def alike(one: str, other: str) -> bool:
    if normal(one) == normal(other):
        return True
    if _numbers(one) != _numbers(other):
        return False
    short, long = sorted((_telling(one), _telling(other)), key=len)
    same = SequenceMatcher(None, short, long, autojunk=False)
    shared = sum(block.size for block in same.get_matching_blocks())
    if shared < max(FEWEST, len(short)) or (len(long) - shared) * BEYOND > shared:
        return False
    beyond = _beyond(same, long)
    return not any(word in TURNS or word in short for word in beyond)


def near(one: str, other: str) -> bool:
    """Whether a person should look if they do: most of their telling words are the same."""
    ours, theirs = set(_telling(one)), set(_telling(other))
    shared = len(ours & theirs)
    return shared >= FEWEST and 4 * shared >= 3 * len(ours | theirs)


def _beyond(same: "SequenceMatcher[str]", long: list[str]) -> list[str]:
    shared = {block.b + i for block in same.get_matching_blocks() for i in range(block.size)}
    return [word for place, word in enumerate(long) if place not in shared]


def _telling(text: str) -> list[str]:
    """Without an `s` at the end: one limit is like limits."""
    words = [word for word in in_order(text) if word not in COMMON or word in TURNS]
    return [word.rstrip("s") or word for word in words][:MOST]


def _numbers(text: str) -> list[str]:
    return [found.rstrip(".,:") for found in _NUMBERS.findall(text)]
