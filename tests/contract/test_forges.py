"""What every forge does with a pull request and the comments on it. A forge takes part by a player,
who does what people do there."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest

from agents_manager.domain import event
from agents_manager.domain.task import Actor, ActorType, PullRequest, PullState
from agents_manager.flow.ports import Store, Tools
from agents_manager.scm.github import GitHub
from agents_manager.scm.local_forge import LocalForge
from agents_manager.settings import ConfigFiles
from agents_manager.testing.contracts import forges as contract
from agents_manager.testing.contracts.forges import BRANCHES, ForgeContract, Scene
from tests.github_server import TOKEN, FakeGitHub, Served
from tests.repos import commit, run, scripted_home, sha


class Player(contract.Player, Protocol):
    """With those who say something."""

    async def say(
        self, pull: PullRequest, author: str, text: str, file: str | None, line: int | None
    ) -> None: ...
    async def resolve(self, pull: PullRequest, nth: int) -> None:
        """The comment that was made as the nth of all."""
        ...

    async def answer(self, pull: PullRequest, nth: int, author: str, text: str) -> None: ...


@dataclass
class Local:
    repo: Path
    store: Store
    forge: LocalForge
    clock: contract.Clock
    said: int = 0

    def push(self, branch: str) -> None: ...

    def base(self) -> str:
        return sha(self.repo, "main")

    def put_on_base(self, text: str) -> None:
        run(self.repo, "switch", "-q", "main")
        commit(self.repo, {"a": text})

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

    async def answer(self, pull: PullRequest, nth: int, author: str, text: str) -> None:
        await self._note(pull, event.CommentAnswered(number=nth, by=author, text=text), author)

    async def close(self, pull: PullRequest) -> None:
        now = self.clock.now()
        await self.store.write(lambda tx: tx.pulls.update(pull.id, now, state=PullState.CLOSED))

    async def _note(self, pull: PullRequest, happened: event.Event, author: str) -> None:
        actor, now = Actor(type=ActorType.USER, name=author), self.clock.now()
        await self.store.write(lambda tx: tx.events.add(pull.task_id, happened, actor, now))


@dataclass
class OnGitHub:
    repo: Path
    forge: GitHub
    github: FakeGitHub
    made: list[int] = field(default_factory=list[int])

    def push(self, branch: str) -> None:
        run(self.repo, "push", "-q", "origin", branch)

    def base(self) -> str:
        return sha(self.github.repo, "main")

    def put_on_base(self, text: str) -> None:
        run(self.repo, "switch", "-q", "main")
        commit(self.repo, {"a": text})
        self.push("main")

    async def say(
        self, pull: PullRequest, author: str, text: str, file: str | None, line: int | None
    ) -> None:
        self.made.append(self.github.comment(pull.number, author, text, file, line))

    async def resolve(self, pull: PullRequest, nth: int) -> None:
        self.github.resolved.add(self.made[nth - 1])

    async def answer(self, pull: PullRequest, nth: int, author: str, text: str) -> None:
        self.github.reply(self.made[nth - 1], author, text)

    async def close(self, pull: PullRequest) -> None:
        self.github.close(pull.number)


@asynccontextmanager
async def local(folder: Path, repo: Path, tools: Tools) -> AsyncIterator[Player]:
    clock = contract.Clock()
    forge = LocalForge(tools.store, clock, contract.Ids())
    yield Local(repo, tools.store, forge, clock)


@asynccontextmanager
async def github(folder: Path, repo: Path, tools: Tools) -> AsyncIterator[Player]:
    bare = folder / "github.git"
    run(folder, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    there = FakeGitHub(bare)
    with Served(there) as served:
        forge = {"type": "github", "repository": there.name, "baseUrl": served.url}
        configs = ConfigFiles(scripted_home(folder / "github home", forge=forge))
        made = GitHub(tools.store, contract.Clock(), contract.Ids(), configs)
        yield OnGitHub(repo, made, there)
    assert there.faults == []


Opened = Callable[[Path, Path, Tools], AbstractAsyncContextManager[Player]]
FORGES: Mapping[str, Opened] = {"local": local, "github": github}


class TestForges(ForgeContract):
    @pytest.fixture(params=FORGES)
    async def player(
        self,
        request: pytest.FixtureRequest,
        tmp_path: Path,
        repo: Path,
        tools: Tools,
        monkeypatch: pytest.MonkeyPatch,
    ) -> AsyncIterator[Player]:
        monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
        async with FORGES[request.param](tmp_path, repo, tools) as player:
            yield player

    async def test_what_was_said_is_told_in_its_order_with_author_place_and_state(
        self, scene: Scene, player: Player
    ) -> None:
        said = player
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

    async def test_answers_belong_to_their_thread_which_is_resolved_as_a_whole(
        self, scene: Scene, player: Player
    ) -> None:
        said = player
        for line in (1, 2):
            await said.say(scene.one, "ann", "Use the helper.", "a", line)
        await said.answer(scene.one, 1, "ben", "Which one?")
        await said.answer(scene.one, 2, "ben", "Done.")
        await said.answer(scene.one, 1, "ann", "That of main.")
        await said.resolve(scene.one, 2)
        found = await said.forge.comments(scene.project, scene.one)
        assert [(c.line, c.resolved, [(a.author, a.text) for a in c.answers]) for c in found] == [
            (1, False, [("ben", "Which one?"), ("ann", "That of main.")]),
            (2, True, [("ben", "Done.")]),
        ]

    async def test_what_was_said_elsewhere_is_not_told(self, scene: Scene, player: Player) -> None:
        await player.say(scene.two, "ann", "Here.", None, None)
        assert list(await player.forge.comments(scene.project, scene.one)) == []
        assert len(await player.forge.comments(scene.project, scene.two)) == 1

    async def test_what_was_said_outlives_a_new_head(self, scene: Scene, player: Player) -> None:
        await player.say(scene.one, "ann", "Here.", None, None)
        scene.work_on(BRANCHES[0])
        again = await scene.publish(BRANCHES[0])
        assert len(await player.forge.comments(scene.project, again)) == 1
