"""A world whose pull requests live on a GitHub on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import event
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import SYSTEM, EffectRow, PullRequest, Task
from agents_manager.flow import reconcile
from tests.github_server import TOKEN, FakeGitHub, Served
from tests.repos import make_repo, run, scripted_home
from tests.worlds import GREETING, NO_RETRIES, PATIENCE_S, World, working


class MovedClock:
    """The machine's, and as much later as somebody set it."""

    def __init__(self) -> None:
        self.later = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


@dataclass
class Hub:
    world: World
    github: FakeGitHub
    clock: MovedClock
    pushes: int = 0

    async def look(self) -> None:
        """As the poll does, without waiting for it."""
        await reconcile.look(self.world.s, {})

    async def reviewable(self, **fields: Any) -> Task:
        """A task whose pull request waits for a review."""
        task = await self.world.start(GREETING, pipeline="simple", **fields)
        await self.world.until(task, "review")
        await self.world.settled(task)
        return task

    async def later(self, task: Task, **by: float) -> None:
        """Moves the clock; a commit wakes whoever waits for it."""
        self.clock.later += timedelta(**by)
        woken = event.Noted(text="It is later now.")
        await self.world.s.store.write(
            lambda tx: tx.events.add(task.id, woken, SYSTEM, self.clock.now())
        )

    async def tried(self, task: Task, kind: str, attempt: int) -> EffectRow:
        """The effect, once it waits for this attempt."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                found = await self.world.s.store.read(lambda tx: tx.effects.open(task.id))
                for effect in found:
                    if (effect.kind, effect.attempt) == (kind, attempt):
                        return effect
                await asyncio.sleep(0.02)

    async def pull(self, task: Task) -> PullRequest:
        found = (await self.world.view(task)).pull
        assert found is not None
        return found

    async def asked_again(self, task: Task) -> Prompt:
        """The question, once it is asked anew."""
        view = await self.world.wait(
            task, lambda v: any(p.revision > 1 for p in v.prompts), "asked again"
        )
        return view.prompts[0]

    def push(self, branch: str, files: dict[str, str], *flags: str) -> str:
        """Somebody else's commit on a branch there."""
        self.pushes += 1
        folder = self.github.repo.parent / f"other {self.pushes}"
        run(self.github.repo, "clone", "-q", str(self.github.repo), str(folder))
        run(folder, "switch", "-q", branch)
        if flags:
            run(folder, "reset", "-q", "--hard", "origin/main")
        for name, text in files.items():
            (folder / name).write_text(text)
        run(folder, "add", "-A")
        run(folder, "commit", "-q", "-m", "Outside")
        run(folder, "push", "-q", *flags, "origin", branch)
        return run(folder, "rev-parse", "HEAD")


@asynccontextmanager
async def hub_on(folder: Path, repo: Path, **forge: Any) -> AsyncIterator[Hub]:
    bare = folder / "github.git"
    run(folder, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    github, clock = FakeGitHub(bare), MovedClock()
    with Served(github) as served:
        there = {"type": "github", "repository": github.name, "baseUrl": served.url, **forge}
        home = scripted_home(folder / "home", forge=there, **NO_RETRIES)
        async with working(home, repo, clock=clock) as world:
            yield Hub(world, github, clock)
    assert github.faults == []


@pytest.fixture
async def hub(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> AsyncIterator[Hub]:
    """With what a test says about the forge (`@pytest.mark.parametrize("hub", [{…}],
    indirect=True)`)."""
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    repo = make_repo(tmp_path / "a repo", {"README.md": "Hello\n", "greeting.txt": "hi\n"})
    async with hub_on(tmp_path, repo, **getattr(request, "param", {})) as made:
        yield made
