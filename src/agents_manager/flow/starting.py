"""Which runs a start makes: one that does all of the work, or several side by side, each for a
part of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents_manager.domain import parts, race
from agents_manager.domain.course import Assignment
from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import BROUGHT, HookSpec, Status, TriggerType
from agents_manager.domain.prompt import ResumePoint
from agents_manager.domain.race import Contender
from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow import races, stages
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    resume: ResumePoint
    part: str = ""
    given: Assignment | None = None
    """What the part is, where it is a new one."""
    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is set for this run."""
    contender: Contender | None = None
    """Who does it, where several do the same."""


def starts(
    tx: Tx, s: Services, task: Task, hook: HookSpec, fired: Fired, resume: ResumePoint
) -> list[Start]:
    alone = [Start(resume=resume)]
    status = tx.pipelines.get(task.pipeline_id, task.pipeline_version).status(task.status)
    other_mode = hook.params.get("mode") not in (None, status.role)
    fresh = resume.model_copy(update={"session": None, "run": None})
    runs = tx.runs.of_task(task.id)
    several = mode_of(status, hook, resume) == race.MODE
    order = races.ordered(tx, task.id) if several else None
    if order is not None:
        named = parts.new_group(runs, len(order.contenders))
        return [_contends(fresh, *one) for one in zip(named, order.contenders, strict=True)]
    if not status.parallel or other_mode or fired.trigger.type is TriggerType.LOOP_BACK:
        return alone
    left = parts.undone(runs, asking(s))
    if fired.prompt_id is not None:
        left = [run for run in left if run.id == resume.run]
    if left:
        return [Start(resume=going_on(task, run), part=run.part) for run in left]
    given = stages.wave(tx, task)
    if len(given) < 2:
        return alone
    named = parts.new_group(runs, len(given))
    return [Start(resume=fresh, part=p, given=g) for p, g in zip(named, given, strict=True)]


def mode_of(status: Status, hook: HookSpec, resume: ResumePoint) -> str:
    """The hook's own mode wins; then the role of the status, and the resume point."""
    return str(hook.params.get("mode") or status.role or resume.mode or race.MODE)


def _contends(resume: ResumePoint, part: str, contender: Contender) -> Start:
    own = {"model": contender.model} if contender.model else {}
    return Start(resume=resume, part=part, own=own, contender=contender)


def asking(s: Services) -> Collection[str]:
    """Outcomes that ask a person for something before the work goes on."""
    return {name for name, known in s.registry.outcomes.items() if known.prompt in BROUGHT}


def going_on(task: Task, run: Run) -> ResumePoint:
    return ResumePoint(
        status=task.status, session=run.session, mode=run.mode, agent=run.agent, run=run.id
    )
