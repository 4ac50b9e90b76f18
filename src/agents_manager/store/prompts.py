"""Prompts: the first answer wins here, by one conditional update."""

from typing import Any

from sqlalchemy import bindparam, update
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, ResumePoint
from agents_manager.errors import Conflict, PromptNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows, violates
from agents_manager.store.statements import Session

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
_OF_TASK = _IN_ORDER.where(_PROMPT.task_id == bindparam("wanted"))
_CLOSE = update(schema.prompt).where(
    _PROMPT.id == bindparam("b_id"), _PROMPT.status == bindparam("b_pending")
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

    def close(self, prompt_id: PromptId, **fields: Any) -> bool:
        PROMPTS.check(fields)
        key = {"b_id": prompt_id, "b_pending": PromptStatus.PENDING}
        return self._session.run(_CLOSE, {**key, **fields}) == 1
