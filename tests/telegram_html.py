"""Telegram's HTML, as strictly as Telegram reads it: what is shown, and why it is refused."""

import re
from dataclasses import dataclass, field

TAGS = frozenset(
    {"a", "b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "code", "pre", "blockquote"}
    | {"span", "tg-spoiler", "tg-emoji"}
)
NAMED = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"'}
_TOKEN = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[a-z]+);|<[^>]*>?|[^<&]+|&", re.S)


class Unparsable(Exception):
    pass


@dataclass
class Parsed:
    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What stands on them, and where they lead."""


def parsed(html: str) -> Parsed:
    found = Parsed()
    nested: list[tuple[str, int, str]] = []
    for token in _TOKEN.finditer(html):
        at, part = len(html[: token.start()].encode()), token[0]
        if part.startswith("</"):
            _end(found, nested, part, at)
        elif part.startswith("<"):
            nested.append(_start(part, at, len(found.text)))
        else:
            found.text += _character(part) if part.startswith("&") else part
    if nested:
        raise Unparsable(f'Can\'t find end tag corresponding to start tag "{nested[-1][0]}"')
    found.text = found.text.strip()
    return found


def _start(part: str, at: int, begins: int) -> tuple[str, int, str]:
    if not part.endswith(">"):
        raise Unparsable(f"Unclosed start tag at byte offset {at}")
    name = re.split(r"[\s>]", part[1:])[0].lower()
    if name not in TAGS:
        raise Unparsable(f'Unsupported start tag "{name}" at byte offset {at}')
    href = re.search(r'href="([^"]*)"', part)
    return name, begins, href[1] if href else ""


def _end(found: Parsed, nested: list[tuple[str, int, str]], part: str, at: int) -> None:
    name = part[2:].rstrip(">").strip().lower()
    if not nested:
        raise Unparsable(f"Unexpected end tag at byte offset {at}")
    wanted, begins, href = nested.pop()
    if name not in ("", wanted):
        raise Unparsable(
            f'Unmatched end tag at byte offset {at}, expected "</{wanted}>", found "</{name}>"'
        )
    if wanted == "a" and href:
        found.links.append((found.text[begins:], href))


def _character(part: str) -> str:
    if part.startswith("&#"):
        digits = part[2:-1]
        return chr(int(digits[1:], 16) if digits[0] == "x" else int(digits))
    return NAMED.get(part, part)
