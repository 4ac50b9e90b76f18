"""What is old enough to go, each with the way to remove it. A task in work keeps everything, and
whether it is in work is looked at again in the moment of removal."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.event import Event
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.retention import Retention, before
from agents_manager.domain.task import Project, PullState
from agents_manager.errors import AgentsManagerError, NotFound
from agents_manager.flow import places, teardown
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import EngineRows, OldTask, SavedRef, Services, Tx
from agents_manager.flow.retention import installed, room
from agents_manager.flow.retention.candidates import candidates
from agents_manager.flow.retention.found import Found, Item
from agents_manager.flow.runs import mirrors

PAGE = 50
FEW = 3
"""Tasks that are looked at in one transaction that removes something."""
BATCH = 500
"""Rows that are removed in one transaction."""
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Ground:
    """A project with what lies in its repository."""

    project: Project
    worktrees: dict[str, Path]
    saved: dict[str, list[SavedRef]]


def is_over(tx: Tx, task_id: TaskId, finished: datetime) -> bool:
    """Whether a task was finished by a time and nothing goes on with it."""
    try:
        task = tx.tasks.get(task_id)
    except NotFound:
        return False
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    at_rest = pipeline.is_final(task.status) and task.updated_at < finished
    return at_rest and not (
        tx.runs.live(task_id) or tx.effects.open(task_id) or tx.prompts.pending(task_id)
    )


async def everything(s: Services, rules: Retention, left: list[str]) -> AsyncGenerator[Found]:
    """All that may go, a page of tasks at a time; what could not be looked at goes to `left`."""
    now = s.clock.now()
    grounds = await _grounds(s, rules, left)
    kept = [names.task_of(key) for g in grounds.values() for key in (*g.worktrees, *g.saved)]
    ids = await candidates(s, kept, before(now, rules.engine_days))
    crowded = await _crowded(s, rules, now, ids)
    async for page in _finished(s, _horizon(rules, now), ids):
        for task in page:
            ground = grounds.get(task.project_id)
            async for found in _of_task(s, rules, now, task, ground, crowded):
                yield found
        async for found in _effects(s, rules, now, page):
            yield found
    async for found in _engine(s, rules, now):
        yield found
    for found in await asyncio.to_thread(_backups, s, rules, now):
        yield found
    for found in await asyncio.to_thread(installed.find, s, rules, now):
        yield found


def _horizon(rules: Retention, now: datetime) -> datetime | None:
    """What was touched later concerns no rule."""
    if rules.transcripts_mb is not None:
        return now
    days = (
        *(rules.transcripts_days, rules.worktrees_days),
        *(rules.snapshots_days, rules.engine_days),
    )
    known = [time for one in days if (time := before(now, one))]
    return max(known, default=None)


async def _finished(
    s: Services, finished: datetime | None, ids: Sequence[TaskId]
) -> AsyncGenerator[list[OldTask]]:
    if finished is None:
        return

    def over(tx: Tx, some: Sequence[TaskId]) -> list[OldTask]:
        found = tx.retention.tasks(some, finished)
        return [task for task in found if is_over(tx, task.id, finished)]

    for first in range(0, len(ids), PAGE):
        some = ids[first : first + PAGE]
        if page := await s.store.read(lambda tx, some=some: over(tx, some)):
            yield page


async def _grounds(s: Services, rules: Retention, left: list[str]) -> dict[str, Ground]:
    grounds: dict[str, Ground] = {}
    for project in await s.store.read(lambda tx: tx.projects.all()):
        if places.away(s, project) is not None:
            continue
        saved: dict[str, list[SavedRef]] = {}
        repo = Path(project.path)
        try:
            worktrees = dict(await s.workspaces.standing(repo))
            for one in await s.workspaces.saved(repo) if rules.snapshots_days else ():
                saved.setdefault(one.key, []).append(one)
        except AgentsManagerError as error:
            left.append(f'Project "{project.name}" was left out: {error.message}')
            continue
        grounds[project.id] = Ground(project, worktrees, saved)
    return grounds


async def _of_task(
    s: Services,
    rules: Retention,
    now: datetime,
    task: OldTask,
    ground: Ground | None,
    crowded: dict[TaskId, str],
) -> AsyncGenerator[Found]:
    old = before(now, rules.transcripts_days)
    if task.id in crowded:
        found = await _transcripts(s, task, now, crowded[task.id])
    elif old and task.finished_at < old:
        found = await _transcripts(s, task, old, _since(task, "transcriptsDays", now))
    else:
        found = None
    if found:
        yield found
    old = before(now, rules.worktrees_days)
    if ground and old and task.finished_at < old:
        for key in [key for key in ground.worktrees if names.task_of(key) == task.id]:
            yield await _worktree(s, task, key, ground, old, _since(task, "worktreesDays", now))
    old = before(now, rules.snapshots_days)
    if ground and old and task.finished_at < old and task.id in ground.saved:
        async for one in _snapshots(s, task, ground, old):
            yield one


def _since(task: OldTask, key: str, now: datetime) -> str:
    return f"finished {(now - task.finished_at).days} days ago ({key})"


# ------------------------------------------------------------------------------------ transcripts


async def _folders(s: Services, task: OldTask) -> tuple[list[RunId], list[Path], int]:
    """The runs of a task, what they left on the disk, and how much that is."""
    runs = await s.store.read(lambda tx: tx.retention.runs(task.id))
    paths = [*(s.jobs_dir / run for run in runs), s.agent_homes_dir / task.id]

    def measured() -> tuple[list[Path], int]:
        there = [path for path in paths if path.is_dir() and not mirrors.is_copy(s, path)]
        return there, sum(room.size(path) for path in there)

    return runs, *await asyncio.to_thread(measured)


def _left(tx: Tx, s: Services, task_id: TaskId) -> tuple[list[RunId], int]:
    """Runs of machines that are gone, of which there are only copies, and how much those are."""
    if s.here is None:
        return [], 0
    alive = {s.here.host, *tx.hosts.alive()}
    left = [run for run, host in tx.outputs.of_task(task_id).items() if host not in alive]
    return left, tx.outputs.size(left)


async def _crowded(
    s: Services, rules: Retention, now: datetime, ids: Sequence[TaskId]
) -> dict[TaskId, str]:
    """The tasks whose transcripts go because all together take too much, the oldest first."""
    if rules.transcripts_mb is None:
        return {}
    sizes: list[tuple[datetime, TaskId, int]] = []
    async for page in _finished(s, now, ids):
        for task in page:
            *_, taken = await _folders(s, task)
            sizes.append((task.finished_at, task.id, taken))
    total = sum(taken for _, _, taken in sizes)
    why = f"transcripts of finished tasks take {total // MB} MB (transcriptsMb)"
    chosen: dict[TaskId, str] = {}
    for _, task_id, taken in sorted(sizes):
        if total <= rules.transcripts_mb * MB:
            break
        chosen[task_id] = why
        total -= taken
    return chosen


async def _transcripts(s: Services, task: OldTask, old: datetime, why: str) -> Found | None:
    runs, folders, taken = await _folders(s, task)
    left, copied = await s.store.read(lambda tx: _left(tx, s, task.id))
    if not folders and not left:
        return None
    there = [run for run in runs if s.jobs_dir / run in folders or run in left]
    taken += copied

    def mark(tx: Tx) -> bool:
        """First: whoever asks afterwards is told, also if what follows is cut short."""
        if not is_over(tx, task.id, old):
            return False
        now = s.clock.now()
        marked = tx.retention.mark(there, now)
        if marked:
            told = event.TranscriptsRemoved(runs=marked, bytes=taken)
            tx.events.add(task.id, told, SUPERVISOR, now)
        tx.outputs.drop(there if s.here is not None else ())
        return True

    def take(tx: Tx) -> bool:
        """With the lock of the store held, no run of the task can begin meanwhile."""
        over = is_over(tx, task.id, old)
        if over:
            room.put_away(s.home, folders)
        return over

    async def remove() -> int:
        done = await s.store.write(mark) and await s.store.write(take)
        await asyncio.to_thread(room.empty, s.home)
        return len(there) or 1 if done else 0

    what = f'transcripts of "{task.title}"'
    item = Item(
        kind="transcripts", what=what, why=why, count=len(there) or 1, bytes=taken, task_id=task.id
    )
    return Found(item, remove)


# ------------------------------------------------------------------------- worktrees and snapshots


async def _worktree(
    s: Services, task: OldTask, key: str, ground: Ground, old: datetime, why: str
) -> Found:
    taken = await asyncio.to_thread(room.size, ground.worktrees[key])

    async def remove() -> int:
        if not await s.store.read(lambda tx: is_over(tx, task.id, old)):
            return 0
        # A run that began since the look has locked it.
        whole = await s.store.read(lambda tx: tx.tasks.get(task.id))
        before = await teardown.before_removal(s, whole, ground.project, key)
        gone = await s.workspaces.remove(Path(ground.project.path), key, idle=True)
        await s.store.write(lambda tx: _tell(tx, s, task.id, (*before, *gone.events)))
        return 1

    what = f'workspace of "{task.title}"'
    item = Item(kind="worktrees", what=what, why=why, bytes=taken, task_id=task.id)
    return Found(item, remove)


def _tell(tx: Tx, s: Services, task_id: TaskId, events: Sequence[Event]) -> None:
    try:
        tx.tasks.get(task_id)
    except NotFound:
        return  # Deleted since the look.
    for happened in events:
        tx.events.add(task_id, happened, SUPERVISOR, s.clock.now())


async def _snapshots(
    s: Services, task: OldTask, ground: Ground, old: datetime
) -> AsyncGenerator[Found]:
    """Those of merged tasks only, and only what came before the merge: later work, commits that no
    branch has, and all work of a task that was not merged are kept whatever their age."""
    merged = await s.store.read(lambda tx: merged_at(tx, task.id))
    for saved in ground.saved[task.id]:
        if merged is None or saved.commits or saved.taken_at > merged or merged > old:
            continue
        yield Found(
            Item(
                kind="snapshots",
                what=f'snapshot {saved.number} of "{task.title}"',
                why=f"merged {(s.clock.now() - merged).days} days ago (snapshotsDays)",
                bytes=saved.bytes,
                task_id=task.id,
            ),
            lambda saved=saved: _forget(s, task, ground, saved, old),
        )


def merged_at(tx: Tx, task_id: TaskId) -> datetime | None:
    """When the last of its work was merged; None when some or all of it was not."""
    pulls = [p for p in tx.pulls.all_of_task(task_id) if p.state is not PullState.CLOSED]
    if not pulls or any(p.state is not PullState.MERGED for p in pulls):
        return None
    return max(p.updated_at for p in pulls)


async def _forget(
    s: Services, task: OldTask, ground: Ground, saved: SavedRef, old: datetime
) -> int:
    told = event.SnapshotRemoved(number=saved.number, sha=saved.sha)

    def mark(tx: Tx) -> bool:
        if not is_over(tx, task.id, old) or merged_at(tx, task.id) is None:
            return False
        known = tx.events.newest(task.id, "git", BATCH)
        if not any(e.type == told.type and e.data["sha"] == saved.sha for e in known):
            tx.events.add(task.id, told, SUPERVISOR, s.clock.now())
        return True

    if not await s.store.write(mark):
        return 0
    await s.workspaces.forget(Path(ground.project.path), saved)
    return 1


# ---------------------------------------------------------------------------- engine and backups


async def _effects(
    s: Services, rules: Retention, now: datetime, page: Sequence[OldTask]
) -> AsyncGenerator[Found]:
    old = before(now, rules.engine_days)
    if old is None:
        return

    def counted(tx: Tx) -> dict[TaskId, int]:
        ids = [task.id for task in page if task.finished_at < old]
        return {id: number for id in ids if (number := tx.retention.effects(id, old))}

    def drop(tx: Tx, some: Sequence[TaskId]) -> int:
        over = [task_id for task_id in some if is_over(tx, task_id, old)]
        return sum(tx.retention.drop_effects(task_id, old) for task_id in over)

    async def remove() -> int:
        ids, gone = list(found), 0
        for first in range(0, len(ids), FEW):
            some = ids[first : first + FEW]
            gone += await s.store.write(lambda tx, some=some: drop(tx, some))
        return gone

    found = await s.store.read(counted)
    if found:
        yield _rows("effects of finished tasks", sum(found.values()), remove)


async def _engine(s: Services, rules: Retention, now: datetime) -> AsyncGenerator[Found]:
    old, engine = before(now, rules.engine_days), s.engine
    if old is None:
        return
    replies = await s.store.read(lambda tx: tx.retention.replies(old))
    if replies:
        yield _rows("answers under an Idempotency-Key", replies, lambda: _drop_replies(s, old))
    told = await s.store.read(lambda tx: tx.deliveries.over(old))
    if told:
        yield _rows("messages of channels", told, lambda: _drop_messages(s, old))
    if engine is None:
        return
    over = await _workflows(s, engine, old)
    if over:
        more = " (or more)" if len(over) == BATCH else ""
        what = f"workflows of the engine{more}"
        yield _rows(what, len(over), lambda: _forget_workflows(s, engine, old))


async def _drop_replies(s: Services, old: datetime) -> int:
    gone = 0
    while some := await s.store.write(lambda tx: tx.retention.drop_replies(old, BATCH)):
        gone += some
    return gone


async def _drop_messages(s: Services, old: datetime) -> int:
    gone = 0
    while some := await s.store.write(lambda tx: tx.deliveries.remove(old, BATCH)):
        gone += some
    return gone


async def _forget_workflows(s: Services, engine: EngineRows, old: datetime) -> int:
    gone = 0
    while some := await _workflows(s, engine, old):
        await engine.forget(some)
        gone += len(some)
    return gone


async def _workflows(s: Services, engine: EngineRows, old: datetime) -> list[str]:
    """One that is over while its effect counts as begun was cut short, and is still needed."""
    begun = await s.store.read(lambda tx: {f"{e.id}:{e.attempt}" for e in tx.effects.started()})
    return [one for one in await engine.ended(old, BATCH) if one not in begun]


def _rows(what: str, number: int, remove: Callable[[], Awaitable[int]]) -> Found:
    return Found(Item(kind="engine", what=what, why="old (engineDays)", count=number), remove)


def _backups(s: Services, rules: Retention, now: datetime) -> list[Found]:
    """Databases that were put aside, but the newest."""
    old = before(now, rules.backups_days)
    folder = s.home / "backups"
    if old is None or not folder.is_dir():
        return []
    known = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime)
    return [_backup(s, path) for path in known[:-1] if path.lstat().st_mtime < old.timestamp()]


def _backup(s: Services, path: Path) -> Found:
    async def remove() -> int:
        await asyncio.to_thread(room.put_away, s.home, [path])
        await asyncio.to_thread(room.empty, s.home)
        return 1

    item = Item(kind="backups", what=path.name, why="old (backupsDays)", bytes=room.size(path))
    return Found(item, remove)
