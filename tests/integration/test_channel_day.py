"""The digest, what people order in a chat, and a worker with channels from end to end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.card import Card, Reply
from agents_manager.domain.cost import Spent
from agents_manager.domain.digest import Day, Entry, body
from agents_manager.domain.run import CostBasis
from agents_manager.flow import prompts, tasks
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.ports import Act, Tx
from tests import worlds
from tests.asking import Clock
from tests.channel_players import ANN as ANN_ID
from tests.channel_players import MemoryChannel, text_of
from tests.channel_scene import NAMES, Exchange, exchange, notifications
from tests.repos import scripted_home
from tests.worlds import ANN, NO_RETRIES

GOLDEN = Path(__file__).parent / "golden" / "digest.txt"
AT_EIGHT = {
    "notifications": {**notifications(), "digest": {"at": "08:00"}},
    "quietHours": {"from": "22:00", "to": "07:00", "zone": "Europe/Berlin"},
}
ONE = {"questions": [{"id": "q1", "question": "Which colour?", "options": ["Red", "Blue"]}]}


@pytest.fixture
async def here(tmp_path: Path, repo: Path) -> AsyncIterator[Exchange]:
    async with exchange(tmp_path / "home", repo, str(tmp_path), config=AT_EIGHT) as scene:
        yield scene


# ------------------------------------------------------------------------------------------- digest


async def test_the_digest_says_what_needs_you_what_was_done_and_what_it_cost(
    here: Exchange,
) -> None:
    """After a change that is meant, put what it says into the file."""
    await here.carry()
    here.clock.turn(hours=2)
    _, run = await here.running("Add search")
    await here.s.store.write(
        lambda tx: tx.runs.update(
            run.id, started_at=here.clock.now(), cost_usd=1.25, cost_basis=CostBasis.REPORTED
        )
    )
    await here.asking(payload=ONE, title="Add authentication")
    here.clock.turn(seconds=1)
    await here.asking("plan_complete", {"notes": "x"}, title="Rename the\n*button* <b>now</b>")
    done = await here.task("Fix the typo")
    await tasks.move(here.s, done.id, ANN, to="cancelled", force=True)
    await here.carry()
    for channel in here.channels.values():
        channel.cards.clear()
    here.clock.turn(hours=17)  # 08:01 in Berlin, the next day.
    await here.carry()
    [card] = here.cards()
    assert text_of(card) + "\n" == GOLDEN.read_text(encoding="utf-8")
    assert here.cards("slack") == [card]


async def test_the_digest_is_told_once_a_day_and_not_at_once(here: Exchange) -> None:
    await here.carry()
    assert here.cards() == []
    for _ in range(3 * 24):
        here.clock.turn(hours=1)
        await here.carry()
    assert [c.title for c in here.cards()] == [
        "Your day, Tuesday 2026-03-03",
        "Your day, Wednesday 2026-03-04",
        "Your day, Thursday 2026-03-05",
    ]


def test_much_is_counted_and_nothing_unknown_is_called_nothing() -> None:
    many = [Entry(f"Task {n}", "Which?") for n in range(12)]
    unknown = Spent(runs=3, unknown=3, cost_usd=None)
    waiting, done, cost = body(Day(day=Clock().time.date(), waiting=many, done=[], cost=unknown))
    assert waiting.splitlines()[0] == "What needs you (12):"
    assert waiting.splitlines()[-1] == "• and 2 more"
    assert done == "Nothing was finished."
    assert cost == "What it cost: unknown, 3 runs."
    some = Spent(runs=3, unknown=1, cost_usd=0.5)
    told = body(Day(day=Clock().time.date(), waiting=[], done=[], cost=some))
    assert told[2] == "What it cost: at least $0.50 spent, 1 run unknown, 3 runs."
    none = Spent(runs=0, unknown=0, cost_usd=None)
    assert body(Day(day=Clock().time.date(), waiting=[], done=[], cost=none))[2] == (
        "What it cost: no agent ran."
    )


# ----------------------------------------------------------------------------------------- commands


async def order(here: Exchange, command: str, words: str = "") -> Reply:
    reply = await here.desk.ordered("telegram", here.act(), command, words)
    assert reply is not None
    return reply


def card_of(reply: Reply) -> Card:
    assert reply.card is not None, reply
    return reply.card


async def test_the_inbox_leads_to_a_question_that_is_answered_there(here: Exchange) -> None:
    empty = card_of(await order(here, "inbox"))
    assert empty.body == ("Nobody asks anything.",)
    prompt = await here.asking(payload=ONE)
    listed = card_of(await order(here, "/inbox"))
    assert listed.title == "Your inbox: 1"
    short = prompt.task_id[:8]
    assert listed.body[0] == f"• Add search: Which colour?\n  /task {short}"
    shown = card_of(await order(here, "task", short))
    blue = next(b.id for b in shown.buttons if b.label == "Blue")
    reply = await here.desk.pressed("telegram", here.act(), "message-9", blue)
    assert reply is not None
    assert reply.says == "Thank you, that is answered."
    again = await here.desk.pressed("telegram", here.act(), "message-9", blue)
    assert again is not None
    assert "ann answered this via telegram" in again.says


async def test_tasks_are_listed_run_stopped_and_explained(here: Exchange) -> None:
    task = await here.task("Add search", pipeline="simple")
    short = task.id[:8]
    assert card_of(await order(here, "tasks")).body[0].endswith(f"/task {short}")
    assert card_of(await order(here, "run", short)).title == "Started: Add search"
    assert "is about to start" in card_of(await order(here, "why", short)).body[0]
    assert "goes on already" in (await order(here, "run", short)).says
    assert card_of(await order(here, "stop", short)).title == "Stopping: Add search"
    assert card_of(await order(here, "task", short)).title == "Add search"


async def test_a_task_is_created_for_an_agent(here: Exchange) -> None:
    made = card_of(await order(here, "new", "Add search --agent codex —model=gpt-5.5 — by tag"))
    assert made.title == "Created: Add search — by tag"
    (task,) = await here.s.store.read(
        lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=2)
    )
    assert (task.agent, task.model) == ("codex", "gpt-5.5")
    assert made.body == (f"Start it: /run {task.id[:8]}",)


async def test_costs_are_told_by_task_and_in_all(here: Exchange) -> None:
    task, run = await here.running()

    def write(tx: Tx) -> None:
        fields = {"cost_usd": 1.25, "cost_basis": CostBasis.REPORTED}
        tx.runs.update(run.id, started_at=here.clock.now(), **fields)

    await here.s.store.write(write)
    assert card_of(await order(here, "cost", task.id)).body == ("$1.25 spent.",)
    assert card_of(await order(here, "cost")).body[0] == "$1.25 spent."


@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("taks", "", 'There is no command "taks". Did you mean "tasks"?'),
        ("task", "", "Say which task"),
        ("new", "Add search --agnet codex", 'There is no option "--agnet". Did you mean "agent"?'),
        ("new", "Add search --agent codecs", 'There is no agent "codecs".'),
        ("new", "Add search --agent", "--agent needs a value."),
        ("new", "--agent codex", "a task needs a title"),
        ("new", "Add search --project gone", "There is no such project"),
        ("task", "ffffffff", "There is no such task"),
        ("stop", "ab", "needs 4 characters or more"),
        ("run", "'; DROP TABLE am_task; --", "There is no such task"),
    ],
)
async def test_an_order_that_cannot_be_is_refused_in_a_sentence(
    here: Exchange, command: str, words: str, said: str
) -> None:
    assert said in (await order(here, command, words)).says


async def test_help_names_every_command(here: Exchange) -> None:
    told = text_of(card_of(await order(here, "help")))
    for command in ("inbox", "tasks", "task", "new", "run", "stop", "why", "cost"):
        assert f"/{command}" in told


# ------------------------------------------------------------------------------- from end to end


ASKS: Any = {
    "implement": [
        *([{"ask": {"question": f"Question {n}?", "options": ["a", "b"]}}] for n in range(1, 5)),
        [{"modify": {"path": "greeting.txt", "append": "x\n"}}, {"outcome": "pr_ready"}],
    ]
}


async def until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(worlds.PATIENCE_S):
        while not there():
            await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_a_task_is_answered_from_everywhere_and_the_agent_is_told(
    tmp_path: Path, repo: Path
) -> None:
    made = {name: MemoryChannel(name=name) for name in NAMES}
    channels = {name: lambda channel=channel: channel for name, channel in made.items()}
    home = scripted_home(tmp_path / "home", notifications=notifications(), **NO_RETRIES)
    async with worlds.working(home, repo, channels=channels) as world:
        task = await world.start(ASKS, pipeline="simple")
        for number, door in enumerate(("web", "cli", "telegram", "slack"), 1):
            view = await world.wait(
                task,
                lambda v, n=number: bool(v.prompts) and len(v.runs) == n,
                f"asking question {number}",
            )
            words = f"The answer {number} by {door}"
            if door in made:
                asked = view.prompts[0].id
                await until(
                    lambda d=door, p=asked: any(
                        c.facts.get("prompt") == p for c in made[d].cards.values()
                    )
                )
                await answer(world.s, made[door], door, words)
            else:
                actor = ANN.model_copy(update={"via": door})
                raw = {"answers": [{"question_id": "q1", "text": words}]}
                await prompts.answer(world.s, view.prompts[0].id, raw, actor)
            again = await world.wait(task, lambda v, n=number: len(v.runs) == n + 1, "going on")
            await world.wait(task, lambda v: v.runs[-1].prompt is not None, "told")
            told = (await world.view(task)).runs[len(again.runs) - 1].prompt
            assert told is not None
            assert words in told
        await until(
            lambda: all(not any(c.buttons for c in m.cards.values()) for m in made.values())
        )
        vias = [e.data["via"] for e in await world.events(task) if e.type == "prompt_response"]
        assert vias == ["web", "cli", "telegram", "slack"]


async def answer(s: Any, channel: MemoryChannel, name: str, words: str) -> None:
    message, card = [(m, c) for m, c in channel.cards.items() if c.buttons][-1]
    button = next(b.id for b in card.buttons if b.label == "Custom answer…")
    act = Act(key=f"{name}-{message}", person=ANN_ID, called="Ann", place=ANN_ID)
    desk = channel.desk or FrontDesk(s)
    reply = await desk.pressed(name, act, message, button, words)
    assert reply is not None
    assert reply.says == "Thank you, that is answered."
