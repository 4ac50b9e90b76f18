"""Prompts: the first answer wins here, by one conditional update."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    SelectBase,
    bindparam,
    case,
    func,
    literal_column,
    select,
    tuple_,
    union,
    update,
)
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import ProjectId, PromptId, TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, QueuePlace, ResumePoint, Undo
from agents_manager.errors import Conflict, PromptNotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime, dumps
from agents_manager.store.listed import among
from agents_manager.store.rows import Rows, violates
from agents_manager.store.statements import Session

PROMPTS = Rows(
    schema.prompt,
    Prompt,
    PromptNotFound,
    type=PromptType,
    status=PromptStatus,
    resume=ResumePoint.model_validate,
    roles=tuple,
    undo=Undo.model_validate,
    midway=bool,
)
_PROMPT = schema.prompt.c
_IN_ORDER = PROMPTS.select.order_by(_PROMPT.created_at, _PROMPT.id)
_PENDING = _IN_ORDER.where(_PROMPT.status == PromptStatus.PENDING)
_OF_TASK = _IN_ORDER.where(_PROMPT.task_id == bindparam("wanted"))
_AWAITED = (
    select(_PROMPT.task_id)
    .join(schema.dependency, schema.dependency.c.depends_on == _PROMPT.task_id)
    .where(_PROMPT.status == PromptStatus.PENDING)
)
_ALONE = case((among(_PROMPT.task_id), 0), else_=1)
_PLACE = (_ALONE, _PROMPT.created_at, _PROMPT.id)
_AFTER: tuple[ColumnElement[Any], ...] = (
    bindparam("alone"),
    bindparam("asked", type_=UtcTime()),
    bindparam("id"),
)
_OF_PROJECT = _PROMPT.task_id.in_(
    select(schema.task.c.id).where(schema.task.c.project_id == bindparam("project"))
)


@cache
def _page(*, project: bool, limit: bool) -> SelectBase:
    found = PROMPTS.select.where(
        _PROMPT.status == PromptStatus.PENDING, tuple_(*_PLACE) > tuple_(*_AFTER)
    ).order_by(*_PLACE)
    found = found.where(_OF_PROJECT) if project else found
    return found.limit(bindparam("most")) if limit else found


@cache
def _number(*, project: bool) -> SelectBase:
    number = (
        select(func.count())
        .select_from(schema.prompt)
        .where(_PROMPT.status == PromptStatus.PENDING)
    )
    return number.where(_OF_PROJECT) if project else number


# Sorted afterwards: they are few among all that were answered, whose order an index has.
_PERMISSIONS = PROMPTS.select.join(schema.task, schema.task.c.id == _PROMPT.task_id).where(
    _PROMPT.type == PromptType.PERMISSION,
    _PROMPT.status == PromptStatus.RESPONDED,
    schema.task.c.project_id == bindparam("project"),
)
_CLOSE = update(schema.prompt).where(
    _PROMPT.id == bindparam("b_id"), _PROMPT.status == bindparam("b_pending")
)

# Written into the statement, as SQLite looks for a partial index before it has values.
_OPEN = _PROMPT.status == literal_column(f"'{PromptStatus.PENDING}'")
_NOW = bindparam("now", type_=UtcTime())
_DUE = union(
    select(_PROMPT.id).where(_OPEN, _PROMPT.expires_at <= _NOW),
    select(_PROMPT.id).where(_OPEN, _PROMPT.default_at <= _NOW),
)
_SILENT = (
    select(_PROMPT.id)
    .join(schema.task, schema.task.c.id == _PROMPT.task_id)
    .where(
        _OPEN,
        schema.task.c.project_id == bindparam("project"),
        func.coalesce(_PROMPT.reminded_at, _PROMPT.created_at)
        <= bindparam("since", type_=UtcTime()),
    )
    .order_by(_PROMPT.created_at, _PROMPT.id)
)


class Prompts:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, prompt: Prompt) -> None:
        try:
            PROMPTS.add(self._session, prompt)
        except IntegrityError as error:
            if not violates(error, "uq_am_prompt_flow", "am_prompt.task_id"):
                raise
            raise Conflict(f'Task "{prompt.task_id}" already waits for an answer.') from error

    def get(self, prompt_id: PromptId) -> Prompt:
        return PROMPTS.get(self._session, prompt_id)

    def find(self, id_or_prefix: str) -> Prompt:
        return PROMPTS.find(self._session, id_or_prefix)

    def pending(self, task_id: TaskId | None = None) -> list[Prompt]:
        if task_id is None:
            return PROMPTS.all(self._session, _PENDING)
        return [p for p in self.of_task(task_id) if p.status is PromptStatus.PENDING]

    def of_task(self, task_id: TaskId) -> list[Prompt]:
        return PROMPTS.all(self._session, _OF_TASK, {"wanted": task_id})

    def awaited(self) -> set[TaskId]:
        return {TaskId(row[0]) for row in self._session.all(_AWAITED)}

    def page(
        self,
        first: Sequence[TaskId],
        project_id: ProjectId | None,
        *,
        after: QueuePlace,
        limit: int | None,
    ) -> list[Prompt]:
        place = {"alone": int(after.alone), "asked": after.asked, "id": after.id}
        wanted = {"project": project_id, "most": limit}
        given = {name: value for name, value in wanted.items() if value is not None}
        found = _page(project="project" in given, limit="most" in given)
        return PROMPTS.all(self._session, found, {"ids": dumps(list(first)), **place, **given})

    def open(self, project_id: ProjectId | None) -> int:
        of = {} if project_id is None else {"project": project_id}
        return self._session.scalar(_number(project=bool(of)), of)

    def permissions(self, project_id: ProjectId) -> list[Prompt]:
        found = PROMPTS.all(self._session, _PERMISSIONS, {"project": project_id})
        return sorted(found, key=lambda prompt: (prompt.created_at, prompt.id))

    def due(self, now: datetime) -> list[PromptId]:
        return [PromptId(row[0]) for row in self._session.all(_DUE, {"now": now})]

    def silent(self, project_id: ProjectId, since: datetime) -> list[PromptId]:
        params = {"project": project_id, "since": since}
        return [PromptId(row[0]) for row in self._session.all(_SILENT, params)]

    def update(self, prompt_id: PromptId, **fields: Any) -> None:
        PROMPTS.update(self._session, prompt_id, fields)

    def close(self, prompt_id: PromptId, **fields: Any) -> bool:
        PROMPTS.check(fields)
        key = {"b_id": prompt_id, "b_pending": PromptStatus.PENDING}
        return self._session.run(_CLOSE, {**key, **fields}) == 1
