"""The set-up and checks that `am init` saves: proposes them, runs them once on the base commit, and
reports how they ended."""

import asyncio
import math
import re
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from agents_manager.checks.recognise.files import MAX_FILE_BYTES, CommittedFiles, readable
from agents_manager.checks.recognise.proposal import Proposal
from agents_manager.checks.recognise.recognition import Recognition
from agents_manager.checks.trial import (
    SETUP_ONLY,
    Plan,
    Trial,
    recognise_commit,
    try_plan,
    without_proxy,
)
from agents_manager.cli import answering
from agents_manager.cli.render import clean, one_line
from agents_manager.cli.session import Desk
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidAnswer

NONE = "none"
TAIL_LINES = 15
DEFAULT_TIMEOUT_S = 120
"""The default timeout of checks; slower ones are saved with their own."""
NO_TESTS = "No tests were recognised. Add them with: am config set checks.test.command COMMAND"
UNTRIED = 'It was not run; "am init --yes" runs it.'
BEFORE = (
    ("run", "Run them now and save what passes"),
    ("edit", "Edit them"),
    ("save", "Save them without running them"),
    ("none", "Save no set-up and no checks"),
)
AFTER = (
    ("leave out", "Leave out what did not pass"),
    ("edit", "Edit them and run them again"),
    ("save", "Save all of them as they are"),
    ("stop", "Stop without saving anything"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The set-up and checks to save, and how they ended."""

    plans: Sequence[Plan] = ()
    trials: Sequence[Trial] = ()
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why a check or a set-up is not saved, by its name."""
    recognition: Recognition | None = None

    @property
    def has_failures(self) -> bool:
        """Whether something was left out for another reason than that it was not run yet."""
        return any(why != UNTRIED for why in self.left_out.values())

    def config(self) -> dict[str, Any]:
        """Returns the keys of the project's `config.json`."""
        setup = [command for plan in self.plans for command in plan.setup]
        inputs = [name for plan in self.plans for name in plan.setup_inputs]
        took = {trial.name: trial.seconds for trial in self.trials if trial.passed}
        checks = {
            name: {"command": command, **_timeout(took.get(name, 0.0))}
            for plan in self.plans
            for name, command in plan.checks.items()
        }
        saved: dict[str, Any] = {"setup": setup} if setup else {}
        if setup and inputs:
            saved["setupInputs"] = list(dict.fromkeys(inputs))
        return {**saved, "checks": checks}

    def document(self) -> dict[str, Any]:
        """Returns what `--json` prints of it."""
        saved = {name for plan in self.plans for name in plan.checks}
        return {
            "setup": [command for plan in self.plans for command in plan.setup],
            "checks": [
                {
                    "name": trial.name,
                    "command": trial.command,
                    "status": trial.status,
                    "how": trial.how,
                    "seconds": round(trial.seconds, 1),
                    "output": _tail(trial.output),
                    "saved": trial.name in saved,
                }
                for trial in self.trials
            ],
            "left_out": self.left_out,
            "recognised": self.recognition.proposals if self.recognition else (),
            "problems": self.recognition.problems if self.recognition else (),
        }


def by_option(test: str) -> Decision:
    """Returns the decision for a command that was given as an option, which is saved as it is."""
    return Decision(plans=[Plan(title="test", checks={"test": test})] if test else ())


@dataclass(frozen=True, slots=True)
class CheckChooser:
    desk: Desk
    top: Path
    commit: str
    branch: str
    ask: bool
    """Otherwise what is suggested is taken."""
    tries: bool
    """Whether set-up and checks are run before they are saved."""

    async def decide(self) -> Decision:
        async with self._progress(f"Looking at {self.commit[:8]} ({self.branch})"):
            found = await recognise_commit(self.desk.services, self.top, self.commit, _read)
        self._describe(found)
        plans: list[Plan] = [_plan(proposal) for proposal in found.suggested]
        act = "run" if self.tries else "save"
        if self.ask and plans:
            act, plans = self._before(plans, act)
        elif self.ask:
            plans = self._by_hand()
        if not plans or act == "none":
            return Decision(recognition=found)
        if act == "save":
            return Decision(plans=plans, recognition=found, trials=_untried(plans, "Not run."))
        return replace(await self._until_decided(plans), recognition=found)

    async def propose(self) -> Decision:
        """Returns what was recognised, with nothing to save."""
        found = await recognise_commit(self.desk.services, self.top, self.commit, _read)
        self._describe(found)
        plans = [_plan(proposal) for proposal in found.suggested]
        left_out = {name: UNTRIED for plan in plans for name in plan.checks}
        return Decision(recognition=found, left_out=left_out, trials=_untried(plans, UNTRIED))

    async def _until_decided(self, plans: list[Plan]) -> Decision:
        while True:
            tried = [await self._try_twice(plan) for plan in plans]
            plans = [plan for plan, _ in tried]
            every = [trial for _, trials in tried for trial in trials]
            decision = _passing(tried, every)
            if not decision.left_out or not self.ask:
                return decision
            match self._pick("What now?", AFTER):
                case "leave out":
                    return decision
                case "save":
                    return Decision(plans=plans, trials=every)
                case "edit":
                    plans = self._edited(plans)
                case _:
                    self._say("Nothing was saved.")
                    raise click.Abort

    async def _try_twice(self, plan: Plan) -> tuple[Plan, list[Trial]]:
        """Returns the plan with the commands that pass, and how its checks ended."""
        trials = await self._try(plan)
        again = without_proxy(plan, trials)
        if again is None:
            return plan, trials
        self._say("The output names the proxy of the sandbox. Trying once more without it.")
        passed = {trial.name: trial for trial in await self._try(again) if trial.passed}
        passed.pop(SETUP_ONLY, None)
        commands = {name: trial.command for name, trial in passed.items()}
        kept = replace(plan, checks={**plan.checks, **commands})
        return kept, [passed.get(trial.name, trial) for trial in trials]

    async def _try(self, plan: Plan) -> list[Trial]:
        self._say(f"{plan.title}:")
        told: list[Trial] = []

        def tell(trial: Trial) -> None:
            told.append(trial)
            self._clear()
            self._report(trial)

        async with self._progress(f"  Running set-up and checks of {plan.title}"):
            s, copied = self.desk.services, self._copied()
            trials = await try_plan(s, self.top, self.commit, plan, tell, copied)
        for trial in trials:
            if trial.status == "not_tried":
                self._report(trial)
        return [*(one for one in told if one.name == SETUP_ONLY), *_checks_of(trials)]

    def _copied(self) -> Sequence[str]:
        """Returns the patterns of ignored files that the tasks of the project would get."""
        project = Project(
            id=ProjectId(""),
            name=self.top.name,
            path=str(self.top),
            base_branch=self.branch,
            trusted_commands=None,
            consented_at=None,
            created_at=self.desk.services.clock.now(),
        )
        return self.desk.services.configs.of(project).copy_files

    def _report(self, trial: Trial) -> None:
        if trial.status == "not_tried":
            self._say(f"  {trial.name:<12} not run: {one_line(trial.how)}")
            return
        word = "passed" if trial.passed else f"failed: {one_line(trial.how)}"
        self._say(f"  {trial.name:<12} {word}, {trial.seconds:.1f} s")
        if not trial.passed:
            for line in _tail(trial.output).splitlines():
                self._say(f"    | {line}")

    def _describe(self, found: Recognition) -> None:
        for proposal in found.proposals:
            if proposal.checks or proposal.suggested or proposal.notes:
                self._describe_one(proposal)
        for problem in found.problems:
            self._say(f"{problem}.")
        if not any(proposal.checks for proposal in found.suggested):
            self._say(NO_TESTS)

    def _describe_one(self, proposal: Proposal) -> None:
        used = "" if proposal.suggested else ", not used"
        self._say(f"{proposal.title} ({proposal.source}{used})")
        for command in proposal.setup:
            self._say(f"  set-up       {command}")
        for check in proposal.checks:
            reason = f" ({one_line(check.reason)[:60]})" if check.reason else ""
            self._say(f"  {check.name:<12} {check.command}   {check.source}{reason}")
        for tool in proposal.missing:
            instead = f" Until then, {tool.fallback} is used." if tool.fallback else ""
            self._say(f"  Missing: {tool.program}. {tool.install.rstrip('.')}.{instead}")
        for note in proposal.notes:
            self._say(f"  {note}")

    def _before(self, plans: list[Plan], act: str) -> tuple[str, list[Plan]]:
        chosen = self._pick(self._how_it_runs(), BEFORE)
        if chosen != "edit":
            return chosen, plans
        return act, self._edited(plans)

    def _how_it_runs(self) -> str:
        keeping = self.desk.services.sandbox.keeping()
        where = "with your rights" if keeping.level == "none" else "in the sandbox"
        return f"Run set-up and checks once on {self.commit[:8]}? They run {where}."

    def _by_hand(self) -> list[Plan]:
        said = self._text('Which command tests it? ("none" for none)', NONE)
        return [] if said == NONE else [Plan(title="test", checks={"test": said})]

    def _edited(self, plans: Sequence[Plan]) -> list[Plan]:
        self._say('Enter keeps a command, "none" leaves it out.')
        edited = [self._edited_plan(plan) for plan in plans]
        return [plan for plan in edited if plan.setup or plan.checks]

    def _edited_plan(self, plan: Plan) -> Plan:
        said = [self._text(f"{plan.title}: set-up", command) for command in plan.setup]
        setup = [command for command in said if command != NONE]
        while (more := self._text(f"{plan.title}: further set-up (Enter ends)", "")) != "":
            setup.append(more)
        checks = {name: self._text(f"Check {name}", text) for name, text in plan.checks.items()}
        while (name := self._text("Name of a further check (Enter ends)", "")) != "":
            checks[name] = self._text(f"Check {name}", NONE)
        kept = {name: command for name, command in checks.items() if command != NONE}
        # What a person wrote is tried, whatever was missing for the proposal.
        same = setup == list(plan.setup) and kept == dict(plan.checks)
        why = plan.not_tried if same else ""
        return replace(plan, setup=tuple(setup), checks=kept, not_tried=why)

    def _pick(self, question: str, options: Sequence[tuple[str, str]]) -> str:
        self._say(question)
        for number, (_, label) in enumerate(options, 1):
            self._say(f"  {number}) {label}")
        while True:
            try:
                return answering.pick(self._text("Number or name", "1"), options)
            except InvalidAnswer as error:
                self._say(error.message)

    def _text(self, question: str, offered: str) -> str:
        said: str = click.prompt(
            clean(question), default=offered, err=True, show_default=bool(offered)
        )
        return said.strip()

    def _say(self, text: str) -> None:
        self.desk.output.say(text)

    def _clear(self) -> None:
        if _is_terminal():
            click.echo("\r\x1b[K", err=True, nl=False)

    @asynccontextmanager
    async def _progress(self, text: str) -> AsyncGenerator[None]:
        """Shows at a terminal how long something takes."""
        if not _is_terminal():
            yield
            return
        async with asyncio.TaskGroup() as group:
            ticking = group.create_task(_tick(clean(text)))
            try:
                yield
            finally:
                ticking.cancel()
                self._clear()


async def _tick(text: str) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(1)
        click.echo(f"\r{text} … {time.monotonic() - began:.0f} s", err=True, nl=False)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


async def _read(repo: Path, sha: str) -> CommittedFiles:
    from agents_manager.scm import committed

    found = await committed.read(repo, sha, readable, MAX_FILE_BYTES)
    return CommittedFiles(found.paths, found.contents, found.links)


def _plan(proposal: Proposal) -> Plan:
    blockers = (f"{tool.program} is missing. {tool.install}" for tool in proposal.blockers)
    return Plan(
        title=proposal.title,
        setup=proposal.setup,
        setup_inputs=proposal.setup_inputs,
        checks={check.name: check.command for check in proposal.checks},
        not_tried=" ".join(blockers),
    )


def _passing(tried: Sequence[tuple[Plan, Sequence[Trial]]], every: Sequence[Trial]) -> Decision:
    """Returns the decision that saves only what passed."""
    kept: list[Plan] = []
    left_out: dict[str, str] = {}
    for plan, trials in tried:
        ended = {trial.name: trial for trial in trials}
        setup = ended.pop(SETUP_ONLY, None)
        failed = {name: trial.how for name, trial in ended.items() if not trial.passed}
        left_out |= failed
        if setup is not None and not setup.passed:
            left_out[f"{SETUP_ONLY} of {plan.title}"] = setup.how
            continue
        checks = {name: text for name, text in plan.checks.items() if name not in failed}
        if checks or (setup is not None and plan.setup):
            kept.append(replace(plan, checks=checks))
    return Decision(plans=kept, trials=every, left_out=left_out)


def _untried(plans: Sequence[Plan], why: str) -> list[Trial]:
    return [
        Trial(name=name, command=command, status="not_tried", how=why)
        for plan in plans
        for name, command in plan.checks.items()
    ]


def _checks_of(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.name != SETUP_ONLY]


def _timeout(seconds: float) -> dict[str, int]:
    """Returns a timeout of four times what a check took, if the default would be less."""
    minutes = math.ceil(seconds * 4 / 60)
    return {"timeout": minutes * 60_000} if minutes * 60 > DEFAULT_TIMEOUT_S else {}


def _tail(text: str) -> str:
    """Returns the last lines, without what colors them."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "\n".join(plain.rstrip().splitlines()[-TAIL_LINES:])
