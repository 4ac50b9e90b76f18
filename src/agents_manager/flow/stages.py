"""Stages inside of the transactions of moves and runs: what a run is assigned when it is started,
and what is put on record when it ends."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents_manager.domain import event, stage_rules
from agents_manager.domain.course import (
    NO_STAGES,
    Asked,
    Assignment,
    Course,
    StageFacts,
    delivered,
)
from agents_manager.domain.event import Event
from agents_manager.domain.event.stages import STAGE
from agents_manager.domain.guards import Fired, matches
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import REQUESTER, Pipeline, TriggerType
from agents_manager.domain.run import Run
from agents_manager.domain.stages import outputs, table
from agents_manager.domain.stages.request import Request
from agents_manager.domain.task import SYSTEM, Actor, ActorType, Result, Task
from agents_manager.domain.trail import RETRY
from agents_manager.flow.ports import Services, Tx

_LOOK = frozenset(
    {
        *("batches_remain", "tests_can_be_written", "needs_debugging"),
        *("tests_are_due", "was_requested", "loop_backs_within"),
    }
)
"""Guards that look at the stages."""
EVENTS = 10_000
"""Of the stages of a task; caps keep it far below that."""


def course(tx: Tx, task: Task) -> Course:
    log = tx.events.newest(task.id, STAGE, EVENTS)[::-1]
    entries = tx.history.of_task(task.id)
    granted = [e.time for e in entries if e.result is Result.GRANTED]
    return Course(
        runs=[r for r in tx.runs.of_task(task.id) if not r.never_began],
        log=log,
        since=granted[-1] if granted else None,
    )


def staged(pipeline: Pipeline) -> bool:
    return any(status.stage is not None for status in pipeline.statuses)


def of(tx: Tx, task: Task) -> Course | None:
    """None: its pipeline has no stages."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return course(tx, task) if staged(pipeline) else None


def facts(tx: Tx, task: Task, fired: Fired) -> StageFacts:
    """Looked up only where a way on depends on them."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    ways = [t for t in pipeline.leaving(task.status) if matches(t.trigger, t.guards, fired)]
    if not any(t.to == REQUESTER or _LOOK.intersection(g.type for g in t.guards) for t in ways):
        return NO_STAGES
    looped = fired.trigger.type is TriggerType.LOOP_BACK
    wanted = str((fired.payload or {}).get("trigger_id")) if looped else None
    return course(tx, task).facts(wanted)


def skipped(tx: Tx, s: Services, task: Task, pipeline: Pipeline, ways: Mapping[str, str]) -> None:
    """Stages that a move leaves out, each with the reason why."""
    for status_id, reason in ways.items():
        status = pipeline.status(status_id)
        told = event.StageSkipped(
            status=status.id, stage=status.stage, role=status.role, reason=reason
        )
        tx.events.add(task.id, told, SYSTEM, s.clock.now())


def wave(tx: Tx, task: Task) -> list[Assignment]:
    """What is built next side by side; nothing where a builder goes on, or is gone back to."""
    known = of(tx, task)
    role = tx.pipelines.get(task.pipeline_id, task.pipeline_version).status(task.status).role
    if known is None or role != table.BUILDER or known.returning() or known.unfinished(role):
        return []
    return [_of_batch(batch) for batch in known.wave()]


def begun(
    tx: Tx, s: Services, task: Task, run_id: RunId, fired: Fired, given: Assignment | None
) -> None:
    """A run of a stage is on its way: what it is for, and whether it is tried again. What it is
    given is known where it is one of several."""
    run = tx.runs.get(run_id)
    known = of(tx, task)
    stage = table.BY_ROLE.get(run.mode)
    if known is None or stage is None:
        return
    past = Course(
        runs=[r for r in known.runs if not r.status.live], log=known.log, since=known.since
    )
    goes_on = known.goes_on_from(run)
    if goes_on is None and not run.part and past.runs and _started_again(tx, task, run):
        goes_on = past.runs[-1]
    for told in _begun(past, run, stage, fired, goes_on, given):
        tx.events.add(task.id, told, SYSTEM, s.clock.now())


def _started_again(tx: Tx, task: Task, run: Run) -> bool:
    """Whether somebody has the last run made once more, where it stood."""
    entries = tx.history.of_task(task.id)
    order = run.effect_id.rpartition("-")[0]
    return any(e.id == order and e.trigger == RETRY for e in entries[-1:])


def _begun(
    past: Course,
    run: Run,
    stage: table.Stage,
    fired: Fired,
    goes_on: Run | None,
    given: Assignment | None,
) -> list[Event]:
    request: Asked | None = None
    told: list[Event] = []
    back = past.returning()
    if fired.trigger.type is TriggerType.LOOP_BACK and fired.payload:
        wanted = str(fired.payload["trigger_id"])
        request = next(a for a in past.asked if a.trigger.trigger_id == wanted)
        told.append(
            event.LoopBackDispatched(
                trigger=wanted,
                run=run.id,
                source_agent=request.trigger.source_agent,
                target_agent=request.trigger.target_agent,
            )
        )
    elif fired.trigger.type is TriggerType.AGENT_OUTCOME and back:
        told.append(event.LoopBackReturned(trigger=back.trigger.trigger_id, run=run.id))
    if stage.role == table.BUILDER:
        kept = past.assignments.get(goes_on.id) if goes_on else None
        if fired.trigger.type is TriggerType.AGENT_OUTCOME and back:
            kept = past.assignments.get(back.run)
        given = given or kept or _next_batch(past, request)
        told.append(
            event.BuilderAssigned(
                run=run.id,
                agent=given.agent,
                batch=given.batch.model_dump(mode="json") if given.batch else None,
                files=given.files,
                trigger=given.trigger,
            )
        )
        again = _again(past, run, given.agent, stage, request, goes_on)
    else:
        again = _again(past, run, stage.role, stage, request, goes_on)
    return [*told, *again]


def _next_batch(past: Course, request: Asked | None) -> Assignment:
    """The builder that was asked for by its number, a fresh one for a request, else the one of the
    plan's next batch; after a person's review, a fresh one too."""
    given = [*past.assignments.values()]
    trigger = request.trigger.trigger_id if request else None
    if request:
        named = [a for a in given if a.agent == request.trigger.target_agent]
        if named:
            last = named[-1]
            return Assignment(agent=last.agent, batch=last.batch, files=last.files, trigger=trigger)
    left = past.batches_left()
    if left and not request:
        return _of_batch(left[0])
    plan = past.made.stage_2_plan
    numbers = [a.number for a in given] + [len(plan.batches) if plan else 0]
    name = f"{table.BUILDER}-{max(numbers) + 1}"
    return Assignment(agent=name, batch=None, files=(), trigger=trigger)


def _of_batch(batch: outputs.Batch) -> Assignment:
    name = f"{table.BUILDER}-{batch.number}"
    return Assignment(agent=name, batch=batch, files=batch.files, trigger=None)


def _again(
    past: Course,
    run: Run,
    agent: str,
    stage: table.Stage,
    request: Asked | None,
    goes_on: Run | None,
) -> list[Event]:
    """A try after one that failed, or that another agent found a fault in."""
    if goes_on and goes_on.error:
        issue = f"{goes_on.error.error_class}: {goes_on.error.error}"
        improvement = "The prompt says what the last run failed with."
    elif request and any(r.mode == stage.role for r in past.runs) and not _fresh(past, agent):
        issue = request.trigger.reason
        improvement = (
            f"The prompt holds request {request.trigger.trigger_id} of"
            f" {request.trigger.source_agent}, with its context."
        )
    else:
        return []
    attempt = 1 + sum(r.stage == stage.number and r.agent == agent for r in past.retries())
    return [
        event.StageRetried(
            run=run.id,
            stage=stage.number,
            agent=agent,
            attempt=attempt + 1,
            issue=issue,
            improvement=improvement,
        )
    ]


def _fresh(past: Course, agent: str) -> bool:
    """A builder that nobody was before."""
    builder = agent.startswith(f"{table.BUILDER}-")
    return builder and all(a.agent != agent for a in past.assignments.values())


def agent_of(known: Course, run: Run) -> str:
    """The name that a run has among the stages."""
    given = known.assignments.get(run.id)
    return given.agent if given else run.mode


def ended(
    tx: Tx,
    s: Services,
    run: Run,
    *,
    requests: Sequence[Mapping[str, Any]],
    refused: Sequence[str],
    changed: Sequence[str],
    fix_rounds: int,
    checks_passed: bool | None,
) -> None:
    """A run ended: what was wrong with what it said first, and, where it has its stage's output,
    what follows from that. In the transaction that ends it."""
    task = tx.tasks.get(run.task_id)
    known = of(tx, task)
    stage = table.BY_ROLE.get(run.mode)
    if known is None or stage is None:
        return
    agent = agent_of(known, run)
    actor = Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)
    events: list[Event] = [*_refused(known, run, stage, agent, refused)]
    if delivered(run):
        output = stage.output.model_validate(run.payload)
        events += _superseded(known, run, stage)
        events += _completed(known, run)
        events += _built(known, run, output, changed, fix_rounds, checks_passed)
        events += _requested(known, task, run, stage, agent, output, requests)
    for told in events:
        tx.events.add(task.id, told, actor, s.clock.now())


def unmerged(tx: Tx, s: Services, task: Task, runs: Sequence[Run]) -> None:
    """Builders whose work could not be put together with that of the others."""
    known = of(tx, task) if runs else None
    ended = {e.data["run"]: e.data for e in known.happened("builder.ended")} if known else {}
    for run in runs:
        if run.id in ended:
            result = {**ended[run.id], "final_status": "needs_external_debug"}
            told = event.BuilderEnded.model_validate({**result, "type": "builder.ended"})
            tx.events.add(task.id, told, SYSTEM, s.clock.now())


def _refused(
    known: Course, run: Run, stage: table.Stage, agent: str, refused: Sequence[str]
) -> list[Event]:
    before = sum(r.stage == stage.number and r.agent == agent for r in known.retries())
    return [
        event.StageRetried(
            run=run.id,
            stage=stage.number,
            agent=agent,
            attempt=before + number,
            issue=reason,
            improvement="It was asked again in the same session, with what could not be taken.",
        )
        for number, reason in enumerate(refused, 2)
    ]


def _superseded(known: Course, run: Run, stage: table.Stage) -> list[Event]:
    """What an agent asked for before it ran again, and nobody was sent for."""
    note = f"{stage.role} ran again before anybody was sent for it."
    return [
        event.LoopBackCompleted(trigger=asked.trigger.trigger_id, note=note)
        for asked in known.pending()
        if asked.edge[0] == stage.role and asked.run != run.id and stage.role != table.BUILDER
    ]


def _completed(known: Course, run: Run) -> list[Event]:
    served = known.served(run.id)
    if served is None or served.trigger.status != "dispatched":
        return []
    note = f"{agent_of(known, run)} ended with {run.outcome}."
    return [event.LoopBackCompleted(trigger=served.trigger.trigger_id, note=note)]


def _built(
    known: Course,
    run: Run,
    output: object,
    changed: Sequence[str],
    fix_rounds: int,
    checks_passed: bool | None,
) -> list[Event]:
    told: list[Event] = []
    if isinstance(output, outputs.ImplementationPlan):
        told += [
            event.BatchesSerial(run=run.id, file=file, batches=batches)
            for file, batches in stage_rules.shared(output).items()
        ]
    if isinstance(output, outputs.TestWritingReport) and output.placeholders.found:
        told.append(event.PlaceholdersFound(run=run.id, tests=output.placeholders.violations))
    given = known.assignments.get(run.id)
    if given is None or not isinstance(output, outputs.BuildReport):
        return told
    strays = stage_rules.strayed(given, changed)
    if strays:
        told.append(event.BuilderStrayed(run=run.id, agent=given.agent, files=tuple(strays)))
    built = all(f.status is outputs.BuildStatus.COMPLETE for f in output.features)
    passed = checks_passed is not False
    told.append(
        event.BuilderEnded(
            run=run.id,
            build_agent=given.agent,
            files_targeted=given.files,
            pre_check_passed=True,
            build_completed=built,
            post_check_passed=passed,
            debug_iterations=fix_rounds,
            final_status="success" if built and passed else "needs_external_debug",
        )
    )
    return told


def _requested(
    known: Course,
    task: Task,
    run: Run,
    stage: table.Stage,
    agent: str,
    output: Any,
    said: Sequence[Mapping[str, Any]],
) -> list[Event]:
    requests = [Request(**one) for one in said]
    without = None if requests else stage_rules.implied(output)
    number = len(known.asked)
    told: list[Event] = []
    for request in [*requests, *([without] if without else [])]:
        target = table.stage_of(request.target)
        assert target is not None
        number += 1
        told.append(
            event.LoopBackRequested(
                trigger=f"LB{number}",
                run=run.id,
                source_agent=agent,
                source_stage=stage.number,
                source_status=task.status,
                target_agent=request.target,
                target_stage=target.number,
                reason=request.reason,
                context=request.context,
                priority=request.priority,
                signature=stage_rules.signature(output, request),
                implied=request is without,
            )
        )
    return told
