"""The board of a project, or of all: columns from the pipelines in use, and the cards. However many
tasks there are, it takes the same few reads."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from agents_manager.domain import trail
from agents_manager.domain.board import (
    Board,
    Card,
    CardDependency,
    CardPrompt,
    CardRound,
    CardRun,
    Column,
    Finished,
    Lane,
    OpenEffect,
    Place,
    PromptRow,
    RunRow,
    TaskRow,
)
from agents_manager.domain.ids import TaskId
from agents_manager.domain.pipeline import Category, Pipeline, PromptType, Status
from agents_manager.domain.run import RunStatus
from agents_manager.flow import liveness
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import places

MOST_FINISHED = 200
MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a place means for every task there."""

    category: Category
    by_hand: bool
    may_strand: bool
    heeds_dependencies: bool
    caps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Signs:
    """What goes on, by task."""

    prompts: Mapping[TaskId, PromptRow]
    runs: Mapping[TaskId, RunRow]
    effects: Mapping[TaskId, Sequence[OpenEffect]]
    waits_for: Mapping[TaskId, Sequence[CardDependency]]
    """The unfinished tasks that each depends on."""
    blocked: frozenset[TaskId]
    """Those that a blocker holds up."""
    now: datetime


def board(
    tx: Tx,
    s: Services,
    project: str | None,
    *,
    finished: int = MOST_FINISHED,
    only: Sequence[str] | None = None,
) -> Board:
    """`only` names the tasks that cards are wanted of; the columns are counted all the same."""
    of = None if project is None else tx.projects.find(project).id
    counts = dict(tx.board.counts(of))
    grounds = {place: _ground(_pipeline(tx, place), place.status) for place in counts}
    over = [place for place in counts if grounds[place].category is Category.FINAL]
    standing = [place for place in counts if grounds[place].category is not Category.FINAL]
    if only is None:
        unfinished = tx.board.tasks(standing, of)
        last = tx.board.tasks(over, of, most=finished)
    else:
        named = tx.board.named([TaskId(id) for id in only], of)
        unfinished = [task for task in named if _place(task) in standing]
        last = [task for task in named if _place(task) in over]
    return Board(
        lanes=_lanes(tx, counts),
        cards=_cards(tx, s, unfinished, last, grounds),
        finished=Finished(total=sum(counts[place] for place in over), shown=len(last)),
    )


def _pipeline(tx: Tx, place: Place) -> Pipeline:
    return tx.pipelines.get(place.pipeline_id, place.version)


def _ground(pipeline: Pipeline, status: str) -> _Ground:
    guards = (guard for t in pipeline.transitions for guard in t.guards)
    caps = [guard.params for guard in guards if guard.type == "max_iterations"]
    return _Ground(
        category=pipeline.status(status).category,
        by_hand=bool(liveness.by_hand(pipeline, status)),
        may_strand=liveness.may_strand(pipeline, status),
        heeds_dependencies=liveness.heeds_dependencies(pipeline, status),
        caps={str(cap["statusId"]): int(cap["max"]) for cap in caps},
    )


# ---------------------------------------------------------------------------------- the columns


def _lanes(tx: Tx, counts: Mapping[Place, int]) -> list[Lane]:
    by_pipeline = groupby(sorted(counts), key=lambda place: place.pipeline_id)
    return [_lane(tx, name, list(places), counts) for name, places in by_pipeline]


def _lane(tx: Tx, name: str, places: Sequence[Place], counts: Mapping[Place, int]) -> Lane:
    newest = tx.pipelines.get(name)
    numbers: dict[str, int] = defaultdict(int)
    for place in places:
        numbers[place.status] += counts[place]
    statuses = sorted(newest.statuses, key=lambda status: status.position)
    gone = {p.status: _pipeline(tx, p).status(p.status) for p in places if not newest.has(p.status)}
    return Lane(
        id=newest.id,
        name=newest.name,
        version=newest.version,
        columns=[_column(status, numbers[status.id]) for status in (*statuses, *gone.values())],
    )


def _column(status: Status, count: int) -> Column:
    return Column(
        id=status.id,
        title=status.title,
        color=status.color,
        category=status.category,
        count=count,
    )


# ------------------------------------------------------------------------------------- the cards


def _cards(
    tx: Tx,
    s: Services,
    unfinished: Sequence[TaskRow],
    finished: Sequence[TaskRow],
    grounds: Mapping[Place, _Ground],
) -> list[Card]:
    shown = [*unfinished, *finished]
    ids = [task.id for task in shown]
    signs = _signs(tx, s, unfinished)
    grounded = [(task, grounds[_place(task)]) for task in shown]
    movers = _movers(tx, grounded, signs)
    rounds = dict(_rounds(tx, [(t, g) for t, g in grounded[: len(unfinished)] if g.caps]))
    costs, phases, pulls = tx.board.costs(ids), tx.board.phases(ids), tx.board.pulls(ids)
    cards = [
        Card(
            id=task.id,
            title=task.title,
            project_id=task.project_id,
            pipeline_id=task.pipeline_id,
            status=task.status,
            category=ground.category,
            type=task.type,
            priority=task.priority,
            tags=task.tags,
            version=task.version,
            updated_at=task.updated_at,
            starts_at=task.starts_at,
            waits_for=_waits_for(task, ground, signs)[:MOST_NAMED],
            waits_for_total=len(_waits_for(task, ground, signs)),
            mover=movers[task.id],
            prompt=_prompt(signs.prompts.get(task.id)),
            run=_run(s, signs.runs.get(task.id)),
            round=rounds.get(task.id),
            cost=costs.get(task.id),
            phases=phases.get(task.id),
            pull=pulls.get(task.id),
        )
        for task, ground in grounded
    ]
    return sorted(cards, key=lambda card: card.updated_at, reverse=True)


def _place(task: TaskRow) -> Place:
    return Place(task.pipeline_id, task.pipeline_version, task.status)


def _signs(tx: Tx, s: Services, unfinished: Sequence[TaskRow]) -> _Signs:
    prompts: dict[TaskId, PromptRow] = {}
    for prompt in tx.board.prompts():
        prompts.setdefault(prompt.task_id, prompt)
    effects: dict[TaskId, list[OpenEffect]] = defaultdict(list)
    for effect in tx.board.effects():
        effects[effect.task_id].append(effect)
    waits_for: dict[TaskId, list[CardDependency]] = defaultdict(list)
    for other in tx.board.awaited([task.id for task in unfinished]):
        if not _pipeline(tx, other.place).is_final(other.place.status):
            waits_for[other.task_id].append(CardDependency(other.id, other.title))
    return _Signs(
        prompts=prompts,
        runs={run.task_id: run for run in tx.board.runs()},
        effects=effects,
        waits_for=waits_for,
        blocked=frozenset(
            task for blocker in tx.knowledge.blockers(None) for task in blocker.blocking_tasks
        ),
        now=s.clock.now(),
    )


def _movers(
    tx: Tx, grounded: Sequence[tuple[TaskRow, _Ground]], signs: _Signs
) -> Mapping[TaskId, str]:
    """The same kinds as `liveness.next_mover` finds, task by task."""
    kinds = {task.id: _kind(task, ground, signs) for task, ground in grounded}
    doubtful = [t.id for t, ground in grounded if kinds[t.id] == "nobody" and ground.by_hand]
    for task, response in tx.board.last_answers(doubtful).items():
        if liveness.stays(response):
            kinds[task] = "person"
    return kinds


def _kind(task: TaskRow, ground: _Ground, signs: _Signs) -> str:
    prompt, run = signs.prompts.get(task.id), signs.runs.get(task.id)
    effects = signs.effects.get(task.id, ())
    if ground.category is Category.FINAL:
        return "finished"
    if prompt is not None:
        late = prompt.expires_at is not None and prompt.expires_at <= signs.now
        return "timer" if late else "choice" if prompt.type is PromptType.CHOICE else "prompt"
    if run is not None:
        later = any(e.id == run.effect_id and e.due_at > signs.now for e in effects)
        return "timer" if later and run.status is RunStatus.QUEUED else "run"
    if effects:
        delayed = effects[0].status == "pending" and effects[0].due_at > signs.now
        return "timer" if delayed else "effect"
    if task.starts_at is not None and task.starts_at > signs.now:
        return "timer"
    if ground.heeds_dependencies and (task.id in signs.waits_for or task.id in signs.blocked):
        return "dependency"
    if task.starts_at is not None:
        return "timer"
    return "person" if ground.by_hand and not ground.may_strand else "nobody"


def _waits_for(task: TaskRow, ground: _Ground, signs: _Signs) -> Sequence[CardDependency]:
    return signs.waits_for.get(task.id, ()) if ground.heeds_dependencies else ()


def _rounds(
    tx: Tx, capped: Sequence[tuple[TaskRow, _Ground]]
) -> Iterator[tuple[TaskId, CardRound]]:
    caps = {task.id: ground.caps for task, ground in capped}
    statuses = sorted({status for known in caps.values() for status in known})
    for task, steps in groupby(tx.board.steps(list(caps), statuses), key=lambda step: step.task_id):
        done = trail.rounds(trail.as_named_now(list(steps)))
        most = max(caps[task], key=lambda status: done.get(status, 0))
        if done.get(most, 0) > 0:
            yield task, CardRound(done[most], caps[task][most], most)


def _prompt(row: PromptRow | None) -> CardPrompt | None:
    return None if row is None else CardPrompt(row.id, row.type, row.created_at)


def _run(s: Services, row: RunRow | None) -> CardRun | None:
    if row is None:
        return None
    printed = places.printed_at(s, row.id) if row.started_at else None
    return CardRun(row.id, row.agent, row.mode, row.status, row.started_at, printed)
