"""An agent: a program called `parrot` that takes the name of a file with its prompt, and prints a
line of JSON whenever it says something, such as `{"say": "Done."}` or `{"cost": 0.02}`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agents_manager.agents import environment, login_shell, programs
from agents_manager.domain import strict_json
from agents_manager.domain.run import Usage
from agents_manager.errors import AgentNotInstalled
from agents_manager.flow.ports import AgentConfig, Capabilities, Diagnosis, Job, Said, Turn

MAX_LINE = 1024 * 1024


class ParrotConfig(AgentConfig):
    adapter: Literal["parrot"] = "parrot"
    program: str = "parrot"
    """The program, by its name on the PATH or by its whole path."""


class ParrotAgent:
    capabilities = Capabilities(reports_cost=True)
    how_to_end = ""

    def __init__(self, name: str, config: ParrotConfig) -> None:
        self._name = name
        self._config = config
        self.model = config.model
        self.system_prompt = config.system_prompt

    def job(self, turn: Turn) -> Job:
        """What the detached runner starts: nothing of this package runs beside the agent."""
        path = login_shell.path()
        env = environment.of(turn, path=path)
        program = programs.found(self._config.program, path, self._name)
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(program, env["AM_PROMPT_FILE"]),
            cwd=turn.workspace,
            env=env,
            stdin="",
            files={environment.PROMPT: turn.prompt},
            limits=self._config.limits,
        )

    def read(self, folder: Path) -> Said:
        messages = list(_messages(folder / "output"))
        said = [one["say"] for one in messages if isinstance(one.get("say"), str)]
        costs = [one["cost"] for one in messages if isinstance(one.get("cost"), float)]
        usage = Usage(cost_usd=costs[-1]) if costs and costs[-1] >= 0 else None
        return Said(final_text=said[-1] if said else "", usage=usage, session=None)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        said = _message(line).get("say")
        return [{"type": "assistant", "text": said}] if isinstance(said, str) else []

    def meter(self) -> None:
        return None

    def provider(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        try:
            found = programs.found(self._config.program, login_shell.path(), self._name)
        except AgentNotInstalled as error:
            return Diagnosis(missing=(error.message,))
        return Diagnosis(program=found)


def _messages(output: Path) -> Iterator[Mapping[str, Any]]:
    if output.exists():
        with output.open("rb") as file:
            while line := file.readline(MAX_LINE):
                yield _message(line)


def _message(line: bytes) -> Mapping[str, Any]:
    """Nothing where a line is none: an agent may print whatever it likes."""
    try:
        found = strict_json.loads(line.decode(), max_bytes=MAX_LINE, max_depth=5)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
