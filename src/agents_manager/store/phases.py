"""Phases of tasks, in their order."""

from typing import Any

from sqlalchemy import bindparam, delete

from agents_manager.domain.ids import TaskId
from agents_manager.domain.phase import Phase, PhaseStatus
from agents_manager.errors import PhaseNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Session

PHASES = Rows(schema.phase, Phase, PhaseNotFound, status=PhaseStatus)
_PHASE = schema.phase.c
_OF_TASK = PHASES.select.where(_PHASE.task_id == bindparam("wanted")).order_by(
    _PHASE.position, _PHASE.id
)
_REMOVE = delete(schema.phase).where(_PHASE.id == bindparam("b_id"))


class Phases:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, phase: Phase) -> None:
        PHASES.add(self._session, phase)

    def of_task(self, task_id: TaskId) -> list[Phase]:
        return PHASES.all(self._session, _OF_TASK, {"wanted": task_id})

    def update(self, phase_id: str, **fields: Any) -> None:
        PHASES.update(self._session, phase_id, fields)

    def remove(self, phase_id: str) -> None:
        self._session.run(_REMOVE, {"b_id": phase_id})
