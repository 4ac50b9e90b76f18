"""Tasks move to another version of their pipeline: first a preview of where each would stand, then
all of them in one transaction, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents_manager.domain import question
from agents_manager.domain.audit import Deed
from agents_manager.domain.guards import Fired, matches
from agents_manager.domain.ids import HistoryId
from agents_manager.domain.pipeline import (
    ORIGIN,
    Pipeline,
    Policy,
    PromptType,
    Trigger,
    TriggerType,
    no_status,
)
from agents_manager.domain.prompt import Choice, ChoicePayload, Prompt, PromptStatus
from agents_manager.domain.question import Ask
from agents_manager.domain.task import Actor, Task
from agents_manager.errors import InvalidInput, TransitionRefused
from agents_manager.flow import asking, audit, facts, transitions
from agents_manager.flow.ports import Services, Tx

_BY_HAND = Fired(trigger=Trigger(type=TriggerType.MANUAL))
_OF_THE_OLD_GRAPH = ("transition", "redo", "release", "ask", "stay")
"""Choices that name transitions or questions of the version that is left, and what only filled
them up."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where one task would stand."""

    task: Task
    to: str | None
    """None when its status is in the new version neither by name nor by the map."""
    problem: str | None
    """Why the task cannot be migrated now."""


@dataclass(frozen=True, slots=True)
class Migration:
    pipeline: Pipeline
    """The version that is migrated to."""
    steps: Sequence[Step]
    applied: bool


async def migrate(
    s: Services,
    pipeline_id: str,
    actor: Actor,
    *,
    version: int | None = None,
    statuses: Mapping[str, str],
    task_id: str | None = None,
    apply: bool = False,
) -> Migration:
    """Takes one task, or all unfinished ones of older versions, to a version (the newest unless
    named). Without `apply` it only looks."""

    def plan(tx: Tx) -> Migration:
        target = tx.pipelines.get(pipeline_id, version)
        chosen = _chosen(tx, target, task_id)
        _check_map(tx, target, chosen, statuses)
        steps = [_step(tx, s, target, task, statuses) for task in chosen]
        return Migration(target, steps, applied=False)

    def write(tx: Tx) -> Migration:
        planned = plan(tx)
        refused = [f"{x.task.id}: {x.problem}" for x in planned.steps if x.problem]
        if refused:
            counted = f"{len(refused)} of {len(planned.steps)} tasks cannot be"
            raise TransitionRefused(f"Nothing was migrated: {counted}.", refused)
        for step in planned.steps:
            assert step.to is not None
            _carry(tx, s, planned.pipeline, step.task, step.to, statuses, actor)
        _told(tx, s, planned, actor)
        return Migration(planned.pipeline, planned.steps, applied=True)

    return await (s.store.write(write) if apply else s.store.read(plan))


def _told(tx: Tx, s: Services, done: Migration, by: Actor) -> None:
    target, number = done.pipeline, len(done.steps)
    summary = f'took {number} tasks to version {target.version} of pipeline "{target.id}"'
    said = {"pipeline": target.id, "version": target.version, "tasks": number}
    audit.note(tx, s.clock.now(), by, Deed.PIPELINE_MIGRATED, summary, **said)


def behind(tx: Tx, pipeline: Pipeline) -> list[Task]:
    """Unfinished tasks on older versions than this one."""
    return [
        task
        for task in tx.tasks.of_pipeline(pipeline.id)
        if task.pipeline_version < pipeline.version and not _own(tx, task).is_final(task.status)
    ]


def _own(tx: Tx, task: Task) -> Pipeline:
    return tx.pipelines.get(task.pipeline_id, task.pipeline_version)


def _chosen(tx: Tx, target: Pipeline, task_id: str | None) -> list[Task]:
    if task_id is None:
        return behind(tx, target)
    task = tx.tasks.find(task_id)
    if task.pipeline_id != target.id:
        raise InvalidInput(
            f'Task "{task.title}" follows pipeline "{task.pipeline_id}", not "{target.id}".'
        )
    if task.pipeline_version == target.version:
        raise InvalidInput(
            f'Task "{task.title}" is on version {target.version} of "{target.id}" already.'
        )
    if _own(tx, task).is_final(task.status):
        raise InvalidInput(f'Task "{task.title}" is finished ({task.status}); it stays as it is.')
    return [task]


def _check_map(
    tx: Tx, target: Pipeline, tasks: Sequence[Task], statuses: Mapping[str, str]
) -> None:
    versions = {v.version for v in tx.pipelines.versions(target.id)}
    of_tasks = {t.pipeline_version for t in tasks} or versions
    before = {x.id for v in of_tasks for x in tx.pipelines.get(target.id, v).statuses}
    after = [x.id for x in target.statuses]
    problems = [f"{old}: {no_status(old, before)}" for old in statuses if old not in before]
    problems += [
        f"{old}={new}: in version {target.version}, {no_status(new, after)}"
        for old, new in statuses.items()
        if new not in after
    ]
    if problems:
        raise InvalidInput("The map of statuses does not fit.", problems)


def _step(tx: Tx, s: Services, target: Pipeline, task: Task, statuses: Mapping[str, str]) -> Step:
    to = _named(target, task.status, statuses)
    if to is None:
        missing = f'"{task.status}" is not in version {target.version}'
        return Step(task, None, f"{missing}; say where to with {task.status}=STATUS in the map.")
    return Step(task, to, _in_the_way(tx, s, target, task, to, statuses))


def _named(target: Pipeline, status: str, statuses: Mapping[str, str]) -> str | None:
    """The map wins, so that a status whose meaning changed can be left, too."""
    return statuses.get(status, status if target.has(status) else None)


def _in_the_way(
    tx: Tx, s: Services, target: Pipeline, task: Task, to: str, statuses: Mapping[str, str]
) -> str | None:
    live = tx.runs.live(task.id)
    if live:
        return f"Run {live[0].id} is still going on; wait for it or stop it first."
    for effect in tx.effects.open(task.id):
        if effect.policy == Policy.REQUIRED:
            return f"{effect.kind} is still to be performed; wait until it is done."
    if not target.awaits_human(to):
        return None
    if any(t.to == ORIGIN for t in target.leaving(to)):
        origin = facts.origin_of(tx, task, _own(tx, task))
        back = _named(target, origin, statuses) if origin else None
        if origin and (back is None or not target.is_active(back)):
            return f'"{to}" leads back to "{origin}", which is no active status there; map it, too.'
    if _kept(tx, target, task, to) is None and _asked(tx, s, target, task, to) is None:
        return f'"{to}" waits for a person, and there is nothing to ask.'
    return None


def _carry(
    tx: Tx,
    s: Services,
    target: Pipeline,
    task: Task,
    to: str,
    statuses: Mapping[str, str],
    actor: Actor,
) -> None:
    pending = tx.prompts.pending(task.id)
    waits = target.awaits_human(to)
    kept = _kept(tx, target, task, to) if waits else None
    ask = _asked(tx, s, target, task, to) if waits and kept is None else None
    origin = facts.origin_of(tx, task, _own(tx, task))
    for prompt in pending:
        if prompt != kept:
            asks_again = ask is not None or prompt.type is PromptType.CHOICE
            replaced = asks_again and not target.is_final(to)
            ends = PromptStatus.SUPERSEDED if replaced else PromptStatus.CANCELLED
            asking.close(tx, s, prompt, ends)
    moved = transitions.carry(tx, s, task, target, to, statuses, actor)
    if ask is not None:
        back = _named(target, origin, statuses) if origin else None
        resume = facts.resume_point(tx, task, _BY_HAND, back)
        asking.open_prompt(tx, s, moved.task, ask, moved.history.id, resume)
    elif not target.is_final(to):
        _choose_again(tx, s, target, moved.task, pending, moved.history.id)
    transitions.recheck(tx, s, task.id)
    _never_nobody(tx, s, target, tx.tasks.get(task.id), moved.history.id)


def _kept(tx: Tx, target: Pipeline, task: Task, to: str) -> Prompt | None:
    """The open question, if the status asks the same and the graph takes its answer."""
    wanted = target.status(to).prompt
    for prompt in tx.prompts.pending(task.id):
        if prompt.beside or (wanted and wanted.type is not prompt.type):
            continue
        answer = question.fired_by(prompt.type, prompt.payload, {})
        if any(matches(t.trigger, t.guards, answer) for t in target.leaving(to)):
            return prompt
    return None


def _asked(tx: Tx, s: Services, target: Pipeline, task: Task, to: str) -> Ask | None:
    """What the status asks, if it can be asked without an agent's outcome."""
    ask = asking.question(tx, s, task, target, to, _BY_HAND)
    choices = [p for p in tx.prompts.pending(task.id) if p.type is PromptType.CHOICE]
    if ask is None or ask.type is not PromptType.CHOICE or not choices:
        return ask
    again = _offered_again(target, to, choices[-1])
    return replace(ask, payload=again.model_dump(mode="json"))


def _choose_again(
    tx: Tx,
    s: Services,
    target: Pipeline,
    task: Task,
    pending: Sequence[Prompt],
    history_id: HistoryId,
) -> None:
    for prompt in pending:
        if prompt.type is PromptType.CHOICE:
            before = ChoicePayload.model_validate(prompt.payload)
            why, evidence = before.reason, before.evidence
            extra = _beside_the_graph(before.choices)
            asking.open_choice(tx, s, task, target, history_id, why, evidence=evidence, extra=extra)


def _offered_again(target: Pipeline, status: str, prompt: Prompt) -> ChoicePayload:
    """The same choice with the moves of the new version."""
    before = ChoicePayload.model_validate(prompt.payload)
    extra = _beside_the_graph(before.choices)
    return question.choices(target, status, before.reason, before.evidence, extra)


def _beside_the_graph(choices: Sequence[Choice]) -> list[Choice]:
    return [c for c in choices if c.action.partition(":")[0] not in _OF_THE_OLD_GRAPH]


def _never_nobody(tx: Tx, s: Services, target: Pipeline, task: Task, history_id: HistoryId) -> None:
    """An active status without a run, a question or an effect would stand still for ever."""
    goes_on = tx.prompts.pending(task.id) or tx.runs.live(task.id) or tx.effects.open(task.id)
    if goes_on or not target.is_active(task.status):
        return
    ran = bool(tx.runs.of_task(task.id))
    again = [Choice(id="rerun", label="Run the agent again", action="rerun")] if ran else []
    why = f'Migrated to "{task.status}", where no agent is at work.'
    asking.open_choice(tx, s, task, target, history_id, why, extra=again)
