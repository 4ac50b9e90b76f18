"""What happens is told by every channel that wants it, once; and what people do there counts once,
whoever was first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.card import Card
from agents_manager.domain.delivery import DeliveryState
from agents_manager.domain.ids import EffectId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.routing import Occasion
from agents_manager.errors import ChannelDown, ChannelRefused
from agents_manager.flow import hooks, planning, prompts, removal, tasks, timers
from agents_manager.flow.channels import desk
from agents_manager.flow.channels.office import Office
from agents_manager.flow.channels.postman import Postman
from agents_manager.flow.ports import Tx
from tests.asking import Clock
from tests.channel_players import ANN as ANN_ID
from tests.channel_players import STRANGER, MemoryChannel
from tests.channel_scene import AtOnce, Exchange, configure, exchange, notifications
from tests.machines import machine
from tests.worlds import ANN

ONE = {"questions": [{"id": "q1", "question": "Which colour?", "options": ["Red", "Blue"]}]}
BLUE = {"answers": [{"question_id": "q1", "option": "Blue"}]}
WORK = {
    "branch": "agent/x",
    "base": "main",
    "head_sha": "a" * 40,
    "files": 1,
    "additions": 1,
    "deletions": 0,
}


@pytest.fixture
async def scene(tmp_path: Path, repo: Path, used_address: str) -> AsyncIterator[Exchange]:
    async with exchange(tmp_path / "home", repo, used_address) as scene:
        yield scene


@pytest.fixture
async def here(tmp_path: Path, repo: Path) -> AsyncIterator[Exchange]:
    """On a file, for what does not hang on the database."""
    async with exchange(tmp_path / "home", repo, str(tmp_path)) as scene:
        yield scene


def labels(card: Card) -> list[str]:
    return [b.label for b in card.buttons]


# ------------------------------------------------------------------------------- told and answered


async def test_a_question_is_told_by_every_channel_and_answered_in_one(scene: Exchange) -> None:
    prompt = await scene.asking(payload=ONE)
    await scene.carry()
    for name in scene.channels:
        [card] = scene.cards(name)
        assert card.title == '🤖 Agent needs input on "Add search"'
        assert labels(card) == ["Red", "Blue", "Custom answer…"]
    reply = await scene.press("Blue", "slack")
    assert reply is not None
    assert reply.says == "Thank you, that is answered."
    answered = await scene.prompt(prompt.id)
    assert answered.response == {"answers": [{"question_id": "q1", "option": "Blue", "text": None}]}
    assert (answered.responded_by, answered.responded_via) == ("ann", "slack")
    await scene.carry()
    for name in scene.channels:
        [card] = scene.cards(name)
        assert card.body == ("✓ ann answered via slack: Blue",)
        assert card.buttons == ()
        assert [r.state for r in await scene.rows(name)] == [DeliveryState.SENT]
    assert [len(c.updated) for c in scene.channels.values()] == [1, 1]


async def test_a_late_press_says_who_was_faster_and_changes_nothing(scene: Exchange) -> None:
    prompt = await scene.asking(payload=ONE)
    await scene.carry()
    await prompts.answer(scene.s, prompt.id, BLUE, ANN)
    reply = await scene.press("Red")
    assert reply is not None
    assert "ann answered this via cli at 2026-03-02 12:00:00 UTC: Blue." in reply.says
    assert reply.card is not None
    assert reply.card.buttons == ()
    assert (await scene.prompt(prompt.id)).responded_via == "cli"


async def test_several_questions_step_by_step_by_buttons_and_words(scene: Exchange) -> None:
    prompt = await scene.asking()
    await scene.carry()
    [first] = scene.cards()
    assert labels(first)[0] == "Accept recommended"
    old = next(b.id for b in first.buttons if b.label == "Blue")
    await scene.press("Blue")
    [second] = scene.cards()
    assert "✓ Which colour? Blue" in second.body
    [message] = scene.channels["telegram"].cards
    replayed = await scene.desk.pressed("telegram", scene.act(), message, old)
    assert replayed is not None
    assert replayed.says == desk.UNKNOWN_BUTTON
    assert replayed.card is not None
    assert labels(replayed.card) == labels(second)
    asked = await scene.press("Custom answer…")
    assert asked is not None
    assert asked.ask == "Your answer to: Why?"
    done = await scene.desk.wrote("telegram", scene.act(), None, "So.")
    assert done is not None
    assert done.says == "Thank you, that is answered."
    answered = await scene.prompt(prompt.id)
    assert answered.response is not None
    assert [a["option"] or a["text"] for a in answered.response["answers"]] == ["Blue", "So."]


async def test_words_come_with_their_press_or_as_a_reply(here: Exchange) -> None:
    first = await here.asking(payload=ONE, title="First")
    await here.carry()
    await here.press("Custom answer…", words="Green")
    response = (await here.prompt(first.id)).response
    assert response is not None
    assert response["answers"][0]["text"] == "Green"
    second = await here.asking(payload=ONE, title="Second")
    await here.carry()
    message = next(iter(reversed(here.channels["telegram"].cards)))
    await here.desk.wrote("telegram", here.act(), message, "Brown")
    response = (await here.prompt(second.id)).response
    assert response is not None
    assert response["answers"][0]["text"] == "Brown"


async def test_words_decide_nothing_where_a_button_must(here: Exchange) -> None:
    prompt = await here.asking("plan_complete", {"notes": "x"})
    await here.carry()
    [message] = here.channels["telegram"].cards
    reply = await here.desk.wrote("telegram", here.act(), message, "Looks good")
    assert reply is not None
    assert reply.says == desk.PRESS
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING
    asked = await here.press("Request changes…")
    assert asked is not None
    assert asked.ask == "What must change?"
    here.clock.turn(hours=1, seconds=1)
    late = await here.desk.wrote("telegram", here.act(), None, "Hello?")
    assert late is not None
    assert late.says == desk.UNKNOWN_WORDS
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING


async def test_words_that_do_not_fit_are_asked_for_again(here: Exchange) -> None:
    boolean = {"questions": [{"id": "q1", "question": "Sure?", "inputType": "boolean"}]}
    prompt = await here.asking(payload=boolean)
    await here.carry()
    [message] = here.channels["telegram"].cards
    reply = await here.desk.wrote("telegram", here.act(), message, "perhaps")
    assert reply is not None
    assert "is answered with yes or no" in reply.says
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING


async def test_the_same_update_again_counts_once(scene: Exchange) -> None:
    await scene.asking(payload=ONE)
    await scene.carry()
    [(message, card)] = scene.channels["telegram"].cards.items()
    blue = next(b.id for b in card.buttons if b.label == "Blue")
    said = [
        await scene.desk.pressed("telegram", scene.act(key="update-7"), message, blue)
        for _ in range(2)
    ]
    assert [r.says for r in said if r] == ["Thank you, that is answered."] * 2


# ---------------------------------------------------------------------------------- who may do what


async def test_whoever_is_not_known_gets_silence_and_is_counted(scene: Exchange) -> None:
    prompt = await scene.asking(payload=ONE)
    await scene.carry()
    for _ in range(2):
        assert await scene.press("Blue", person=STRANGER) is None
    assert await scene.desk.ordered("telegram", scene.act(STRANGER), "inbox", "") is None
    [known] = await scene.s.store.read(lambda tx: tx.deliveries.strangers("telegram"))
    assert (known.person, known.called, known.times) == (STRANGER, "Ann A.", 3)
    assert (await scene.prompt(prompt.id)).status is PromptStatus.PENDING


async def test_a_name_is_worth_nothing_only_the_id_counts(here: Exchange) -> None:
    """Somebody else took the name that an admin had."""
    await here.asking(payload=ONE)
    await here.carry()
    act = here.act("31337")
    assert act.called == "Ann A."
    assert await here.desk.wrote("telegram", act, None, "Hello") is None


async def test_strangers_do_not_fill_the_database(here: Exchange) -> None:
    for number in range(110):
        here.clock.turn(seconds=1)
        await here.desk.ordered("telegram", here.act(f"9{number}"), "inbox", "")
    found = await here.s.store.read(lambda tx: tx.deliveries.strangers("telegram"))
    assert len(found) == 100
    assert found[0].person == "9109"


async def test_a_viewer_looks_and_does_not_answer(here: Exchange) -> None:
    prompt = await here.asking(payload=ONE)
    await here.carry()
    seen = await here.desk.ordered("telegram", here.act("42", "42"), "inbox", "")
    assert seen is not None
    assert seen.card is not None
    [message] = here.channels["telegram"].cards
    [row] = await here.rows()
    await here.s.store.write(lambda tx: tx.deliveries.update(row.id, place="-100"))
    button = str(row.actions[0]["button"])
    reply = await here.desk.pressed("telegram", here.act("42", "-100"), message, button)
    assert reply is not None
    assert reply.says == "bob may look and not change anything: the role is viewer."
    for command in ("run", "stop"):
        told = await here.desk.ordered("telegram", here.act("42"), command, prompt.task_id)
        assert told is not None
        assert "the role is viewer" in told.says


@pytest.mark.parametrize(
    "forge",
    [
        lambda row: "0" * 16 + "-" + "0" * 16,
        lambda row: f"{row.id}-{'0' * 16}",
        lambda row: row.id,
        lambda row: "",
        lambda row: "'; DROP TABLE am_delivery; --",
    ],
)
async def test_a_forged_button_does_nothing(here: Exchange, forge: Callable[[Any], str]) -> None:
    prompt = await here.asking(payload=ONE)
    await here.carry()
    [row] = await here.rows()
    reply = await here.desk.pressed("telegram", here.act(), row.message or "", forge(row))
    assert reply is not None
    assert reply.says == desk.UNKNOWN_BUTTON
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING


async def test_a_button_counts_only_where_and_for_whom_it_was_shown(here: Exchange) -> None:
    prompt = await here.asking(payload=ONE)
    await here.carry()
    [row] = await here.rows()
    button = str(row.actions[1]["button"])
    for name, act in [
        ("telegram", here.act(place="-100")),
        ("slack", here.act()),
        ("telegram", here.act("42", ANN_ID)),
    ]:
        reply = await here.desk.pressed(name, act, row.message or "", button)
        assert reply is not None
        assert reply.says == desk.UNKNOWN_BUTTON
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING


async def test_a_person_who_is_taken_off_the_list_hears_and_says_nothing_more(
    here: Exchange, tmp_path: Path
) -> None:
    await here.asking(payload=ONE, title="First")
    await here.carry()
    channel = here.channels["telegram"]
    other = {"42": {"name": "bob"}}
    configure(
        tmp_path / "home", notifications=notifications(telegram={"people": other, "places": []})
    )
    channel.to = ("42",)
    assert await here.press("Blue") is None
    prompt = await here.asking(payload=ONE, title="Second")
    await here.carry()
    assert [place for place, _, _ in channel.sent] == [ANN_ID, "42"]
    assert (await here.prompt(prompt.id)).status is PromptStatus.PENDING


# ------------------------------------------------------------------------------------ what is told


async def test_a_question_has_one_message_whatever_the_hooks_of_its_move_say(
    here: Exchange, tmp_path: Path
) -> None:
    loud = {"events": [o.value for o in Occasion]}
    configure(tmp_path / "home", notifications=notifications(telegram=loud, slack=loud))
    prompt = await here.asking()
    await perform_notices(here, prompt.task_id)
    await here.carry()
    assert [r.occasion for r in await here.rows()] == [Occasion.QUESTION]


async def perform_notices(here: Exchange, task_id: Any) -> None:
    for row in await here.effects(task_id):
        if row.kind == "notify":
            await hooks.perform(row.id, row.attempt, here.s, AtOnce())


async def test_notices_are_told_where_they_are_wanted(here: Exchange, tmp_path: Path) -> None:
    loud = {"events": ["notice", "failure"]}
    configure(tmp_path / "home", notifications=notifications(slack=loud))
    task, _ = await here.running()

    def write(tx: Tx) -> None:
        planning.notice(tx, here.s, task, EffectId("n1"), "A budget runs out", "Soon.")
        why = "Nobody will move it"
        planning.notice(tx, here.s, task, EffectId("n2"), why, "x", Occasion.FAILURE)

    await here.s.store.write(write)
    await perform_notices(here, task.id)
    await perform_notices(here, task.id)
    await here.carry()
    titles = sorted(c.title for c in here.cards("slack"))
    assert titles == ["A budget runs out", "Nobody will move it"]
    assert [c.title for c in here.cards("telegram")] == ["Nobody will move it"]


async def test_the_end_of_a_task_is_told(here: Exchange) -> None:
    task = await here.task()
    await tasks.move(here.s, task.id, ANN, to="cancelled", force=True)
    await here.carry()
    [card] = here.cards()
    assert card.title == '🏁 Cancelled: "Add search"'


async def test_a_project_can_be_left_out(here: Exchange, repo: Path) -> None:
    folder = repo / ".agents-manager"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text('{"notifications": {"slack": {"enabled": false}}}')
    await here.asking(payload=ONE)
    await here.carry()
    assert len(here.cards("telegram")) == 1
    assert here.cards("slack") == []


async def test_a_reminder_shows_the_question_again(here: Exchange) -> None:
    prompt = await here.asking(payload=ONE)
    await here.carry()
    here.clock.turn(days=1, seconds=1)
    await timers.remind(here.s)
    await perform_notices(here, prompt.task_id)
    await here.carry()
    first, again = here.cards()
    assert again.body[0] == "Open since 2026-03-02 12:00 UTC."
    assert labels(again) == labels(first)
    await here.press("Red")
    await here.carry()
    assert [c.buttons for c in here.cards()] == [(), ()]


async def test_a_question_that_ended_otherwise_loses_its_buttons(here: Exchange) -> None:
    prompt = await here.asking(payload=ONE, title="Cancelled")
    deleted = await here.asking(payload=ONE, title="Deleted")
    await here.carry()
    await tasks.move(here.s, prompt.task_id, ANN, to="cancelled", force=True)
    await removal.delete(here.s, deleted.task_id, ANN)
    await here.carry("telegram")
    questions = [card for card in here.cards() if "Cancelled" not in card.title[:12]]
    assert {card.body for card in questions} == {
        ("The task went on another way; no answer is needed.",),
        ("The task was deleted.",),
    }
    assert all(card.buttons == () for card in questions)


async def test_what_is_over_before_its_turn_is_not_told(here: Exchange) -> None:
    prompt = await here.asking(payload=ONE)
    await here.route()
    await prompts.answer(here.s, prompt.id, BLUE, ANN)
    await here.carry()
    assert here.cards() == []
    assert [r.state for r in await here.rows()] == [DeliveryState.VOID]


async def test_a_secret_leaves_by_no_channel(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that became known after it was stored."""
    canary = "am-canary-7f3c9b21"
    asks = {
        "questions": [
            {"id": "q1", "question": f"Is {canary} right?", "options": [canary, "no"]},
        ]
    }
    async with exchange(tmp_path / "home", repo, str(tmp_path)) as here:
        await here.asking(payload=asks, title=f"Use {canary}")
    monkeypatch.setenv("SERVICE_TOKEN", canary)
    async with exchange(tmp_path / "home", repo, str(tmp_path)) as here:
        await here.carry()
        [card] = here.cards()
        asked = await here.press("Custom answer…")
        listed = await here.desk.ordered("telegram", here.act(), "inbox", "")
        assert asked is not None
        assert listed is not None
        for said in (card, asked, listed):
            assert canary not in said.model_dump_json()
            assert "[redacted]" in said.model_dump_json()


# ----------------------------------------------------------------------------- down, late, crashed


async def test_a_platform_that_is_down_for_an_hour_loses_nothing(scene: Exchange) -> None:
    telegram, slack = scene.channels["telegram"], scene.channels["slack"]
    telegram.error = ChannelDown("Bad gateway")
    for number in range(3):
        await scene.asking(payload=ONE, title=f"Task {number}")
    tries = 0
    for _ in range(60):
        await scene.carry()
        scene.clock.turn(minutes=1)
        tries += 1
    assert len(slack.sent) == 3
    assert telegram.sent == []
    [first, *_] = reversed(await scene.rows())
    assert first.state is DeliveryState.PENDING
    assert first.error == "Bad gateway"
    assert first.attempts < tries
    telegram.error = None
    scene.clock.turn(minutes=5)
    await scene.carry()
    titles = sorted(card.title for card in scene.cards())
    assert titles == [f'🤖 Agent needs input on "Task {number}"' for number in range(3)]
    assert not any(card.repeat for _, _, card in telegram.sent)


async def test_a_platform_that_names_a_time_is_left_alone_until_then(here: Exchange) -> None:
    telegram = here.channels["telegram"]
    telegram.error = ChannelDown("Too many requests", 120.0)
    await here.asking(payload=ONE)
    await here.carry()
    telegram.error = None
    here.clock.turn(seconds=119)
    await here.carry()
    assert telegram.sent == []
    here.clock.turn(seconds=1)
    await here.carry()
    assert len(telegram.sent) == 1


async def test_what_a_platform_refuses_is_given_up_with_its_reason(here: Exchange) -> None:
    here.channels["telegram"].error = ChannelRefused("Forbidden: bot was blocked by the user")
    await here.asking(payload=ONE)
    await here.carry()
    here.channels["telegram"].error = None
    here.clock.turn(days=1)
    await here.carry()
    assert here.channels["telegram"].sent == []
    [row] = await here.rows()
    assert row.state is DeliveryState.FAILED
    assert row.error == "Forbidden: bot was blocked by the user"


class Killed(BaseException):
    """The program ends here."""


class DiesAfterSending(MemoryChannel):
    dies = True

    async def send(self, place: str, card: Card) -> str:
        message = await super().send(place, card)
        if self.dies:
            raise Killed
        return message


async def test_a_crash_between_sending_and_noting_repeats_it_and_says_so(
    tmp_path: Path, repo: Path, used_address: str
) -> None:
    channel = DiesAfterSending(name="telegram")
    home = tmp_path / "home"
    async with exchange(home, repo, used_address, channels=[channel]) as scene:
        await scene.asking(payload=ONE)
        await scene.route()
        with pytest.raises(Killed):
            await scene.postmen["telegram"].step()
    channel.dies = False
    async with exchange(home, repo, used_address, channels=[channel]) as scene:
        await scene.carry()
        assert len(channel.sent) == 1, "a machine that may still be at it is not hurried"
        await scene.postmen["telegram"].recover()
        await scene.carry()
        (_, first, lost), (_, _, again) = channel.sent
        assert not lost.repeat
        assert again.repeat
        assert [b.id for b in lost.buttons] == [b.id for b in again.buttons]
        blue = next(b.id for b in lost.buttons if b.label == "Blue")
        reply = await scene.desk.pressed("telegram", scene.act(), first, blue)
        assert reply is not None
        assert reply.says == "Thank you, that is answered."


async def test_a_crash_before_sending_tells_it_once(tmp_path: Path, repo: Path) -> None:
    """The rows and the place in the log are one transaction: routing again adds nothing."""
    home, address = tmp_path / "home", str(tmp_path)
    async with exchange(home, repo, address) as scene:
        await scene.asking(payload=ONE)
        await scene.route()
    async with exchange(home, repo, address) as scene:
        await scene.carry()
        assert len(scene.channels["telegram"].sent) == 1
        assert not scene.channels["telegram"].sent[0][2].repeat


async def test_two_machines_never_bring_the_same(
    tmp_path: Path, repo: Path, used_address: str
) -> None:
    slow = asyncio.Event()

    class Slow(MemoryChannel):
        async def send(self, place: str, card: Card) -> str:
            await slow.wait()
            return await super().send(place, card)

    channel = Slow(name="telegram")
    async with exchange(tmp_path / "home", repo, used_address, channels=[channel]) as scene:
        await scene.asking(payload=ONE)
        await scene.route()
        one, two = Postman(scene.s, channel, "one"), Postman(scene.s, channel, "two")
        await scene.s.store.write(lambda tx: tx.hosts.join(machine("one")))
        sending = asyncio.create_task(one.step())
        while (await scene.rows())[0].state is not DeliveryState.SENDING:
            await asyncio.sleep(0.01)
        await two.recover()
        assert not await two.step()
        slow.set()
        assert await sending
        assert len(channel.sent) == 1

        def lease(host: str, seconds: float) -> Any:
            now = scene.clock.now()
            until = now + timedelta(seconds=seconds)
            return scene.s.store.write(
                lambda tx: tx.deliveries.lease("channel telegram", host, now, until)
            )

        assert [await lease("one", 60), await lease("two", 60), await lease("one", 60)] == [
            True,
            False,
            True,
        ]
        scene.clock.turn(seconds=61)
        assert await lease("two", 60)


async def test_nothing_is_written_while_nothing_happens(
    here: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    write = type(here.s.store).write

    async def counted(self: Any, fn: Any) -> Any:
        nonlocal written
        written += 1
        return await write(self, fn)

    monkeypatch.setattr(type(here.s.store), "write", counted)
    await here.asking(payload=ONE)
    working = asyncio.create_task(Office(here.s, None).run())
    async with asyncio.timeout(30):
        while not all(c.sent for c in here.channels.values()):
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    before = written
    await asyncio.sleep(1.2)
    working.cancel()
    await asyncio.wait([working])
    assert written == before


# -------------------------------------------------------------------------------------- quiet hours


async def test_quiet_hours_hold_back_what_may_wait(tmp_path: Path, repo: Path) -> None:
    config = {
        "notifications": notifications(slack={"breakThrough": ["question", "failure"]}),
        "quietHours": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"},
    }
    clock = Clock()
    clock.turn(hours=10)  # 23:00 in Berlin.
    async with exchange(
        tmp_path / "home", repo, str(tmp_path), clock=clock, config=config
    ) as scene:
        await scene.asking(payload=ONE)
        await scene.carry()
        assert scene.channels["telegram"].sent == []
        assert len(scene.channels["slack"].sent) == 1
        clock.turn(hours=7, minutes=59)
        await scene.carry()
        assert scene.channels["telegram"].sent == []
        clock.turn(minutes=1)
        await scene.carry()
        assert len(scene.channels["telegram"].sent) == 1


# ----------------------------------------------------------------------------------- the first wins


async def race(scene: Exchange, times: int) -> dict[str, int]:
    won = {"telegram": 0, "slack": 0}
    for number in range(times):
        prompt = await scene.asking(payload=ONE, title=f"Task {number}")
        await scene.carry()
        said = await asyncio.gather(scene.press("Red", "telegram"), scene.press("Blue", "slack"))
        thanked = [r.says == "Thank you, that is answered." for r in said if r]
        assert sorted(thanked) == [False, True], said
        answered = await scene.prompt(prompt.id)
        via = str(answered.responded_via)
        assert via == ("telegram" if thanked[0] else "slack")
        assert "answered this via" in [r.says for r in said if r][thanked.index(False)]
        won[via] += 1
        await scene.carry()
        for channel in scene.channels.values():
            assert all(not card.buttons for card in channel.cards.values())
            channel.cards.clear()
    return won


async def test_of_two_answers_at_the_same_moment_one_counts(
    scene: Exchange, used_address: str
) -> None:
    times = 5 if "://" in used_address else 50
    assert sum((await race(scene, times)).values()) == times


@pytest.mark.slow
async def test_of_two_answers_at_the_same_moment_one_counts_a_thousand_times(
    here: Exchange,
) -> None:
    assert sum((await race(here, 1_000)).values()) == 1_000
