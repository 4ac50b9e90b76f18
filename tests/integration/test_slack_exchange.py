"""Slack with everything behind it but the engine: the log, the postman, the desk and the rows."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.channels import slack_door
from agents_manager.channels.config import ChatConfig
from agents_manager.channels.slack import Slack, build
from agents_manager.domain.card import Card
from agents_manager.domain.prompt import Prompt
from agents_manager.errors import InvalidConfig
from agents_manager.flow import prompts
from agents_manager.flow.channels import router
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.channels.postman import Postman
from agents_manager.settings import Settings
from tests.api.scenes import serving
from tests.asking import Clock, Table, seated
from tests.integration.test_slack_door import encoded, knock, signed
from tests.repos import scripted_home
from tests.slack_server import (
    APP_TOKEN,
    BOT_TOKEN,
    GENERAL,
    SECRET,
    FakeSlack,
    Seen,
    Trouble,
    slack,
)
from tests.worlds import ANN as ANN_BY_CLI

ANN, EVE = "U0ANN", "U0EVE"
ONE = {"questions": [{"id": "q1", "question": "Which colour?", "options": ["Red", "Blue"]}]}
BLUE = {"answers": [{"question_id": "q1", "option": "Blue"}]}


@dataclass
class Office:
    table: Table
    fake: FakeSlack
    channel: Slack
    postman: Postman

    async def ask(self) -> Prompt:
        prompt = await self.table.asking(payload=ONE)
        await self.carry()
        return prompt

    async def carry(self) -> None:
        s = self.table.s
        while await s.store.write(lambda tx: router.route(tx, s)):
            pass
        while await self.postman.step():
            pass

    @property
    def message(self) -> tuple[str, str]:
        """Where the only message to Ann stands."""
        [at] = [at for at in self.fake.messages if at[0] == self.fake.direct(ANN)]
        return at

    async def press(self, label: str, at: tuple[str, str] | None = None) -> None:
        assert await self.fake.tell(self.fake.pressing(ANN, *(at or self.message), label))

    def seen(self) -> Seen:
        return self.fake.shown(*self.message)

    def whispers(self) -> list[str]:
        return [Seen.of(whisper).text for whisper in self.fake.whispers]

    async def answered(self, prompt: Prompt) -> tuple[Any, str | None, str | None]:
        now = await self.table.prompt(prompt.id)
        said = (now.response or {}).get("answers", [{}])[0]
        return said.get("option") or said.get("text"), now.responded_by, now.responded_via


@pytest.fixture
async def office(tmp_path: Path, repo: Path) -> AsyncIterator[Office]:
    async with slack() as fake, _office(fake, tmp_path, repo) as office:
        yield office
    assert fake.faults == []


@asynccontextmanager
async def _office(fake: FakeSlack, folder: Path, repo: Path) -> AsyncIterator[Office]:
    people = {ANN: {"name": "ann", "role": "admin"}}
    slack = {"enabled": True, "people": people, "baseUrl": fake.base_url}
    scripted_home(folder / "home", notifications={"slack": slack})
    channel = Slack(BOT_TOKEN, lambda: [ANN], app_token=APP_TOKEN, base_url=fake.base_url)
    here = {"slack": lambda: channel}
    async with seated(folder / "home", repo, str(folder), Clock(), channels=here) as table:
        office = Office(table, fake, channel, Postman(table.s, channel, None))
        await office.carry()
        listening = asyncio.create_task(channel.listen(FrontDesk(table.s)))
        try:
            yield office
        finally:
            listening.cancel()
            await asyncio.wait([listening])


async def test_a_press_answers_once_however_often_it_is_told(office: Office) -> None:
    prompt = await office.ask()
    assert office.seen().buttons == ("Red", "Blue", "Custom answer…")
    pressing = office.fake.pressing(ANN, *office.message, "Blue")
    for _ in range(2):
        assert await office.fake.tell(pressing)
    assert await office.answered(prompt) == ("Blue", "ann", "slack")
    assert office.seen().buttons == ()
    assert "✓ ann answered via slack: Blue" in office.seen().text
    assert office.whispers() == ["Thank you, that is answered."] * 2


async def test_words_by_a_form_and_by_a_thread(office: Office) -> None:
    prompt = await office.ask()
    await office.press("Custom answer…")
    assert await office.fake.tell(office.fake.sending(ANN, "  "))
    assert office.fake.form(ANN).open
    assert await office.fake.tell(office.fake.sending(ANN, "Green & <b>"))
    assert await office.answered(prompt) == ("Green & <b>", "ann", "slack")
    office.fake.messages.clear()
    second = await office.ask()
    direct, message = office.message
    assert await office.fake.tell(office.fake.writing(ANN, direct, "Brown & <b>", message))
    assert await office.answered(second) == ("Brown & <b>", "ann", "slack")


async def test_who_was_faster_is_told_and_the_buttons_go(office: Office) -> None:
    prompt = await office.ask()
    await prompts.answer(office.table.s, prompt.id, BLUE, ANN_BY_CLI)
    await office.press("Red")
    [said] = office.whispers()
    assert "answered this via cli" in said
    await office.carry()
    assert office.seen().buttons == ()
    assert (await office.answered(prompt))[0] == "Blue"


async def test_a_question_that_was_asked_for_is_answered_where_it_stands(office: Office) -> None:
    prompt = await office.ask()
    assert await office.fake.tell(office.fake.ordering(ANN, "C0OTHER", f"task {prompt.task_id}"))
    [at] = office.fake.ephemerals
    await office.press("Red", at)
    assert await office.answered(prompt) == ("Red", "ann", "slack")
    assert "✓ ann answered via slack: Red" in Seen.of(office.fake.ephemerals[at]).text
    assert office.fake.whispers == []


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("", "/am inbox: what needs you"),
        ("inbox", "/am task "),
        ("tasks", "/am task "),
        ("task", "see /am tasks"),
        ("inbx", "Send /am help"),
    ],
)
async def test_commands_are_named_as_they_are_written_there(
    office: Office, order: str, said: str
) -> None:
    await office.ask()
    assert await office.fake.tell(office.fake.ordering(ANN, GENERAL, order))
    [(_, shown)] = office.fake.responses
    assert said in Seen.of(shown).text


async def test_what_may_have_arrived_is_sent_again_as_such(office: Office) -> None:
    """Once it was tried; that nobody could be found to send it to is no such thing."""
    fake, clock = office.fake, office.table.clock
    fake.mute = "hangs up"
    await office.ask()
    assert fake.messages == {}
    fake.mute = ""
    await office.channel.update(ANN, "1.0", Card(title="There is none"))
    fake.mute = "hangs up"
    clock.turn(hours=1)
    await office.carry()
    fake.mute = ""
    clock.turn(hours=1)
    await office.carry()
    first, second = (Seen.of(message).text for message in fake.messages.values())
    assert "(repeat)" not in first
    assert "(repeat)" in second


async def test_what_surely_did_not_arrive_is_sent_as_it_is(office: Office) -> None:
    office.fake.trouble = Trouble(503, "service_unavailable")
    await office.ask()
    office.fake.trouble = None
    office.table.clock.turn(hours=1)
    await office.carry()
    assert "(repeat)" not in office.seen().text


async def test_a_signed_request_is_taken_once_also_after_a_restart(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_SLACK_BOT_TOKEN", BOT_TOKEN)
    monkeypatch.setenv("AM_SLACK_SIGNING_SECRET", SECRET)
    prompt = await office.ask()
    body, kind = encoded(office.fake.pressing(ANN, *office.message, "Blue"))
    headers = signed(body, int(office.table.clock.now().timestamp()), kind=kind)
    s = office.table.s
    assert [(await knock(slack_door.app(s), body, headers)).status_code for _ in range(2)] == [
        200,
        409,
    ]
    assert await office.answered(prompt) == ("Blue", "ann", "slack")
    assert len(office.whispers()) == 1
    monkeypatch.delenv("AM_SLACK_SIGNING_SECRET")
    off = await knock(slack_door.app(s), body, headers)
    assert (off.status_code, "AM_SLACK_SIGNING_SECRET" in off.text) == (401, True)


async def test_the_server_has_a_door_for_slack_that_needs_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_SLACK_BOT_TOKEN", BOT_TOKEN)
    monkeypatch.setenv("AM_SLACK_SIGNING_SECRET", SECRET)
    scripted_home(tmp_path, notifications={"slack": {"enabled": True}})
    body, _ = encoded({"type": "url_verification", "challenge": "3eZbrw1a"})
    async with (
        bootstrap.client(Settings(tmp_path, None)) as program,
        serving(program) as client,
    ):
        del client.headers["Authorization"]
        headers = {n: str(v) for n, v in signed(body, int(time.time())).items()}
        proven = await client.post("/hooks/slack", content=body, headers=headers)
        forged = await client.post("/hooks/slack", content=b"{}", headers=headers)
    assert (proven.status_code, proven.text) == (200, "3eZbrw1a")
    assert forged.status_code == 401
    assert "X-Slack-Signature" in forged.text


@pytest.mark.parametrize(
    ("bot", "app", "secret", "words"),
    [
        ("", "", "", "set AM_SLACK_BOT_TOKEN"),
        (BOT_TOKEN, "", "", "set AM_SLACK_APP_TOKEN"),
        (APP_TOKEN, BOT_TOKEN, "", "AM_SLACK_BOT_TOKEN is another token: it begins with xoxb-"),
        (BOT_TOKEN, SECRET, "", "AM_SLACK_APP_TOKEN is another token: it begins with xapp-"),
        (BOT_TOKEN, APP_TOKEN, "", None),
        (BOT_TOKEN, "", SECRET, None),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, bot: str, app: str, secret: str, words: str | None
) -> None:
    monkeypatch.setenv("AM_SLACK_BOT_TOKEN", bot)
    monkeypatch.setenv("AM_SLACK_APP_TOKEN", app)
    monkeypatch.setenv("AM_SLACK_SIGNING_SECRET", secret)
    rules = ChatConfig(places=("C1",)).rules()
    if words is None:
        assert build(lambda: rules).places() == ("C1",)
        return
    with pytest.raises(InvalidConfig) as caught:
        build(lambda: rules)
    assert words in caught.value.message
    assert "fakeTokenForTests" not in caught.value.message


async def test_somebody_else_gets_silence_and_does_nothing(office: Office) -> None:
    prompt = await office.ask()
    fake, at = office.fake, office.message
    assert await fake.tell(fake.pressing(EVE, *at, "Blue"))
    assert await fake.tell(fake.pressing(ANN, *at, "Blue", team="T0EVIL"))
    fake.messages[GENERAL, at[1]] = fake.messages[at]
    assert await fake.tell(fake.pressing(EVE, GENERAL, at[1], "Blue"))
    assert await fake.tell(fake.writing(EVE, fake.direct(EVE), "approve"))
    assert await fake.tell(fake.ordering(EVE, GENERAL, f"stop {prompt.task_id}"))
    assert await office.answered(prompt) == (None, None, None)
    assert (fake.whispers, fake.responses) == ([], [])
    assert await fake.tell(fake.pressing(ANN, GENERAL, at[1], "Blue"))
    assert await office.answered(prompt) == (None, None, None)
