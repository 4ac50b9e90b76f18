"""Puts right what a lost row, a restored backup or a killed process leaves, through the functions
that everything else goes through. Each repair is an event, and none is made for ever."""

import structlog

from agents_manager.domain import event, trail
from agents_manager.domain.effects import StartAgent
from agents_manager.domain.graph import Graph
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, RunId, TaskId
from agents_manager.domain.pipeline import Pipeline, Policy, Trigger, TriggerType
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.task import OPEN_EFFECTS, EffectRow, Task
from agents_manager.errors import NotFound
from agents_manager.flow import asking, facts, liveness, machines, places, planning, remedies
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close, copying, lifecycle, prepare
from agents_manager.flow.runs.places import TURNS, job_dir

log = structlog.get_logger()

MOST_RUNS = 1_000
MOST = 3
"""How often a task is repaired where it stands. Who breaks it again then is to be looked for."""
LOST = "The engine had lost track of this run."


async def tell(s: Services, run: Run, fault: str, repair: str) -> None:
    await s.store.write(lambda tx: _told(tx, s, run.task_id, fault, repair))


def _told(tx: Tx, s: Services, task_id: TaskId, fault: str, repair: str) -> None:
    version = tx.tasks.get(task_id).version
    done = event.TaskRepaired(version=version, fault=fault, repair=repair)
    tx.events.add(task_id, done, SUPERVISOR, s.clock.now())


def live(tx: Tx) -> list[Run]:
    return tx.runs.page(task=None, live=True, after=None, limit=MOST_RUNS)


# ----------------------------------------------------------------------- processes and their runs


async def processes(s: Services) -> list[RunId]:
    """Ends agents that work for a run that is over, was given to another machine or was never heard
    of; the runs they had."""
    ended: list[RunId] = []
    for folder in await s.runners.at_work(s.jobs_dir):
        run_id = RunId(folder.parent.name)
        if await s.runners.pulse(folder) is None:
            continue
        run = await s.store.read(lambda tx, r=run_id: _found(tx, r))
        if run is not None and run.status.live and not machines.elsewhere(s, run):
            continue
        await s.runners.stop(folder)
        log.warning("supervisor.process_ended", run=run_id)
        if run is not None:
            fault = "is on another machine" if run.status.live else "is over"
            await tell(s, run, f"An agent worked for a run that {fault}.", "It was ended.")
        ended.append(run_id)
    return ended


def _found(tx: Tx, run_id: RunId) -> Run | None:
    try:
        return tx.runs.get(run_id)
    except NotFound:
        return None


async def runs(s: Services) -> list[RunId]:
    """Runs that count as live while nothing performs them: one that has begun is ended as
    interrupted, and one that waits is put back into the queue."""
    lost = await s.store.read(lambda tx: _lost(tx, s))
    for run in lost:
        if run.status is RunStatus.RUNNING:
            await _end(s, run)
        else:
            await s.store.write(lambda tx, r=run: _queue_again(tx, s, r.id))
    return [run.id for run in lost]


def _lost(tx: Tx, s: Services) -> list[Run]:
    """Those that this machine has to see to; how it goes on with one is in the project."""
    lost = [run for run in live(tx) if _is_lost(tx, run) and machines.sees_to(tx, s, run)]
    return [run for run in lost if places.away(s, tx.projects.get(run.project_id)) is None]


def _is_lost(tx: Tx, run: Run) -> bool:
    effect = _effect(tx, run.effect_id)
    return effect is None or effect.status not in OPEN_EFFECTS


def _effect(tx: Tx, effect_id: EffectId) -> EffectRow | None:
    try:
        return tx.effects.get(effect_id)
    except NotFound:
        return None


async def _end(s: Services, run: Run) -> None:
    here = not machines.elsewhere(s, run)
    for turn in TURNS if here else ():
        await s.runners.stop(job_dir(s, run.id, turn))
    kept = await lifecycle.kept(run.id, s)
    stood = await s.store.read(lambda tx: tx.runs.get(run.id))
    if here:
        await prepare.release(stood, s)
    await copying.whole(s, run.id)

    def write(tx: Tx) -> None:
        found = tx.runs.get(run.id)
        if found.status.live and _is_lost(tx, found):
            _told(tx, s, run.task_id, LOST, "It ends as interrupted.")
            close.keep(tx, s, found, kept)
            error = AgentError(error=LOST, error_class=ErrorClass.INTERRUPTED)
            close.fail(tx, s, run.id, error)

    await s.store.write(write)


def _queue_again(tx: Tx, s: Services, run_id: RunId) -> None:
    """Once: what is lost a second time has failed."""
    run = tx.runs.get(run_id)
    if run.status is not RunStatus.QUEUED or not _is_lost(tx, run):
        return
    again = EffectId(f"{run.id}-again")
    if _effect(tx, again) is not None:
        _told(tx, s, run.task_id, LOST, "It ends as interrupted.")
        error = AgentError(error=LOST, error_class=ErrorClass.INTERRUPTED)
        close.fail(tx, s, run.id, error)
        return
    _told(tx, s, run.task_id, LOST, "It is queued again.")
    task, entry = tx.tasks.get(run.task_id), tx.history.of_task(run.task_id)[-1]
    effect = StartAgent(run_id=run.id)
    planning.add(tx, s, task, effect, again, entry.id, len(entry.hooks), Policy.REQUIRED)
    tx.runs.update(run.id, effect_id=again)


# ------------------------------------------------------------------------------ where a task stands


def stranded(tx: Tx, s: Services, task_id: TaskId) -> bool:
    """Finds somebody who moves a task that nobody would; False when there is no way to."""
    task = tx.tasks.get(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    mover = liveness.next_mover(tx, task, pipeline, s.clock.now())
    if mover.kind != "nobody" or _repaired(tx, task) >= MOST:
        return False
    if pipeline.awaits_human(task.status):
        repair = _ask(tx, s, task, pipeline)
    elif task.status in Graph(pipeline, s.registry).agent_statuses():
        repair = _start(tx, s, task, pipeline)
    else:
        return False
    _told(tx, s, task.id, mover.text, repair)
    return True


def _repaired(tx: Tx, task: Task) -> int:
    told = tx.events.newest(task.id, event.TaskRepaired.category, 100)
    kind = event.TaskRepaired.model_fields["type"].default
    return sum(e.type == kind and e.data["version"] == task.version for e in told)


def _ask(tx: Tx, s: Services, task: Task, pipeline: Pipeline) -> str:
    """Asks what was asked here, or what would have been, or how it goes on."""
    entry = tx.history.of_task(task.id)[-1]
    note = "This question had been lost."
    asking.reopen(tx, s, task, entry.id, note)
    if tx.prompts.pending(task.id):
        return "The question was asked again."
    came = trail.arrival(facts.past(tx, task.id), task.status)
    if came is not None and came.trigger in (*TriggerType,):
        fired = Fired(
            trigger=Trigger(type=TriggerType(came.trigger), outcome=came.outcome),
            payload=came.payload,
        )
        ask = asking.question(tx, s, task, pipeline, task.status, fired)
        if ask is not None:
            origin = facts.origin_of(tx, task, pipeline)
            resume = facts.resume_point(tx, task, fired, origin)
            asking.open_prompt(tx, s, task, ask, came.id, resume, note=note)
            return "The question was asked."
    asking.open_choice(tx, s, task, pipeline, entry.id, "Nobody was asked how this task goes on.")
    return "An admin is asked how it goes on."


def _start(tx: Tx, s: Services, task: Task, pipeline: Pipeline) -> str:
    """Once for each visit. If that is lost as well, a person is to look at it."""
    entries = facts.past(tx, task.id)
    mine = any(e.version == task.version and e.actor == SUPERVISOR for e in entries)
    if not mine and remedies.start_anew(tx, s, task, pipeline, SUPERVISOR):
        return "The agent was started again."
    remedies.after_stop(tx, s, task.id, "No agent works at this task, though one should.")
    return "An admin is asked how it goes on."
