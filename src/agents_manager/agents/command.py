"""Any program as an agent: it is given the prompt as a file, an argument or its standard input, and
what it prints is the transcript."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.agents import environment, login_shell, programs, stream
from agents_manager.agents.config import PLACEHOLDERS, CommandConfig
from agents_manager.domain.run import ErrorClass
from agents_manager.errors import AgentNotInstalled, InvalidConfig
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Said, Turn

MAX_ARGUMENT = 128 * 1024 - 1
"""What Linux takes as one argument."""
MAX_TEXT = 8 * 1024 * 1024
"""How much plain text is read for an outcome."""


class CommandAgent:
    capabilities = Capabilities(reports_cost=True)
    how_to_end = ""

    def __init__(self, name: str, config: CommandConfig) -> None:
        self._name = name
        self._config = config

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        env = environment.of(turn, path=login_shell.path(), names=self._config.env)
        program, *arguments = self._config.command
        given = " ".join(arguments)
        by_stdin = "{prompt}" not in given and "{prompt_file}" not in given
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(programs.found(program, env["PATH"], self._name), *self._filled(arguments, turn)),
            cwd=turn.workspace,
            env=env,
            stdin=turn.prompt if by_stdin else "",
            files={environment.PROMPT: turn.prompt},
            limits=self._config.limits,
        )

    def read(self, folder: Path) -> Said:
        output = folder / "output"
        return stream.read(output) if stream.is_stream(output) else _plain(output)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return [stream.message(line) or {"type": "output", "text": stream.text(line)}]

    def diagnose(self) -> Diagnosis:
        try:
            program = self._config.command[0]
            return Diagnosis(program=programs.found(program, login_shell.path(), self._name))
        except AgentNotInstalled as error:
            return Diagnosis(missing=(error.message,))

    def _filled(self, arguments: Sequence[str], turn: Turn) -> list[str]:
        """One pass, so that what is filled in is never looked through again."""
        values = {
            "prompt_file": str(turn.dir / environment.PROMPT),
            "prompt": turn.prompt,
            "mode": turn.run.mode,
            "model": turn.run.model or self._config.model,
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


def _plain(output: Path) -> Said:
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
    return Said(final_text=stream.text(content), usage=None, session=None)
