"""Cards in Telegram's form: HTML of which every word is escaped, and rows of buttons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from agents_manager.domain.card import Button, Card
from agents_manager.domain.names import visible

LONGEST = 4096
"""Of a message, once its marks are read."""
LONGEST_PIECE = 4000
"""Of plain words; some more say whom they are for."""
LONGEST_TOAST = 200
MOST_BUTTONS = 100
LONGEST_LABEL = 40
"""More is cut by Telegram on a phone, without a word."""
ROW = 32
"""Characters that fit beside one another on a phone."""
MOST_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Page:
    html: str
    rows: tuple[tuple[Button, ...], ...] = ()


def page(card: Card) -> Page:
    more = _in_full(card.buttons)
    size = length(_plain(card, more))
    if size <= LONGEST and len(card.buttons) <= MOST_BUTTONS:
        return Page(_html(card, more), _rows(_labelled(card.buttons)))
    return Page(_html(_elsewhere(card, size)))


def length(text: str) -> int:
    """As Telegram counts: in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def pieces(text: str) -> Iterator[str]:
    """Messages that hold all of it, broken between lines where that is possible."""
    rest = text.strip()
    while length(rest) > LONGEST_PIECE:
        most = LONGEST_PIECE
        while length(rest[:most]) > LONGEST_PIECE:
            most -= length(rest[:most]) - LONGEST_PIECE
        end = rest.rfind("\n", 0, most)
        end = end if end > 0 else most
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()
    if rest:
        yield rest


def _elsewhere(card: Card, size: int) -> Card:
    why = f"it has {size:,} characters, and a message holds {LONGEST:,}"
    if size <= LONGEST:
        why = f"it has {len(card.buttons)} buttons, and a message holds {MOST_BUTTONS}"
    where = "here:" if card.link else "in the web app or with am inbox."
    told = f"This is too long for Telegram: {why}. Read and answer it {where}"
    return card.elsewhere().model_copy(update={"body": (told,)})


def _parts(card: Card, more: str) -> Iterator[tuple[str, str]]:
    """Paragraphs, and how each is marked."""
    yield "b", f"{card.title} (repeat)" if card.repeat else card.title
    for paragraph in (*card.body, more):
        yield "", paragraph
    yield "i", card.hint
    yield "", card.link or ""


def _plain(card: Card, more: str) -> str:
    return "\n\n".join(text for _, text in _parts(card, more) if text)


def _html(card: Card, more: str = "") -> str:
    return "\n\n".join(_marked(tag, text) for tag, text in _parts(card, more) if text)


def _marked(tag: str, text: str) -> str:
    safe = escape(text, quote=False)
    return f"<{tag}>{safe}</{tag}>" if tag else safe


def _in_full(buttons: Sequence[Button]) -> str:
    """What stands on buttons that are too narrow for it."""
    long = [f"{n}. {b.label}" for n, b in enumerate(buttons, 1) if _is_long(b)]
    return "\n".join(["The buttons in full:", *long]) if long else ""


def _labelled(buttons: Sequence[Button]) -> list[Button]:
    return [
        b.model_copy(update={"label": visible(f"{n}. {b.label}", LONGEST_LABEL)})
        if _is_long(b)
        else b
        for n, b in enumerate(buttons, 1)
    ]


def _is_long(button: Button) -> bool:
    return len(button.label) > LONGEST_LABEL


def _rows(buttons: Sequence[Button]) -> tuple[tuple[Button, ...], ...]:
    rows: list[tuple[Button, ...]] = []
    for button in buttons:
        if rows and _fits((*rows[-1], button)):
            rows[-1] = (*rows[-1], button)
        else:
            rows.append((button,))
    return tuple(rows)


def _fits(row: Sequence[Button]) -> bool:
    """In a row, all are as wide as the widest."""
    return len(row) <= MOST_IN_A_ROW and len(row) * max(len(b.label) for b in row) <= ROW
