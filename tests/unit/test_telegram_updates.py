"""What an update of Telegram says that somebody did."""

from typing import Any

import pytest
from telegram import Update

from agents_manager.channels.telegram_updates import Me, Order, Press, Words, read
from agents_manager.channels.telegram_wire import readable
from agents_manager.flow.ports.channels import Act

ME = Me(4242, "agents_bot")
ANN: dict[str, Any] = {"id": 11, "is_bot": False, "first_name": "Ann", "username": "ann"}
BOT: dict[str, Any] = {"id": 4242, "is_bot": True, "first_name": "Agents"}
ALONE = {"id": 11, "type": "private"}
GROUP = {"id": -100, "type": "supergroup", "title": "Team"}
ACT = Act(key="7", person="11", called="Ann", place="11")


def message(text: str = "Hello", by: Any = ANN, **more: Any) -> dict[str, Any]:
    return {"message_id": 5, "date": 1, "from": by, "chat": ALONE, "text": text, **more}


def did(**update: Any) -> object:
    return read(Update.de_json(readable({"update_id": 7, **update})), ME)


def wrote(text: str = "Hello", **more: Any) -> object:
    return did(message=message(text, **more))


def test_words() -> None:
    assert wrote("Neither") == Words(act=ACT, alone=True, message="5", to=None, words="Neither")
    reply = wrote("Neither", reply_to_message=message(message_id=3))
    assert reply == Words(act=ACT, alone=True, message="5", to="3", words="Neither")


@pytest.mark.parametrize(
    ("text", "command", "words"),
    [
        ("/inbox", "inbox", ""),
        ("/why task-1  now ", "why", "task-1  now"),
        ("/WHY@Agents_Bot task-1", "why", "task-1"),
        ("/task\n12", "task", "12"),
        ("/nonsense", "nonsense", ""),
    ],
)
def test_a_command(text: str, command: str, words: str) -> None:
    wanted = Order(act=ACT, alone=True, message="5", command=command, words=words)
    assert wrote(text) == wanted


def test_a_command_to_another_bot_is_not_ours() -> None:
    assert wrote("/stop@other_bot 1", chat=GROUP) is None


def test_an_answer_may_begin_with_a_path() -> None:
    found = wrote("/etc", reply_to_message=message(by=BOT, message_id=3))
    assert isinstance(found, Words)
    assert found.words == "/etc"
    assert isinstance(wrote("/etc/hosts is wrong"), Words)


def test_in_a_group_only_what_is_said_to_the_bot_counts() -> None:
    assert wrote("Shall we have lunch?", chat=GROUP) is None
    assert wrote("No", chat=GROUP, reply_to_message=message(message_id=3)) is None
    said = wrote("No", chat=GROUP, reply_to_message=message(by=BOT, message_id=3))
    assert isinstance(said, Words)
    assert (said.act.place, said.act.person, said.alone) == ("-100", "11", False)


FORWARDED = {"type": "user", "date": 1, "sender_user": {**ANN, "id": 12}}


@pytest.mark.parametrize(
    "more",
    [
        {"forward_origin": FORWARDED},
        {"forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}},
        {"via_bot": BOT},
        {"from": {**ANN, "is_bot": True}},
        {"from": None, "sender_chat": GROUP},
        {"text": None, "photo": [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]},
    ],
)
def test_what_nobody_wrote_here_themselves_is_ignored(more: dict[str, Any]) -> None:
    given = {name: value for name, value in message("/stop 1").items() if name not in more}
    given |= {name: value for name, value in more.items() if value is not None}
    assert did(message=given) is None


@pytest.mark.parametrize("kind", ["edited_message", "channel_post", "edited_channel_post"])
def test_what_is_edited_or_posted_is_ignored(kind: str) -> None:
    assert did(**{kind: message("/stop 1")}) is None


def query(by: Any = ANN, **more: Any) -> dict[str, Any]:
    pressed = message(by=BOT, message_id=3)
    shown = {"message": pressed, "data": "d1", **more}
    return {"id": "q1", "from": by, "chat_instance": "1", **shown}


def test_a_press() -> None:
    wanted = Press(act=ACT, alone=True, message="3", button="d1", query="q1")
    assert did(callback_query=query()) == wanted
    # Telegram keeps no more of an old message.
    old = {"message_id": 3, "date": 0, "chat": ALONE}
    assert did(callback_query=query(message=old)) == wanted


def test_a_press_without_a_message_or_by_a_bot_is_ignored() -> None:
    assert did(callback_query=query(message=None, inline_message_id="i")) is None
    assert did(callback_query=query(by={**ANN, "is_bot": True})) is None


def test_only_the_number_says_who_it_is() -> None:
    other = {"id": 12, "is_bot": False, "first_name": "Ann", "username": "ann"}
    found = wrote("Hello", by=other)
    assert isinstance(found, Words)
    assert (found.act.person, found.act.called) == ("12", "Ann")


def test_a_name_cannot_hide_anything() -> None:
    found = wrote("Hello", by={**ANN, "first_name": "A\u202enn\nadmin" + "x" * 200})
    assert isinstance(found, Words)
    assert found.act.called.startswith("A nn admin")
    assert len(found.act.called) <= 80


@pytest.mark.parametrize("text", ["\x00", "half \ud83e"])
def test_words_that_cannot_be_kept_are_not_read(text: str) -> None:
    assert wrote(text) is None
