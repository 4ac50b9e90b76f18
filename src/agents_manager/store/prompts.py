"""Prompts: the first answer wins here, by one conditional update."""

from typing import Any

from sqlalchemy import Connection, bindparam, update
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, ResumePoint
from agents_manager.errors import Conflict, PromptNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows, violates

PROMPTS = Rows(
    schema.prompt,
    Prompt,
    PromptNotFound,
    type=PromptType,
    status=PromptStatus,
    resume=ResumePoint.model_validate,
)
_PROMPT = schema.prompt.c
_IN_ORDER = PROMPTS.select.order_by(_PROMPT.created_at, _PROMPT.id)
_PENDING = _IN_ORDER.where(_PROMPT.status == PromptStatus.PENDING)
_PENDING_OF_TASK = _PENDING.where(_PROMPT.task_id == bindparam("wanted"))
_OF_TASK = _IN_ORDER.where(_PROMPT.task_id == bindparam("wanted"))
_CLOSE = update(schema.prompt).where(
    _PROMPT.id == bindparam("b_id"), _PROMPT.status == bindparam("b_pending")
)


class Prompts:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, prompt: Prompt) -> None:
        try:
            PROMPTS.add(self._connection, prompt)
        except IntegrityError as error:
            if not violates(error, "uq_am_prompt_flow", "am_prompt.task_id"):
                raise
            raise Conflict(f'Task "{prompt.task_id}" already waits for an answer.') from error

    def get(self, prompt_id: PromptId) -> Prompt:
        return PROMPTS.get(self._connection, prompt_id)

    def find(self, id_or_prefix: str) -> Prompt:
        return PROMPTS.find(self._connection, id_or_prefix)

    def pending(self, task_id: TaskId | None = None) -> list[Prompt]:
        if task_id is None:
            return PROMPTS.all(self._connection, _PENDING)
        return PROMPTS.all(self._connection, _PENDING_OF_TASK, {"wanted": task_id})

    def of_task(self, task_id: TaskId) -> list[Prompt]:
        return PROMPTS.all(self._connection, _OF_TASK, {"wanted": task_id})

    def close(self, prompt_id: PromptId, **fields: Any) -> bool:
        PROMPTS.check(fields)
        key = {"b_id": prompt_id, "b_pending": PromptStatus.PENDING}
        return self._connection.execute(_CLOSE, {**key, **fields}).rowcount == 1
