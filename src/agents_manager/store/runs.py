"""Runs of agents."""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.run import LIVE, AgentError, CostBasis, Run, RunStatus, Usage
from agents_manager.domain.run_settings import Overrides, RunSetting
from agents_manager.errors import Conflict, RunNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows, older, violates
from agents_manager.store.statements import Session

RUNS = Rows(
    schema.run,
    Run,
    RunNotFound,
    status=RunStatus,
    error=AgentError.model_validate,
    usage=Usage.model_validate,
    cost_basis=CostBasis,
    overrides=Overrides.model_validate,
    settings=lambda kept: tuple(RunSetting.model_validate(one) for one in kept),
)
_RUN = schema.run.c
_OF_TASK = RUNS.select.where(_RUN.task_id == bindparam("wanted"))
_IN_ORDER = _OF_TASK.order_by(_RUN.created_at, _RUN.id)
_IS_LIVE = _RUN.status.in_(LIVE)
_LIVE_OF_TASK = _IN_ORDER.where(_IS_LIVE)
_OLDER = older(schema.run)
_NEWEST_FIRST = RUNS.select.order_by(_RUN.created_at.desc(), _RUN.id.desc())


@cache
def _page(*, task: bool, live: bool, after: bool) -> Select[Any]:
    chosen = ((task, _RUN.task_id == bindparam("wanted")), (live, _IS_LIVE), (after, _OLDER))
    return _NEWEST_FIRST.where(*(part for given, part in chosen if given)).limit(bindparam("most"))


class Runs:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, run: Run) -> None:
        try:
            RUNS.add(self._session, run)
        except IntegrityError as error:
            if not violates(error, "uq_am_run_live", "am_run.task_id, am_run.part"):
                raise
            raise Conflict(f'Task "{run.task_id}" already has a run that is not over.') from error

    def get(self, run_id: RunId) -> Run:
        return RUNS.get(self._session, run_id)

    def find(self, id_or_prefix: str) -> Run:
        return RUNS.find(self._session, id_or_prefix)

    def of_task(self, task_id: TaskId) -> list[Run]:
        return RUNS.all(self._session, _IN_ORDER, {"wanted": task_id})

    def page(self, *, task: TaskId | None, live: bool, after: str | None, limit: int) -> list[Run]:
        params: dict[str, Any] = {"most": limit}
        if task is not None:
            params["wanted"] = task
        if after is not None:
            last = self.get(RunId(after))
            params |= {"created_at": last.created_at, "id": last.id}
        page = _page(task=task is not None, live=live, after=after is not None)
        return RUNS.all(self._session, page, params)

    def live(self, task_id: TaskId) -> list[Run]:
        return RUNS.all(self._session, _LIVE_OF_TASK, {"wanted": task_id})

    def update(self, run_id: RunId, **fields: Any) -> None:
        RUNS.update(self._session, run_id, fields)
