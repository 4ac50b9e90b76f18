"""Step 7, the project's checks: run on the commit that is handed over, kept with the turn, and put
to the agent while it may still mend what they found."""

import asyncio
import json
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from agents_manager.domain import context, event
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import SYSTEM, Project
from agents_manager.errors import AgentsManagerError, ExternalError, InvalidInput
from agents_manager.flow import agents, base_checks, check_decisions, setup_plans, surroundings
from agents_manager.flow.ports import (
    NOT_RUN,
    CheckResult,
    CheckSpec,
    ProjectConfig,
    Services,
    Tx,
)
from agents_manager.flow.runs.places import CHECKS, TURNS, job_dir
from agents_manager.flow.runs.verdict import Again, Check, Verdict, trouble

MAX_KEPT = 4_000
LOOK_S = 1.0
MOST_EVENTS = 100
"""How often it is asked whether the run was stopped while its checks go on."""


async def check(
    run: Run, project: Project, verdict: Verdict, base_sha: str, directory: Path, s: Services
) -> Verdict:
    """Judges the work of a run by the project's checks, unless the run is stopped meanwhile."""
    judging = judge(run, project, verdict, base_sha, directory, s)
    judged = await _unless_stopped(s, run.id, judging)
    if judged is None:
        return trouble("The run was stopped while its checks went on.", ErrorClass.CANCELLED)
    return judged


async def judge(
    run: Run,
    project: Project,
    verdict: Verdict,
    base_sha: str,
    directory: Path,
    s: Services,
    *,
    fresh: bool = False,
    own: bool = True,
) -> Verdict:
    """Returns the verdict with the results of the checks, and with an error if they stop it.
    `fresh` runs checks on the base commit again even if their result there is known. Without `own`
    only the search for secrets runs, not the project's own checks."""
    config = s.configs.of(project)
    decided = await s.store.read(lambda tx: check_decisions.of_task(tx, run.task_id))
    wanted = [
        check
        for check in decided.without_skipped(config.checks)
        if check.follows(run.mode) and (own or not check.own)
    ]
    if any(c.own for c in wanted) and not agents.trusted(
        project, config, "checks.", "setup.", "env."
    ):
        return trouble(agents.untrusted(project, config), ErrorClass.ENVIRONMENT)
    head = verdict.get("head_sha") or ""
    assert run.branch is not None
    setup = await setup_plans.for_run(s, run, project, run.branch, head)
    try:
        around = await surroundings.of_run(s, project, run)
    except InvalidInput as error:
        why = " ".join([error.message, *error.details])
        return trouble(why, ErrorClass.ENVIRONMENT)
    results = await s.checks.run(
        Path(project.path),
        base_sha,
        head,
        wanted,
        kept=run.kept,
        setup=setup,
        surroundings=around,
    )
    await asyncio.to_thread(_keep, directory, results)
    verdict["checks"] = [_kept(r) for r in results]
    verdict["checks_passed"] = passed(results, wanted)
    stopping = stopped_by(results, config)
    if not stopping:
        return verdict
    if not_run := [r for r in stopping if r.problem in NOT_RUN]:
        verdict["suspects"] = [r.name for r in not_run]
        verdict["suspects_ran"] = False
        told = f"Checks could not run: {_named(not_run)}."
        return {**verdict, **trouble(told, ErrorClass.ENVIRONMENT)}
    if check_decisions.may_ask(run):
        doubted = [r for r in stopping if r.name not in decided.left_to_agent]
        suspects: list[CheckResult] = []
        with suppress(ExternalError):  # Without the comparison, the agent may be the cause.
            suspects = await base_checks.failing_too(
                s, run, project, doubted, wanted, around, fresh=fresh
            )
        verdict["suspects"] = [r.name for r in suspects]
        verdict["suspects_ran"] = True
        if len(suspects) == len(stopping):
            verdict["checks_passed"] = None
            told = f"Checks fail on the base commit too: {_named(suspects)}."
            return {**verdict, **trouble(told, ErrorClass.ENVIRONMENT)}
    return {**verdict, **trouble(f"Checks failed: {_named(stopping)}.", ErrorClass.CHECKS_FAILED)}


def _named(results: Sequence[CheckResult]) -> str:
    return ", ".join(f"{r.name} ({r.how})" for r in results)


def stopped_by(results: Sequence[CheckResult], config: ProjectConfig) -> list[CheckResult]:
    """The failed checks that stop the outcome, as configured."""
    stops = {"error": config.fail_on_error, "warning": config.fail_on_warning}
    return [r for r in results if not r.passed and stops[r.severity]]


def passed(results: Sequence[CheckResult], specs: Sequence[CheckSpec]) -> bool | None:
    """Returns None if none of the project's own checks ran, or one of them could not run: that no
    secret was found says nothing of the work."""
    problems = {r.problem for r in results if not r.passed and r.severity == "error"}
    if problems.difference(NOT_RUN):
        return False
    if problems:
        return None
    return True if any(spec.own for spec in specs) else None


async def ask_to_fix(s: Services, run: Run, verdict: Verdict, done: int, rounds: int) -> Again:
    """The agent is asked to mend what was found. Told once, also when a crash repeats this."""
    suspects = verdict.get("suspects", [])
    broken = [c for c in verdict.get("checks", ()) if not c["passed"]]
    failed = [c for c in broken if c["name"] not in suspects]
    told = event.FixRequested(
        run=run.id,
        outcome=verdict.get("outcome", ""),
        round=done + 1,
        rounds=rounds,
        checks=tuple(c["name"] for c in failed),
        output=failed[0]["output"],
    )

    def write(tx: Tx) -> None:
        before = tx.events.newest(run.task_id, told.category, MOST_EVENTS)
        known = (e.data for e in before if e.type == told.type)
        if not any((d["run"], d["round"]) == (told.run, told.round) for d in known):
            tx.events.add(run.task_id, told, SYSTEM, s.clock.now())

    await s.store.write(write)
    return Again(kind="fix", round=done + 1, text="\n\n".join(_told(c) for c in failed))


def can_be_debugged(verdict: Verdict, config: ProjectConfig) -> bool:
    """Whether later stages may see to what failed. A secret goes nowhere."""
    ours = {spec.name for spec in config.checks if not spec.own}
    return not any(c["name"] in ours and not c["passed"] for c in verdict.get("checks", ()))


def handed_on(verdict: Verdict) -> Verdict:
    """The outcome, with checks that failed."""
    kept = {name: value for name, value in verdict.items() if name not in ("error", "error_class")}
    return cast("Verdict", kept)


def _told(check: Check) -> str:
    warning = ", a warning" if check["severity"] == "warning" else ""
    return f"`{check['name']}` ({check['how']}{warning}):\n\n{context.fenced(check['output'])}"


def of_run(s: Services, run_id: RunId) -> list[list[Check]]:
    """What the checks said, round by round, with all that is kept of their output."""
    files = (job_dir(s, run_id, turn) / CHECKS for turn in TURNS)
    return [json.loads(f.read_bytes()) for f in files if f.exists()]


def last_dir(s: Services, run: Run) -> Path:
    """Returns the directory of the last turn that has results of checks."""
    directories = [job_dir(s, run.id, turn) for turn in TURNS]
    checked = [each for each in directories if (each / CHECKS).exists()]
    directory = checked[-1] if checked else directories[0]
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _kept(result: CheckResult) -> Check:
    return Check(
        name=result.name,
        passed=result.passed,
        severity=result.severity,
        how=result.how,
        output=result.output[-MAX_KEPT:],
        seconds=result.seconds,
    )


def _keep(directory: Path, results: Sequence[CheckResult]) -> None:
    """Whole or not at all."""
    new = directory / f".{CHECKS}"
    new.write_text(json.dumps([asdict(r) for r in results]), encoding="utf-8")
    new.replace(directory / CHECKS)


async def _unless_stopped(
    s: Services, run_id: RunId, running: Coroutine[Any, Any, Verdict]
) -> Verdict | None:
    """None when the run is stopped in the meantime; then what was started is ended."""
    async with asyncio.TaskGroup() as group:
        work = group.create_task(_tried(running))
        while not (await asyncio.wait({work}, timeout=LOOK_S))[0]:
            run = await s.store.read(lambda tx: tx.runs.get(run_id))
            if not run.status.live:
                work.cancel()
                break
    if work.cancelled():
        return None
    result = work.result()
    if isinstance(result, AgentsManagerError):
        raise result
    return result


async def _tried(
    running: Coroutine[Any, Any, Verdict],
) -> Verdict | AgentsManagerError:
    """An error as a value: a group of tasks would wrap it."""
    try:
        return await running
    except AgentsManagerError as error:
        return error
