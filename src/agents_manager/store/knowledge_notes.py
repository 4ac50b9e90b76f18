"""Handoffs as they were given, the map of files, and what blocks tasks."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, insert, or_, select, update

from agents_manager.domain.handoff import Handoff
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import ActiveBlocker, FileNote, KeptHandoff
from agents_manager.errors import BlockerNotFound, NotFound
from agents_manager.store import knowledge_tables as tables
from agents_manager.store.columns import Id, Unreadable, UtcTime
from agents_manager.store.rows import LAST_CHARACTER, Rows, corrupt
from agents_manager.store.statements import Row, Session

_HANDOFF = tables.handoff.c
_HANDOFFS = select(
    *(_HANDOFF.run_id, _HANDOFF.task_id, _HANDOFF.project_id, _HANDOFF.handoff, _HANDOFF.source),
    *(_HANDOFF.completeness, _HANDOFF.at),
)
_OF_RUN = _HANDOFFS.where(_HANDOFF.run_id == bindparam("run"))
_OF_TASK = _HANDOFFS.where(_HANDOFF.task_id == bindparam("task")).order_by(
    _HANDOFF.at, _HANDOFF.run_id
)
_ADD_HANDOFF = insert(tables.handoff)
_DROP_HANDOFF = delete(tables.handoff).where(_HANDOFF.run_id == bindparam("run"))

FILES = Rows(tables.file_note, FileNote, NotFound)
_FILE = tables.file_note.c

BLOCKERS = Rows(tables.blocker, ActiveBlocker, BlockerNotFound, blocking_tasks=tuple)
_BLOCKER = tables.blocker.c
_BLOCKED = tables.blocked.c
_ADD_BLOCKED = insert(tables.blocked)
_BLOCKING = (
    BLOCKERS.select.join(tables.blocked, _BLOCKED.blocker_id == _BLOCKER.id)
    .where(_BLOCKED.task_id == bindparam("task"), _BLOCKER.resolved_at.is_(None))
    .order_by(_BLOCKER.created_at, _BLOCKER.id)
)
_RESOLVE = update(tables.blocker).where(
    _BLOCKER.id == bindparam("b_id"), _BLOCKER.resolved_at.is_(None)
)


@cache
def _files(*, under: bool, after: bool) -> Select[Any]:
    below = or_(
        _FILE.path == bindparam("path"),
        and_(_FILE.path >= bindparam("low"), _FILE.path < bindparam("high")),
    )
    last, at = bindparam("last", type_=Id), bindparam("at", type_=UtcTime())
    rest = or_(_FILE.at < at, and_(_FILE.at == at, _FILE.id < bindparam("id")))
    behind = or_(_FILE.path > last, and_(_FILE.path == last, rest))
    chosen = [part for given, part in ((under, below), (after, behind)) if given]
    return (
        FILES.select.where(_FILE.project_id == bindparam("project"), *chosen)
        .order_by(_FILE.path, _FILE.at.desc(), _FILE.id.desc())
        .limit(bindparam("most"))
    )


@cache
def _blockers(*, project: bool, resolved: bool) -> Select[Any]:
    newest = BLOCKERS.select.order_by(_BLOCKER.created_at.desc(), _BLOCKER.id.desc())
    over = _BLOCKER.resolved_at.is_not(None) if resolved else _BLOCKER.resolved_at.is_(None)
    newest = newest.where(over)
    return newest.where(_BLOCKER.project_id == bindparam("project")) if project else newest


class Notes:
    def __init__(self, session: Session) -> None:
        self._session = session

    def keep_handoff(self, kept: KeptHandoff) -> None:
        self._session.run(_DROP_HANDOFF, {"run": kept.run_id})
        names = [column.name for column in _HANDOFFS.selected_columns]
        self._session.run(_ADD_HANDOFF, {name: getattr(kept, name) for name in names})

    def handoff(self, run_id: RunId) -> KeptHandoff | None:
        return self._session.one(_OF_RUN, {"run": run_id}, _kept)

    def handoffs(self, task_id: TaskId) -> list[KeptHandoff]:
        return self._session.all(_OF_TASK, {"task": task_id}, _kept)

    def add_file(self, note: FileNote) -> None:
        FILES.add(self._session, note)

    def files(
        self, project_id: ProjectId, *, under: str = "", limit: int, after: str | None = None
    ) -> list[FileNote]:
        params: dict[str, Any] = {"project": project_id, "most": limit}
        if under:
            folder = under.rstrip("/") + "/"
            params |= {"path": under, "low": folder, "high": folder + LAST_CHARACTER}
        if after is not None:
            last = FILES.get(self._session, after)
            params |= {"last": last.path, "at": last.at, "id": last.id}
        statement = _files(under=bool(under), after=after is not None)
        return FILES.all(self._session, statement, params)

    def add_blocker(self, blocker: ActiveBlocker) -> None:
        BLOCKERS.add(self._session, blocker)
        for task_id in dict.fromkeys(blocker.blocking_tasks):
            self._session.run(_ADD_BLOCKED, {"blocker_id": blocker.id, "task_id": task_id})

    def find_blocker(self, id_or_prefix: str) -> ActiveBlocker:
        return BLOCKERS.find(self._session, id_or_prefix)

    def blockers(
        self, project_id: ProjectId | None, *, resolved: bool = False
    ) -> list[ActiveBlocker]:
        statement = _blockers(project=project_id is not None, resolved=resolved)
        of = {} if project_id is None else {"project": project_id}
        return BLOCKERS.all(self._session, statement, of)

    def blocking(self, task_id: TaskId) -> list[ActiveBlocker]:
        return BLOCKERS.all(self._session, _BLOCKING, {"task": task_id})

    def resolve(self, blocker_id: str, now: datetime, by: str, note: str | None) -> bool:
        told = {"resolved_at": now, "resolved_by": by, "note": note}
        return self._session.run(_RESOLVE, {"b_id": blocker_id, **told}) == 1


def _kept(row: Row) -> KeptHandoff:
    run, task, project, document, source, completeness, at = row
    return KeptHandoff(
        run_id=RunId(run),
        task_id=TaskId(task),
        project_id=ProjectId(project),
        handoff=_handoff(run, document),
        source=source,
        completeness=completeness,
        at=at,
    )


def _handoff(run: str, document: object) -> Handoff:
    if isinstance(document, Unreadable):
        raise corrupt(tables.handoff.name, run, "handoff", document.reason)
    try:
        return Handoff.model_validate(document)
    except ValueError as error:
        raise corrupt(tables.handoff.name, run, "handoff", str(error)) from error
