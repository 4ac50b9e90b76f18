"""Loop-backs: when a stage ends and agents asked for others, the most urgent of these runs before
the task goes on. What may not be dispatched any more is put to a person."""

from agents_manager.domain import event
from agents_manager.domain.course import Asked
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import TaskId
from agents_manager.domain.pipeline import Pipeline, Trigger, TriggerType
from agents_manager.domain.prompt import Choice
from agents_manager.domain.question import ways_out
from agents_manager.domain.stages import table
from agents_manager.domain.task import SYSTEM, Actor
from agents_manager.domain.transition import Refused
from agents_manager.flow import asking, stages, transitions
from agents_manager.flow.ports import Services, Tx

WITHOUT = "A person went on without it."


def dispatched(tx: Tx, s: Services, task_id: TaskId, fired: Fired, actor: Actor) -> bool:
    """Whether a request was dispatched, or put to a person, in the place of what fired."""
    task = tx.tasks.get(task_id)
    known = stages.of(tx, task)
    pending = known.pending() if known else []
    if not pending:
        return False
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    wanted = _fired(pipeline, pending[0])
    result = transitions.apply(tx, s, task_id, wanted, actor)
    if isinstance(result, Refused):
        _put_to_a_person(tx, s, task_id, pipeline, pending[0], result, fired, actor)
    return True


def _fired(pipeline: Pipeline, asked: Asked) -> Fired:
    target = table.stage_of(asked.trigger.target_agent)
    role = target.role if target else asked.trigger.target_agent
    to = next((s.id for s in pipeline.statuses if s.role == role), role)
    return Fired(
        trigger=Trigger(type=TriggerType.LOOP_BACK),
        to=to,
        payload=asked.trigger.model_dump(mode="json"),
    )


def _put_to_a_person(
    tx: Tx,
    s: Services,
    task_id: TaskId,
    pipeline: Pipeline,
    asked: Asked,
    refused: Refused,
    fired: Fired,
    actor: Actor,
) -> None:
    """The task stays; a person grants more, goes on without it, or has the agent run again."""
    task = tx.tasks.get(task_id)
    reason = " ".join(refused.reasons)
    transitions.refuse(tx, s, task, refused, fired, actor, reason)
    entry = tx.history.of_task(task_id)[-1]
    told = event.LoopBackStopped(trigger=asked.trigger.trigger_id, reason=reason)
    tx.events.add(task_id, told, SYSTEM, s.clock.now())
    ways = [
        *ways_out(refused, rerun=True),
        Choice(id="onward", label="Go on without it", action=f"redo:{entry.id}"),
    ]
    said = f"{asked.trigger.trigger_id}: {asked.trigger.source_agent} requests"
    evidence = f"{said} {asked.trigger.target_agent} - {asked.trigger.reason}"
    asking.open_choice(tx, s, task, pipeline, entry.id, reason, evidence=evidence, extra=ways)


def taken_up(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """After a grant: what had to wait for it is dispatched."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    busy = tx.runs.live(task_id) or tx.effects.open(task_id)
    if not busy and stages.staged(pipeline) and pipeline.is_active(task.status):
        nothing = Fired(trigger=Trigger(type=TriggerType.AUTO))
        dispatched(tx, s, task_id, nothing, actor)


def dropped(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """A person goes on without what agents asked for."""
    known = stages.of(tx, tx.tasks.get(task_id))
    for asked in known.pending() if known else ():
        told = event.LoopBackCompleted(trigger=asked.trigger.trigger_id, note=WITHOUT)
        tx.events.add(task_id, told, actor, s.clock.now())
