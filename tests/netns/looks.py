"""The work that is ordered, and what must be true when it is done, whatever became of the machines:
every task was done once, nobody worked on one beside another, and the remote has it all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import func, select, text

from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import Run
from agents_manager.domain.task import Result, Task
from agents_manager.flow.ports import Tx
from agents_manager.store import schema
from tests.netns.rig import Desk, Rig, until
from tests.repos import run

AGENT = """
said() { echo "$AM_TASK_ID $AM_RUN_ID $(date +%s.%N) $1" >> "$HOME/agents"; }
said begun
waited=0
while [ $waited -lt {ticks} ]; do waited=$((waited + 1)); sleep 0.5; said waits; done
mkdir -p work
echo "done once" >> "work/$AM_TASK_ID.txt"
git add work
git commit --quiet --message="Do $AM_TASK_ID"
said ended
echo '<<<OUTCOME:pr_ready>>>'; echo '<<<END_PAYLOAD>>>'
"""
"""Tells on itself whenever it goes on."""
UNFINISHED = """
SELECT count(*) FROM dbos.workflow_status JOIN am_host ON id = executor_id
WHERE dbos.workflow_status.status IN ('PENDING', 'ENQUEUED') AND epoch = 1
"""
"""What a machine had begun that was given up stays with it, and comes to nothing."""
OPEN = ("pending", "started")
ENDINGS = ("agent.completed", "agent.failed", "agent.cancelled")


@dataclass(frozen=True, kw_only=True)
class Stint:
    """An agent at work: from its first to its last sign of life."""

    task: str
    run: str
    host: str
    begun: float
    last: float


def agent(seconds: float) -> str:
    return AGENT.replace("{ticks}", str(round(seconds * 2)))


def stints(rig: Rig) -> list[Stint]:
    seen: dict[tuple[str, str, str], list[float]] = {}
    for host in rig.hosts:
        log = host.folder / "user" / "agents"
        for line in log.read_text().splitlines() if log.exists() else ():
            task, run_id, at, _ = line.split()
            seen.setdefault((task, run_id, host.name), []).append(float(at))
    return [
        Stint(task=task, run=run_id, host=host, begun=min(times), last=max(times))
        for (task, run_id, host), times in seen.items()
    ]


async def violations(desk: Desk, ordered: Sequence[TaskId], thawed: str | None = None) -> list[str]:
    """A machine that was thawed is named: for a moment, its agents go on."""
    # A task is done before its workspace is removed.
    await until(lambda: desk.s.store.read(_is_tidied), "workspaces of finished tasks removed")
    found: list[str] = []
    for task_id in ordered:
        said = await desk.s.store.read(lambda tx, task_id=task_id: list(_of_task(tx, task_id)))
        found += [f"{task_id}: {one}" for one in said]
    return [*found, *_open_work(desk), *_beside(desk.rig, thawed), *_remote(desk, ordered)]


def _is_tidied(tx: Tx) -> bool:
    return not any(effect.kind == "remove_workspace" for effect in tx.effects.open())


def _of_task(tx: Tx, task_id: TaskId) -> Iterator[str]:
    task, runs = tx.tasks.get(task_id), tx.runs.of_task(task_id)
    if task.status != "done":
        yield f"it is {task.status}"
    yield from _record(tx, task)
    yield from _runs(tx, task, runs)


def _record(tx: Tx, task: Task) -> Iterator[str]:
    events = tx.events.of_task(task.id, after_seq=0, limit=1000)
    if [e.seq for e in events] != list(range(1, len(events) + 1)):
        yield "the event log has gaps"
    types = Counter(e.type for e in events)
    for once in ("pull_request.created", "pull_request.merged"):
        if types[once] != 1:
            yield f"{types[once]} times {once}"
    moves = [h for h in tx.history.of_task(task.id) if h.source != h.to]
    moves = [h for h in moves if h.result is not Result.REFUSED]
    for before, after in pairwise(moves):
        if after.version != before.version + 1 or after.source != before.to:
            yield f"the history forks: {before.to} ({before.version}), then {after.source}"
    for prompt in tx.prompts.of_task(task.id):
        if prompt.status is PromptStatus.PENDING:
            yield f"the prompt {prompt.type} is still open"


def _runs(tx: Tx, task: Task, runs: Sequence[Run]) -> Iterator[str]:
    events = tx.events.of_task(task.id, after_seq=0, limit=1000)
    started = Counter(e.data["run"] for e in events if e.type == "agent.started")
    ended = Counter(e.data["run"] for e in events if e.type in ENDINGS)
    for one in runs:
        if one.status.live:
            yield f"a run is still {one.status}"
        if started[one.id] > 1 or ended[one.id] != 1:
            yield f"a run started {started[one.id]} and ended {ended[one.id]} times"
    well = [one for one in runs if one.outcome == "pr_ready"]
    if len(well) != 1:
        yield f"{len(well)} of its {len(runs)} runs came to an end"


def _open_work(desk: Desk) -> Iterator[str]:
    with desk.program.database.engines.reader.connect() as connection:
        effect = schema.effect.c
        rows = connection.execute(
            select(effect.kind, func.count()).where(effect.status.in_(OPEN)).group_by(effect.kind)
        )
        yield from (f"{number} effects {kind} are open" for kind, number in rows)
        if left := connection.execute(text(UNFINISHED)).scalar_one():
            yield f"{left} workflows are not finished"


def _beside(rig: Rig, thawed: str | None) -> Iterator[str]:
    """Whoever goes on with a task begins after the last sign of life of who had it before."""
    by_task: dict[str, list[Stint]] = {}
    for stint in sorted(stints(rig), key=lambda stint: stint.begun):
        by_task.setdefault(stint.task, []).append(stint)
    for task, one_by_one in by_task.items():
        for before, after in pairwise(one_by_one):
            if after.begun < before.last and before.host != thawed:
                late = before.last - after.begun
                yield f"{task}: {after.host} began {late:.1f} s before {before.host} had ended"


def _remote(desk: Desk, ordered: Sequence[TaskId]) -> Iterator[str]:
    remote = desk.rig.remote
    work = run(remote, "ls-tree", "-r", "--name-only", "main", "work/", check=False).splitlines()
    if Counter(work) != Counter(f"work/{task}.txt" for task in ordered):
        yield f"main has the work of {len(work)} tasks"
    for file in work:
        if (held := run(remote, "show", f"main:{file}")) != "done once":
            yield f"{file} holds {held!r}"
    merges = run(remote, "rev-list", "--first-parent", "--merges", "--count", "main")
    if int(merges) != len(ordered):
        yield f"main has {merges} merges"
    subjects = run(remote, "log", "--no-merges", "--format=%s", "main").splitlines()
    for subject, number in Counter(subjects).items():
        if number > 1:
            yield f'"{subject}" was committed {number} times'
