"""Tasks, what they produced, and the history of their moves."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

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
from agents_manager.store import schema
from agents_manager.store.idle import IDLE
from agents_manager.store.rows import Rows, older

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
_DEPENDENCY = schema.dependency.c
_ADD_DEPENDENCY = insert(schema.dependency)
_DROP_DEPENDENCIES = delete(schema.dependency).where(_DEPENDENCY.task_id == bindparam("b_id"))
_DEPENDING = (
    TASKS.select.join(schema.dependency, _DEPENDENCY.task_id == _TASK.id)
    .where(_DEPENDENCY.depends_on == bindparam("wanted"))
    .order_by(_TASK.created_at, _TASK.id)
)
_OF_PIPELINE = TASKS.select.where(_TASK.pipeline_id == bindparam("wanted")).order_by(
    _TASK.created_at, _TASK.id
)
_IDLE = TASKS.select.where(*IDLE).order_by(_TASK.id).limit(bindparam("most"))
_DELETE = [
    delete(table).where(table.c.task_id == bindparam("b_id"))
    for table in reversed(schema.metadata.sorted_tables)
    if "task_id" in table.c
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
_ARTIFACTS_OF_TYPE = _ARTIFACTS.where(_ARTIFACT.type == bindparam("of_type"))

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
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, task: Task) -> None:
        TASKS.add(self._connection, task)
        self._depend(task.id, task.dependencies)

    def get(self, task_id: TaskId) -> Task:
        return TASKS.get(self._connection, task_id)

    def find(self, id_or_prefix: str) -> Task:
        return TASKS.find(self._connection, id_or_prefix)

    def page(
        self, *, project: ProjectId | None, status: str | None, after: str | None, limit: int
    ) -> list[Task]:
        statement = _NEWEST_FIRST.limit(limit)
        params: dict[str, Any] = {}
        if project is not None:
            statement = statement.where(_TASK.project_id == project)
        if status is not None:
            statement = statement.where(_TASK.status == status)
        if after is not None:
            last = self.get(TaskId(after))
            statement = statement.where(_OLDER)
            params = {"created_at": last.created_at, "id": last.id}
        return TASKS.all(self._connection, statement, params)

    def of_pipeline(self, pipeline_id: str) -> list[Task]:
        return TASKS.all(self._connection, _OF_PIPELINE, {"wanted": pipeline_id})

    def move(self, task: Task, to: str, now: datetime) -> Task:
        moved = TASKS.first(
            self._connection,
            _MOVE,
            {
                "b_id": task.id,
                "b_version": task.version,
                "status": to,
                "version": task.version + 1,
                "updated_at": now,
            },
        )
        if moved is None:
            raise StaleTask(
                f'Task "{task.id}" changed since version {task.version} was read; read it again.'
            )
        return moved

    def update(self, task_id: TaskId, now: datetime, **fields: Any) -> None:
        TASKS.update(self._connection, task_id, {"updated_at": now, **fields})
        if "dependencies" in fields:
            self._connection.execute(_DROP_DEPENDENCIES, {"b_id": task_id})
            self._depend(task_id, fields["dependencies"])

    def depending_on(self, task_id: TaskId) -> list[Task]:
        return TASKS.all(self._connection, _DEPENDING, {"wanted": task_id})

    def delete(self, task_id: TaskId) -> None:
        self.get(task_id)
        for statement in _DELETE:
            self._connection.execute(statement, {"b_id": task_id})

    def idle(
        self, statuses: Collection[str], now: datetime, *, told: str, after: str | None, limit: int
    ) -> list[Task]:
        wanted = {"statuses": list(statuses), "now": now, "told": told}
        return TASKS.all(self._connection, _IDLE, {**wanted, "last": after or "", "most": limit})

    def add_artifact(self, artifact: Artifact) -> None:
        fields = ARTIFACTS.fields(artifact)
        renewed = {name: fields[name] for name in ("run_id", "label", "data")}
        same = {"b_task": artifact.task_id, "b_type": artifact.type, "b_key": artifact.key}
        if self._connection.execute(_REPLACE_ARTIFACT, {**same, **renewed}).rowcount == 0:
            self._connection.execute(ARTIFACTS.insert, fields)

    def artifacts(self, task_id: TaskId, type: ArtifactType | None = None) -> list[Artifact]:
        if type is None:
            return ARTIFACTS.all(self._connection, _ARTIFACTS, {"wanted": task_id})
        wanted = {"wanted": task_id, "of_type": type}
        return ARTIFACTS.all(self._connection, _ARTIFACTS_OF_TYPE, wanted)

    def _depend(self, task_id: TaskId, dependencies: tuple[str, ...]) -> None:
        rows = [{"task_id": task_id, "depends_on": other} for other in dict.fromkeys(dependencies)]
        if rows:
            self._connection.execute(_ADD_DEPENDENCY, rows)


class Histories:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, entry: History) -> None:
        self._connection.execute(_ADD_HISTORY, {"b_task": entry.task_id, **HISTORY.fields(entry)})

    def get(self, history_id: HistoryId) -> History:
        return HISTORY.get(self._connection, history_id)

    def of_task(self, task_id: TaskId) -> list[History]:
        return HISTORY.all(self._connection, _HISTORY_OF, {"wanted": task_id})
