"""Steps 9 and 10, one transaction: the run ends, the task moves, the next effects are stored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import structlog

from agents_manager.domain import event, question
from agents_manager.domain.findings import UNHELPED
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import Trigger, TriggerType
from agents_manager.domain.race import JUDGE
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.stages.table import BY_OUTCOME
from agents_manager.domain.task import OPEN_EFFECTS, SYSTEM
from agents_manager.flow import (
    budgets,
    check_decisions,
    comments,
    loop_backs,
    parts,
    picking,
    remedies,
    retries,
    sharing,
    stages,
    transitions,
)
from agents_manager.flow.comments import Quotes
from agents_manager.flow.memory.absorb import absorb
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import copying, handoffs, midway, progress, refusals, spending
from agents_manager.flow.runs.prepare import agent_actor, of, release
from agents_manager.flow.runs.verdict import Check, Verdict

log = structlog.get_logger()

_REPORTED = (
    *("outcome", "payload", "inferred", "document", "start_sha", "head_sha"),
    *("requests", "changed", "fix_rounds"),
)
"""What a verdict says of the agent's work apart from checks and usage."""
_ENDS_AS = {ErrorClass.TIMEOUT: RunStatus.TIMEOUT, ErrorClass.CANCELLED: RunStatus.CANCELLED}


async def close(run_id: RunId, verdict: Verdict, s: Services) -> None:
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    await release(run, s)
    verdict = await progress.located(run, task, project, verdict, s)
    halted = await progress.halted(run, project, verdict, s)
    review = question.agent_review(verdict.get("outcome"), verdict.get("payload")) or {}
    head = verdict.get("head_sha")
    lines = await comments.quotes(s, project, head, review.get("comments", ()))
    await copying.whole(s, run_id)

    def write(tx: Tx) -> Run | None:
        run = tx.runs.get(run_id)
        effect = tx.effects.get(run.effect_id)
        if effect.status not in OPEN_EFFECTS or (s.here and effect.host != s.here.host):
            return None
        tx.effects.update(run.effect_id, status="done", finished_at=s.clock.now())
        if not run.status.live:
            transitions.settle_end(tx, s, tx.tasks.get(run.task_id))
            return None  # Stopped in the meantime: what it still said is not listened to.
        _record(tx, s, run, verdict)
        handoffs.record(tx, s, run, verdict, registry_of(s, project))
        kept = handoffs.kept(run, verdict, s.clock.now())
        if kept is not None:
            commit = verdict.get("head_sha") or run.base_sha
            absorb(tx, s, run, tx.tasks.get(run.task_id), kept, commit)
        if "error" in verdict:
            error = error_of(verdict)
            over_budget = verdict.get("over_budget", False)
            _of_stage(tx, s, run_id, verdict)
            elsewhere = verdict.get("elsewhere", False)
            fail(
                tx,
                s,
                run_id,
                error,
                halted=halted,
                over_budget=over_budget,
                elsewhere=elsewhere,
                undecided=_note_undecided(tx, s, run, verdict),
                grew=verdict.get("grew", False),
            )
        else:
            _complete(tx, s, run, verdict, lines, halted=halted)
        return tx.runs.get(run_id)

    ended = await s.store.write(write)
    if ended is not None:
        _tell(ended)


def _tell(run: Run) -> None:
    """The log says how it ended, and leaves what was said in it to the transcript."""
    ids = {"run": run.id, "task": run.task_id}
    if run.error is None:
        log.info("run.ended", **ids, status=run.status, outcome=run.outcome)
    else:
        log.warning("run.failed", **ids, status=run.status, error_class=run.error.error_class)


def fail(
    tx: Tx,
    s: Services,
    run_id: RunId,
    error: AgentError,
    *,
    halted: bool = False,
    over_budget: bool = False,
    elsewhere: bool = False,
    undecided: bool = False,
    grew: bool = False,
) -> None:
    """Ends a live run with an error. The pipeline takes it when it is not tried again. `grew` is
    whether its conversation grew beyond the first prompt."""
    run = tx.runs.get(run_id)
    if not run.status.live:
        return
    now = s.clock.now()
    status = _ENDS_AS.get(error.error_class, RunStatus.FAILED)
    tx.runs.update(run_id, status=status, error=error, ended_at=now)
    midway.withdraw(tx, s, run)
    actor = agent_actor(run)
    # What others leave to a person who says how the task goes on, a judge leaves to who picks.
    alone = not run.part and run.mode != JUDGE
    if status is RunStatus.CANCELLED:
        tx.events.add(run.task_id, event.AgentCancelled(run=run_id), actor, now)
        if run.part:
            parts.ended(tx, s, run)
        elif not _stop_is_ordered(tx, run):
            remedies.after_stop(tx, s, run.task_id, "The agent was stopped from outside.")
        return
    failed = event.AgentFailed(run=run_id, error_class=error.error_class, error=error.error)
    tx.events.add(run.task_id, failed, actor, now)
    if over_budget and alone and not _stop_is_ordered(tx, run):
        budgets.hold(tx, s, tx.runs.get(run_id), error.error)
        return
    if elsewhere and alone and not _stop_is_ordered(tx, run):
        sharing.ask(tx, s, run, error.error)
        return
    if undecided and not _stop_is_ordered(tx, run):
        check_decisions.ask(tx, s, tx.runs.get(run_id), error.error)
        return
    may_retry = not over_budget and not _stop_is_ordered(tx, run)
    if may_retry and retries.schedule(tx, s, tx.runs.get(run_id), error, grew=grew):
        return
    fired = Fired(
        trigger=Trigger(type=TriggerType.AGENT_ERROR), payload=error.model_dump(mode="json")
    )
    _go_on(tx, s, run, fired, halted=halted)


def _note_undecided(tx: Tx, s: Services, run: Run, verdict: Verdict) -> bool:
    """Records what the task continues with once its checks pass; returns False if no person is to
    decide about them."""
    suspects = verdict.get("suspects", [])
    environment = verdict.get("error_class") == ErrorClass.ENVIRONMENT
    if not (suspects and environment and check_decisions.may_ask(run)):
        return False
    reported = {name: value for name, value in verdict.items() if name in _REPORTED}
    noted = event.ChecksUndecided(
        run=run.id,
        checks=tuple(suspects),
        ran=verdict.get("suspects_ran", False),
        verdict=reported,
    )
    tx.events.add(run.task_id, noted, SYSTEM, s.clock.now())
    return True


def rechecked(tx: Tx, s: Services, run: Run, verdict: Verdict) -> None:
    """Continues after an ended run with what its checks came to when they ran again."""
    record_checks(tx, s, run, verdict)
    if "error" not in verdict:
        tx.runs.update(run.id, error=None)
        _complete(tx, s, run, verdict, {}, halted=False)
        return
    error = error_of(verdict)
    tx.runs.update(run.id, error=error)
    if error.error_class is ErrorClass.ENVIRONMENT:
        _note_undecided(tx, s, run, verdict)
        check_decisions.ask(tx, s, tx.runs.get(run.id), error.error)
        return
    trigger = Trigger(type=TriggerType.AGENT_ERROR)
    fired = Fired(trigger=trigger, payload=error.model_dump(mode="json"))
    _go_on(tx, s, run, fired, halted=False)


def error_of(verdict: Verdict) -> AgentError:
    broken = [c["output"] for c in _broken(verdict)]
    resets = verdict.get("resets_at")
    return AgentError(
        error=verdict.get("error", ""),
        error_class=ErrorClass(verdict.get("error_class", ErrorClass.CRASH)),
        output=broken[0] if broken else verdict.get("message", ""),
        resets_at=datetime.fromisoformat(resets) if resets else None,
    )


def _go_on(tx: Tx, s: Services, run: Run, fired: Fired, *, halted: bool) -> None:
    if run.part:
        parts.ended(tx, s, run)
        return
    if run.mode == JUDGE:
        picking.judged(tx, s, tx.runs.get(run.id))
        return
    actor = agent_actor(run)
    ended = fired.trigger.outcome in BY_OUTCOME
    if halted:
        progress.halt(tx, s, run, fired, actor)
    elif not (ended and loop_backs.dispatched(tx, s, run.task_id, fired, actor)):
        transitions.report(tx, s, run.task_id, fired, actor)


def _complete(
    tx: Tx, s: Services, run: Run, verdict: Verdict, lines: Quotes, *, halted: bool
) -> None:
    now = s.clock.now()
    outcome, payload = verdict.get("outcome", ""), verdict.get("payload")
    inferred = verdict.get("inferred", False)
    cost = verdict.get("cost") or {}
    tx.runs.update(
        run.id, status=RunStatus.COMPLETED, outcome=outcome, payload=payload, ended_at=now
    )
    completed = event.AgentCompleted(
        run=run.id, outcome=outcome, inferred=inferred, cost_usd=cost.get("usd")
    )
    actor = agent_actor(run)
    tx.events.add(run.task_id, completed, actor, now)
    _of_stage(tx, s, run.id, verdict)
    review = question.agent_review(outcome, payload)
    if review is not None:
        said = comments.kept(tx, run.task_id, review["comments"], lines)
        tx.events.add(run.task_id, _reviewed(run, review, said, verdict), actor, now)
    if outcome not in UNHELPED:
        tx.knowledge.helped(run.id)
    if outcome == "plan_complete":
        tx.tasks.update(run.task_id, now, plan=verdict.get("document", ""))
    if "paused" in verdict:
        midway.pause(tx, s, tx.runs.get(run.id), verdict["paused"], actor)
        return
    midway.withdraw(tx, s, run)
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)
    fired = Fired(trigger=trigger, payload=payload, inferred=inferred)
    _go_on(tx, s, run, fired, halted=halted)


def _of_stage(tx: Tx, s: Services, run_id: RunId, verdict: Verdict) -> None:
    stages.ended(
        tx,
        s,
        tx.runs.get(run_id),
        requests=verdict.get("requests", ()),
        refused=verdict.get("refused", ()),
        changed=verdict.get("changed", ()),
        fix_rounds=verdict.get("fix_rounds", 0),
        checks_passed=verdict.get("checks_passed"),
    )


def _reviewed(
    run: Run,
    review: Mapping[str, Any],
    said: tuple[Mapping[str, Any], ...],
    verdict: Verdict,
) -> event.ReviewSubmitted:
    return event.ReviewSubmitted(
        prompt=None,
        decision=review["decision"],
        by=run.agent or "agent",
        via="run",
        summary=review["summary"],
        comments=said,
        head_sha=verdict.get("head_sha"),
        run=run.id,
    )


def keep(tx: Tx, s: Services, run: Run, verdict: Verdict) -> None:
    """What was used, what that cost, and the session to go on with."""
    spending.keep(tx, run.id, verdict)
    tx.runs.update(run.id, session=verdict.get("session") or run.session)
    if verdict.get("session_lost"):
        lost = event.SessionLost(run=run.id)
        tx.events.add(run.task_id, lost, SYSTEM, s.clock.now())
    disbelieved = verdict.get("usage_refused")
    if disbelieved:
        told = event.UsageRefused(run=run.id, reason=disbelieved)
        tx.events.add(run.task_id, told, SYSTEM, s.clock.now())


def _record(tx: Tx, s: Services, run: Run, verdict: Verdict) -> None:
    """Usage, session and what the checks said, whatever the outcome."""
    now = s.clock.now()
    keep(tx, s, run, verdict)
    tx.runs.update(run.id, head_sha=verdict.get("head_sha"))
    for refused in verdict.get("refused", ()):
        tx.events.add(run.task_id, event.OutputRefused(run=run.id, reason=refused), SYSTEM, now)
    broke = verdict.get("interruption")
    if broke:
        tx.events.add(run.task_id, event.AgentInterrupted(run=run.id, error=broke), SYSTEM, now)
    refusals.record(tx, s, run, verdict)
    left_out = verdict.get("left_out")
    if left_out:
        tx.events.add(run.task_id, event.ProductsLeftOut.from_run(run.id, left_out), SYSTEM, now)
    record_checks(tx, s, run, verdict)


def record_checks(tx: Tx, s: Services, run: Run, verdict: Verdict) -> None:
    now, checks = s.clock.now(), verdict.get("checks")
    if not checks or verdict.get("error_class") == ErrorClass.ENVIRONMENT:
        return
    broken = _broken(verdict)
    if verdict.get("error_class") == ErrorClass.CHECKS_FAILED:
        failed = event.ChecksFailed(
            run=run.id,
            outcome=verdict.get("outcome", ""),
            checks=tuple(c["name"] for c in broken),
            output=broken[0]["output"],
        )
        tx.events.add(run.task_id, failed, SYSTEM, now)
        return
    passed = event.ChecksPassed(
        run=run.id,
        checks=tuple(c["name"] for c in checks if c["passed"]),
        warnings=tuple(c["name"] for c in broken),
        passed=verdict.get("checks_passed"),
    )
    tx.events.add(run.task_id, passed, SYSTEM, now)


def _broken(verdict: Verdict) -> list[Check]:
    """The worst first."""
    failed = [c for c in verdict.get("checks", ()) if not c["passed"]]
    return sorted(failed, key=lambda c: c["severity"] != "error")


def _stop_is_ordered(tx: Tx, run: Run) -> bool:
    return any(
        e.kind == "stop_agent" and e.payload["run_id"] == run.id
        for e in tx.effects.open(run.task_id)
    )
