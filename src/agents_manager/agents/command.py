"""Any program as an agent: it is given the prompt as a file, an argument or its standard input, and
what it prints is the transcript."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents_manager.agents import environment, login_shell, programs, resets, stream, troubles
from agents_manager.agents.command_profiles import COMMANDS, CommandProfile
from agents_manager.agents.config import PLACEHOLDERS, CommandConfig
from agents_manager.domain import cost as costs
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.errors import AgentNotInstalled, InvalidConfig
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Needs, Said, Turn

MAX_ARGUMENT = 128 * 1024 - 1
"""What Linux takes as one argument."""
MAX_TEXT = 8 * 1024 * 1024
"""How much plain text is read for an outcome."""


class CommandAgent:
    how_to_end = ""

    def __init__(self, name: str, config: CommandConfig) -> None:
        self._name = name
        self._config = config
        self._profile: CommandProfile | None = COMMANDS.get(config.profile or "")

    @property
    def capabilities(self) -> Capabilities:
        told = any("{model}" in argument for argument in self._config.command)
        return Capabilities(reports_cost=True, ignores_model=not told)

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        known = self._profile
        names = (*(known.env if known else ()), *self._config.env)
        path = login_shell.path()
        env = environment.of(turn, path=path, names=names)
        program, *arguments = self._config.command
        if known and (turn.run.model or self._config.model):
            arguments += known.model
        given = " ".join(arguments)
        by_stdin = "{prompt}" not in given and "{prompt_file}" not in given
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(programs.found(program, path, self._name), *self._filled(arguments, turn)),
            cwd=turn.workspace,
            env={**env, **(known.always if known else {})},
            stdin=turn.prompt if by_stdin else "",
            files={environment.PROMPT: turn.prompt},
            limits=self._config.limits,
            folders=(turn.home,) if "{home}" in given else (),
            needs=Needs(hosts=known.hosts if known else ()),
        )

    def read(self, folder: Path) -> Said:
        output = folder / "output"
        if stream.is_stream(output):
            return stream.read(output)
        return _plain(output, self._profile)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return stream.shown(line)

    def meter(self) -> stream.UsageMeter:
        return stream.UsageMeter()

    def provider(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        if self._profile:
            return self._known(self._profile)
        try:
            program = self._config.command[0]
            return Diagnosis(program=programs.found(program, login_shell.path(), self._name))
        except AgentNotInstalled as error:
            return Diagnosis(missing=(error.message,))

    def _known(self, profile: CommandProfile) -> Diagnosis:
        path, program = login_shell.path(), self._config.command[0]
        found = programs.look_for(program, path)
        if found is None:
            return Diagnosis(missing=(programs.absent(program, profile.get),))
        version = programs.version(found, path)
        doubts = programs.doubts(self._name, version, profile.tested)
        return Diagnosis(program=found, version=version, doubts=doubts)

    def _filled(self, arguments: Sequence[str], turn: Turn) -> list[str]:
        """One pass, so that what is filled in is never looked through again."""
        values = {
            "prompt_file": str(turn.dir / environment.PROMPT),
            "prompt": turn.prompt,
            "mode": turn.run.mode,
            "model": turn.run.model or self._config.model,
            "home": str(turn.home),
        }

        def value(found: re.Match[str]) -> str:
            known = values[found[1]]
            if known is None:
                raise InvalidConfig(
                    f'The command of agent "{self._name}" takes a {found[0]}, but none is set:'
                    f' add "model" to agents.{self._name}.'
                )
            return known

        names = "|".join(PLACEHOLDERS)
        filled = [re.sub(rf"\{{({names})\}}", value, argument) for argument in arguments]
        for argument in filled:
            size = len(argument.encode("utf-8", "surrogateescape"))
            if size > MAX_ARGUMENT:
                raise InvalidConfig(
                    f'The command of agent "{self._name}" has an argument of {size} bytes, more'
                    f" than the {MAX_ARGUMENT} that the system takes; use {{prompt_file}}."
                )
        return filled


def _plain(output: Path, known: CommandProfile | None) -> Said:
    """All that was printed is the final text, if it can be read as a whole."""
    with output.open("rb") as file:
        content = file.read(MAX_TEXT + 1)
    if len(content) > MAX_TEXT:
        size = output.stat().st_size
        return Said(
            final_text="",
            usage=None,
            session=None,
            error=f"The agent printed {size} bytes of plain text, and only {MAX_TEXT} are read for"
            " an outcome; let it print less, or a message stream.",
            error_class=ErrorClass.BAD_OUTPUT,
        )
    text = stream.text(content)
    printed = datetime.fromtimestamp(output.stat().st_mtime, UTC)
    if known and known.failure and (failed := known.failure.findall(text)):
        return Said(
            final_text=text,
            usage=None,
            session=None,
            error=failed[-1],
            error_class=ErrorClass(troubles.classified(failed[-1])),
            resets_at=resets.said(failed[-1], printed),
        )
    told = known.cost.findall(text) if known and known.cost else []
    spent = float(told[-1]) if told else None
    refused = None if spent is None else costs.refusal("cost_usd", spent)
    usage = None if spent is None or refused else Usage(cost_usd=spent)
    return Said(final_text=text, usage=usage, usage_refused=refused, session=None)
