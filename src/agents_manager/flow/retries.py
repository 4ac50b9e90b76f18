"""Trying again what failed: a new run of the same agent whose effect is due later. The row is the
timer, so a crash neither loses nor doubles it, and a run that waits holds no place."""

import zlib
from dataclasses import replace

from agents_manager.domain import event, retry
from agents_manager.domain.retry import Rules, Try
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.task import SYSTEM, Actor, ActorType, EffectRow
from agents_manager.domain.trail import RETRY
from agents_manager.errors import AgentsManagerError, NotFound, TransitionRefused
from agents_manager.flow import remedies
from agents_manager.flow.ports import Services, Tx


def schedule(tx: Tx, s: Services, run: Run, error: AgentError, *, grew: bool = False) -> bool:
    """Has a failed run tried again later; False when its error is final. A conversation that is too
    long is begun again only if it would be shorter: it `grew` in this run, or in an earlier one."""
    rule = _rules(tx, s, run).get(error.error_class)
    too_long = error.error_class is ErrorClass.CONTEXT_TOO_LONG
    if rule is None or (too_long and not grew and not _continued_session(tx, run)):
        return False
    now = s.clock.now()
    done = retry.done(_tries(tx, run))
    due = retry.due(rule, done, error.resets_at, now, _spread(run))
    if due is None:
        return False
    which = f"retry {done + 1} of {rule.tries}"
    session = None if too_long else run.session
    last = replace(run, session=session)
    (again,) = remedies.rerun(tx, s, run.task_id, SYSTEM, at=due, reason=which, run=last)
    told = event.RetryScheduled(
        run=run.id,
        retry=again,
        error_class=error.error_class,
        number=done + 1,
        tries=rule.tries,
        due_at=due,
    )
    tx.events.add(run.task_id, told, SYSTEM, now)
    return True


def now(tx: Tx, s: Services, run_id: str, actor: Actor) -> Run:
    """Tries again at once what would have been tried again later."""
    run = tx.runs.find(run_id)
    effect = waiting(tx, run)
    if effect is None:
        raise TransitionRefused(
            f"Run {run.id} ({run.status}) does not wait to be tried again. To start an agent where"
            f" none is at work: am run start {run.task_id}"
        )
    tx.effects.update(effect.id, due_at=s.clock.now())
    hastened = event.RetryHastened(run=run.id, by=actor.name)
    tx.events.add(run.task_id, hastened, actor, s.clock.now())
    return run


def waiting(tx: Tx, run: Run) -> EffectRow | None:
    """The effect that a retry waits for."""
    if run.status is not RunStatus.QUEUED or not automatic(tx, run):
        return None
    effect = tx.effects.get(run.effect_id)
    return effect if effect.status == "pending" else None


def automatic(tx: Tx, run: Run) -> bool:
    """Whether a run was started because the one before it had failed, and not by a person."""
    try:
        entry = tx.history.get(tx.effects.get(run.effect_id).history_id)
    except NotFound:
        return False
    return entry.trigger == RETRY and entry.actor.type is not ActorType.USER


def _spread(run: Run) -> float:
    """Return a number from 0 to 1 that is the same for a run each time."""
    return zlib.crc32(run.id.encode()) / 0xFFFFFFFF


def _continued_session(tx: Tx, run: Run) -> bool:
    """Return whether the run continued the session of an earlier run, so that a new session would
    have a shorter context."""
    others = (r for r in tx.runs.of_task(run.task_id) if r.id != run.id)
    return run.session is not None and any(r.session == run.session for r in others)


def _tries(tx: Tx, run: Run) -> list[Try]:
    mine = [r for r in tx.runs.of_task(run.task_id) if r.part == run.part]
    failed = [(r, r.error) for r in mine]
    return [Try(error.error_class, automatic(tx, r)) for r, error in failed if error is not None]


def _rules(tx: Tx, s: Services, run: Run) -> Rules:
    try:
        return s.configs.of(tx.projects.get(run.project_id)).retries
    except AgentsManagerError:  # A broken file keeps nobody from trying again.
        return retry.RULES
