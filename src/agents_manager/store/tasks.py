"""Tasks, what they produced, and the history of their moves."""

from collections.abc import Collection
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, select, update

from agents_manager.domain.ids import HistoryId, ProjectId, TaskId
from agents_manager.domain.task import (
    Actor,
    Artifact,
    ArtifactType,
    GuardCheck,
    History,
    HookRecord,
    Result,
    Task,
)
from agents_manager.errors import NotFound, StaleTask, TaskNotFound
from agents_manager.store import knowledge_gone, schema
from agents_manager.store.columns import UtcTime
from agents_manager.store.idle import IDLE
from agents_manager.store.rows import Rows, older
from agents_manager.store.statements import Session

TASKS = Rows(
    schema.task, Task, TaskNotFound, tags=tuple, acceptance_criteria=tuple, dependencies=tuple
)
_TASK = schema.task.c
_MOVE = (
    update(schema.task)
    .where(_TASK.id == bindparam("b_id"), _TASK.version == bindparam("b_version"))
    .returning(*(_TASK[name] for name in TASKS.names))
)
_NEWEST_FIRST = TASKS.select.order_by(_TASK.created_at.desc(), _TASK.id.desc())
_OLDER = older(schema.task)


@cache
def _page(*, project: bool, status: bool, title: bool, after: bool) -> Select[Any]:
    of_project = _TASK.project_id == bindparam("of_project")
    in_status = _TASK.status == bindparam("in_status")
    titled = _TASK.title.ilike(bindparam("titled"), escape="/")
    chosen = ((project, of_project), (status, in_status), (title, titled), (after, _OLDER))
    return _NEWEST_FIRST.where(*(part for given, part in chosen if given)).limit(bindparam("most"))


def _like(part: str) -> str:
    """The pattern of texts that hold the part, whatever signs it is made of."""
    safe = part.replace("/", "//").replace("%", "/%").replace("_", "/_")
    return f"%{safe}%"


_DEPENDENCY = schema.dependency.c
_ADD_DEPENDENCY = insert(schema.dependency)
_DROP_DEPENDENCIES = delete(schema.dependency).where(_DEPENDENCY.task_id == bindparam("b_id"))
_DEPENDING = (
    TASKS.select.join(schema.dependency, _DEPENDENCY.task_id == _TASK.id)
    .where(_DEPENDENCY.depends_on == bindparam("wanted"))
    .order_by(_TASK.created_at, _TASK.id)
)
_DUE = TASKS.select.where(_TASK.starts_at <= bindparam("now", type_=UtcTime())).order_by(
    _TASK.starts_at, _TASK.id
)
_OF_PIPELINE = TASKS.select.where(_TASK.pipeline_id == bindparam("wanted")).order_by(
    _TASK.created_at, _TASK.id
)


@lru_cache
def _idle(statuses: tuple[str, ...]) -> Select[Any]:
    idle = TASKS.select.where(_TASK.status.in_(statuses), *IDLE)
    return idle.order_by(_TASK.id).limit(bindparam("most"))


_DELETE = [
    delete(table).where(table.c.task_id == bindparam("b_id"))
    for table in reversed(schema.metadata.sorted_tables)
    if "task_id" in table.c and table.c.task_id.foreign_keys
] + [delete(schema.task).where(_TASK.id == bindparam("b_id"))]

ARTIFACTS = Rows(schema.artifact, Artifact, NotFound, type=ArtifactType)
_ARTIFACT = schema.artifact.c
_REPLACE_ARTIFACT = update(schema.artifact).where(
    _ARTIFACT.task_id == bindparam("b_task"),
    _ARTIFACT.type == bindparam("b_type"),
    _ARTIFACT.key == bindparam("b_key"),
)
_ARTIFACTS = ARTIFACTS.select.where(_ARTIFACT.task_id == bindparam("wanted")).order_by(
    _ARTIFACT.created_at, _ARTIFACT.id
)
_LINKS = (
    select(_ARTIFACT.key, _ARTIFACT.task_id)
    .join(schema.task, _TASK.id == _ARTIFACT.task_id)
    .where(_TASK.project_id == bindparam("of_project"), _ARTIFACT.type == ArtifactType.LINK.value)
)

HISTORY = Rows(
    schema.history,
    History,
    NotFound,
    result=Result,
    actor=Actor.model_validate,
    guards=lambda rows: tuple(GuardCheck.model_validate(row) for row in rows),
    hooks=lambda rows: tuple(HookRecord.model_validate(row) for row in rows),
)
_HISTORY = schema.history.c
_ADD_HISTORY = insert(schema.history).values(
    seq=select(func.coalesce(func.max(_HISTORY.seq), 0) + 1)
    .where(_HISTORY.task_id == bindparam("b_task"))
    .scalar_subquery()
)
_HISTORY_OF = HISTORY.select.where(_HISTORY.task_id == bindparam("wanted")).order_by(_HISTORY.seq)


class Tasks:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, task: Task) -> None:
        TASKS.add(self._session, task)
        self._depend(task.id, task.dependencies)

    def get(self, task_id: TaskId) -> Task:
        return TASKS.get(self._session, task_id)

    def find(self, id_or_prefix: str) -> Task:
        return TASKS.find(self._session, id_or_prefix)

    def page(
        self,
        *,
        project: ProjectId | None,
        status: str | None,
        after: str | None,
        limit: int,
        title: str | None = None,
    ) -> list[Task]:
        wanted = {"of_project": project, "in_status": status, "titled": title and _like(title)}
        params: dict[str, Any] = {name: v for name, v in wanted.items() if v is not None}
        if after is not None:
            last = self.get(TaskId(after))
            params |= {"created_at": last.created_at, "id": last.id}
        page = _page(
            project=project is not None,
            status=status is not None,
            title=title is not None,
            after=after is not None,
        )
        return TASKS.all(self._session, page, {**params, "most": limit})

    def of_pipeline(self, pipeline_id: str) -> list[Task]:
        return TASKS.all(self._session, _OF_PIPELINE, {"wanted": pipeline_id})

    def move(self, task: Task, to: str, now: datetime) -> Task:
        moved = TASKS.first(
            self._session,
            _MOVE,
            {
                "b_id": task.id,
                "b_version": task.version,
                "status": to,
                "version": task.version + 1,
                "updated_at": now,
                "starts_at": None,
            },
        )
        if moved is None:
            raise StaleTask(
                f'Task "{task.id}" changed since version {task.version} was read; read it again.'
            )
        return moved

    def update(self, task_id: TaskId, now: datetime, **fields: Any) -> None:
        TASKS.update(self._session, task_id, {"updated_at": now, **fields})
        if "dependencies" in fields:
            self._session.run(_DROP_DEPENDENCIES, {"b_id": task_id})
            self._depend(task_id, fields["dependencies"])

    def due(self, now: datetime) -> list[Task]:
        return TASKS.all(self._session, _DUE, {"now": now})

    def depending_on(self, task_id: TaskId) -> list[Task]:
        return TASKS.all(self._session, _DEPENDING, {"wanted": task_id})

    def delete(self, task_id: TaskId) -> None:
        self.get(task_id)
        knowledge_gone.of_task(self._session, task_id)
        for statement in _DELETE:
            self._session.run(statement, {"b_id": task_id})

    def idle(
        self, statuses: Collection[str], now: datetime, *, told: str, after: str | None, limit: int
    ) -> list[Task]:
        wanted = {"now": now, "told": told, "last": after or "", "most": limit}
        return TASKS.all(self._session, _idle(tuple(sorted(statuses))), wanted)

    def add_artifact(self, artifact: Artifact) -> None:
        fields = ARTIFACTS.fields(artifact)
        renewed = {name: fields[name] for name in ("run_id", "label", "data")}
        same = {"b_task": artifact.task_id, "b_type": artifact.type, "b_key": artifact.key}
        if self._session.run(_REPLACE_ARTIFACT, {**same, **renewed}) == 0:
            self._session.run(ARTIFACTS.insert, fields)

    def artifacts(self, task_id: TaskId, type: ArtifactType | None = None) -> list[Artifact]:
        found = ARTIFACTS.all(self._session, _ARTIFACTS, {"wanted": task_id})
        return found if type is None else [a for a in found if a.type is type]

    def links(self, project_id: ProjectId) -> dict[str, TaskId]:
        found = self._session.all(_LINKS, {"of_project": project_id})
        return {key: TaskId(task_id) for key, task_id in found}

    def _depend(self, task_id: TaskId, dependencies: tuple[str, ...]) -> None:
        for other in dict.fromkeys(dependencies):
            self._session.run(_ADD_DEPENDENCY, {"task_id": task_id, "depends_on": other})


class Histories:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, entry: History) -> None:
        self._session.run(_ADD_HISTORY, {"b_task": entry.task_id, **HISTORY.fields(entry)})

    def get(self, history_id: HistoryId) -> History:
        return HISTORY.get(self._session, history_id)

    def of_task(self, task_id: TaskId) -> list[History]:
        return HISTORY.all(self._session, _HISTORY_OF, {"wanted": task_id})
