"""How cards look in Telegram."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_manager.channels.telegram_cards import (
    LONGEST,
    LONGEST_LABEL,
    LONGEST_PIECE,
    length,
    page,
    pieces,
)
from agents_manager.domain.card import Button, Card, Style
from tests.telegram_html import parsed

LINK = "http://127.0.0.1:8787/tasks/task-1"
QUESTION = Card(
    title='🤖 Agent needs input on "Add authentication"',
    body=("Which auth strategy should I use?", "→ JWT tokens (recommended)\n  Stateless"),
    buttons=(
        Button(id="a", label="JWT tokens (recommended)", style=Style.PRIMARY),
        Button(id="b", label="Session-based"),
        Button(id="c", label="Custom answer…"),
    ),
    hint="You can also reply to this message with your own words.",
    link=LINK,
)


def labels(card: Card) -> list[list[str]]:
    return [[button.label for button in row] for row in page(card).rows]


def test_a_question() -> None:
    assert page(QUESTION).html == (
        '<b>🤖 Agent needs input on "Add authentication"</b>\n\n'
        "Which auth strategy should I use?\n\n"
        "→ JWT tokens (recommended)\n  Stateless\n\n"
        "<i>You can also reply to this message with your own words.</i>\n\n"
        f"{LINK}"
    )
    assert labels(QUESTION) == [["JWT tokens (recommended)"], ["Session-based", "Custom answer…"]]


def test_what_may_have_been_sent_before_says_so() -> None:
    again = page(QUESTION.model_copy(update={"repeat": True}))
    assert parsed(again.html).text.startswith(f"{QUESTION.title} (repeat)\n")


@given(st.text(min_size=1), st.text(), st.text())
def test_every_word_is_shown_as_it_is(title: str, words: str, hint: str) -> None:
    card = Card(title=f"T{title}", body=(words, "x"), hint=hint)
    parts = [part for part in (card.title, words, "x", hint) if part]
    assert parsed(page(card).html).text == "\n\n".join(parts).strip()


def test_buttons_stand_beside_one_another_where_they_fit() -> None:
    def rows(*names: str) -> list[list[str]]:
        buttons = tuple(Button(id=str(n), label=name) for n, name in enumerate(names))
        return labels(Card(title="T", buttons=buttons))

    assert rows("Approve", "Request changes…") == [["Approve", "Request changes…"]]
    assert rows("Yes", "No", "Maybe", "Never") == [["Yes", "No", "Maybe"], ["Never"]]
    assert rows("Allow for this run", "Deny") == [["Allow for this run"], ["Deny"]]


def test_a_label_that_a_phone_would_cut_is_told_in_full() -> None:
    long = "Keep the sessions on the server and " + "move them to the cache, " * 3 + "then"
    buttons = tuple(Button(id=i, label=label) for i, label in (("a", "Yes"), ("b", long)))
    shown = page(Card(title="T", buttons=buttons))
    assert f"2. {long}" in parsed(shown.html).text
    [[yes], [other]] = shown.rows
    assert (yes.label, other.id) == ("Yes", "b")
    assert other.label.startswith("2. Keep the sessions")
    assert other.label.endswith("…")
    assert len(other.label) <= LONGEST_LABEL


@pytest.mark.parametrize("body", ["x" * LONGEST, "🤖" * (LONGEST // 2)])
def test_what_is_too_long_is_a_link_without_buttons(body: str) -> None:
    card = QUESTION.model_copy(update={"body": (body,), "repeat": True})
    shown = page(card)
    told = parsed(shown.html).text
    size = length("\n\n".join((f"{card.title} (repeat)", body, card.hint, LINK)))
    assert told == (
        f"{card.title} (repeat)\n\n"
        f"This is too long for Telegram: it has {size:,} characters, and a message holds 4,096. "
        f"Read and answer it here:\n\n{LINK}"
    )
    assert shown.rows == ()


def test_the_longest_that_fits_is_shown_whole() -> None:
    card = Card(title="T", body=("&" * (LONGEST - 3),), buttons=(Button(id="a", label="Yes"),))
    shown = page(card)
    assert length(parsed(shown.html).text) == LONGEST
    assert shown.rows
    longer = card.model_copy(update={"body": ("&" * (LONGEST - 2),)})
    assert page(longer).rows == ()


def test_without_an_address_the_way_out_is_named() -> None:
    long = QUESTION.model_copy(update={"body": ("x" * 5000,), "link": None})
    assert "Read and answer it in the web app or with am inbox." in page(long).html


def test_too_many_buttons_are_no_message() -> None:
    many = tuple(Button(id=str(n), label=f"Way {n}") for n in range(101))
    shown = page(QUESTION.model_copy(update={"buttons": many}))
    assert "it has 101 buttons, and a message holds 100" in shown.html
    assert shown.rows == ()


@given(st.text(alphabet="ab \n🤖", max_size=40).map(lambda text: text * 120))
def test_long_words_are_told_in_pieces_that_hold_all_of_them(text: str) -> None:
    told = list(pieces(text))
    assert all(0 < length(piece) <= LONGEST_PIECE for piece in told)
    assert "".join("".join(told).split()) == "".join(text.split())
