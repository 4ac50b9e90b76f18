"""What is old enough to go, found and removed in small parts: nobody waits long for the lock."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, update

from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.run import LIVE
from agents_manager.flow.ports import OldTask
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime, dumps
from agents_manager.store.listed import among
from agents_manager.store.statements import Row, Session

_TASK = schema.task.c
_RUN = schema.run.c
_EFFECT = schema.effect.c
_REPLY = schema.reply.c
_BEFORE = bindparam("before", type_=UtcTime())
SETTLED = ("done", "cancelled")
"""Failed ones stay: they can be performed again."""

_TASKS = (
    select(
        *(_TASK.id, _TASK.project_id, _TASK.title, _TASK.pipeline_id, _TASK.pipeline_version),
        *(_TASK.status, _TASK.updated_at),
    )
    .where(among(_TASK.id), _TASK.updated_at < _BEFORE)
    .order_by(_TASK.id)
)
_OF_RUNS = select(_RUN.task_id).where(among(_RUN.id)).distinct()
_WITH_EFFECTS = (
    select(_EFFECT.task_id)
    .where(
        _EFFECT.task_id > bindparam("last"),
        # Computed, so that it is read in the order of tasks: most effects are settled.
        (_EFFECT.status + "").in_(SETTLED),
        _EFFECT.created_at < _BEFORE,
    )
    .distinct()
    .order_by(_EFFECT.task_id)
    .limit(bindparam("most"))
)
_RUNS = select(_RUN.id).where(
    _RUN.task_id == bindparam("wanted"), _RUN.started_at.is_not(None), _RUN.status.not_in(LIVE)
)
_MARK = update(schema.run).where(
    _RUN.id == bindparam("b_id"),
    _RUN.transcript_removed_at.is_(None),
    _RUN.status.not_in(LIVE),
)
_OLD_EFFECTS = (
    _EFFECT.task_id == bindparam("wanted"),
    _EFFECT.status.in_(SETTLED),
    _EFFECT.created_at < _BEFORE,
)
_COUNT_EFFECTS = select(func.count()).where(*_OLD_EFFECTS)
_DROP_EFFECTS = delete(schema.effect).where(*_OLD_EFFECTS)
_COUNT_REPLIES = select(func.count()).where(_REPLY.created_at < _BEFORE)
_DROP_REPLIES = delete(schema.reply).where(
    _REPLY.key.in_(select(_REPLY.key).where(_REPLY.created_at < _BEFORE).limit(bindparam("most")))
)


class Retention:
    def __init__(self, session: Session) -> None:
        self._session = session

    def tasks(self, ids: Sequence[TaskId], before: datetime) -> list[OldTask]:
        return self._session.all(_TASKS, {"ids": dumps(list(ids)), "before": before}, _task)

    def of_runs(self, run_ids: Sequence[str]) -> list[TaskId]:
        found = self._session.all(_OF_RUNS, {"ids": dumps(list(run_ids))})
        return [TaskId(row[0]) for row in found]

    def with_effects(self, before: datetime, *, after: str, limit: int) -> list[TaskId]:
        wanted = {"last": after, "before": before, "most": limit}
        return [TaskId(row[0]) for row in self._session.all(_WITH_EFFECTS, wanted)]

    def runs(self, task_id: TaskId) -> list[RunId]:
        return [RunId(row[0]) for row in self._session.all(_RUNS, {"wanted": task_id})]

    def mark(self, run_ids: Sequence[RunId], now: datetime) -> int:
        marks = [{"b_id": run_id, "transcript_removed_at": now} for run_id in run_ids]
        return sum(self._session.run(_MARK, one) for one in marks)

    def effects(self, task_id: TaskId, before: datetime) -> int:
        return self._session.scalar(_COUNT_EFFECTS, {"wanted": task_id, "before": before})

    def drop_effects(self, task_id: TaskId, before: datetime) -> int:
        return self._session.run(_DROP_EFFECTS, {"wanted": task_id, "before": before})

    def replies(self, before: datetime) -> int:
        return self._session.scalar(_COUNT_REPLIES, {"before": before})

    def drop_replies(self, before: datetime, limit: int) -> int:
        return self._session.run(_DROP_REPLIES, {"before": before, "most": limit})


def _task(row: Row) -> OldTask:
    identity, project, title, pipeline, version, status, updated = row
    return OldTask(
        id=TaskId(identity),
        project_id=ProjectId(project),
        title=title,
        pipeline_id=pipeline,
        pipeline_version=version,
        status=status,
        finished_at=updated,
    )
