"""A secret that an agent was given and printed is nowhere in what is kept: not in transcripts, nor
in the databases, nor in the log."""

import base64
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents_manager import environment, log
from agents_manager.flow import tasks
from agents_manager.redaction import MASK, Redactor
from tests.worlds import ANN, World, working

SECRET = "canary-4f7d0a9c61"
ENCODED = base64.b64encode(f"key={SECRET};".encode()).decode()
AGENT = """
import base64, os, sys, time
secret = os.environ["CANARY_API_KEY"]
print("My key is", secret[:7], end="", flush=True)
time.sleep(0.2)
print(secret[7:])
print(base64.b64encode(f"key={secret};".encode()).decode())
print(secret, file=sys.stderr, flush=True)
print(f'''<<<OUTCOME:needs_info>>>
{{"questions": [{{"id": "q1", "question": "Is {secret} right?"}}]}}
<<<END_PAYLOAD>>>''')
"""
ITS_OWN = {"job.json"}
"""Where the agent's environment stands; the folder is its user's alone."""


@pytest.fixture
async def world(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setenv("CANARY_API_KEY", SECRET)
    async with working(tmp_path / "home", repo) as world:
        yield world


def held(folder: Path, text: str) -> list[str]:
    files = [f for f in folder.rglob("*") if f.is_file() and f.name not in ITS_OWN]
    return [f.name for f in files if text.encode() in f.read_bytes()]


async def asked(world: World, tmp_path: Path) -> str:
    """What the person is asked by an agent that tells everything."""
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    agent = {"adapter": "command", "command": [sys.executable, str(program)]}
    agent["env"] = ["CANARY_API_KEY"]
    world.configure({"defaultAgentType": "mine", "agents": {"mine": agent}})
    world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title=f"Use {SECRET}", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.until(task, "needs_info")
    assert view.task.title == f"Use {MASK}"
    return view.prompts[0].payload["questions"][0]["question"]


async def test_it_is_nowhere_in_the_data_directory(world: World, tmp_path: Path) -> None:
    assert await asked(world, tmp_path) == f"Is {MASK} right?"
    home = tmp_path / "home"
    assert {"output", "stderr", "agents-manager.db"} <= {f.name for f in home.rglob("*")}
    assert held(home, SECRET) == []
    assert held(home, ENCODED[8:-8]) == []


async def test_without_the_measure_it_would_be(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_manager.redaction.secrets_of", lambda _: [])
    monkeypatch.setenv("CANARY_API_KEY", SECRET)
    async with working(tmp_path / "home", repo) as world:
        with pytest.raises(AssertionError):
            await asked(world, tmp_path)
        assert {"output", "stderr", "agents-manager.db-wal"} <= set(held(tmp_path / "home", SECRET))


def test_it_is_not_logged(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import logging

    import structlog

    monkeypatch.setenv("CANARY_API_KEY", SECRET)
    handlers = logging.getLogger().handlers
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    redactor = environment.redactor()
    assert isinstance(redactor, Redactor)
    try:
        log.configure(json=True, redactor=redactor)
        structlog.get_logger().warning("told", key=SECRET, inside={"deep": [SECRET]})
        logging.getLogger("other").warning("said %s", SECRET)
    finally:
        structlog.reset_defaults()
        logging.getLogger().handlers = handlers
    shown = capfd.readouterr().err
    assert SECRET not in shown
    assert shown.count(MASK) == 3
