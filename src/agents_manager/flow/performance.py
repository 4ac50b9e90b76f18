"""How work went in a project or in all, by agent and by day."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from agents_manager.domain import performance, visits
from agents_manager.domain.board import Place
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.performance import Done, PerformanceReport
from agents_manager.flow.ports import Tx


def of(tx: Tx, *, project: str | None, since: datetime | None) -> PerformanceReport:
    within = None if project is None else tx.projects.find(project).id
    return performance.report(
        since,
        list(_done(tx, within, since)),
        tx.figures.runs(project=within, since=since),
        tx.figures.reviews(project=within, since=since),
    )


def _done(tx: Tx, project: ProjectId | None, since: datetime | None) -> Iterator[Done]:
    """Tasks that were finished since then and are so still."""
    places = [place for place, _ in tx.board.counts(project) if _is_final(tx, place)]
    finished = {
        task.id: tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        for task in tx.board.tasks(places, project, since=since)
    }
    worked = tx.figures.worked(list(finished))
    for task, entries in groupby(tx.board.moves(project, since=since), key=lambda m: m.task_id):
        pipeline, known = finished.get(task), list(entries)
        if pipeline is None or (since is not None and known[-1].time < since):
            continue
        stays = visits.visits(known[0].began, known[-1].to, known)
        waits = {status.id for status in pipeline.statuses if status.awaits_human}
        yield Done(
            id=task,
            at=known[-1].time,
            lead_s=(known[-1].time - known[0].began).total_seconds(),
            waiting_s=sum(visit.seconds or 0 for visit in stays if visit.status in waits),
            working_s=worked.get(task, 0.0),
        )


def _is_final(tx: Tx, place: Place) -> bool:
    return tx.pipelines.get(place.pipeline_id, place.version).is_final(place.status)
