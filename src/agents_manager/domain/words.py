"""Words of a text as they are looked for: without case and accents, and names in code also by their
parts. The same for both databases, which are given words and never take a text apart themselves."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

LONGEST = 64
MOST = 2000
_NAME = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ODD_ENDS = " \t\r\n.,;:!?'\"`"
_COMMON = """
a about after all also an and any are as at be been before but by can do does each for from had has
have how i if in into is it its like may more must need needs new no not of on one only or other our
out over should so some such than that the their them then there these they this those to under up
use used uses using was we were what when where which while who why will with without would you your
"""
COMMON = frozenset(_COMMON.split())


def indexed(text: str) -> list[str]:
    """All that the text can be found by: `getUser` is `getuser`, `get` and `user`."""
    found: list[str] = []
    for parts in _names(text):
        found += parts if len(parts) == 1 else ["".join(parts)[:LONGEST], *parts]
    return found[:MOST]


def asked(text: str) -> list[str]:
    """What a search for the text asks for, each once: a name in code is one word."""
    return list(dict.fromkeys(in_order(text)))


def in_order(text: str) -> list[str]:
    return ["".join(parts)[:LONGEST] for parts in _names(text)]


def telling(texts: Iterable[str], most: int) -> list[str]:
    """The words that say what texts are about, those of the first text first."""
    found = dict.fromkeys(word for text in texts for word in indexed(text))
    return [word for word in found if len(word) > 1 and word not in COMMON][:most]


def normal(text: str) -> str:
    """The text but for case, spaces, quotes around it and the sign at its end."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_ODD_ENDS)


def fingerprint(text: str) -> str:
    """The same for texts that say the same in the same words."""
    return hashlib.sha256(normal(text).encode("utf-8", "replace")).hexdigest()


def _names(text: str) -> list[list[str]]:
    """Each name in its parts."""
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    found: list[list[str]] = []
    for name in _NAME.findall(plain):
        parts = [part for piece in name.split("_") for part in _HUMP.split(piece)]
        found.append([part.casefold()[:LONGEST] for part in parts if part])
    return found
