"""The words of a pull request: bounded, and harmless on a forge where some of them would do
something (call people, close issues, hide). Those are broken by a blank of no width, so that they
read as before."""

import re

BODY_LIMIT = 60_000
CUT = "\n\n[The text was cut here.]"
NOTHING = "\u200b"
_CALLS = re.compile(r"(?<![\w/])@(?=\w)")
_ISSUE = re.compile(r"#(?=\d)|\b[Gg][Hh]-(?=\d)")
_CLOSES = re.compile(r"\b(clos|fix|resolv)(?=(?:e[sd]?|ed|es)?\b\s*:?\s+https?://)", re.IGNORECASE)


def harmless(text: str) -> str:
    found = text.replace("<!--", "&lt;!--")
    for pattern in (_CALLS, _ISSUE, _CLOSES):
        found = pattern.sub(lambda match: match[0] + NOTHING, found)
    return found


def bounded(text: str) -> str:
    """At most 60 kB; half a character at the cut is dropped."""
    raw = text.encode(errors="replace")
    if len(raw) <= BODY_LIMIT:
        return raw.decode()
    return raw[: BODY_LIMIT - len(CUT)].decode(errors="ignore") + CUT
