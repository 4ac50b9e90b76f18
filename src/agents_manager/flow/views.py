"""What people look at: read models computed from durable facts, shared by every door."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.phase import Phase
from agents_manager.domain.pipeline import Category, Pipeline, Status, Trigger, TriggerType
from agents_manager.domain.prompt import Prompt, QueuePlace, recommended_answer
from agents_manager.domain.race import MODE
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, Artifact, Project, PullRequest, Task
from agents_manager.domain.transition import (
    Decision,
    Moved,
    Refused,
    candidates,
    decide,
    in_the_way,
    nothing_to_ask,
    onward,
)
from agents_manager.errors import InvalidInput
from agents_manager.flow import asking, check_decisions, facts, later, races, why
from agents_manager.flow.liveness import Mover, next_mover
from agents_manager.flow.memory import looking
from agents_manager.flow.memory.looking import OfTask
from agents_manager.flow.ports import Services, Tx

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CURSOR = re.compile(r"([01])-([0-9]{1,18})-(.+)")
START = QueuePlace(alone=False, asked=EPOCH, id=PromptId(""))


@dataclass(frozen=True, slots=True)
class Move:
    """A move by hand, and why it is not possible now."""

    id: str
    to: str
    label: str
    allowed: bool
    reasons: tuple[str, ...]
    when_ready: bool = False
    """Whether starting the task has the engine make this move when its dependencies are done."""


@dataclass(frozen=True, slots=True)
class Target:
    """A status of the task's pipeline, and whether it can be moved there by hand now."""

    status: str
    title: str
    category: Category
    current: bool
    allowed: bool
    stops_run: bool
    """Whether it can be once the live run is stopped; where it is allowed, that is done first."""
    reasons: tuple[str, ...]
    """Why it is not allowed."""


@dataclass(frozen=True, slots=True)
class TaskView:
    task: Task
    project: Project
    status: Status
    next_mover: Mover
    why: str
    """Why it is where it is, in one paragraph."""
    prompts: Sequence[Prompt]
    run: Run | None
    runs: Sequence[Run]
    moves: Sequence[Move]
    artifacts: Sequence[Artifact]
    phases: Sequence[Phase]
    pull: PullRequest | None
    memory: OfTask
    raced: bool
    """Whether several agents did the same work at it, or are to."""
    skipped_checks: Sequence[str]
    """Checks that do not run for it, as people decided."""


@dataclass(frozen=True, slots=True)
class InboxItem:
    prompt: Prompt
    task: Task
    project: Project
    summary: str
    acceptable: Mapping[str, Any] | None
    """What *Accept recommended* would answer."""
    waiting_behind: Sequence[str]
    """Titles of tasks that wait for this one."""


@dataclass(frozen=True, slots=True)
class Inbox:
    items: Sequence[InboxItem]
    next: str | None
    """The cursor of the page that follows; None at the end."""
    total: int
    """Of all pages."""


def task(tx: Tx, s: Services, task_id: str, actor: Actor) -> TaskView:
    found = tx.tasks.find(task_id)
    pipeline = tx.pipelines.get(found.pipeline_id, found.pipeline_version)
    runs = tx.runs.of_task(found.id)
    mover = next_mover(tx, found, pipeline, s.clock.now())
    return TaskView(
        task=found,
        project=tx.projects.get(found.project_id),
        status=pipeline.status(found.status),
        next_mover=mover,
        why=why.paragraph(tx, found, pipeline, mover),
        prompts=tx.prompts.pending(found.id),
        run=next((r for r in runs if r.status.live), None),
        runs=runs,
        moves=_moves(tx, s, found, pipeline, actor),
        artifacts=tx.tasks.artifacts(found.id),
        phases=tx.phases.of_task(found.id),
        pull=tx.pulls.of_task(found.id),
        memory=looking.of_task(tx, found),
        raced=any(r.part and r.mode == MODE for r in runs) or bool(races.ordered(tx, found.id)),
        skipped_checks=check_decisions.of_task(tx, found.id).skipped,
    )


def targets(tx: Tx, s: Services, task_id: str, actor: Actor) -> list[Target]:
    """By the same rules as the move itself."""
    found = tx.tasks.find(task_id)
    pipeline = tx.pipelines.get(found.pipeline_id, found.pipeline_version)
    fired = Fired(trigger=Trigger(type=TriggerType.MANUAL))
    known = facts.gather(tx, s, found, fired, actor)
    origin = facts.origin_of(tx, found, pipeline)
    return [
        _target(
            status,
            found.status,
            _judged(tx, s, found, pipeline, origin, replace(known, fired=there)),
            stopped=known.live_run is not None
            and _judged(tx, s, found, pipeline, origin, replace(known, fired=there, live_run=None)),
        )
        for status in sorted(pipeline.statuses, key=lambda one: one.position)
        for there in [replace(fired, to=status.id)]
    ]


def _judged(
    tx: Tx, s: Services, task: Task, pipeline: Pipeline, origin: str | None, known: Facts
) -> Decision:
    decision = decide(pipeline, task.status, origin, known, s.registry)
    if isinstance(decision, Moved):
        decision = in_the_way(known, decision) or decision
    if isinstance(decision, Moved) and pipeline.awaits_human(decision.to):
        asked = asking.question(tx, s, task, pipeline, decision.to, known.fired)
        decision = decision if asked else nothing_to_ask(decision.to)
    return decision


def _target(
    status: Status, current: str, decision: Decision, *, stopped: Decision | Literal[False]
) -> Target:
    """`stopped` is what the decision would be once the live run is gone."""
    stops = isinstance(stopped, Moved)
    by_itself = isinstance(stopped, Moved) and any(h.type == "stop_agent" for h in stopped.hooks)
    allowed = isinstance(decision, Moved) or by_itself
    reasons: tuple[str, ...] = ()
    if isinstance(decision, Refused) and not allowed:
        here = status.id == current
        reasons = ("The task is there already.",) if here else tuple(decision.reasons)
    return Target(
        status=status.id,
        title=status.title,
        category=status.category,
        current=status.id == current,
        allowed=allowed,
        stops_run=stops,
        reasons=reasons,
    )


def inbox(
    tx: Tx, *, project: str | None = None, after: str | None = None, limit: int | None = None
) -> Inbox:
    """Open questions, those with tasks waiting behind them first, then by age."""
    of = None if project is None else tx.projects.find(project).id
    start = START if after is None else _place_of(after)
    behind = {task: waiting for task in tx.prompts.awaited() if (waiting := _behind(tx, task))}
    found = tx.prompts.page(
        sorted(behind), of, after=start, limit=None if limit is None else limit + 1
    )
    page = found[:limit]
    return Inbox(
        [_item(tx, prompt, behind.get(prompt.task_id, ())) for prompt in page],
        _cursor(page[-1], behind) if len(found) > len(page) else None,
        tx.prompts.open(of),
    )


def _cursor(prompt: Prompt, behind: Container[TaskId]) -> str:
    """Says all of a question's place, so that it holds when the question is answered, deleted, or
    stands elsewhere now."""
    asked = (prompt.created_at - EPOCH) // timedelta(microseconds=1)
    return f"{prompt.task_id not in behind:d}-{asked}-{prompt.id}"


def _place_of(cursor: str) -> QueuePlace:
    said = CURSOR.fullmatch(cursor)
    try:
        if said is not None:
            asked = EPOCH + timedelta(microseconds=int(said[2]))
            return QueuePlace(said[1] == "1", asked, PromptId(said[3]))
    except OverflowError:
        pass  # No question was asked in the year 30,000.
    raise InvalidInput("The cursor is not one of this listing.", ["cursor"])


def item(tx: Tx, prompt_id: str) -> InboxItem:
    prompt = tx.prompts.find(prompt_id)
    return _item(tx, prompt, _behind(tx, prompt.task_id))


def _moves(tx: Tx, s: Services, task: Task, pipeline: Pipeline, actor: Actor) -> list[Move]:
    fired = Fired(trigger=Trigger(type=TriggerType.MANUAL))
    known = facts.gather(tx, s, task, fired, actor)
    origin = facts.origin_of(tx, task, pipeline)
    found = candidates(pipeline, task.status, known, s.registry, origin=origin)
    starting = {t.id for t in onward(pipeline, task.status)}
    waits = len(starting) == 1 and later.may_wait(tx, task)
    return [
        Move(
            c.transition.id,
            c.to or task.status,
            c.transition.title,
            c.allowed,
            tuple(c.reasons),
            waits and c.transition.id in starting,
        )
        for c in found
    ]


def _over(tx: Tx, task: Task) -> bool:
    return tx.pipelines.get(task.pipeline_id, task.pipeline_version).is_final(task.status)


def _behind(tx: Tx, task_id: TaskId) -> list[str]:
    return [t.title for t in tx.tasks.depending_on(task_id) if not _over(tx, t)]


def _item(tx: Tx, prompt: Prompt, waiting_behind: Sequence[str]) -> InboxItem:
    asked = tx.tasks.get(prompt.task_id)
    return InboxItem(
        prompt=prompt,
        task=asked,
        project=tx.projects.get(asked.project_id),
        summary=asking.summary(prompt),
        acceptable=recommended_answer(prompt.type, prompt.payload),
        waiting_behind=waiting_behind,
    )
