"""Tasks at which nothing goes on. Driven by the index of projects and statuses, so that finished
tasks, of which there may be very many, are not looked at."""

from typing import Any

from sqlalchemy import BindParameter, ColumnElement, String, bindparam, cast, exists, or_, select

from agents_manager.domain.effects import BESIDE
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import LIVE
from agents_manager.domain.task import OPEN_EFFECTS
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime

_TASK = schema.task.c
_RUN = schema.run.c
_PROMPT = schema.prompt.c
_EFFECT = schema.effect.c


def literal(name: str, values: tuple[str, ...]) -> BindParameter[Any]:
    """Written into the statement: SQLite looks for a partial index before it has values."""
    return bindparam(name, list(values), expanding=True, literal_execute=True)


def _answerable() -> ColumnElement[bool]:
    """By a list that is made once: asked task by task, SQLite goes through all open questions."""
    pending = _PROMPT.status == PromptStatus.PENDING
    lasting = or_(
        _PROMPT.expires_at.is_(None), _PROMPT.expires_at > bindparam("now", type_=UtcTime())
    )
    return _TASK.id.in_(select(_PROMPT.task_id).where(pending, lasting))


_RUNS = exists().where(_RUN.task_id == _TASK.id, _RUN.status.in_(literal("live", LIVE)))
_WORK = exists().where(
    _EFFECT.task_id == _TASK.id,
    _EFFECT.status.in_(literal("open", OPEN_EFFECTS)),
    _EFFECT.kind.not_in(sorted(BESIDE)),
)
_TOLD = exists().where(
    _EFFECT.id == _TASK.id + bindparam("told", type_=String) + cast(_TASK.version, String)
)
IDLE = (
    _TASK.project_id.in_(select(schema.project.c.id)),
    _TASK.id > bindparam("last"),
    ~_RUNS,
    ~_answerable(),
    ~_WORK,
    ~_TOLD,
)
