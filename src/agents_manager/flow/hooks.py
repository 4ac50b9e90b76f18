"""Performing effects, after the commit that stored them. Each handler looks before it leaps, and
writes what came of it in the transaction that marks the effect done."""

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from agents_manager.domain import effects, event
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.pipeline import Policy, Trigger, TriggerType
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.task import (
    OPEN_EFFECTS,
    SYSTEM,
    Actor,
    ActorType,
    EffectRow,
    Project,
    Task,
)
from agents_manager.errors import (
    AgentsManagerError,
    ExternalError,
    ForgeUnavailable,
    HookFailed,
    HostReplaced,
    NotFound,
    RunNotFound,
    SecretFound,
)
from agents_manager.flow import (
    agents,
    artifacts,
    branches,
    check_decisions,
    cleanup,
    leaks,
    machines,
    noting,
    parts,
    patience,
    picking,
    plugin_hooks,
    pulls,
    remedies,
    setup_plans,
    sharing,
    snapshots,
    surroundings,
    teardown,
    transitions,
)
from agents_manager.flow.branches import Ground
from agents_manager.flow.channels import router
from agents_manager.flow.ports import Services, Steps, Tx, acting
from agents_manager.flow.runs import (
    checking,
    close,
    collect,
    copying,
    handing_over,
    lifecycle,
    midway,
    rechecking,
)
from agents_manager.flow.settling import finish, may_perform, task_and_project

log = structlog.get_logger()

MAX_ATTEMPTS = 3
BACKOFF_S = 1.0
PATIENCE = timedelta(hours=24)
"""For how long a forge that does not answer is asked again."""
LONGEST_PAUSE_S = 300.0
LONGEST_WAIT_S = 6 * 3600.0
"""A forge that wants to be left alone for longer is not believed."""


async def perform(effect_id: EffectId, attempt: int, s: Services, steps: Steps) -> None:
    """Performs one effect; a failure becomes a later attempt or a failed effect. A workflow that
    is recovered after its attempt was given up, or its task deleted, has nothing to do any more."""
    try:
        row = await patience.through(lambda: s.store.read(lambda tx: tx.effects.get(effect_id)))
    except NotFound:
        return
    if row.status not in OPEN_EFFECTS or row.attempt != attempt or not may_perform(s, row):
        return
    with acting(s.here), structlog.contextvars.bound_contextvars(**_ids(row)):
        log.info("effect.begun", kind=row.kind, attempt=attempt)
        try:
            await _perform(row, s, steps)
        except HostReplaced as error:
            log.warning("effect.taken_over", kind=row.kind, attempt=attempt, reason=error.message)
        except AgentsManagerError as error:
            away = error if isinstance(error, ForgeUnavailable) else None
            held = error if isinstance(error, SecretFound) else None
            told, again = error.message, error.retryable
            await failed(s, effect_id, attempt, told, retryable=again, away=away, held=held)
        except Exception:
            log.exception("effect.crashed", kind=row.kind, attempt=attempt)
            raise


def _ids(row: EffectRow) -> dict[str, str]:
    """By which the lines of the log are found."""
    of_run = {"run": row.payload["run_id"]} if "run_id" in row.payload else {}
    return {"effect": row.id, "task": row.task_id, **of_run}


async def failed(
    s: Services,
    effect_id: EffectId,
    attempt: int,
    error: str,
    *,
    retryable: bool,
    away: ForgeUnavailable | None = None,
    held: SecretFound | None = None,
) -> None:
    """Takes note of a failed attempt: another one follows, or the hook's policy decides."""

    def write(tx: Tx) -> EffectRow | None:
        try:
            row = tx.effects.get(effect_id)
        except NotFound:
            return None  # The supervisor finds what its loss leaves.
        if row.status not in OPEN_EFFECTS or row.attempt != attempt:
            return None
        now = s.clock.now()
        short = s.disk.shortage() is not None
        pause_s = _pause_s(row, now, away, short=short) if retryable else None
        if pause_s is not None:
            due_at = now + timedelta(seconds=pause_s)
            tx.effects.update(
                effect_id, status="pending", attempt=row.attempt + 1, due_at=due_at, error=error
            )
            again = event.HookRetried(
                effect=row.id, hook=row.kind, attempt=row.attempt + 1, error=error
            )
            tx.events.add(row.task_id, again, SYSTEM, now)
        else:
            _give_up(tx, s, row, error, held)
        return tx.effects.get(effect_id)

    row = await patience.through(lambda: s.store.write(write))
    if row is not None:
        how = "effect.tried_again" if row.status == "pending" else "effect.failed"
        log.warning(how, **_ids(row), kind=row.kind, attempt=attempt, error=error)


def _give_up(tx: Tx, s: Services, row: EffectRow, error: str, held: SecretFound | None) -> None:
    now = s.clock.now()
    tx.effects.update(row.id, status="failed", error=error, finished_at=now)
    gave_up = event.HookFailed(effect=row.id, hook=row.kind, error=error)
    tx.events.add(row.task_id, gave_up, SYSTEM, now)
    if row.kind == "start_agent":
        trouble = AgentError(error=error, error_class=ErrorClass.ENVIRONMENT)
        with suppress(RunNotFound):
            close.fail(tx, s, RunId(row.payload["run_id"]), trouble)
        return
    if row.kind == "join_parts":
        parts.gave_up(tx, s, row, error)
        return
    if row.kind in ("settle_race", "take_part"):
        picking.gave_up(tx, s, row, error)
        return
    if row.kind == "recheck_run":
        run = tx.runs.get(RunId(row.payload["run_id"]))
        check_decisions.ask(tx, s, run, f"The checks could not run again: {error}")
        return
    if row.kind == "hand_over":
        handing_over.ask_again(tx, s, row, f"The work could not be handed over: {error}")
        return
    required = row.policy == Policy.REQUIRED
    ways_out = leaks.ways_out(tx, row, held) if held else []
    if required and remedies.roll_back(tx, s, row, error, ways_out):
        return
    if not required:
        transitions.recheck(tx, s, row.task_id)
    if held:
        leaks.ask(tx, s, row, held)


def _pause_s(
    row: EffectRow, now: datetime, away: ForgeUnavailable | None, *, short: bool
) -> float | None:
    """How long until the next attempt; None when there is none. What fails by itself is tried again
    at once; a forge that is away comes back when it does, and room on a disk that is `short` of it
    when somebody makes some."""
    pause = BACKOFF_S * 2 ** min(row.attempt - 1, 20)
    if not (away or short) or now - row.created_at > PATIENCE:
        return pause if away is None and row.attempt < MAX_ATTEMPTS else None
    if away is not None and away.wait_s is not None:
        return min(max(away.wait_s, BACKOFF_S), LONGEST_WAIT_S)
    return min(pause, LONGEST_PAUSE_S)


async def _perform(row: EffectRow, s: Services, steps: Steps) -> None:
    effect = effects.EFFECT.validate_python(row.payload)
    match effect:
        case effects.StartAgent():
            await lifecycle.run(RunId(effect.run_id), s, steps)
        case effects.StopAgent():
            await steps.run(row.kind, lambda: _stop_agent(row, effect, s))
        case (
            effects.PushAndCreatePr()
            | effects.CreateFinalPr()
            | effects.MergePr()
            | effects.MirrorReview()
            | effects.LookAtPull()
        ):
            await steps.run(row.kind, lambda: pulls.perform(row, effect, s))
        case effects.NoteOnIssue():
            await steps.run(row.kind, lambda: noting.tell(row, effect, s))
        case (
            effects.CreateTaskBranch()
            | effects.JoinParts()
            | effects.SettleRace()
            | effects.TakePart()
            | effects.RunChecks()
            | effects.RecheckRun()
            | effects.HandOver()
            | effects.DeleteWorktree()
        ):
            await steps.run(row.kind, lambda: _in_repository(row, effect, s))
        case effects.Notify():
            await steps.run(row.kind, lambda: _notify(row, effect, s))
        case effects.RemoveWorkspace():
            await steps.run(row.kind, lambda: cleanup.perform(row, s))
        case effects.PluginHook():
            await steps.run(row.kind, lambda: plugin_hooks.call(row, effect, s))


async def _in_repository(row: EffectRow, effect: effects.InRepository, s: Services) -> None:
    match effect:
        case effects.CreateTaskBranch():
            await _create_branch(row, s)
        case effects.JoinParts():
            await parts.join(row, effect, s)
        case effects.SettleRace():
            await picking.settle(row, effect, s)
        case effects.TakePart():
            await picking.take(row, effect, s)
        case effects.RunChecks():
            await _run_checks(row, s)
        case effects.RecheckRun():
            await rechecking.perform(row, effect, s)
        case effects.HandOver():
            await handing_over.perform(row, effect, s)
        case effects.DeleteWorktree():
            await _delete_worktree(row, s)


async def _fetch(s: Services, task: Task, project: Project, ground: Ground) -> None:
    await sharing.tell(s, task, await sharing.ready(s, task, project, [ground]))


async def _create_branch(row: EffectRow, s: Services) -> None:
    task, project = await task_and_project(s, row)
    ground = await s.store.read(lambda tx: branches.of_task(tx, s, task, project))
    await _fetch(s, task, project, ground)
    await s.workspaces.ensure_branch(Path(project.path), ground.branch, ground.base)

    def then(tx: Tx) -> None:
        branches.keep(tx, s, task, ground)

    await finish(s, row, then, {"branch": ground.branch})


async def _run_checks(row: EffectRow, s: Services) -> None:
    """The project's checks on the branch as it stands; what they said is kept with the change."""
    task, project = await task_and_project(s, row)
    ground = await s.store.read(lambda tx: branches.at_work(tx, s, task, project))
    config = s.configs.of(project)
    decided = await s.store.read(lambda tx: check_decisions.of_task(tx, task.id))
    wanted = decided.without_skipped(config.checks)
    if any(c.own for c in wanted) and not agents.trusted(
        project, config, "checks.", "setup.", "env."
    ):
        raise HookFailed(agents.untrusted(project, config))
    repo = Path(project.path)
    await _fetch(s, task, project, ground)
    change = await s.workspaces.change(repo, ground.branch, ground.base)
    runs = await s.store.read(lambda tx: tx.runs.of_task(task.id))
    kept = any(run.kept for run in runs)
    base, head = change.base_sha, change.head_sha
    setup = await setup_plans.for_run(s, runs[-1], project, ground.branch, head) if runs else None
    around = await surroundings.of_task(s, project, config, task, ground.branch)
    results = await s.checks.run(
        repo, base, head, wanted, kept=kept, setup=setup, surroundings=around
    )
    passed = checking.passed(results, wanted)
    await artifacts.refresh_change(
        s, task, project, ground.branch, ground.base, checks_passed=passed
    )
    if failed := checking.stopped_by(results, config):
        raise HookFailed(f"Checks failed: {', '.join(f'{r.name} ({r.how})' for r in failed)}.")
    await finish(s, row, result={"checks": [r.name for r in results]})


async def _delete_worktree(row: EffectRow, s: Services) -> None:
    task, project = await task_and_project(s, row)
    repo = Path(project.path)
    happened: list[event.Event] = []
    for key in await snapshots.workspaces(s, repo, task.id):
        happened += await teardown.before_removal(s, task, project, key)
        happened += (await s.workspaces.remove(repo, key)).events
    events = await snapshots.with_untold(s, task, project, happened)

    def then(tx: Tx) -> None:
        for happened in events:
            tx.events.add(task.id, happened, SYSTEM, s.clock.now())

    await finish(s, row, then)


async def _notify(row: EffectRow, effect: effects.Notify, s: Services) -> None:
    """Has it told by the channels, which take their time."""
    await finish(s, row, lambda tx: router.notice(tx, s, row, effect))


def _seen_to_here(tx: Tx, s: Services, run_id: RunId) -> Run:
    """The run, unless it is another machine that has to stop it: only there its processes can be
    proven gone. Those of a machine that is lost ended with its lease."""
    run = tx.runs.get(run_id)
    if not machines.sees_to(tx, s, run):
        raise ExternalError(f"Run {run.id} is on the machine {run.host}, which has to stop it.")
    return run


async def _stop_agent(row: EffectRow, effect: effects.StopAgent, s: Services) -> None:
    """Proves the run's processes gone, then ends the run and makes the move that waited."""
    run_id = RunId(effect.run_id)
    stopped = await s.store.read(lambda tx: _seen_to_here(tx, s, run_id))
    for turn in () if machines.elsewhere(s, stopped) else lifecycle.TURNS:
        directory = lifecycle.job_dir(s, run_id, turn)
        begun = directory.exists()
        await s.runners.stop(directory)
        if not begun:
            break  # Nor will it begin now; no later one comes before it.
    kept = await lifecycle.kept(run_id, s)
    if effect.then is None:
        await collect.keep_commits(run_id, s)
    await copying.whole(s, run_id)

    def then(tx: Tx) -> None:
        now = s.clock.now()
        run = _seen_to_here(tx, s, run_id)
        if tx.effects.get(run.effect_id).status == "pending":
            tx.effects.update(run.effect_id, status="cancelled", finished_at=now)
        if run.status.live:
            close.keep(tx, s, run, kept)
            tx.runs.update(run_id, status=RunStatus.CANCELLED, ended_at=now)
            midway.withdraw(tx, s, run)
            tx.events.add(row.task_id, event.AgentCancelled(run=run_id), SYSTEM, now)
        # Read again: a move may have been ordered while the run was being stopped.
        order = effects.StopAgent.model_validate(tx.effects.get(row.id).payload)
        if order.then is None and run.part:
            parts.ended(tx, s, run)
            return
        if tx.runs.live(row.task_id):
            return  # The last of those that are stopped makes the move.
        if order.then is None:
            remedies.after_stop(tx, s, row.task_id, f"{order.by} stopped the agent.")
            return
        manual = Trigger(type=TriggerType.MANUAL)
        fired = Fired(trigger=manual, transition_id=order.then, payload=order.payload)
        mover = Actor(type=ActorType.USER, name=order.by)
        transitions.report(tx, s, row.task_id, fired, mover, force=order.force, reason=order.reason)

    await finish(s, row, then)
    with suppress(AgentsManagerError):  # Nobody waits for it, and the task may be gone.
        await lifecycle.share(run_id, s)
