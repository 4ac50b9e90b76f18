"""What is read from what Slack tells: who did what, and nothing that is not meant for us."""

from typing import Any

import pytest

from agents_manager.channels import slack_acts
from agents_manager.channels.slack_acts import Ordered, Pressed, Wrote
from tests.slack_server import GENERAL, TEAM, FakeSlack

ANN = "U0ANN"


@pytest.fixture
def fake() -> FakeSlack:
    return FakeSlack(address="http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("see <https://x.example/a?b=1&amp;c=2>", "see https://x.example/a?b=1&c=2"),
        ("see <http://x.example|x.example>", "see x.example"),
        ("see <https://x.example|our page>", "see our page (https://x.example)"),
        ("<mailto:a@x.example|a@x.example>", "a@x.example"),
        ("<@U0ANN> <@U0ANN|ann> <#C0GENERAL|general> <!here>", "@U0ANN @ann #general @here"),
        ("1 < 2", "1 < 2"),
    ],
)
def test_words_are_what_somebody_typed(sent: str, meant: str) -> None:
    assert slack_acts.plain(sent) == meant


def test_a_message_counts_by_the_id_of_its_event(fake: FakeSlack) -> None:
    told = fake.writing(ANN, GENERAL, "Use <b> & JWT", "1700.1")
    done = slack_acts.read(told)
    assert isinstance(done, Wrote)
    assert done.words == "Use <b> & JWT"
    assert (done.thread, done.who.key, done.who.person) == ("1700.1", told["event_id"], ANN)


@pytest.mark.parametrize(
    "more",
    [
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"bot_id": "B0OTHER"},
        {"user": None},
        {"text": None},
    ],
)
def test_bots_edits_and_the_like_are_ignored(fake: FakeSlack, more: dict[str, Any]) -> None:
    assert slack_acts.read(fake.writing(ANN, GENERAL, "x", "1700.1")) is not None
    assert slack_acts.read(fake.writing(ANN, GENERAL, "x", "1700.1", **more)) is None


def test_what_people_say_in_a_channel_is_not_ours(fake: FakeSlack) -> None:
    assert slack_acts.read(fake.writing(ANN, GENERAL, "lunch?")) is None
    assert slack_acts.read(fake.writing(ANN, fake.direct(ANN), "hello")) is not None


def test_people_are_told_apart_by_their_workspace_too(fake: FakeSlack) -> None:
    done = slack_acts.read(fake.writing(ANN, GENERAL, "x", "1700.1", user_team="T0EVIL"))
    assert done is not None
    assert done.who.team == "T0EVIL"
    silent = slack_acts.read(fake.writing(ANN, GENERAL, "x", "1700.1", team=None))
    assert silent is not None
    assert silent.who.team == TEAM


@pytest.mark.parametrize(
    ("text", "command", "words"),
    [
        ("inbox", "inbox", ""),
        ("  Why task-1 now ", "why", "task-1 now"),
        ("", "help", ""),
        ("run a & b", "run", "a & b"),
    ],
)
def test_a_command_is_its_first_word(fake: FakeSlack, text: str, command: str, words: str) -> None:
    told = fake.ordering(ANN, GENERAL, text)
    done = slack_acts.read(told)
    assert isinstance(done, Ordered)
    assert (done.command, done.words) == (command, words)
    assert (done.who.key, done.hook) == (told["trigger_id"], told["response_url"])


def press(fake: FakeSlack) -> dict[str, Any]:
    text = {"type": "plain_text", "text": "Yes"}
    button = {"type": "button", "action_id": "d1-a", "value": "d1-a", "text": text}
    fake.messages[GENERAL, "1700.1"] = {"blocks": [{"type": "actions", "elements": [button]}]}
    return fake.pressing(ANN, GENERAL, "1700.1", "Yes")


def test_a_press_names_the_message_the_button_and_who(fake: FakeSlack) -> None:
    told = press(fake)
    done = slack_acts.read(told)
    assert isinstance(done, Pressed)
    assert (done.message, done.button, done.words) == ("1700.1", "d1-a", None)
    assert (done.who.person, done.who.called, done.who.channel) == (ANN, "ann", GENERAL)
    assert slack_acts.read(told) == done
    assert (slack_acts.read(press(fake)) or done).who.key != done.who.key


@pytest.mark.parametrize("gone", ["user", "container", "actions", "trigger_id"])
def test_half_a_press_is_none(fake: FakeSlack, gone: str) -> None:
    told = press(fake)
    del told[gone]
    assert slack_acts.read(told) is None


@pytest.mark.parametrize("kept", ["", "no JSON", "[1]", '{"channel": 1}', "null"])
def test_a_form_that_does_not_know_what_it_is_for_is_none(fake: FakeSlack, kept: str) -> None:
    view = {
        **{"id": "V1", "callback_id": "am-words", "private_metadata": kept},
        "state": {"values": {"words": {"words": {"value": "x"}}}},
    }
    told = {"type": "view_submission", "user": {"id": ANN, "team_id": TEAM}, "trigger_id": "1.2.x"}
    assert slack_acts.read({**told, "view": view}) is None
    right = '{"channel": "C1", "message": "1.2", "button": "d1-a"}'
    assert slack_acts.read({**told, "view": {**view, "private_metadata": right}}) is not None


@pytest.mark.parametrize("told", [None, [], "x", {}, {"type": "block_suggestion"}, {"type": 1}])
def test_anything_else_is_nothing(told: Any) -> None:
    assert slack_acts.read(told) is None
