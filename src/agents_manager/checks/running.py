"""Runs commands in check copies, and says why one could not run."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents_manager.checks.copies import CheckCopies, CheckCopy
from agents_manager.checks.shell import Keep, environment, run_command, shell
from agents_manager.flow.ports import CheckProblem, CutShort, SetupSpec


@dataclass(frozen=True, slots=True)
class SandboxReports:
    """Reads the log folder of a command's sandbox."""

    ended: Callable[[Path], CutShort | None] = lambda _: None
    """Returns whether the sandbox was unavailable or ended the command."""
    refused: Callable[[Path], str] = lambda _: ""
    """Returns which connections it refused, in a sentence; empty if none."""


NO_REPORTS = SandboxReports()


class CheckNotRun(Exception):
    """Raised when a check cannot run because set-up or the sandbox failed."""

    def __init__(self, problem: CheckProblem, how: str, output: str) -> None:
        super().__init__(how)
        self.problem: CheckProblem = problem
        self.how = how
        self.output = output


class CopyCommands:
    """Commands in check copies."""

    def __init__(self, copies: CheckCopies, keep: Keep, reports: SandboxReports) -> None:
        self._copies = copies
        self._keep = keep
        self._reports = reports

    async def run(
        self,
        command: str,
        timeout_s: float,
        copy: CheckCopy,
        hidden: Path | None,
        env: Mapping[str, str],
    ) -> tuple[int | None, str]:
        """Runs a command in the copy, in the sandbox if there is a repository to hide. `env` may
        hold secrets. Returns the exit status, None after the timeout, and the end of the output."""
        argv = shell(command)
        if hidden is not None:
            argv = self._keep(
                argv,
                environment(copy.tmp, {**copy.env, "HOME": str(copy.home)}),
                copy.tree,
                writes=(copy.tree, copy.home, copy.tmp),
                hides=(hidden,),
                log=copy.log,
                inherits=tuple(env),
            )
        code, output = await run_command(
            argv,
            copy.tree,
            copy.tmp,
            timeout_s,
            env={**env, **copy.env},
            sweep=lambda: self._copies.sweep(copy),
        )
        ended = self._reports.ended(copy.log) if code else None
        if ended is not None and ended.kind == "failed":
            raise CheckNotRun("sandbox_unavailable", "the sandbox is not available", ended.why)
        refused = self._reports.refused(copy.log) if code and hidden is not None else ""
        notes = [f"[{note}]" for note in (ended.why if ended else "", refused) if note]
        return code, "\n".join([output, *notes])

    async def set_up(
        self, copy: CheckCopy, setup: SetupSpec, hidden: Path | None, env: Mapping[str, str]
    ) -> None:
        """Runs the set-up commands in the copy; raises CheckNotRun when one of them fails."""
        for command in setup.commands:
            code, output = await self.run(command, setup.timeout_s, copy, hidden, env)
            if code != 0:
                how = f'set-up failed: "{command}", {ending(code, setup.timeout_s)}'
                raise CheckNotRun("setup_failed", how, f"$ {command}\n{output}")


def ending(code: int | None, timeout_s: float) -> str:
    """Says how a command ended, in a few words."""
    match code:
        case None:
            return f"stopped after {timeout_s:g} s"
        case 0:
            return "passed"
        case 126:
            return "a program cannot be run (exit code 126)"
        case 127:
            return "a program was not found (exit code 127)"
        case _ if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        case _:
            return f"exit code {code}"
