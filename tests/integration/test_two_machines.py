"""Two machines on one database: each sees to what is on it, and what is there once is done once."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from agents_manager.api import auth
from agents_manager.api.app import build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.domain.permission import Answer, answer_file, request_file
from agents_manager.domain.run import Run, RunStatus
from agents_manager.flow import (
    admission,
    duty,
    prompts,
    reconcile,
    removal,
    repairs,
    supervisor,
    tasks,
    timers,
)
from agents_manager.flow.memory import freshness
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.retention import remains, sweep
from agents_manager.flow.runs import copying, mirrors, permissions
from agents_manager.flow.runs.copying import Copier
from agents_manager.flow.runs.places import job_dir
from tests.integration.test_hosts import handed_out
from tests.integration.test_outputs import DONE, HANGS, LONG_AGO, output, printing
from tests.two_machines import Machine, Pair
from tests.worlds import ANN, GREETING

pytestmark = pytest.mark.slow


@asynccontextmanager
async def hanging(a: Machine) -> AsyncIterator[Run]:
    """A run of the machine whose agent is up and goes on until it is stopped."""
    run = await a.start(HANGS)
    row = await a.take(run)
    async with asyncio.TaskGroup() as group:
        working = group.create_task(a.perform(row))
        async with asyncio.timeout(30):
            while not output(a, run.id).exists() or not output(a, run.id).stat().st_size:
                await asyncio.sleep(0.05)
        try:
            yield await a.run(run.id)
        finally:
            await a.s.runners.stop(job_dir(a.s, run.id, 1))
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working


async def at_work(a: Machine, run: Run) -> bool:
    return await a.s.runners.pulse(job_dir(a.s, run.id, 1)) is not None


# ------------------------------------------------------------------------------ ending agents


async def test_an_agent_is_stopped_by_its_machine_whoever_asks(pair: Pair) -> None:
    a, b = pair.a, pair.b
    async with hanging(a) as run:
        await tasks.stop_run(b.s, run.id, ANN)
        await b.perform(await b.open(run.task_id, "stop_agent"))
        assert await at_work(a, run)
        assert (await b.run(run.id)).status is RunStatus.RUNNING
        assert not job_dir(b.s, run.id, 1).exists()
        await a.perform(await a.open(run.task_id, "stop_agent"))
        assert not await at_work(a, run)
        assert (await b.run(run.id)).status is RunStatus.CANCELLED
    await mirrors.bring(b.s, await b.run(run.id))
    assert b"Hello from here." in output(b, run.id).read_bytes()


async def test_a_run_of_a_lost_machine_is_stopped_by_another(pair: Pair) -> None:
    a, b = pair.a, pair.b
    usage = {"type": "usage", "input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5}
    run = await printing(a, json.dumps(usage).encode() + b"\n")
    await Copier(a.s).step()
    a.heard(LONG_AGO)
    await tasks.stop_run(b.s, run.id, ANN)
    await b.perform(await b.open(run.task_id, "stop_agent"))
    ended = await b.run(run.id)
    assert (ended.status, ended.cost_usd) == (RunStatus.CANCELLED, 0.5)
    assert {f.name for f in job_dir(b.s, run.id, 1).iterdir()} == {"output"}


async def test_a_lost_run_is_ended_on_its_machine_or_when_that_is_gone(pair: Pair) -> None:
    a, b = pair.a, pair.b
    async with hanging(a) as run:
        await a.s.store.write(lambda tx: tx.effects.update(run.effect_id, status="cancelled"))
        assert await repairs.runs(b.s) == []
        assert await at_work(a, run)
        assert await repairs.runs(a.s) == [run.id]
        assert not await at_work(a, run)
    other = await printing(a, b"gone\n")
    await a.s.store.write(lambda tx: tx.effects.update(other.effect_id, status="cancelled"))
    a.heard(LONG_AGO)
    assert await repairs.runs(b.s) == [other.id]
    assert (await b.run(other.id)).status is RunStatus.FAILED
    assert not any(b.s.jobs_dir.rglob("exit.json"))


async def test_a_lost_run_is_left_to_a_machine_that_has_its_project(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"gone\n")
    await a.s.store.write(lambda tx: tx.effects.update(run.effect_id, status="cancelled"))
    a.heard(LONG_AGO)
    shutil.rmtree(b.project.path)
    assert await repairs.runs(b.s) == []
    assert (await b.run(run.id)).status.live


async def test_an_agent_whose_run_is_on_another_machine_is_ended(pair: Pair) -> None:
    a, b = pair.a, pair.b
    async with hanging(a) as run:
        assert await repairs.processes(b.s) == []
        assert await repairs.processes(a.s) == []
        await b.s.store.write(lambda tx: tx.runs.update(run.id, host=b.id))
        assert await repairs.processes(a.s) == [run.id]
        assert not await at_work(a, run)


# ------------------------------------------------------------------------- going on elsewhere


async def test_a_run_that_goes_on_elsewhere_begins_a_session_and_is_told(pair: Pair) -> None:
    a, b = pair.a, pair.b
    first = await a.work(
        await a.start({"implement": [DONE["implement"][0], [*GREETING["implement"][1]]]})
    )
    assert first.session is not None
    (other,) = [await prompts_rerun(a, first)]
    assert other.session == first.session
    repo = a.project.path
    await b.s.store.write(lambda tx: tx.projects.put(b.project.id, repo))
    a.heard(LONG_AGO)
    await b.work(other)
    begun = await b.run(other.id)
    assert begun.status is RunStatus.COMPLETED
    assert begun.session != first.session
    assert begun.prompt is not None
    assert f"Run {first.id[:8]} (implement by scripted" in begun.prompt
    types = [
        e.type
        for e in await b.s.store.read(
            lambda tx: tx.events.of_task(first.task_id, after_seq=0, limit=99)
        )
    ]
    assert types.count("agent.session_lost") == 1


async def prompts_rerun(a: Machine, first: Run) -> Run:
    """What follows when the work is sent back."""
    await prompts.review(
        a.s, first.task_id, {"decision": "changes_requested", "summary": "More."}, ANN
    )
    (run,) = await a.s.store.read(lambda tx: tx.runs.live(first.task_id))
    return run


async def test_a_permission_given_on_one_machine_reaches_the_agent_on_another(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"")
    folder = job_dir(a.s, run.id, 1)
    wanted = {"tool": "Bash", "action": "make", "reason": "why"}
    file = folder / request_file(1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(wanted))
    attending = asyncio.create_task(permissions.attend(a.s, run.id, 1, folder))
    try:
        async with asyncio.timeout(30):
            while not (asked := await b.s.store.read(lambda tx: tx.prompts.pending(run.task_id))):
                await asyncio.sleep(0.05)
            await prompts.answer(b.s, asked[0].id, {"allow": True, "scope": "once"}, ANN)
            while not (folder / answer_file(1)).exists():
                await asyncio.sleep(0.05)
    finally:
        attending.cancel()
    assert Answer.model_validate_json((folder / answer_file(1)).read_bytes()).allow


async def test_the_doors_of_another_machine_show_a_run(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"Hello\n")
    (job_dir(a.s, run.id, 1) / "checks.json").write_text("[]")
    (job_dir(a.s, run.id, 1) / "system.md").write_text("Be kind.")
    await Copier(a.s).step()
    a.heard(LONG_AGO)
    token = await auth.ensure_owner_token(b.program, "ann")
    feed = Feed(b.s.store, b.program.database.watch)
    app = build(b.s, feed, doors("127.0.0.1", 80))
    async with (
        feed.running(),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1",
            headers={"Authorization": f"Bearer {token}"},
        ) as client,
    ):
        at = f"/api/v1/runs/{run.id}"
        shown = (await client.get(f"{at}/transcript")).json()
        assert (shown["text"], shown["turns"]) == ("Hello\n", 1)
        assert shown["missing"].startswith("This was copied from the machine")
        assert (await client.get(f"{at}/prompt?turn=0")).text == "Be kind."
        assert (await client.get(f"{at}/checks")).json()["rounds"] == [[]]
        now = b.s.clock.now()
        await b.s.store.write(
            lambda tx: tx.runs.update(run.id, status=RunStatus.FAILED, ended_at=now)
        )
        streamed = (await client.get(f"{at}/output")).text
    assert '"text": "Hello"' in streamed
    assert '"missing": "This was copied' in streamed


# ------------------------------------------------------------------------------ done once


class Later:
    def __init__(self, s: Services, by: timedelta) -> None:
        self._clock, self._by = s.clock, by

    def now(self) -> Any:
        return self._clock.now() + self._by


def in_future(s: Services, by: timedelta) -> Services:
    return replace(s, clock=Later(s, by))


async def test_two_machines_remind_once(pair: Pair) -> None:
    a, b = pair.a, pair.b
    script = {"implement": [[{"ask": {"question": "Why?", "options": ["a", "b"]}}]]}
    run = await a.work(await a.start(script))
    soon = timedelta(hours=25)
    await asyncio.gather(timers.remind(in_future(a.s, soon)), timers.remind(in_future(b.s, soon)))
    (prompt,) = await a.s.store.read(lambda tx: tx.prompts.pending(run.task_id))
    assert prompt.reminders == 1


async def test_a_duty_is_one_machines_until_that_does_not_come_back(pair: Pair) -> None:
    a, b = pair.a, pair.b
    assert await duty.is_mine(a.s, "forge x")
    assert not await duty.is_mine(b.s, "forge x")
    assert await duty.is_mine(b.s, "forge y")
    assert await duty.is_mine(a.s, "forge x")
    later = in_future(b.s, duty.TERM + timedelta(seconds=1))
    assert await duty.is_mine(later, "forge x")
    assert not await duty.is_mine(a.s, "forge x")


async def test_one_machine_looks_what_went_stale_and_one_without_the_project_never(
    pair: Pair,
) -> None:
    a, b = pair.a, pair.b
    shutil.rmtree(b.project.path)

    async def looked() -> str | None:
        return await a.s.store.read(lambda tx: tx.knowledge.looked(a.project.id))

    await freshness.look(b.s)
    assert await looked() is None
    await b.s.store.write(lambda tx: tx.projects.put(b.project.id, a.project.path))
    await freshness.look(a.s)
    assert await looked() is not None
    await a.s.store.write(lambda tx: tx.knowledge.look(a.project.id, "elsewhere"))
    await freshness.look(b.s)
    assert await looked() == "elsewhere"


async def test_one_machine_asks_the_forge(pair: Pair) -> None:
    a, b = pair.a, pair.b
    look = reconcile._look_at_all  # pyright: ignore[reportPrivateUsage]
    await b.s.store.write(lambda tx: tx.projects.put(b.project.id, a.project.path))
    pause = timedelta(seconds=a.s.configs.of(a.project).forge.poll_s)
    assert await look(a.s, a.project.id, []) >= pause
    assert await look(b.s, b.project.id, []) == reconcile.AFTER_FAILURE


class Full:
    def shortage(self) -> str | None:
        return "The disk is full."


async def test_a_full_disk_is_told_only_where_no_other_machine_takes_the_work(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await a.start(DONE)
    full = replace(a.s, disk=Full())
    assert full.here is not None
    term = full.here.tenure.term
    assert term is not None
    await full.store.write(lambda tx: tx.hosts.beat(term, admission.takes(full), 3))
    assert await handed_out(full) == []
    assert await supervisor.disk(full) == []
    b.heard(LONG_AGO)
    assert await handed_out(full) == []
    assert await supervisor.disk(full) == [run.task_id]


# -------------------------------------------------------------------------- what goes away


async def finished(a: Machine) -> Run:
    """The run of a task that is over."""
    run = await a.work(await a.start(DONE))

    def end(tx: Tx) -> None:
        for effect in tx.effects.open(run.task_id):
            tx.effects.update(effect.id, status="cancelled")
        for prompt in tx.prompts.pending(run.task_id):
            tx.prompts.update(prompt.id, status="cancelled")

    await tasks.move(a.s, run.task_id, ANN, to="cancelled", force=True)
    await a.s.store.write(end)
    return await a.run(run.id)


def keep_nothing(machine: Machine) -> None:
    config = machine.program.settings.home / "config.json"
    said = json.loads(config.read_text()) | {"retention": {"transcriptsDays": 1}}
    config.write_text(json.dumps(said))


async def test_copies_go_when_the_machine_of_a_run_removes_it(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await finished(a)
    await mirrors.bring(b.s, run)
    for machine in (a, b):
        keep_nothing(machine)
    later = timedelta(days=3)
    swept = await sweep.sweep(in_future(b.s, later), dry_run=False)
    assert swept.totals["transcripts"].count == 0
    assert output(b, run.id).exists()
    await sweep.sweep(in_future(a.s, later), dry_run=False)
    assert not output(a, run.id).exists()
    assert await a.s.store.read(lambda tx: tx.outputs.ends(run.id)) == {}
    await mirrors.bring(b.s, await b.run(run.id))
    assert not (b.s.jobs_dir / run.id).exists()
    assert await copying.catch_up(a.s) == []


async def test_what_a_lost_machine_left_is_removed_by_another(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await finished(a)
    keep_nothing(b)
    a.heard(LONG_AGO)
    swept = await sweep.sweep(in_future(b.s, timedelta(days=3)), dry_run=False)
    assert swept.totals["transcripts"].count == 1
    assert await b.s.store.read(lambda tx: tx.outputs.ends(run.id)) == {}
    assert (await b.run(run.id)).transcript_removed_at is not None


async def test_files_of_a_task_that_was_deleted_elsewhere_go(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run, other = await finished(a), await finished(a)
    await mirrors.bring(b.s, other)
    assert await remains.look(a.s) == await remains.look(b.s) == []
    await removal.delete(b.s, run.task_id, ANN)
    assert (a.s.jobs_dir / run.id).exists()
    assert await remains.look(a.s) == [run.id]
    assert not (a.s.jobs_dir / run.id).exists()
    assert not (a.s.agent_homes_dir / run.task_id).exists()
    assert (a.s.jobs_dir / other.id).exists()
    # One that is only unknown may be of a backup that was restored.
    await b.s.store.write(lambda tx: tx.tasks.delete(other.task_id))
    assert await remains.look(a.s) == []
    assert output(a, other.id).exists()
    assert await remains.look(b.s) == [other.id]


async def test_a_removed_project_takes_its_files_along_on_every_machine(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await finished(a)
    await removal.remove_project(b.s, b.project.id, ANN, force=True)
    assert await remains.look(a.s) == [run.id]
    assert not (a.s.jobs_dir / run.id).exists()


async def test_copies_that_nobody_looks_at_go(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair.a, pair.b
    run = await finished(a)
    await mirrors.bring(b.s, run)
    assert await remains.look(b.s) == []
    monkeypatch.setattr(remains, "UNUSED_S", -1.0)
    assert await remains.look(b.s) == [run.id]
    assert await remains.look(a.s) == []
    await mirrors.bring(b.s, run)
    assert output(b, run.id).read_bytes() == output(a, run.id).read_bytes()
