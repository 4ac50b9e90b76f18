"""Conversations with an agent that plays a script over the Agent Client Protocol. The driver runs
in the process of the test, which has the protocol's library already."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.agents import acp, acp_driver
from agents_manager.agents.acp import AcpAgent
from agents_manager.agents.acp_driver import Driver
from agents_manager.agents.config import AcpConfig
from agents_manager.flow.ports import Said
from tests.turns import turn

FAKE = Path(__file__).parent / "acp_agent.py"


def command(script: Path) -> list[str]:
    return [sys.executable, "-I", "-S", str(FAKE), str(script)]


@dataclass
class Talk:
    code: int
    said: Said
    shown: list[dict[str, Any]]
    """What people see of the lines that it printed."""
    heard: list[tuple[str, Any]]
    """What the agent was told, by the kind of it."""

    def told(self, kind: str) -> list[Any]:
        return [what for each, what in self.heard if each == kind]

    @property
    def notes(self) -> str:
        return "\n".join(line["text"] for line in self.shown if line["type"] == "output")


class Sheet(io.BytesIO):
    """What a driver prints, on disk at once and with nothing left open."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        file.write_bytes(b"")

    def flush(self) -> None:
        if not self.closed:
            self._file.write_bytes(self.getvalue())


def driver(folder: Path, steps: list[Any], script: Any, given: Any, **settings: Any) -> Driver:
    file = folder / "script.json"
    heard = str(folder / "heard")
    file.write_text(json.dumps({"steps": steps, "heard": heard, **script}))
    entry = {"command": command(file), **settings}
    agent = AcpAgent(settings.get("profile", "mine"), AcpConfig.model_validate(entry))
    job = agent.job(turn(folder, **given))
    for place in (job.dir, job.cwd):
        place.mkdir(exist_ok=True)
    for name, content in job.files.items():
        (job.dir / name).write_text(content)
    return Driver(job.dir / acp.JOB, Sheet(job.dir / "output"))


@contextmanager
def one_line(driver: Driver) -> Iterator[None]:
    """The library complains to the root logger, as in the driver's own process."""
    handler = acp_driver.OneLine(driver)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


async def talk(
    folder: Path, *steps: Any, script: Any = None, given: Any = None, **settings: Any
) -> Talk:
    """Played to its end; `given` is for the turn, `settings` are the agent's."""
    driven = driver(folder, list(steps), script or {}, given or {}, **settings)
    with one_line(driven):
        code = await driven.run()
    return outcome(folder, code)


def outcome(folder: Path, code: int) -> Talk:
    output, heard = folder / "run-1" / "output", folder / "heard"
    told = [json.loads(line) for line in io.StringIO(heard.read_text() if heard.exists() else "")]
    agent = AcpAgent("mine", AcpConfig.model_validate({"command": ["x"]}))
    lines = [dict(seen) for line in output.read_bytes().splitlines() for seen in agent.parse(line)]
    return Talk(code, agent.read(output.parent), lines, [(kind, what) for kind, what in told])
