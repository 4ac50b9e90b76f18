"""The words of a pull request: bounded, and harmless on a forge where some of them would do
something (call people, refer to issues or close them, hide). Those are broken by a blank of no
width, so that they read as before."""

import re

BODY_LIMIT = 60_000
CUT = "\n\n[The text was cut here.]"
NOTHING = "\u200b"
_CALLS = re.compile(r"(?<![\w/])@(?=\w)")
_ISSUE = re.compile(r"#(?=\d)|\bgh-(?=\d)|/(?:issues|pulls?|discussions)/(?=\d)", re.IGNORECASE)
# A forge looks for all of those in what is shown, where they can be written as entities, too.
_ENTITY = re.compile(r"&(?=#[0-9]+;|#x[0-9a-f]+;|num;|commat;)", re.IGNORECASE)


def harmless(text: str) -> str:
    found = _ENTITY.sub("&amp;", text.replace("<!--", "&lt;!--"))
    for pattern in (_CALLS, _ISSUE):
        found = pattern.sub(lambda match: match[0] + NOTHING, found)
    return found


def bounded(text: str) -> str:
    """At most 60 kB; half a character at the cut is dropped."""
    raw = text.encode(errors="replace")
    if len(raw) <= BODY_LIMIT:
        return raw.decode()
    return raw[: BODY_LIMIT - len(CUT)].decode(errors="ignore") + CUT
