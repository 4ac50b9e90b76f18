"""What a card becomes in Slack: whatever it holds, Slack takes it, and nothing of it is lost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_manager.channels import slack_blocks
from agents_manager.channels.slack_blocks import Message, Pending
from agents_manager.domain.card import Button, Card, Style
from tests import slack_rules
from tests.slack_server import Seen

CARD = Card(
    title='Agent needs input on "Add authentication"',
    body=("Which auth strategy should I use?", "→ JWT tokens (recommended)\n  Stateless"),
    buttons=(
        Button(id="d1-a", label="JWT tokens (recommended)", style=Style.PRIMARY),
        Button(id="d1-b", label="Custom answer…"),
        Button(id="d1-c", label="Stop", style=Style.DANGER),
    ),
    hint="You can also reply to this message with your own words.",
    link="https://manager.example/tasks/task-1",
)
PARAGRAPHS = st.builds(
    lambda words, times: words * times, st.text(max_size=30), st.integers(1, 300)
)
LABELS = st.builds(lambda words, times: words * times, st.text(max_size=10), st.integers(1, 15))
CARDS = st.builds(
    Card,
    title=LABELS,
    body=st.lists(PARAGRAPHS, max_size=4).map(tuple),
    buttons=st.lists(LABELS, max_size=30).map(
        lambda labels: tuple(Button(id=f"d{n}", label=x) for n, x in enumerate(labels))
    ),
    hint=PARAGRAPHS,
    link=st.none() | st.just("https://manager.example/tasks/task-1"),
    repeat=st.booleans(),
)


def faults(message: Message) -> list[str]:
    found = list(slack_rules.blocks(list(message.blocks)))
    if slack_rules.all_text(list(message.blocks)) > slack_rules.ALL_TEXT:
        found.append("msg_blocks_too_long")
    return found if message.text.strip() else [*found, "no words for those who see no blocks"]


def seen(card: Card) -> Seen:
    message = slack_blocks.message(card)
    assert faults(message) == []
    return Seen.of(message.fields())


def test_a_question_is_a_heading_paragraphs_buttons_a_link_and_a_hint() -> None:
    plain = {"type": "plain_text", "emoji": False}
    button = {"type": "button"}
    assert slack_blocks.message(CARD).blocks == [
        {"type": "header", "text": {**plain, "text": CARD.title}},
        {"type": "section", "text": {**plain, "text": CARD.body[0]}},
        {"type": "section", "text": {**plain, "text": CARD.body[1]}},
        {
            "type": "actions",
            "elements": [
                {
                    **{**button, "action_id": "d1-a", "value": "d1-a", "style": "primary"},
                    "text": {**plain, "text": "JWT tokens (recommended)"},
                },
                {
                    **{**button, "action_id": "d1-b", "value": "d1-b"},
                    "text": {**plain, "text": "Custom answer…"},
                },
                {
                    **{**button, "action_id": "d1-c", "value": "d1-c", "style": "danger"},
                    "text": {**plain, "text": "Stop"},
                },
                {
                    **{**button, "action_id": "am-open", "url": CARD.link},
                    "text": {**plain, "text": "Open"},
                },
            ],
        },
        {"type": "context", "elements": [{**plain, "text": CARD.hint}]},
    ]


@settings(max_examples=60, deadline=None)
@given(CARDS)
def test_slack_takes_every_card_and_all_of_it_is_there_or_none(card: Card) -> None:
    shown = seen(card)
    if "too long to be shown" in shown.text:
        assert shown.buttons == ()
        return
    assert len(shown.buttons) == len(card.buttons)
    for part in (*card.body, card.hint):
        assert _letters(part) in _letters(shown.text)


def _letters(text: str) -> str:
    """Blanks may become others, and what is not seen may go; no letter may."""
    return re.sub(r"\W", "", text)


def test_what_is_too_long_says_how_long_it_is_and_where_to_read_it_and_has_no_buttons() -> None:
    long = CARD.model_copy(update={"body": ("word " * 4000,)})
    shown = seen(long)
    assert re.search(r"too long to be shown here: 200\d\d characters\. Read it", shown.text)
    assert CARD.title in shown.text
    assert "word word" not in shown.text
    assert CARD.link is not None
    assert CARD.link in shown.text
    assert shown.buttons == ()
    without = seen(long.model_copy(update={"link": None}))
    assert "am inbox" in without.text


def test_too_many_buttons_are_too_much() -> None:
    many = tuple(Button(id=f"d{n}", label=f"Option {n}") for n in range(1300))
    assert seen(CARD.model_copy(update={"buttons": many})).buttons == ()
    rows = seen(CARD.model_copy(update={"buttons": many[:60]}))
    assert len(rows.buttons) == 60


def test_a_long_paragraph_is_broken_between_words_and_not_cut() -> None:
    words = " ".join(f"word{n}" for n in range(900))
    blocks = slack_blocks.message(CARD.model_copy(update={"body": (words,)})).blocks
    sections = [block["text"]["text"] for block in blocks if block["type"] == "section"]
    assert len(sections) > 1
    assert "".join(sections) == words
    assert all(part.endswith(" ") for part in sections[:-1])


def test_long_labels_stand_in_full_above_numbered_buttons() -> None:
    labels = [f"{'The same beginning ' * 5}and then {end}" for end in ("one", "two")]
    buttons = tuple(Button(id=f"d{n}", label=label) for n, label in enumerate(labels))
    shown = seen(CARD.model_copy(update={"buttons": buttons}))
    assert f"1. {labels[0]}\n2. {labels[1]}" in shown.text
    assert [label[:3] for label in shown.buttons] == ["1. ", "2. "]
    assert all(label.endswith("…") for label in shown.buttons)


def test_what_may_have_been_sent_before_says_so() -> None:
    assert f"{CARD.title} (repeat)" in seen(CARD.model_copy(update={"repeat": True})).text
    long = CARD.model_copy(update={"repeat": True, "body": ("word " * 4000,)})
    assert "(repeat)" in seen(long).text


@pytest.mark.parametrize(
    "words",
    [
        "<!channel> <@U0ANN> <https://evil.example|here> &lt;",
        "*bold* _it_ `code` ```block``` :smile: @here #general",
    ],
)
def test_words_are_words(words: str) -> None:
    message = slack_blocks.message(Card(title=words, body=(words,)))
    assert Seen.of(message.fields()).text == f"{words}\n\n{words}"
    assert "<" not in message.text
    assert "&lt;!channel&gt;" in message.text or "<" not in words


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\x00b\x1b[31mc\ud800d", "a b [31mc d"),
        ("safe \u202egpj.exe", "safe  gpj.exe"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_what_is_not_seen_does_not_change_what_is(given: str, shown: str) -> None:
    assert shown in seen(Card(title="t", body=(given,))).text


def test_a_title_is_a_heading_only_where_it_is_one() -> None:
    def kinds(card: Card) -> list[str]:
        return [block["type"] for block in slack_blocks.message(card).blocks]

    assert kinds(Card(title="x" * 150, body=("b",))) == ["header", "section"]
    assert kinds(Card(title="x" * 151, body=("b",))) == ["section", "section"]
    assert kinds(Card(title="👩" * 76, body=("b",))) == ["section", "section"]
    assert kinds(Card(title="Done.")) == ["section"]
    assert kinds(Card(title="", body=(" ",))) == ["section"]


@pytest.mark.parametrize(
    "link",
    ["http://127.0.0.1:8000/tasks/1", "http://localhost/", "http://[::1]/", "javascript:x", "x.y"],
)
def test_an_address_that_slack_may_refuse_is_text(link: str) -> None:
    shown = seen(CARD.model_copy(update={"link": link}))
    assert link in shown.text
    assert len(shown.buttons) == 3


@settings(max_examples=30, deadline=None)
@given(PARAGRAPHS)
def test_slack_takes_every_form(asked: str) -> None:
    pending = Pending(channel="C0GENERAL", message="1700000000.000001", button="d" * 64, hook=None)
    assert list(slack_rules.view(slack_blocks.form(asked, pending))) == []
