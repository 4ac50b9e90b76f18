"""The ways that tasks take: of one task, and of all on a pipeline."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from agents_manager.domain import visits
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.trail import as_named_now, moved
from agents_manager.domain.visits import Path, PipelineCounts, Step, Visit
from agents_manager.flow import pipelines
from agents_manager.flow.ports import Tx


def of_task(tx: Tx, task_ref: str) -> Path:
    task = tx.tasks.find(task_ref)
    entries = as_named_now(tx.history.of_task(task.id))
    stays = list(visits.visits(task.created_at, task.status, entries))
    people = [*(entry.actor for entry in entries if moved(entry)), None]
    return Path(
        steps=[Step(visit=stay, by=by) for stay, by in zip(stays, people, strict=True)],
        totals=visits.totals(stays),
    )


def counts(tx: Tx, pipeline: str, project: str | None) -> PipelineCounts:
    of = None if project is None else tx.projects.find(project)
    newest = tx.pipelines.get(pipelines.stored_id(tx, pipeline, of))
    within = of.id if of else None
    now: Counter[str] = Counter()
    for place, number in tx.board.counts(within):
        if place.pipeline_id == newest.id:
            now[place.status] += number
    order = [status.id for status in sorted(newest.statuses, key=lambda one: one.position)]
    statuses, transitions = visits.counted(order, now, _stays(tx, newest.id, within))
    return PipelineCounts(
        pipeline_id=newest.id,
        version=newest.version,
        statuses=statuses,
        transitions=transitions,
    )


def _stays(tx: Tx, pipeline_id: str, project: ProjectId | None) -> Iterator[Visit]:
    moves = tx.board.moves(project, pipeline=pipeline_id)
    for _, entries in groupby(moves, key=lambda move: move.task_id):
        known = list(entries)
        yield from visits.visits(known[0].began, known[-1].to, known)
