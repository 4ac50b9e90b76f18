"""What every forge does with the comments on a pull request. A forge takes part by a player, who
does what people do there."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import pytest

from agents_manager.domain import event
from agents_manager.domain.task import Actor, ActorType, Project, PullRequest
from agents_manager.flow.ports import Forge, Store
from agents_manager.scm.local_forge import LocalForge
from agents_manager.store.database import open_database
from tests.contract.store_values import a_project, a_task, furnish, later
from tests.repos import commit, make_repo, own_home, run

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCHES = ("agent/one", "agent/two")


class Player(Protocol):
    @property
    def forge(self) -> Forge: ...
    async def say(
        self, pull: PullRequest, author: str, text: str, file: str | None, line: int | None
    ) -> None: ...
    async def resolve(self, pull: PullRequest, nth: int) -> None:
        """The comment that was made as the nth of all."""
        ...


class Clock:
    """Every look at it is a second later."""

    def __init__(self) -> None:
        self._looks = 0

    def now(self) -> datetime:
        self._looks += 1
        return later(self._looks)


class Ids:
    def __init__(self) -> None:
        self._last = 0

    def new(self) -> str:
        self._last += 1
        return f"pull-{self._last}"


@dataclass
class Local:
    store: Store
    forge: LocalForge
    clock: Clock
    said: int = 0

    async def say(
        self, pull: PullRequest, author: str, text: str, file: str | None, line: int | None
    ) -> None:
        self.said += 1
        made = event.CommentAdded(
            number=self.said, by=author, text=text, pull=pull.number, file=file, line=line
        )
        await self._note(pull, made, author)

    async def resolve(self, pull: PullRequest, nth: int) -> None:
        await self._note(pull, event.CommentResolved(number=nth, by="ann", resolved=True), "ann")

    async def _note(self, pull: PullRequest, happened: event.Event, author: str) -> None:
        actor, now = Actor(type=ActorType.USER, name=author), self.clock.now()
        await self.store.write(lambda tx: tx.events.add(pull.task_id, happened, actor, now))


@asynccontextmanager
async def local(folder: Path) -> AsyncIterator[Player]:
    store = open_database(folder / "agents-manager.db")
    await store.write(furnish)
    clock = Clock()
    yield Local(store, LocalForge(store, clock, Ids()), clock)
    store.close()


FORGES: Mapping[str, Callable[[Path], AbstractAsyncContextManager[Player]]] = {"local": local}


@dataclass
class Scene:
    player: Player
    project: Project
    one: PullRequest
    two: PullRequest


@pytest.fixture(params=FORGES)
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    for branch in BRANCHES:
        run(repo, "switch", "-q", "-c", branch, "main")
        commit(repo, {"a": f"{branch}\n"})
    project = a_project(path=str(repo))
    async with FORGES[request.param](tmp_path) as player:
        pulls = [
            await player.forge.publish(project, a_task(), branch, "main", "Title", "Body")
            for branch in BRANCHES
        ]
        yield Scene(player, project, *pulls)


async def test_nobody_has_said_anything(scene: Scene) -> None:
    assert list(await scene.player.forge.comments(scene.project, scene.one)) == []


async def test_what_was_said_is_told_in_its_order_with_author_place_and_state(scene: Scene) -> None:
    said = scene.player
    await said.say(scene.one, "ann", "Use the helper.\nPlease.", "src/a b.py", 12)
    await said.say(scene.one, "ben", "Not this file.", "README.md", None)
    await said.say(scene.one, "ann", "All in all good.", None, None)
    await said.resolve(scene.one, 2)
    for _ in range(2):
        found = await said.forge.comments(scene.project, scene.one)
        assert [(c.author, c.text, c.file, c.line, c.resolved) for c in found] == [
            ("ann", "Use the helper.\nPlease.", "src/a b.py", 12, False),
            ("ben", "Not this file.", "README.md", None, True),
            ("ann", "All in all good.", None, None, False),
        ]
        assert {c.pull for c in found} == {scene.one.number}
        assert sorted(c.time for c in found) == [c.time for c in found]


async def test_what_was_said_elsewhere_is_not_told(scene: Scene) -> None:
    await scene.player.say(scene.two, "ann", "Here.", None, None)
    assert list(await scene.player.forge.comments(scene.project, scene.one)) == []
    assert len(await scene.player.forge.comments(scene.project, scene.two)) == 1


async def test_what_was_said_outlives_a_new_head(scene: Scene) -> None:
    await scene.player.say(scene.one, "ann", "Here.", None, None)
    repo = Path(scene.project.path)
    run(repo, "switch", "-q", BRANCHES[0])
    commit(repo, {"b": "1\n"})
    again = await scene.player.forge.publish(
        scene.project, a_task(), BRANCHES[0], "main", "Title", "Body"
    )
    assert len(await scene.player.forge.comments(scene.project, again)) == 1
