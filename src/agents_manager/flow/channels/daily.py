"""The digest, once a day. The day that it was last told for is stored, so that it is told once by
all machines and not at once when it is switched on."""

from datetime import date, datetime, timedelta

from agents_manager.domain import digest
from agents_manager.domain.cost import By
from agents_manager.domain.digest import Day, Entry
from agents_manager.domain.routing import Occasion
from agents_manager.domain.trail import moved
from agents_manager.flow import views
from agents_manager.flow.channels import router
from agents_manager.flow.ports import Services, Tx

CURSOR = "digest"
SPAN = timedelta(days=1)


def is_due(tx: Tx, s: Services) -> bool:
    today = _today(s)
    return today is not None and (tx.deliveries.position(CURSOR) or 0) < today.toordinal()


def tell(tx: Tx, s: Services) -> None:
    """If it is due; the first day is only noted."""
    today, last = _today(s), tx.deliveries.position(CURSOR)
    if today is None or not is_due(tx, s):
        return
    tx.deliveries.move_to(CURSOR, today.toordinal())
    if last is None:
        return
    day = gather(tx, s, today)
    told = router.Telling(
        key=f"digest-{today}",
        occasion=Occasion.DIGEST,
        title=digest.title(day),
        body=digest.body(day),
    )
    router.tell(tx, s, told, None)


def _today(s: Services) -> date | None:
    """The last day whose time for it has come; None where nobody wants it."""
    at, quiet = s.configs.digest_at(), s.configs.quiet()
    if at is None:
        return None
    wall = s.clock.now().astimezone(quiet.zone if quiet else None)
    return wall.date() if wall.time() >= at else wall.date() - timedelta(days=1)


def gather(tx: Tx, s: Services, today: date) -> Day:
    now = s.clock.now()
    since = now - SPAN
    report = tx.figures.cost(By.PROJECT, project=None, since=since, limit=1)
    return Day(
        day=today,
        waiting=[Entry(i.task.title, i.summary) for i in views.inbox(tx).items],
        done=_done(tx, since),
        cost=report.total,
    )


def _done(tx: Tx, since: datetime) -> list[Entry]:
    """What came to a final status, and stayed there."""
    last = {m.task_id: m for m in tx.board.moves(None, since=since) if moved(m)}
    found: list[Entry] = []
    for task_id, move in sorted(last.items(), key=lambda one: one[1].time):
        task = tx.tasks.get(task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        if move.time >= since and task.status == move.to and pipeline.is_final(task.status):
            found.append(Entry(task.title, pipeline.status(task.status).title))
    return found
