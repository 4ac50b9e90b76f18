"""Runs a project's set-up and checks on any commit, without a task and without saved settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agents_manager.flow import setup_plans
from agents_manager.flow.ports import (
    BARE,
    NOT_RUN,
    CheckResult,
    CheckSpec,
    ProjectConfig,
    Services,
    SetupSpec,
    Surroundings,
)

CheckStatus = Literal["passed", "failed", "setup_failed", "sandbox_unavailable", "timed_out"]
_WORST_FIRST: tuple[CheckStatus, ...] = (
    *("sandbox_unavailable", "setup_failed", "failed", "timed_out"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlan:
    """The set-up commands and checks of a project, saved or not."""

    setup: SetupSpec
    checks: tuple[CheckSpec, ...]

    @classmethod
    def from_config(cls, config: ProjectConfig) -> "CheckPlan":
        return cls(setup=config.setup, checks=config.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The results of one run of set-up and checks on a commit."""

    status: CheckStatus
    results: tuple[CheckResult, ...]
    reason: str
    """Why `status` is not `passed`, in a sentence; empty if it is."""


async def check_commit(
    s: Services,
    repo: Path,
    commit: str,
    plan: CheckPlan,
    *,
    base: str | None = None,
    on_result: Callable[[CheckResult], None] | None = None,
    surroundings: Surroundings = BARE,
) -> CheckReport:
    """Checks out a commit that people approved into a new check copy, runs set-up and all checks of
    the plan there, and removes the copy. Runs in the sandbox as strictly as agents do on this
    machine. Searches for secrets in the commits since `base`, or in none if there is no base.
    Calls `on_result` when a check ends."""
    sandbox = s.sandbox.keeping()
    if sandbox.required:
        return CheckReport(status="sandbox_unavailable", results=(), reason=sandbox.why)
    setup = await setup_plans.for_trusted(s, repo, plan.setup, commit)
    results = await s.checks.run(
        repo,
        base or commit,
        commit,
        plan.checks,
        kept=sandbox.level != "none",
        setup=setup,
        on_result=on_result,
        surroundings=surroundings,
    )
    return report(results)


def report(results: Sequence[CheckResult]) -> CheckReport:
    """Summarizes results by the worst problem of the checks with the severity `error`."""
    failed = [r for r in results if r.problem and (r.severity == "error" or r.problem in NOT_RUN)]
    for status in _WORST_FIRST:
        worst = [r for r in failed if r.problem == status]
        if worst:
            reason = f"{', '.join(r.name for r in worst)}: {worst[0].how}."
            return CheckReport(status=status, results=tuple(results), reason=reason)
    return CheckReport(status="passed", results=tuple(results), reason="")
