"""Recognises the tools of a commit, and runs proposed set-up and checks on it before they are
saved."""

import re
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from agents_manager.checks.recognise import programs
from agents_manager.checks.recognise.files import CommittedFiles
from agents_manager.checks.recognise.proposal import Machine
from agents_manager.checks.recognise.recognition import Recognition, recognise
from agents_manager.flow.check_runs import CheckPlan, check_commit
from agents_manager.flow.ports import (
    BARE,
    CheckProblem,
    CheckResult,
    CheckSpec,
    Services,
    SetupSpec,
    Surroundings,
)

TIMEOUT_S = 900.0
"""For each command. A check that takes longer than the default timeout is saved with its own."""
PROBE_S = 60.0
PROXY = "127.0.0.1:3128"
"""The address in the proxy variables of commands in the sandbox."""
WITHOUT_PROXY = (
    "env -u HTTP_PROXY -u HTTPS_PROXY -u NO_PROXY -u http_proxy -u https_proxy -u no_proxy "
)
SETUP_ONLY = "set-up"
"""The name of the check that only shows whether set-up passes, where there are no others."""
Read = Callable[[Path, str], Awaitable[CommittedFiles]]
"""Reads what recognisers need of a repository's commit."""
Status = Literal["passed", "not_tried"] | CheckProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Set-up commands and checks that are tried together in one copy of the commit."""

    title: str
    setup: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict[str, str])
    """The commands by the names of the checks."""
    not_tried: str = ""
    """Why it cannot be tried on this machine, in a sentence; empty if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one check ended on the commit."""

    name: str
    command: str
    status: Status
    how: str
    output: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status == "passed"


async def recognise_commit(s: Services, repo: Path, sha: str, read: Read) -> Recognition:
    """Returns proposals for the tools of a commit on this machine."""
    files = await read(repo, sha)
    wanted = programs.needed(files.paths)
    machine = await find_programs(s, repo, sha, wanted) if wanted else Machine()
    return recognise(files, machine)


async def find_programs(s: Services, repo: Path, sha: str, wanted: Sequence[str]) -> Machine:
    """Returns which programs checks can start here, in the sandbox if they run in one."""
    probe = _spec("programs", programs.probe(wanted), PROBE_S)
    done = await check_commit(s, repo, sha, CheckPlan(setup=_setup(()), checks=(probe,)))
    return programs.parse("\n".join(result.output for result in done.results))


def without_proxy(plan: Plan, trials: Sequence[Trial]) -> Plan | None:
    """Returns a plan that runs the failed checks whose output names the sandbox's proxy again,
    without the variables that lead to it; None if there is no such check.

    Tests of HTTP clients fail if these variables are set. The rest of the network stays closed.
    """
    checks = {
        trial.name: WITHOUT_PROXY + _as_arguments(trial.command)
        for trial in trials
        if trial.status == "failed" and trial.name in plan.checks and PROXY in trial.output
    }
    return replace(plan, checks=checks) if checks else None


async def copied_files(s: Services, repo: Path, patterns: Sequence[str]) -> Surroundings:
    """Returns what puts the ignored files of the checkout that match into the copy of a commit."""
    if not patterns:
        return BARE
    files = await s.workspaces.included(repo, patterns)

    async def place(tree: Path) -> Sequence[str]:
        return await s.workspaces.place(files, tree)

    return Surroundings(place_files=place)


async def try_plan(
    s: Services,
    repo: Path,
    sha: str,
    plan: Plan,
    tell: Callable[[Trial], None],
    copied: Sequence[str] = (),
) -> list[Trial]:
    """Runs a plan on the commit and returns how each check ended. Tells each when it ends, after
    one for set-up if there is any. The copy gets the ignored files that match `copied`."""
    if plan.not_tried:
        return [_not_tried(name, command, plan.not_tried) for name, command in plan.checks.items()]
    commands = dict(plan.checks) or {SETUP_ONLY: "true"}
    began = time.monotonic()
    trials: list[Trial] = []

    def ended(result: CheckResult) -> None:
        setup = result.problem == "setup_failed"
        if plan.setup and not trials:
            took = time.monotonic() - began - result.seconds
            tell(_of_setup(plan, result, took))
        trial = Trial(
            name=result.name,
            command=commands[result.name],
            status="passed" if result.passed else result.problem or "failed",
            how=result.how,
            output="" if setup and plan.checks else result.output,
            seconds=result.seconds,
        )
        trials.append(trial)
        if not setup:
            tell(trial)

    checks = tuple(_spec(name, command, TIMEOUT_S) for name, command in commands.items())
    done = await check_commit(
        s,
        repo,
        sha,
        CheckPlan(setup=_setup(plan.setup), checks=checks),
        on_result=ended,
        surroundings=await copied_files(s, repo, copied),
    )
    if done.status == "sandbox_unavailable" and not trials:
        return [_not_tried(name, command, done.reason) for name, command in commands.items()]
    return trials


def _as_arguments(command: str) -> str:
    """Returns a shell command in a form that can follow `env`."""
    plain = re.fullmatch(r"[\w./=:@,+ -]+", command) and not command.startswith("cd ")
    return command if plain else f"sh -c {shlex.quote(command)}"


def _of_setup(plan: Plan, first: CheckResult, seconds: float) -> Trial:
    failed = first.problem == "setup_failed"
    return Trial(
        name=SETUP_ONLY,
        command=" && ".join(plan.setup),
        status="setup_failed" if failed else "passed",
        how=first.how if failed else "passed",
        output=first.output if failed else "",
        seconds=seconds,
    )


def _not_tried(name: str, command: str, why: str) -> Trial:
    return Trial(name=name, command=command, status="not_tried", how=why)


def _spec(name: str, command: str, timeout_s: float) -> CheckSpec:
    return CheckSpec(
        name=name, command=command, severity="error", modes=("implement",), timeout_s=timeout_s
    )


def _setup(commands: tuple[str, ...]) -> SetupSpec:
    return SetupSpec(commands=commands, inputs=(), timeout_s=TIMEOUT_S)
