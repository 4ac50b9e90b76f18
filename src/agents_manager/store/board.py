"""What the board shows, by a few statements over all of it instead of many for each task."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    SelectBase,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)

from agents_manager.domain.board import (
    Awaited,
    CardCost,
    CardPhases,
    CardPull,
    Move,
    OpenEffect,
    Place,
    PromptRow,
    RunRow,
    Step,
    TaskRow,
)
from agents_manager.domain.effects import BESIDE
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.phase import PhaseStatus
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import LIVE, RunStatus
from agents_manager.domain.task import OPEN_EFFECTS, HookRecord, PullState, Result
from agents_manager.domain.trail import MIGRATION, UNCOUNTED
from agents_manager.errors import NotFound, PromptNotFound, RunNotFound, TaskNotFound
from agents_manager.store import schema
from agents_manager.store.columns import UtcTime, dumps
from agents_manager.store.figures import CENTS
from agents_manager.store.idle import literal
from agents_manager.store.listed import among
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Row, Session

_TASK = schema.task.c
_PROMPT = schema.prompt.c
_RUN = schema.run.c
_EFFECT = schema.effect.c
_DEPENDENCY = schema.dependency.c
_PHASE = schema.phase.c
_PULL = schema.pull.c
_HISTORY = schema.history.c


_TASKS = Rows(schema.task, TaskRow, TaskNotFound)
_PROMPTS = Rows(schema.prompt, PromptRow, PromptNotFound, type=PromptType)
_RUNS = Rows(schema.run, RunRow, RunNotFound, status=RunStatus)
_EFFECTS = Rows(schema.effect, OpenEffect, NotFound)
_STEPS = Rows(
    schema.history,
    Step,
    NotFound,
    result=Result,
    hooks=lambda rows: tuple(HookRecord.model_validate(row) for row in rows),
)
_OF_PROJECT = _TASK.project_id == bindparam("project")
_SINCE = _TASK.updated_at >= bindparam("since", type_=UtcTime())


@cache
def counted(*, project: bool) -> SelectBase:
    """Tasks by place. Counted project by project, which is the order of an index, and then added
    up: else all of them would be sorted."""
    places = (_TASK.project_id, _TASK.pipeline_id, _TASK.pipeline_version, _TASK.status)
    each = select(*places, func.count().label("number")).group_by(*places)
    by_project = (each.where(_OF_PROJECT) if project else each).subquery()
    place = (by_project.c.pipeline_id, by_project.c.pipeline_version, by_project.c.status)
    # Postgres adds whole numbers up to a decimal.
    number = cast(func.sum(by_project.c.number), BigInteger)
    return select(*place, number).group_by(*place).order_by(*place)


@lru_cache
def _at(
    places: tuple[Place, ...], *, project: bool, newest: bool, since: bool = False
) -> SelectBase:
    """Tasks there. Their statuses alone are asked for, too, as there is an index of those; but not
    where the newest of many are wanted, which the index of changes has."""
    # What is computed of a column is looked for in none of its indexes.
    status = _TASK.status + "" if newest or since else _TASK.status
    statuses: dict[tuple[str, int], list[str]] = {}
    for place in places:
        statuses.setdefault((place.pipeline_id, place.version), []).append(place.status)
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for (pipeline, version), named in statuses.items():
        alike.setdefault((pipeline, tuple(named)), []).append(version)
    exactly = (
        and_(
            _TASK.pipeline_id == pipeline,
            _TASK.pipeline_version.in_(versions),
            status.in_(named),
        )
        for (pipeline, named), versions in alike.items()
    )
    found = _TASKS.select.where(or_(*exactly))
    if since:
        found = found.where(_SINCE)
    elif not newest:
        found = found.where(_TASK.status.in_(sorted({p.status for p in places})))
    if project:
        found = found.where(_OF_PROJECT)
    if newest:
        found = found.order_by(_TASK.updated_at.desc(), _TASK.id.desc()).limit(bindparam("most"))
    return found


@cache
def _named(*, project: bool) -> SelectBase:
    named = _TASKS.select.where(among(_TASK.id))
    return named.where(_OF_PROJECT) if project else named


_PENDING = _PROMPTS.select.where(_PROMPT.status == PromptStatus.PENDING).order_by(
    _PROMPT.created_at, _PROMPT.id
)
_LIVE = _RUNS.select.where(_RUN.status.in_(LIVE))
_OPEN = _EFFECTS.select.where(
    _EFFECT.status.in_(literal("open", OPEN_EFFECTS)), _EFFECT.kind.not_in(sorted(BESIDE))
).order_by(_EFFECT.task_id, _EFFECT.seq)
_AWAITED = (
    select(
        *(_DEPENDENCY.task_id, _TASK.id, _TASK.title),
        *(_TASK.pipeline_id, _TASK.pipeline_version, _TASK.status),
    )
    .join(schema.task, _TASK.id == _DEPENDENCY.depends_on)
    .where(among(_DEPENDENCY.task_id))
    .order_by(_DEPENDENCY.task_id, _TASK.created_at, _TASK.id)
)
_ANSWERS = (
    select(_PROMPT.task_id, _PROMPT.response)
    .where(among(_PROMPT.task_id))
    .order_by(_PROMPT.task_id, _PROMPT.created_at, _PROMPT.id)
)
_COSTS = (
    select(_RUN.task_id, func.count(), func.count(_RUN.cost_usd), func.sum(_RUN.cost_usd))
    .where(among(_RUN.task_id), _RUN.started_at.is_not(None))
    .group_by(_RUN.task_id)
)
_OVER = case((_PHASE.status.in_((PhaseStatus.DONE, PhaseStatus.SKIPPED)), 1), else_=0)
_PHASES = (
    select(_PHASE.task_id, func.sum(_OVER), func.count())
    .where(among(_PHASE.task_id))
    .group_by(_PHASE.task_id)
)
_PULLS = (
    select(_PULL.task_id, _PULL.number, _PULL.state)
    .where(among(_PULL.task_id))
    # The last one counts: an open one, else the newest.
    .order_by(_PULL.task_id, _PULL.state == PullState.OPEN, _PULL.number)
)
# A migration may have given the statuses other names.
_ENTERED = case(
    (_HISTORY.trigger == MIGRATION, 2),
    (_HISTORY.trigger.in_(sorted(UNCOUNTED)), 0),
    (among(_HISTORY.to, "statuses"), 1),
    else_=0,
)
_REPEATED = (
    select(_HISTORY.task_id)
    .where(among(_HISTORY.task_id), _HISTORY.result == Result.DONE)
    .group_by(_HISTORY.task_id)
    .having(func.sum(_ENTERED) > 1)
)
_NAMES = case((_HISTORY.trigger == MIGRATION, _HISTORY.payload))
_TAKEN = (
    select(*(_NAMES if name == "payload" else _HISTORY[name] for name in _STEPS.names))
    .where(among(_HISTORY.task_id), _HISTORY.result != Result.REFUSED)
    .order_by(_HISTORY.task_id, _HISTORY.seq)
)


@cache
def _moves(*, project: bool, pipeline: bool, since: bool) -> SelectBase:
    made = (
        select(
            *(_HISTORY.task_id, _TASK.created_at, _HISTORY.result, _HISTORY.transition_id),
            *(_HISTORY.source, _HISTORY.to, _HISTORY.trigger, _HISTORY.time),
        )
        .join(schema.task, _TASK.id == _HISTORY.task_id)
        .where(_HISTORY.result.not_in((Result.REFUSED, Result.GRANTED)))
        .order_by(_HISTORY.task_id, _HISTORY.seq)
    )
    of_pipeline = _TASK.pipeline_id == bindparam("pipeline")
    # By a list, so that the tasks are looked for first, and then the moves of each.
    lately = _HISTORY.task_id.in_(select(_TASK.id).where(_SINCE))
    chosen = ((project, _OF_PROJECT), (pipeline, of_pipeline), (since, lately))
    return made.where(*(part for given, part in chosen if given))


def _move(row: Row) -> Move:
    task, began, result, *rest = row
    return Move(task, began, Result(result), *rest)


class Board:
    def __init__(self, session: Session) -> None:
        self._session = session

    def counts(self, project: ProjectId | None) -> list[tuple[Place, int]]:
        rows = self._session.all(counted(project=project is not None), _project(project))
        return [(Place(*row[:3]), row[3]) for row in rows]

    def tasks(
        self,
        places: Sequence[Place],
        project: ProjectId | None,
        *,
        most: int | None = None,
        since: datetime | None = None,
    ) -> list[TaskRow]:
        if not places:
            return []
        wanted = {"project": project, "most": most, "since": since}
        params = {name: value for name, value in wanted.items() if value is not None}
        found = _at(
            tuple(places),
            project=project is not None,
            newest=most is not None,
            since=since is not None,
        )
        return _TASKS.all(self._session, found, params)

    def named(self, tasks: Sequence[TaskId], project: ProjectId | None) -> list[TaskRow]:
        params = {**_project(project), **_ids(tasks)}
        return _TASKS.all(self._session, _named(project=project is not None), params)

    def prompts(self) -> list[PromptRow]:
        return _PROMPTS.all(self._session, _PENDING)

    def runs(self) -> list[RunRow]:
        return _RUNS.all(self._session, _LIVE)

    def effects(self) -> list[OpenEffect]:
        return _EFFECTS.all(self._session, _OPEN)

    def awaited(self, tasks: Sequence[TaskId]) -> list[Awaited]:
        found = self._of(_AWAITED, tasks)
        return [Awaited(row[0], row[1], row[2], Place(*row[3:])) for row in found]

    def last_answers(self, tasks: Sequence[TaskId]) -> dict[TaskId, Any]:
        return dict(self._of(_ANSWERS, tasks))

    def costs(self, tasks: Sequence[TaskId]) -> dict[TaskId, CardCost]:
        return {
            id: CardCost(None if usd is None else round(usd, CENTS), runs - known)
            for id, runs, known, usd in self._of(_COSTS, tasks)
        }

    def phases(self, tasks: Sequence[TaskId]) -> dict[TaskId, CardPhases]:
        return {id: CardPhases(int(done), all) for id, done, all in self._of(_PHASES, tasks)}

    def pulls(self, tasks: Sequence[TaskId]) -> dict[TaskId, CardPull]:
        found = self._of(_PULLS, tasks)
        return {id: CardPull(number, PullState(state)) for id, number, state in found}

    def steps(self, tasks: Sequence[TaskId], statuses: Sequence[str]) -> list[Step]:
        """Of those tasks that came to one of the statuses more than once."""
        if not tasks or not statuses:
            return []
        asked = {**_ids(tasks), "statuses": dumps(list(statuses))}
        repeated = [row[0] for row in self._session.all(_REPEATED, asked)]
        return _STEPS.all(self._session, _TAKEN, _ids(repeated)) if repeated else []

    def moves(
        self,
        project: ProjectId | None,
        *,
        pipeline: str | None = None,
        since: datetime | None = None,
    ) -> list[Move]:
        wanted = {"project": project, "pipeline": pipeline, "since": since}
        made = _moves(**{name: value is not None for name, value in wanted.items()})
        params = {name: value for name, value in wanted.items() if value is not None}
        return self._session.all(made, params, _move)

    def _of(self, statement: SelectBase, tasks: Sequence[TaskId]) -> list[Any]:
        return self._session.all(statement, _ids(tasks)) if tasks else []


def _ids(tasks: Sequence[TaskId]) -> dict[str, str]:
    return {"ids": dumps(list(tasks))}


def _project(project: ProjectId | None) -> dict[str, Any]:
    return {} if project is None else {"project": project}
