"""Cards in the form of Slack: blocks of plain text, in which nothing is markup, a mention or a
link, whatever an agent wrote."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from agents_manager.domain.card import Button, Card, Style
from agents_manager.domain.names import visible, visible_lines

HEADER = 150
LABEL = 75
TEXT = 2500
"""Of one block; Slack allows 3000."""
MOST_TEXT = 10_000
"""Of one message. Slack refuses from about 13,000 on, and does not say what it counts."""
MOST_BLOCKS = 50
PER_ROW = 25
FALLBACK = 3000
LINK = 3000
GIVEN = 3000
"""As much as Slack lets people write into a field."""

WORDS = "words"
ASKED = "am-words"
"""What the form is called in which people write."""
OPENS = "am-open"

Block = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    text: str
    """For notices on the screen and for those who have the message read out to them."""
    blocks: Sequence[Block]

    def fields(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": list(self.blocks)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What words are asked for: kept by Slack with the form."""

    channel: str
    message: str
    button: str
    hook: str | None

    def text(self) -> str:
        return json.dumps(asdict(self))


def message(card: Card) -> Message:
    whole = _message(card)
    size = sum(map(_size_of, whole.blocks))
    return whole if size <= MOST_TEXT and len(whole.blocks) <= MOST_BLOCKS else elsewhere(card)


def elsewhere(card: Card) -> Message:
    return _message(card.elsewhere())


def says(words: str) -> Message:
    return message(Card(title=words))


def form(asked: str, pending: Pending) -> Mapping[str, Any]:
    """In which words are given."""
    field = {
        "type": "plain_text_input",
        "action_id": WORDS,
        "multiline": True,
        "max_length": GIVEN,
        "focus_on_load": True,
    }
    label = {"type": "input", "block_id": WORDS, "label": _text("Your words"), "element": field}
    return {
        "type": "modal",
        "callback_id": ASKED,
        "title": _text("Agents Manager"),
        "submit": _text("Send"),
        "close": _text("Cancel"),
        "private_metadata": pending.text(),
        "blocks": [*_sections(visible_lines(asked)), label],
    }


def _message(card: Card) -> Message:
    title = visible_lines(f"{card.title} (repeat)" if card.repeat else card.title) or "Notice"
    labels = [visible(b.label, len(b.label)) or "…" for b in card.buttons]
    body = [part for paragraph in card.body if (part := visible_lines(paragraph)).strip()]
    if any(_size(label) > LABEL for label in labels):
        body.append("\n".join(f"{n}. {label}" for n, label in enumerate(labels, 1)))
        labels = [_cut(f"{n}. {label}", LABEL) for n, label in enumerate(labels, 1)]
    link = card.link if card.link and not _opens(card.link) else ""
    below = (visible_lines(text) for text in (card.hint, link))
    blocks = [
        *_heading(title, bool(body or labels or card.link)),
        *(block for part in body for block in _sections(part)),
        *_rows(card, labels),
        *(_context(part) for text in below for part in _parts(text)),
    ]
    return Message(text=_fallback([title, *body]), blocks=blocks)


def _heading(title: str, above: bool) -> Iterable[Block]:
    """A sentence that stands alone is none."""
    if above and _size(title) <= HEADER and "\n" not in title:
        return [{"type": "header", "text": _text(title)}]
    return _sections(title)


def _sections(text: str) -> Iterable[Block]:
    return ({"type": "section", "text": _text(part)} for part in _parts(text))


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_text(text)]}


def _rows(card: Card, labels: Sequence[str]) -> Iterable[Block]:
    buttons = [_button(*pair) for pair in zip(card.buttons, labels, strict=True)]
    if card.link and _opens(card.link):
        opens = {"type": "button", "action_id": OPENS, "text": _text("Open"), "url": card.link}
        buttons.append(opens)
    for at in range(0, len(buttons), PER_ROW):
        yield {"type": "actions", "elements": buttons[at : at + PER_ROW]}


def _button(button: Button, label: str) -> Block:
    made = {"type": "button", "action_id": button.id, "value": button.id, "text": _text(label)}
    return made if button.style is Style.PLAIN else {**made, "style": button.style.value}


def _opens(link: str) -> bool:
    """Slack refuses a message with a button to what it takes for no address; which those of the
    own machine are, it does not say."""
    at = urlsplit(link)
    host = at.hostname or ""
    far = "." in host and not host.startswith("127.")
    return at.scheme in ("http", "https") and far and len(link) <= LINK


def _text(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _fallback(parts: Sequence[str]) -> str:
    """Here, other than in plain text, three characters have a meaning."""
    whole = "\n\n".join(parts)
    shown = whole if _size(whole) <= FALLBACK else _cut(parts[0], FALLBACK)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _parts(text: str) -> Iterator[str]:
    """All of it, in pieces that fit into a block: broken between lines or words where possible."""
    rest = text
    while _size(rest) > TEXT:
        head = _cut_at(rest, TEXT)
        at = max(head.rfind("\n"), head.rfind(" ")) + 1
        at = at if at > TEXT // 2 else len(head)
        if rest[:at].strip():
            yield rest[:at]
        rest = rest[at:]
    if rest.strip():
        yield rest


def _cut(text: str, most: int) -> str:
    """For what stands in full elsewhere; that it is cut is seen."""
    return text if _size(text) <= most else _cut_at(text, most - 1).rstrip() + "…"


def _cut_at(text: str, most: int) -> str:
    return text.encode("utf-16-le")[: 2 * most].decode("utf-16-le", "ignore")


def _size(text: str) -> int:
    """As those count whose characters have 16 bits: never less than Slack does."""
    return len(text.encode("utf-16-le")) // 2


def _size_of(block: Block) -> int:
    match block:
        case {"elements": [*elements]}:
            return sum(map(_size_of, elements))
        case {"text": {"text": str(text)}} | {"text": str(text)}:
            return _size(text)
        case _:
            return 0
