"""Finds text that looks like an outcome but is not a block that can be read: in a code fence,
joined to a sentence, in lower case, coloured, or as JSON. From such a message no outcome may be
inferred, because what the agent wrote may be a question. Linear in the length of the text."""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from agents_manager.domain.names import visible

MAX_SHOWN = 200

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_EMPHASIS = str.maketrans("", "", "\\*`")
"""Marks of Markdown, and backslashes, which escape in Markdown and in JSON within a string."""
_LINE = re.compile(r"[^\r\n]+")
_MARKER = re.compile(
    r"<<<[ \t]*outcome"
    r"|[<\u00ab\u2039][ \t]*outcome[ \t]*:"
    r"|<[ \t]*/?[ \t]*end_payload|end_payload[ \t]*>",
    re.IGNORECASE,
)


def find(text: str, names: Sequence[str]) -> str | None:
    """Return the first line that looks like an outcome, shortened, or None. `names` are the
    outcomes that are recognised by their name alone, without the marker."""
    named = _named(tuple(names))
    for found in _LINE.finditer(_plain(text)):
        line = found[0]
        # Cheaper than the expressions, and all of them need one of these words.
        small = line.casefold()
        if not ("outcome" in small or "end_payload" in small or '"type"' in small):
            continue
        if _MARKER.search(line) or (named is not None and named.search(line)):
            return visible(line.strip(), MAX_SHOWN)
    return None


def _plain(text: str) -> str:
    text = _ANSI.sub("", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if "&" in text:
        text = html.unescape(text)
    return text.translate(_EMPHASIS)


@cache
def _named(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Matches `outcome: name` at the beginning of a line, in brackets or as an element, and the
    name as a value of JSON."""
    if not names:
        return None
    any_name = "|".join(re.escape(name).replace("_", "[_ -]?") for name in names)
    return re.compile(
        rf"(?:^[ \t>#+-]*|[\[({{<])outcome[ \t]*(?:[:=>]|is)[ \t]*[\"']?(?:{any_name})(?![\w-])"
        rf"|[\"'](?:outcome|type)[\"'][ \t]*:[ \t]*[\"'](?:{any_name})[\"']",
        re.IGNORECASE,
    )
