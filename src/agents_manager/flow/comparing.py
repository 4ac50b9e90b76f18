"""What the contenders of a race made, side by side: for who picks, for the judge, for the doors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents_manager.domain import race
from agents_manager.domain.event.races import Figures
from agents_manager.domain.race import Contender, Race
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import AgentsManagerError, NotFound
from agents_manager.flow import races, sharing, starting
from agents_manager.flow.ports import Services, Tx

COMMITS = 10
"""Of how many commits the first lines are kept."""
EVENTS = 1_000
"""How far back it is looked what checks said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the project's checks said of a run's work."""

    passed: bool | None
    """None: none of the project's own was run."""
    ran: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    contender: Contender
    run: Run | None = None
    """The newest of this contender; None before the race begins."""
    unfit: str | None
    """Why it cannot be picked; None where it can."""
    checks: Checked
    figures: Figures | None = None
    """None until it has ended."""
    snapshot: int | None = None
    """Under which number its work is kept, once another was picked."""
    seconds: float | None = None
    """How long it took; None until it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    task: Task
    judge: Contender | None
    judge_run: Run | None
    reasons: str | None
    """Why the judge picked whom it picked."""
    picked: str | None
    """The run whose work is the task's."""
    prompt: str | None
    """The question whose work is taken, while it is open."""
    contenders: Sequence[Compared]


@dataclass(frozen=True, slots=True)
class _Known:
    task: Task
    project: Project
    race: Race
    runs: Sequence[Run]

    @property
    def begun_at(self) -> datetime:
        """When the contenders were asked for; what was before is of another race."""
        mine = (run.created_at for run in self.runs if self.race.has(run))
        return min(mine, default=self.task.updated_at)


def _known(tx: Tx, task_ref: str) -> _Known:
    task = tx.tasks.find(task_ref)
    order, found = races.ordered(tx, task.id), races.last(tx, task.id)
    runs = tx.runs.of_task(task.id)
    project = tx.projects.get(task.project_id)
    if order is not None:
        found = Race(group=0, contenders=order.contenders, judge=order.judge)
    if found is None:
        raise NotFound(
            f'No agents work side by side at "{task.title}". To have some: am task race {task.id}'
            " --agents A,B"
        )
    return _Known(task, project, found, runs)


async def of_task(s: Services, task_ref: str) -> Comparison:
    """The last race of a task, as it stands."""
    known = await s.store.read(lambda tx: _known(tx, task_ref))
    task, found = known.task, known.race
    figures = await s.store.read(lambda tx: races.compared(tx, task.id, found.group))
    members = found.members(known.runs)
    for run in members:
        if run.id not in figures and not run.status.live:
            figures[run.id] = await measured(s, task, known.project, run, known.runs)
    saved = await _saved(s, known) if found.picked else {}
    return await s.store.read(lambda tx: _compared(tx, s, known, members, figures, saved))


def _compared(
    tx: Tx,
    s: Services,
    known: _Known,
    members: Sequence[Run],
    figures: Mapping[str, Figures],
    saved: Mapping[str, int],
) -> Comparison:
    task, found = known.task, known.race
    by_place = {found.place(run): run for run in members}
    judges = [run for run in known.runs if run.mode == race.JUDGE]
    judged = tx.events.last(task.id, "race.judged")
    mine = judged is not None and judged.data["group"] == found.group
    return Comparison(
        task=task,
        judge=found.judge,
        judge_run=next((r for r in judges[-1:] if r.created_at > known.begun_at), None),
        reasons=judged.data["reasons"] if judged and mine else None,
        picked=found.picked,
        prompt=_asked(tx, task),
        contenders=[
            _one(tx, s, found, one, by_place.get(n), figures, saved)
            for n, one in enumerate(found.contenders)
        ],
    )


def _asked(tx: Tx, task: Task) -> str | None:
    for prompt in tx.prompts.pending(task.id):
        if any(choice["action"] == "race" for choice in prompt.payload.get("choices", ())):
            return prompt.id
    return None


def _one(
    tx: Tx,
    s: Services,
    found: Race,
    contender: Contender,
    run: Run | None,
    figures: Mapping[str, Figures],
    saved: Mapping[str, int],
) -> Compared:
    if run is None:
        checks = Checked(passed=None)
        return Compared(contender=contender, unfit="It has not begun.", checks=checks)
    return Compared(
        contender=contender,
        run=run,
        unfit=race.unfit(run, starting.asking(s)),
        checks=checked(tx, run),
        figures=figures.get(run.id),
        snapshot=None if run.id == found.picked else saved.get(run.head_sha or ""),
        seconds=run.seconds,
    )


def checked(tx: Tx, run: Run) -> Checked:
    told = [
        e
        for e in tx.events.newest(run.task_id, "agent", EVENTS)
        if e.type in ("agent.checks_passed", "agent.checks_failed") and e.data["run"] == run.id
    ]
    if not told:
        return Checked(passed=None)
    said = told[0].data
    if run.error is not None and run.error.error_class is ErrorClass.CHECKS_FAILED:
        return Checked(passed=False, ran=tuple(said["checks"]), failed=tuple(said["checks"]))
    failed = tuple(said.get("warnings", ()))
    return Checked(passed=said.get("passed"), ran=(*said["checks"], *failed), failed=failed)


async def measured(
    s: Services, task: Task, project: Project, run: Run, runs: Sequence[Run]
) -> Figures:
    """What a contender made, all of its runs together. What cannot be read stays unknown."""
    ends = ends_of(run, runs)
    if ends is None:
        return Figures(run=run.id)
    try:
        await sharing.visible(s, task, project, *ends)
        change = await s.workspaces.between(Path(project.path), *ends)
    except AgentsManagerError:
        return Figures(run=run.id)
    return Figures(
        run=run.id,
        files=change.files,
        additions=change.additions,
        deletions=change.deletions,
        commits=tuple(c["subject"] for c in change.commits[-COMMITS:]),
    )


async def diff(s: Services, task_ref: str, which: str) -> str:
    """What a contender changed, all of its runs together, as a unified diff."""
    known = await s.store.read(lambda tx: _known(tx, task_ref))
    run = next((r for r in known.race.members(known.runs) if r.id == which), None)
    if run is None:
        raise NotFound(f'Run {which} is none of those that raced at "{known.task.title}".')
    return await changed(s, known.task, known.project, run, known.runs)


async def changed(s: Services, task: Task, project: Project, run: Run, runs: Sequence[Run]) -> str:
    ends = ends_of(run, runs)
    if ends is None:
        return ""
    await sharing.visible(s, task, project, *ends)
    return await s.workspaces.diff(Path(project.path), *ends)


def ends_of(run: Run, runs: Sequence[Run]) -> tuple[str, str] | None:
    """Where its work begins, also where it was tried again, and ends."""
    first = next((r.base_sha for r in runs if r.part == run.part and r.base_sha), None)
    return (first, run.head_sha) if first and run.head_sha else None


async def _saved(s: Services, known: _Known) -> dict[str, int]:
    """The snapshots of the task, by their commits."""
    try:
        found = await s.workspaces.snapshots(Path(known.project.path), known.task.id)
    except AgentsManagerError:
        return {}
    return {one.sha: one.number for one in found}
