"""What agents print on one machine is shown on another, while they run, when they are done, and
after their machine is gone."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import RunStatus
from agents_manager.flow import repairs, watchdog
from agents_manager.flow.runs import copying, mirrors, places, transcripts, watch
from agents_manager.flow.runs.copying import Copier
from agents_manager.flow.runs.places import job_dir
from tests.two_machines import Machine, Pair
from tests.worlds import GREETING

SAYS = [{"say": "Hello from here."}]
DONE = {"implement": [[*SAYS, *GREETING["implement"][0]]]}
HANGS = {"implement": [[*SAYS, {"hang": True}]]}
LONG_AGO = timedelta(minutes=5)


def output(machine: Machine, run_id: str, turn: int = 1) -> Path:
    return machine.s.jobs_dir / run_id / str(turn) / "output"


async def printing(a: Machine, text: bytes, turn: int = 1) -> Any:
    """A run of the machine whose agent has printed so much, as its runner would leave it."""
    run = await a.start(DONE)
    await a.take(run)
    now = a.s.clock.now()
    await a.s.store.write(
        lambda tx: tx.runs.update(
            run.id, status=RunStatus.RUNNING, agent="scripted", started_at=now, prompt="Go."
        )
    )
    await mirrors.own(a.s, await a.run(run.id))
    print_more(a, run.id, text, turn)
    return await a.run(run.id)


def print_more(a: Machine, run_id: str, text: bytes, turn: int = 1) -> None:
    file = output(a, run_id, turn)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as opened:
        opened.write(text)


async def test_what_an_agent_printed_is_read_on_the_other_machine(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await a.work(await a.start(DONE))
    assert run.status is RunStatus.COMPLETED
    said = output(a, run.id).read_bytes()
    assert b"Hello from here." in said
    await mirrors.bring(b.s, run)
    assert output(b, run.id).read_bytes() == said
    assert output(b, run.id).stat().st_mode & 0o777 == 0o600
    assert b"".join(piece.data for piece in watch.past(b.s, run.id)) == said
    assert await mirrors.missing(b.s, run) is None
    # All of it, so that nobody asks again.
    await b.s.store.write(lambda tx: tx.outputs.drop([run.id]))
    await mirrors.bring(b.s, run, at_once=True)
    assert output(b, run.id).read_bytes() == said


@pytest.mark.slow
async def test_files_beside_the_output_come_along_without_secrets(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"One.\n")
    folder = job_dir(a.s, run.id, 1)
    (folder / "system.md").write_text("Be kind.")
    (folder / "checks.json").write_text(json.dumps([]))
    (folder / "stderr").write_bytes(b"Oh.\n")
    (folder.parent / "setup.log").write_text("$ true\n")
    (folder / "job.json").write_text("{}")
    print_more(a, run.id, b"Two.\n", turn=2)
    (job_dir(a.s, run.id, 2) / "asked.md").write_text("Say PASSWORD again.")
    hidden = a.s.redact
    object.__setattr__(a.s, "redact", lambda text: hidden(text).replace("PASSWORD", "***"))
    await Copier(a.s).step()
    await Copier(a.s).step()  # One that begins anew, as after a crash.
    await mirrors.bring(b.s, run, at_once=True)
    assert places.told(b.s, run) == ["Go.", "Say *** again."]
    assert places.system_prompt(b.s, run) == "Be kind."
    mine = {str(f.relative_to(b.s.jobs_dir / run.id)) for f in b.s.jobs_dir.rglob("*.*")}
    assert mine == {
        *("1/checks.json", "1/system.md", "2/asked.md", "place.json", "setup.log"),
    }
    assert (job_dir(b.s, run.id, 1) / "stderr").read_bytes() == b"Oh.\n"


@pytest.mark.slow
async def test_copying_goes_on_where_the_table_ends_and_in_order(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "LONGEST_PIECE", 10)
    a, b = pair.a, pair.b
    run = await printing(a, b"0123456789" * 2 + b"end\n")
    print_more(a, run.id, b"later\n", turn=2)
    (job_dir(a.s, run.id, 2) / "asked.md").write_text("Go on.")
    for expected in ({(1, "output"): 10}, {(1, "output"): 20}):
        await Copier(a.s).step()
        assert await a.s.store.read(lambda tx: tx.outputs.ends(run.id)) == expected
    await mirrors.bring(b.s, run, at_once=True)
    assert not job_dir(b.s, run.id, 2).exists()  # It would say that the first turn is over.
    print_more(a, run.id, b"!\n")
    copier = Copier(a.s)
    for _ in range(3):
        await copier.step()
    ends = {(1, "output"): 26, (2, "asked.md"): 6, (2, "output"): 6}
    assert await a.s.store.read(lambda tx: tx.outputs.ends(run.id)) == ends
    # What is there in part is gone on with at that byte.
    output(b, run.id).write_bytes(b"0123456")
    await mirrors.bring(b.s, run, at_once=True)
    assert output(b, run.id).read_bytes() == output(a, run.id).read_bytes()
    assert output(b, run.id, 2).read_bytes() == b"later\n"


@pytest.mark.slow
async def test_a_pass_copies_what_many_agents_print_in_short_transactions(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "FEW", 2)
    runs = [await printing(pair.a, f"{n}\n".encode()) for n in range(5)]
    written: list[Any] = []
    write = pair.a.s.store.write
    monkeypatch.setattr(pair.a.s.store, "write", lambda fn: written.append(fn) or write(fn))
    await Copier(pair.a.s).step()
    assert len(written) == 3
    for n, run in enumerate(runs):
        found = await pair.a.s.store.read(
            lambda tx, run=run: tx.outputs.after(run.id, (1, "output"), 0, 10)
        )
        assert found == f"{n}\n".encode()


@pytest.mark.slow
async def test_two_that_copy_at_once_double_nothing(pair: Pair) -> None:
    a = pair.a
    run = await printing(a, b"first\n")
    one, other = Copier(a.s), Copier(a.s)
    await asyncio.gather(one.step(), other.step())
    print_more(a, run.id, b"second\n")
    await asyncio.gather(one.step(), other.step(), copying.whole(a.s, run.id))
    for copier in (one, other):
        await copier.step()
    found = await a.s.store.read(lambda tx: tx.outputs.after(run.id, (1, "output"), 0, 10))
    assert found == b"first\nsecond\n"


@pytest.mark.slow
async def test_a_machine_that_lost_a_run_copies_no_more_of_it(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"mine\n")
    await Copier(a.s).step()
    await b.take(run)
    print_more(a, run.id, b"frozen\n")
    await Copier(a.s).step()
    await copying.whole(a.s, run.id)
    ends = await a.s.store.read(lambda tx: tx.outputs.ends(run.id))
    assert ends == {(1, "output"): 5}


@pytest.mark.slow
async def test_who_watches_elsewhere_sees_what_comes_until_the_end(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"one\n")
    copier, seen = Copier(a.s), list[bytes]()
    await copier.step()

    async def look() -> None:
        async for batch in watch.follow(b.s, run.id, watch.Position()):
            seen.extend(piece.data for piece in batch)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(look())
        while seen != [b"one\n"]:
            await asyncio.sleep(0.05)
        print_more(a, run.id, b"two\n")
        print_more(a, run.id, b"three\n", turn=2)
        while len(seen) < 3:
            await copier.step()
            await asyncio.sleep(0.05)
        print_more(a, run.id, b"last", turn=2)
        await copying.whole(a.s, run.id)
        now = a.s.clock.now()
        await a.s.store.write(
            lambda tx: tx.runs.update(run.id, status=RunStatus.COMPLETED, ended_at=now)
        )
    assert seen == [b"one\n", b"two\n", b"three\n", b"last"]


@pytest.mark.slow
async def test_when_its_machine_is_gone_what_was_copied_is_shown_and_told_so(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"copied\n")
    await Copier(a.s).step()
    print_more(a, run.id, b"not copied\n")
    assert await mirrors.missing(b.s, run) is None
    a.heard(LONG_AGO)
    await mirrors.bring(b.s, run, at_once=True)
    assert output(b, run.id).read_bytes() == b"copied\n"
    told = await mirrors.missing(b.s, run)
    assert told is not None
    assert told.startswith(f'This was copied from the machine "{a.id}" until it was last heard of')
    # It comes back, and what it has is brought after all.
    now = a.s.clock.now()
    await b.s.store.write(lambda tx: tx.runs.update(run.id, status=RunStatus.FAILED, ended_at=now))
    assert await copying.catch_up(a.s) == [run.id]
    assert await copying.catch_up(a.s) == []
    await mirrors.bring(b.s, run, at_once=True)
    assert output(b, run.id).read_bytes() == b"copied\nnot copied\n"
    assert await mirrors.missing(b.s, await b.run(run.id)) is None


@pytest.mark.slow
async def test_the_next_agent_on_another_machine_is_told_what_was_said(pair: Pair) -> None:
    a, b = pair.a, pair.b
    first = await a.work(await a.start(DONE))
    assert first.status is RunStatus.COMPLETED
    await mirrors.bring_all(b.s, [first])
    (told,) = transcripts.of(b.s, b.project, [first])
    assert "Hello from here." in told


@pytest.mark.slow
async def test_a_copy_is_never_taken_for_a_job_of_this_machine(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"one\n")
    await Copier(a.s).step()
    await mirrors.bring(b.s, run, at_once=True)
    assert mirrors.is_copy(b.s, b.s.jobs_dir / run.id)
    assert not mirrors.is_copy(a.s, a.s.jobs_dir / run.id)
    before = sorted(b.s.jobs_dir.rglob("*"))
    assert await repairs.processes(b.s) == []
    assert await repairs.runs(b.s) == []
    assert await watchdog.Watchdog().look(b.s, 0) == []
    await Copier(b.s).step()
    assert await copying.catch_up(b.s) == []
    assert sorted(b.s.jobs_dir.rglob("*")) == before
    # Where the run is given to this machine before it began, the copy makes room.
    await b.take(run)
    await mirrors.own(b.s, await b.run(run.id))
    assert not output(b, run.id).exists()
    assert not mirrors.is_copy(b.s, b.s.jobs_dir / run.id)


@pytest.mark.slow
async def test_names_that_are_no_files_of_ours_are_not_written(pair: Pair) -> None:
    a, b = pair.a, pair.b
    run = await printing(a, b"one\n")

    def forge(tx: Any) -> None:
        for part in ((1, "../../../x"), (1, "job.json"), (99, "output"), (0, "output")):
            tx.outputs.add(run.id, part, 0, b"forged")

    await a.s.store.write(forge)
    await mirrors.bring(b.s, run, at_once=True)
    assert {f.name for f in b.program.settings.home.rglob("*") if f.is_file()} & {
        "x",
        "job.json",
    } == set()
    assert not any(b.s.jobs_dir.rglob("output"))


async def test_alone_nothing_is_copied_and_nothing_asked(world: Any) -> None:
    task = await world.start(DONE, pipeline="simple")
    view = await world.until(task, "review")
    (run,) = view.runs
    assert run.host is None
    assert await world.s.store.read(lambda tx: tx.outputs.ends(run.id)) == {}
    assert not (world.s.jobs_dir / run.id / "place.json").exists()
