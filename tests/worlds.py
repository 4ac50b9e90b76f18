"""A whole product in miniature: a home, a repository, a worker, and a person who answers."""

import asyncio
import gc
import json
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Actor, ActorType, History, Project, Task
from agents_manager.flow import agents, prompts, tasks, views
from agents_manager.flow.ports import Services
from agents_manager.flow.views import TaskView
from agents_manager.settings import Settings
from tests import ready
from tests.repos import make_repo, scripted_home

ANN = Actor(type=ActorType.USER, name="ann", via="cli", admin=True)
BOB = Actor(type=ActorType.USER, name="bob", via="http", admin=True)
PATIENCE_S = 30.0
RETRIED = ("crash", "timeout", "stalled", "interrupted", "rate_limit", "overloaded", "quota")
NO_RETRIES = {"retries": {name: {"tries": 0} for name in RETRIED}}
"""What a world is configured with unless it has a file of its own: an error counts at once."""


@dataclass
class World:
    program: Program
    repo: Path
    project: Project

    def __post_init__(self) -> None:
        self._committed, loop = asyncio.Event(), asyncio.get_running_loop()

        def note() -> None:
            loop.call_soon_threadsafe(self._committed.set)

        self.s.store.after_commit(note)

    @property
    def s(self) -> Services:
        return self.program.services

    async def create(self, script: Mapping[str, Any], **fields: Any) -> Task:
        """A task whose agent plays the script."""
        block = f"```agent-script\n{json.dumps(script)}\n```"
        new = tasks.NewTask(**{"title": "Add greeting", "description": block, **fields})
        return await tasks.create(self.s, self.project, new, ANN)

    async def start(self, script: Mapping[str, Any], **fields: Any) -> Task:
        task = await self.create(script, **fields)
        await tasks.move(self.s, task.id, ANN)
        return task

    async def view(self, task: Task) -> TaskView:
        return await self.s.store.read(lambda tx: views.task(tx, self.s, task.id, ANN))

    async def until(self, task: Task, status: str) -> TaskView:
        return await self.wait(task, lambda v: v.task.status == status and v.run is None, status)

    async def wait(self, task: Task, there: Callable[[TaskView], bool], what: str) -> TaskView:
        view = await self.view(task)
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not there(view):
                    await self._change()
                    view = await self.view(task)
        except TimeoutError:
            told = "\n".join(f"  {e.seq} {e.summary}" for e in await self.events(task))
            raise AssertionError(
                f"not {what} but {view.task.status}; {view.next_mover}\n{told}"
            ) from None
        return view

    async def _change(self) -> None:
        """A while after which it is worth while to look again; other processes write, too."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._committed.wait(), 0.2)
        await asyncio.sleep(0.02)
        self._committed.clear()

    async def settled(self, task: Task) -> None:
        """No effect of the task is open any more."""
        async with asyncio.timeout(PATIENCE_S):
            while await self.s.store.read(lambda tx: tx.effects.open(task.id)):
                await self._change()

    async def answer(self, prompt: Prompt, raw: Mapping[str, Any], **kw: Any) -> prompts.Answered:
        return await prompts.answer(self.s, prompt.id, raw, ANN, **kw)

    async def review(self, task: Task, decision: str, **fields: Any) -> prompts.Answered:
        return await prompts.review(self.s, task.id, {"decision": decision, **fields}, ANN)

    async def choose(self, task: Task, choice_id: str) -> None:
        view = await self.wait(task, lambda v: bool(v.prompts), "waiting for a choice")
        await self.answer(view.prompts[0], {"choice_id": choice_id})

    async def events(self, task: Task) -> list[Logged]:
        return await self.s.store.read(
            lambda tx: tx.events.of_task(TaskId(task.id), after_seq=0, limit=1000)
        )

    async def types(self, task: Task) -> list[str]:
        return [e.type for e in await self.events(task)]

    async def history(self, task: Task) -> list[History]:
        return await self.s.store.read(lambda tx: tx.history.of_task(task.id))

    def configure(self, config: Mapping[str, Any]) -> None:
        folder = self.repo / ".agents-manager"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config))


@asynccontextmanager
async def working(
    home: Path, repo: Path, url: str | None = None, **overrides: Any
) -> AsyncIterator[World]:
    """A worker on the home and the repository, registered unless it is already."""
    place = Settings(scripted_home(home, **NO_RETRIES), url)
    if url is None:
        ready.home(home)
    async with bootstrap.worker(place, **overrides) as program:
        known = await program.services.store.read(lambda tx: tx.projects.by_path(str(repo)))
        project = known or await tasks.add_project(program.services, repo, None, None)
        project = await agents.consent(program.services, project, given=True)
        yield World(program, repo, project)
    if url is not None:
        forget_connections()


def forget_connections() -> None:
    """A DBOS that is closed while it connects its listener lets that connection go open, and the
    warning would come up in whichever test collects it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def lives(pid: str) -> bool:
    """The dead whom nobody has buried yet have no command line."""
    try:
        return Path("/proc", pid.strip(), "cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    return make_repo(tmp_path / "a repo", {"README.md": "Hello\n", "greeting.txt": "hi\n"})


@pytest.fixture
async def world(tmp_path: Path, repo: Path) -> AsyncIterator[World]:
    async with working(tmp_path / "home", repo) as world:
        yield world


GREETING: Mapping[str, Any] = {
    "implement": [
        [
            {"modify": {"path": "greeting.txt", "append": "hello\n"}},
            {"commit": "Say hello"},
            {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}},
            {"outcome": "pr_ready"},
        ],
        [
            {"modify": {"path": "greeting.txt", "append": "again\n"}},
            {"commit": "Say it again"},
            {"outcome": "pr_ready"},
        ],
    ]
}
