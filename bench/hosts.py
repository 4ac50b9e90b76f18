"""Do more machines do more? Waiting-bound work, as that of agents is, for one, two and four hosts,
each a real `am worker` in a network of its own, with a database and a remote between them. First
how many tasks a minute can be merged, then how long an idle host takes to begin, and how many
effects four of them perform when nothing waits. Agents work in the default sandbox, in which they
also write to a folder that all hosts share."""

import asyncio
import tempfile
import time
from pathlib import Path

from sqlalchemy import func, select

from agents_manager.domain.ids import TaskId
from agents_manager.store import schema
from bench import commands
from bench.rows import Row, quantile
from bench.world import observed
from tests.netns.network import NotHere
from tests.netns.rig import Desk, desk, rig, until

HOSTS = (1, 2, 4)
CAPACITY = 2
ROUNDS = 2
WAIT_S = 30.0
"""Agents work for minutes. Four machines share the cores of one here: with less to wait for, it is
the cores that are measured."""
ORDERS = 20
AT_ONCE = 24
GOAL = 3.5

AGENT = """
echo "$AM_TASK_ID $(date +%s.%N)" >> '{shared}/begun'
sleep "$(cat '{shared}/seconds')"
echo "Some words." > "$AM_TASK_ID.txt"
git add .
git commit --quiet --message="Add some words"
echo '<<<OUTCOME:pr_ready>>>'; echo '<<<END_PAYLOAD>>>'
"""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="am-bench-", ignore_cleanup_errors=True) as folder:
        try:
            return asyncio.run(_asked(Path(folder)))
        except NotHere as reason:
            return [Row(name="hosts", ours=f"not run: no network namespaces ({reason})")]


async def _asked(folder: Path) -> list[Row]:
    shared = folder / "shared"
    shared.mkdir()
    seconds = shared / "seconds"
    sandbox = {"write": [str(shared)]}
    with rig(folder, AGENT.replace("{shared}", str(shared)), sandbox) as made:
        async with desk(made) as somebody:
            rates: list[float] = []
            for number in HOSTS:
                made.join(number - len(made.hosts), "--capacity", str(CAPACITY))
                # Hosts that have just come have no clone yet.
                seconds.write_text("1")
                await _mergeable(somebody, number * CAPACITY * 2)
                seconds.write_text(str(WAIT_S))
                rates.append(await _mergeable(somebody, number * CAPACITY * ROUNDS))
            seconds.write_text("0")
            begins = await _beginnings(somebody, shared / "begun")
            rows = [*_shared(rates), begins, await _nothing_waits(somebody)]
            observed.levels_on(somebody.program)
            return rows


async def _mergeable(team: Desk, number: int) -> float:
    """So many tasks, in how many a minute."""
    begun = time.time()
    ordered = await team.order(number)
    return 60 * number / (await commands.mergeable(team.s, ordered) - begun)


def _shared(rates: list[float]) -> list[Row]:
    rows: list[Row] = []
    for number, rate in zip(HOSTS, rates, strict=True):
        ratio, most = rate / rates[0], 60 * number * CAPACITY / WAIT_S
        rows.append(
            Row(
                name=f"{number} hosts of {CAPACITY} agents that wait {WAIT_S:.0f} s",
                ours=f"{rate:.1f} tasks a minute",
                beside=f"{most:.0f} (only waiting)",
                ratio=ratio,
                goal=f">= {GOAL} x one host" if number == HOSTS[-1] else "",
                met=ratio >= GOAL if number == HOSTS[-1] else None,
            )
        )
    return rows


async def _beginnings(team: Desk, begun: Path) -> Row:
    """From before the order until the agent does something, one at a time on idle hosts."""
    taken: list[float] = []
    for _ in range(ORDERS):
        before = time.time()
        [task] = await team.order(1)
        taken.append(await _began(begun, task) - before)
        await commands.mergeable(team.s, [task])
    p50, p95 = (f"{quantile(taken, share) * 1000:,.0f} ms" for share in (0.5, 0.95))
    return Row(name=f"order -> agent on one of {HOSTS[-1]} idle hosts", ours=f"{p50}, p95 {p95}")


async def _began(begun: Path, task: TaskId) -> float:
    async def look() -> list[float]:
        text = await asyncio.to_thread(begun.read_text)
        lines = (line.split() for line in text.splitlines())
        return [float(time) for each, time in lines if each == task]

    return min(await until(look, "an agent at work"))


async def _nothing_waits(team: Desk) -> Row:
    before, begun = _performed(team), time.time()
    spent = await commands.mergeable(team.s, await team.order(AT_ONCE)) - begun
    rate = (_performed(team) - before) / spent
    return Row(
        name=f"{AT_ONCE} tasks at once, whose agents do not wait, on {HOSTS[-1]} hosts",
        ours=f"{rate:.1f} effects a second",
        beside=f"{60 * AT_ONCE / spent:.0f} tasks a minute",
    )


def _performed(team: Desk) -> int:
    with team.program.database.engines.reader.connect() as connection:
        done = select(func.count()).where(schema.effect.c.finished_at.is_not(None))
        return connection.execute(done).scalar_one()
