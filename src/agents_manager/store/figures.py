"""Sums over runs, made by the database: what they cost, how they went, what merged tasks took."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, SelectBase, String, bindparam, case, func, null, select, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.cost import (
    By,
    CostReport,
    Merges,
    Performance,
    Share,
    Spent,
    StatsReport,
    Work,
)
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.performance import Ran, Reviewed
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Decision, PromptStatus
from agents_manager.domain.run import LIVE, READ_ONLY_MODES, RunStatus
from agents_manager.domain.task import ArtifactType, PullState
from agents_manager.store import schema
from agents_manager.store.columns import Number, Unreadable, UtcTime, dumps
from agents_manager.store.listed import among
from agents_manager.store.rows import corrupt
from agents_manager.store.statements import Row, Session

CENTS = 6
"""Digits that sums are rounded to: fractions of a cent, without the noise of adding them."""


class utc_day(FunctionElement[str]):
    type = String()
    inherit_cache = True


class seconds_between(FunctionElement[float]):
    type = Number()
    inherit_cache = True


@compiles(utc_day, "sqlite")
def _(element: utc_day, compiler: SQLCompiler, **kw: Any) -> str:
    return f"substr({compiler.process(element.clauses, **kw)}, 1, 10)"


@compiles(utc_day, "postgresql")
def _(element: utc_day, compiler: SQLCompiler, **kw: Any) -> str:
    return f"to_char({compiler.process(element.clauses, **kw)} AT TIME ZONE 'UTC', 'YYYY-MM-DD')"


@compiles(seconds_between, "sqlite")
def _(element: seconds_between, compiler: SQLCompiler, **kw: Any) -> str:
    start, end = (compiler.process(part, **kw) for part in element.clauses)
    return f"(julianday({end}) - julianday({start})) * 86400"


@compiles(seconds_between, "postgresql")
def _(element: seconds_between, compiler: SQLCompiler, **kw: Any) -> str:
    start, end = (compiler.process(part, **kw) for part in element.clauses)
    return f"CAST(EXTRACT(EPOCH FROM {end} - {start}) AS double precision)"


_RUN = schema.run.c
_PULL = schema.pull.c
_PROMPT = schema.prompt.c
_OWN = schema.artifact.c
_HISTORY = schema.history.c
_KEYS: dict[By, ColumnElement[Any]] = {
    By.PROJECT: _RUN.project_id,
    By.TASK: _RUN.task_id,
    By.AGENT: _RUN.agent,
    By.MODEL: _RUN.model,
    By.DAY: utc_day(_RUN.started_at),
}
_NAMES = {By.PROJECT: (schema.project, "name"), By.TASK: (schema.task, "title")}
# The index of spans begins with the project, so that sums of one need nothing else.
_OF_ANY_PROJECT = _RUN.project_id.in_(select(schema.project.c.id))
_SUM = (func.count().label("runs"), func.count(_RUN.cost_usd), func.sum(_RUN.cost_usd))


class _Scope(NamedTuple):
    """Which of its parameters a statement has."""

    project: bool
    since: bool


def _within(
    scope: _Scope, project: ColumnElement[Any], time: ColumnElement[Any]
) -> Iterable[ColumnElement[bool]]:
    if scope.project:
        yield project == bindparam("project")
    if scope.since:
        yield time >= bindparam("since", type_=UtcTime())


def _begun(scope: _Scope) -> Iterable[ColumnElement[bool]]:
    yield _RUN.started_at.is_not(None)
    yield from _within(scope, _RUN.project_id, _RUN.started_at)
    if scope.since and not scope.project:
        yield _OF_ANY_PROJECT


@cache
def _total(scope: _Scope) -> SelectBase:
    return select(*_SUM).where(*_begun(scope))


@cache
def _shares(by: By, scope: _Scope) -> SelectBase:
    key = _KEYS[by].label("key")
    dearest = (func.sum(_RUN.cost_usd).desc().nulls_last(), func.count().desc(), key)
    return (
        select(key, *_SUM, func.count().over().label("all"))
        .where(*_begun(scope))
        .group_by(key)
        .order_by(*((key.desc(),) if by is By.DAY else dearest))
        .limit(bindparam("most"))
    )


@cache
def _named(by: By) -> SelectBase:
    table, name = _NAMES[by]
    return select(table.c[name]).where(table.c.id == bindparam("wanted"))


_SPENT_BY: dict[BudgetScope, tuple[ColumnElement[bool], ...]] = {
    BudgetScope.RUN: (_RUN.id == bindparam("subject"),),
    BudgetScope.TASK: (_RUN.task_id == bindparam("subject"),),
    BudgetScope.PROJECT: (_RUN.project_id == bindparam("subject"),),
    BudgetScope.DAY: (
        _OF_ANY_PROJECT,
        _RUN.started_at >= bindparam("subject", type_=UtcTime()),
        _RUN.started_at < bindparam("day_after", type_=UtcTime()),
    ),
}
_SPENT: dict[BudgetScope, SelectBase] = {
    scope: select(*_SUM).where(_RUN.started_at.is_not(None), *which)
    for scope, which in _SPENT_BY.items()
}


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


@cache
def _work(scope: _Scope) -> SelectBase:
    failed = _RUN.status.in_((RunStatus.FAILED, RunStatus.TIMEOUT))
    return (
        select(
            _RUN.agent,
            *_SUM,
            _number(_RUN.status == RunStatus.COMPLETED),
            _number(failed),
            _number(_RUN.status == RunStatus.CANCELLED),
            _number(_RUN.status.in_(LIVE)),
            func.count(_RUN.ended_at),
            func.sum(seconds_between(_RUN.started_at, _RUN.ended_at)),
        )
        .where(*_begun(scope))
        .group_by(_RUN.agent)
        .order_by(func.count().desc(), _RUN.agent)
    )


@cache
def _merges(scope: _Scope, *, by_agent: bool) -> SelectBase:
    """Of tasks that were merged. What was merged into the task's own branch was a phase of it."""
    phase = select(_OWN.id).where(
        _OWN.task_id == _PULL.task_id,
        _OWN.type == ArtifactType.BRANCH,
        _OWN.key == _PULL.base_branch,
    )
    merged = (
        select(_PULL.task_id)
        .where(
            _PULL.state == PullState.MERGED,
            ~phase.exists(),
            *_within(scope, _PULL.project_id, _PULL.updated_at),
        )
        .distinct()
        .cte("merged")
    )
    agent = _RUN.agent if by_agent else null()
    worked = func.max(case((_RUN.mode.not_in(sorted(READ_ONLY_MODES)), 1), else_=0))
    spent = (
        select(
            _RUN.task_id,
            agent.label("agent"),
            func.sum(_RUN.cost_usd).label("cost"),
            (func.count() - func.count(_RUN.cost_usd)).label("unknown"),
        )
        .join(merged, merged.c.task_id == _RUN.task_id)
        .where(_RUN.started_at.is_not(None))
        .group_by(_RUN.task_id, *((_RUN.agent,) if by_agent else ()))
        .having(worked == 1)
        .subquery()
    )
    # Grouped by themselves: task by task, Postgres without statistics takes a wrong index.
    people = (
        select(_HISTORY.task_id, func.count().label("number"))
        .where(text(schema.REVIEWS), _HISTORY.task_id.in_(select(merged.c.task_id)))
        .group_by(_HISTORY.task_id)
        .subquery()
    )
    reviewed = case((_RUN.status == RunStatus.COMPLETED, 1), else_=0)
    agents = (
        select(
            _RUN.task_id,
            func.sum(case((_RUN.mode == "review", reviewed), else_=0)).label("number"),
        )
        .where(_RUN.task_id.in_(select(merged.c.task_id)))
        .group_by(_RUN.task_id)
        .subquery()
    )
    known = spent.c.unknown == 0
    return (
        select(
            spent.c.agent,
            func.count(),
            _number(known),
            func.sum(case((known, spent.c.cost))),
            func.sum(func.coalesce(people.c.number, 0) + agents.c.number),
        )
        .select_from(spent)
        .join(agents, agents.c.task_id == spent.c.task_id)
        .outerjoin(people, people.c.task_id == spent.c.task_id)
        .group_by(spent.c.agent)
    )


@cache
def _runs(scope: _Scope) -> SelectBase:
    return select(
        *(_RUN.id, _RUN.agent, _RUN.model, _RUN.status, _RUN.started_at, _RUN.ended_at, _RUN.error)
    ).where(*_begun(scope))


@cache
def _reviews(scope: _Scope) -> SelectBase:
    return (
        select(
            *(_PROMPT.id, _PROMPT.task_id, _PROMPT.response, _PROMPT.responded_at),
            *(_RUN.agent, _RUN.model),
        )
        .join(schema.task, schema.task.c.id == _PROMPT.task_id)
        .outerjoin(schema.run, _RUN.id == _PROMPT.run_id)
        .where(
            _PROMPT.type == PromptType.REVIEW,
            _PROMPT.status == PromptStatus.RESPONDED,
            *_within(scope, schema.task.c.project_id, _PROMPT.responded_at),
        )
    )


_WORKED = (
    select(_RUN.task_id, func.sum(seconds_between(_RUN.started_at, _RUN.ended_at)))
    .where(among(_RUN.task_id), _RUN.ended_at.is_not(None), _RUN.started_at.is_not(None))
    .group_by(_RUN.task_id)
)


class Figures:
    def __init__(self, session: Session) -> None:
        self._session = session

    def cost(
        self, by: By, *, project: ProjectId | None, since: datetime | None, limit: int
    ) -> CostReport:
        scope, params = _scope(project, since)
        total = self._session.one(_total(scope), params)
        found = self._session.all(_shares(by, scope), {**params, "most": limit})
        return CostReport(
            by=by,
            since=since,
            total=_spent(*total),
            shares=[self._share(by, *row[:4]) for row in found],
            left_out=found[0][4] - len(found) if found else 0,
        )

    def stats(self, *, project: ProjectId | None, since: datetime | None) -> StatsReport:
        scope, params = _scope(project, since)
        work = self._session.all(_work(scope), params)
        merges = {row[0]: row for row in self._session.all(_merges(scope, by_agent=True), params)}
        whole = self._session.one(_merges(scope, by_agent=False), params)
        return StatsReport(
            since=since,
            work=_went([row[1:] for row in work]),
            merges=_took(whole),
            agents=[
                Performance(agent=row[0], work=_went([row[1:]]), merges=_took(merges.get(row[0])))
                for row in work
            ],
        )

    def spent(self, scope: BudgetScope, subject: str) -> Spent:
        params: dict[str, Any] = {"subject": subject}
        if scope is BudgetScope.DAY:
            day = datetime.fromisoformat(subject).replace(tzinfo=UTC)
            params = {"subject": day, "day_after": day + timedelta(days=1)}
        found = self._session.one(_SPENT[scope], params)
        assert found is not None
        return _spent(*found)

    def runs(self, *, project: ProjectId | None, since: datetime | None) -> list[Ran]:
        scope, params = _scope(project, since)
        return self._session.all(_runs(scope), params, _ran)

    def reviews(self, *, project: ProjectId | None, since: datetime | None) -> list[Reviewed]:
        scope, params = _scope(project, since)
        return self._session.all(_reviews(scope), params, _reviewed)

    def worked(self, tasks: Sequence[TaskId]) -> dict[TaskId, float]:
        if not tasks:
            return {}
        found = self._session.all(_WORKED, {"ids": dumps(list(tasks))})
        return {task: round(seconds, 3) for task, seconds in found}

    def _share(self, by: By, key: str | None, *numbers: Any) -> Share:
        name = self._session.scalar(_named(by), {"wanted": key}) if by in _NAMES else key
        return Share(key=key, name=name, spent=_spent(*numbers))


def _ran(row: Row) -> Ran:
    id, agent, model, status, started, ended, error = row
    known = _readable("am_run", id, "error", error)
    return Ran(agent, model, RunStatus(status), started, ended, known.get("error_class"))


def _reviewed(row: Row) -> Reviewed:
    id, task, response, at, agent, model = row
    said = _readable("am_prompt", id, "response", response)
    return Reviewed(task, said.get("decision") == Decision.APPROVED, at, agent, model)


def _readable(table: str, id: str, column: str, value: Any) -> Mapping[str, Any]:
    if isinstance(value, Unreadable):
        raise corrupt(table, id, column, value.reason)
    return value or {}


def _scope(project: ProjectId | None, since: datetime | None) -> tuple[_Scope, dict[str, Any]]:
    given = {"project": project, "since": since}
    params = {name: value for name, value in given.items() if value is not None}
    return _Scope(project is not None, since is not None), params


def _spent(runs: int, known: int, cost: float | None) -> Spent:
    return Spent(
        runs=runs, unknown=runs - known, cost_usd=None if cost is None else round(cost, CENTS)
    )


def _went(rows: Sequence[Sequence[Any]]) -> Work:
    """Of the groups together."""
    runs, known, completed, failed, cancelled, live, ended, seconds = (
        sum(row[index] or 0 for row in rows) for index in (0, 1, 3, 4, 5, 6, 7, 8)
    )
    cost = sum(row[2] or 0 for row in rows) if known else None
    judged = completed + failed
    return Work(
        completed=completed,
        failed=failed,
        cancelled=cancelled,
        live=live,
        success_rate=round(completed / judged, 4) if judged else None,
        mean_duration_s=round(seconds / ended, 3) if ended else None,
        spent=_spent(runs, known, cost),
    )


def _took(row: Sequence[Any] | None) -> Merges:
    if row is None:
        return Merges(tasks=0, review_rounds=None, unknown=0, cost_per_task_usd=None)
    _, tasks, known, cost, reviews = row
    return Merges(
        tasks=tasks,
        review_rounds=round(float(reviews) / tasks, 2),
        unknown=tasks - known,
        cost_per_task_usd=round(cost / known, CENTS) if known else None,
    )
