"""What retention removes, and above all what it does not: tasks in work, work that was not merged,
and uncommitted work before it was saved."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.errors import RetentionBusy, SnapshotNotFound, WorkspaceInUse
from agents_manager.flow import snapshots, tasks
from agents_manager.flow.ports import Services
from agents_manager.flow.retention import finding, room, sweep
from agents_manager.flow.runs import places
from agents_manager.scm.git import Place, common_dir, git
from tests.repos import own_home, refs, write
from tests.worlds import ANN, GREETING, NO_RETRIES, World, repo, world

pytestmark = pytest.mark.slow

__all__ = ["own_home", "repo", "world"]

LEAVE: dict[str, Any] = {
    "implement": [
        [{"write": {"path": "left", "text": "over\n"}}, {"crash": 3}],
        [{"modify": {"path": "greeting.txt", "append": "x\n"}}, {"outcome": "pr_ready"}],
    ]
}
HANG: dict[str, Any] = {"implement": [[{"say": "Working."}, {"hang": True}]]}


@dataclass(frozen=True)
class Later:
    days: int

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=self.days)


def tree_of(run: Run) -> Path:
    return Path(run.workspace or "")


def is_there(path: Path) -> bool:
    return path.exists()


def after(world: World, days: int) -> Services:
    return replace(world.s, clock=Later(days))


def keep(world: World, rules: Mapping[str, int | None]) -> None:
    config = {**NO_RETRIES, "defaultAgentType": "scripted", "retention": rules}
    (world.s.home / "config.json").write_text(json.dumps(config))


async def done(world: World, **fields: Any) -> tuple[Task, Run]:
    """A task that was merged, and its run; its workspace is kept."""
    world.configure({"workspace": {"keep": True}})
    task = await world.start(GREETING, pipeline="simple", **fields)
    await world.until(task, "review")
    await world.review(task, "approved")
    view = await world.until(task, "done")
    await world.settled(task)
    return task, view.runs[-1]


async def test_what_is_old_goes_and_says_so(world: World) -> None:
    task, run = await done(world)
    branches = refs(world.repo, "refs/heads")
    jobs, tree = world.s.jobs_dir / run.id, tree_of(run)
    young = await sweep.sweep(after(world, 13), dry_run=False)
    assert young.items == []
    later = after(world, 200)
    planned = await sweep.sweep(later, dry_run=True)
    assert {i.kind for i in planned.items} == {"transcripts", "worktrees", "engine"}
    assert all(i.bytes for i in planned.items if i.kind != "engine")
    assert "finished 200 days ago" in planned.items[0].why
    assert jobs.is_dir()
    assert tree.is_dir()
    assert planned.used["workspaces"] > 0

    report = await sweep.sweep(later, dry_run=False)
    assert report.left == []
    assert report.totals["transcripts"].count == 1
    assert not jobs.exists()
    assert not tree.exists()
    assert report.used["workspaces"] == 0
    assert refs(world.repo, "refs/heads") == branches
    found = await world.s.store.read(lambda tx: tx.runs.get(run.id))
    assert places.removed_at(world.s, found) is not None
    assert {"agent.transcripts_removed", "workspace.removed"} <= set(await world.types(task))
    again = await sweep.sweep(later, dry_run=False)
    assert again.items == []
    assert again.last == report.at.isoformat()
    # The task can still be looked at, and the record of its moves is whole.
    assert (await world.view(task)).task.status == "done"
    assert len(await world.history(task)) >= 3


async def test_the_engine_forgets_what_was_done(world: World) -> None:
    task, _ = await done(world)
    engine = world.s.engine
    assert engine is not None
    soon = datetime.now(UTC) + timedelta(days=1)
    assert await engine.ended(soon, 100) != []
    now = world.s.clock.now()
    await world.s.store.write(lambda tx: tx.access.keep_reply("k", "r", 200, "{}", now))
    report = await sweep.sweep(after(world, 31), dry_run=False)
    counts = {i.what: i.count for i in report.items if i.kind == "engine"}
    assert counts["answers under an Idempotency-Key"] == 1
    assert counts["workflows of the engine"] >= 3
    assert counts["effects of finished tasks"] >= 3
    assert await engine.ended(soon, 100) == []
    assert await world.s.store.read(lambda tx: tx.access.reply("k")) is None
    # The engine goes on.
    await done(world, title="Another")
    assert task.id


async def test_tasks_in_work_keep_everything(world: World) -> None:
    keep(world, {"transcriptsDays": 1, "worktreesDays": 1, "snapshotsDays": 1, "engineDays": 1})
    waiting = await world.start(LEAVE, pipeline="simple")
    await world.until(waiting, "needs_decision")
    working = await world.start(HANG, pipeline="simple", title="Other")
    await world.wait(working, lambda v: bool(v.run and v.run.started_at), "at work")
    report = await sweep.sweep(after(world, 900), dry_run=False)
    kinds = {i.kind: i.what for i in report.items}
    assert "transcripts" not in kinds
    assert "worktrees" not in kinds
    assert "effects of finished tasks" not in kinds.values()
    view = await world.view(working)
    assert view.run is not None
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.wait(working, lambda v: v.run is None, "stopped")


async def test_what_is_needed_again_since_the_look_stays(world: World) -> None:
    task, run = await done(world)
    later = after(world, 200)
    found = [f async for f in finding.everything(later, later.configs.retention(), [])]
    # As a migration to another version of its pipeline can do.
    now = world.s.clock.now()
    await world.s.store.write(lambda tx: tx.tasks.move(tx.tasks.get(task.id), "review", now))
    gone = [await f.remove() for f in found if f.item.task_id == task.id]
    assert gone == [0, 0]
    assert (world.s.jobs_dir / run.id).is_dir()
    assert is_there(tree_of(run))


async def test_a_worktree_that_a_run_has_locked_is_not_removed(world: World) -> None:
    made = await world.s.workspaces.prepare(world.repo, "task1", "agent/x", "main")
    with pytest.raises(WorkspaceInUse):
        await world.s.workspaces.remove(world.repo, "task1", idle=True)
    assert made.path.is_dir()
    await world.s.workspaces.release(made.path)
    await world.s.workspaces.remove(world.repo, "task1", idle=True)
    assert not made.path.exists()


async def test_uncommitted_work_is_saved_before_its_worktree_goes(world: World) -> None:
    task, run = await done(world)
    write(tree_of(run), {"mine": "not committed\n"})
    await sweep.sweep(after(world, 15), dry_run=False)
    assert not is_there(tree_of(run))
    [saved] = await snapshots.of_task(world.s, task.id)
    assert saved.files == ("mine",)
    assert "snapshot.saved" in await world.types(task)


async def with_snapshot(world: World, **fields: Any) -> Task:
    """A task under review, whose first run left work that no commit holds."""
    task = await world.start(LEAVE, pipeline="simple", **fields)
    await world.until(task, "needs_decision")
    await world.choose(task, "again")
    await world.until(task, "review")
    assert len(await snapshots.of_task(world.s, task.id)) == 1
    return task


async def test_only_snapshots_of_merged_work_go(world: World) -> None:
    keep(world, {"snapshotsDays": 30})
    merged, cancelled = await with_snapshot(world), await with_snapshot(world, title="Other")
    await world.review(merged, "approved")
    await world.until(merged, "done")
    await tasks.move(world.s, cancelled.id, ANN, to="cancelled")
    for task in (merged, cancelled):
        await world.settled(task)
    [early] = await snapshots.of_task(world.s, merged.id)
    late = f"refs/agents-manager/snapshots/{merged.id}/2"
    await _save(world, late, early.sha, days=10)
    young = await sweep.sweep(after(world, 29), dry_run=True)
    assert young.totals["snapshots"].count == 0

    later = after(world, 500)
    planned = await sweep.sweep(later, dry_run=True)
    assert [i.task_id for i in planned.items if i.kind == "snapshots"] == [merged.id]
    await sweep.sweep(later, dry_run=False)
    assert [s.number for s in await snapshots.of_task(world.s, cancelled.id)] == [1]
    assert [s.number for s in await snapshots.of_task(world.s, merged.id)] == [2]
    assert (await world.types(merged)).count("snapshot.removed") == 1
    with pytest.raises(SnapshotNotFound, match=f"removed by retention .* NAME {early.sha}"):
        await snapshots.restore(world.s, merged.id, 1, None, ANN)


async def _save(world: World, ref: str, like: str, *, days: int) -> None:
    """A snapshot of the same work, taken some days later."""
    place = Place(git_dir=await common_dir(world.repo))
    when = f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M:%S+00:00}"
    text = (await git(place, "cat-file", "commit", like)).stdout.decode()
    head, _, body = text.partition("\n\n")
    stamp = int(datetime.fromisoformat(when).timestamp())
    lines = [
        f"{line.rsplit(' ', 2)[0]} {stamp} +0000" if line.startswith("committer") else line
        for line in head.splitlines()
    ]
    made = "\n".join(lines) + f"\n\n{body}"
    sha = await git(place, "hash-object", "-t", "commit", "-w", "--stdin", input=made.encode())
    await git(place, "update-ref", ref, sha.line)


async def test_a_pass_that_is_cut_short_is_finished_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, run = await done(world)

    def full(*_: object) -> None:
        raise OSError("The disk went away.")

    with monkeypatch.context() as patch:
        patch.setattr(room, "put_away", full)
        report = await sweep.sweep(after(world, 200), dry_run=False)
    assert any("The disk went away" in why for why in report.left)
    marked = await world.s.store.read(lambda tx: tx.runs.get(run.id))
    assert marked.transcript_removed_at is not None
    assert places.removed_at(world.s, marked) is None, "it can still be read"
    # What was put away and not deleted goes as well.
    (world.s.home / room.TRASH / "left").mkdir(parents=True)
    await sweep.sweep(after(world, 200), dry_run=False)
    assert not (world.s.jobs_dir / run.id).exists()
    assert list((world.s.home / room.TRASH).iterdir()) == []
    assert (await world.types(task)).count("agent.transcripts_removed") == 1


async def test_one_pass_at_a_time(world: World) -> None:
    with room.alone(world.s.home), pytest.raises(RetentionBusy, match="Another gc is at work"):
        await sweep.sweep(world.s, dry_run=False)
    await sweep.sweep(world.s, dry_run=False)


async def test_the_oldest_transcripts_go_when_all_take_too_much(world: World) -> None:
    keep(world, {"transcriptsMb": 3})
    _, first = await done(world)
    _, second = await done(world, title="Second")
    for run in (first, second):
        (world.s.jobs_dir / run.id / "1" / "stderr").write_bytes(b"x" * 2_000_000)
    report = await sweep.sweep(world.s, dry_run=False)
    assert [i.why for i in report.items if i.kind == "transcripts"] == [
        "transcripts of finished tasks take 4 MB (transcriptsMb)"
    ]
    assert not (world.s.jobs_dir / first.id).exists()
    assert (world.s.jobs_dir / second.id).is_dir()


async def test_databases_put_aside_go_but_the_newest(world: World) -> None:
    keep(world, {"backupsDays": 7})
    folder = world.s.home / "backups"
    for name in ("before-restore-1", "before-restore-2"):
        write(folder / name, {"agents-manager.db": "x" * 10})
        await asyncio.sleep(0.02)
    report = await sweep.sweep(after(world, 30), dry_run=False)
    assert [i.what for i in report.items if i.kind == "backups"] == ["before-restore-1"]
    assert [p.name for p in folder.iterdir()] == ["before-restore-2"]


async def test_null_keeps_for_ever(world: World) -> None:
    await done(world)
    kinds = ("transcriptsDays", "worktreesDays", "engineDays")
    keep(world, dict.fromkeys(kinds))
    assert (await sweep.sweep(after(world, 9000), dry_run=True)).items == []


async def test_the_server_does_it_once_a_day(world: World) -> None:
    _, run = await done(world)
    noted = room.last(world.s.home)
    assert noted is not None, "the first start only notes the time"
    assert noted["removed"] == {}
    later = after(world, 200)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        daily = group.create_task(sweep.run(later))
        while (world.s.jobs_dir / run.id).exists() or room.last(world.s.home) == noted:
            await asyncio.sleep(0.02)
        daily.cancel()
    removed = room.last(world.s.home)
    assert removed is not None
    assert removed["removed"]["transcripts"] == 1
