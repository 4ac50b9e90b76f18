"""What every forge does with a pull request and the comments on it. A forge takes part by a player,
who does what people do there."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import pytest

from agents_manager.domain import event
from agents_manager.domain.task import (
    Actor,
    ActorType,
    MergeMethod,
    Project,
    PullRequest,
    PullState,
)
from agents_manager.errors import HookFailed
from agents_manager.flow.ports import Conflicted, Forge, Merged, Store, Tx
from agents_manager.scm.github import GitHub
from agents_manager.scm.local_forge import LocalForge
from agents_manager.settings import ConfigFiles
from agents_manager.store.database import open_database
from tests.contract.store_values import PIPELINE, a_project, a_task, later, pipelines
from tests.github_server import TOKEN, FakeGitHub, Served
from tests.repos import commit, make_repo, own_home, run, scripted_home, sha

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCHES = ("agent/one", "agent/two")


class Player(Protocol):
    @property
    def forge(self) -> Forge: ...
    @property
    def store(self) -> Store: ...
    def push(self, branch: str) -> None:
        """Brings the branch to where the forge sees it."""
        ...

    def base(self) -> str:
        """Where `main` stands for the forge."""
        ...

    def put_on_base(self, text: str) -> None:
        """Somebody else's work on the file `a`."""
        ...

    async def say(
        self, pull: PullRequest, author: str, text: str, file: str | None, line: int | None
    ) -> None: ...
    async def resolve(self, pull: PullRequest, nth: int) -> None:
        """The comment that was made as the nth of all."""
        ...

    async def answer(self, pull: PullRequest, nth: int, author: str, text: str) -> None: ...
    async def close(self, pull: PullRequest) -> None: ...


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
    repo: Path
    store: Store
    forge: LocalForge
    clock: Clock
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
    store: Store
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
async def local(folder: Path, repo: Path) -> AsyncIterator[Player]:
    async with a_store(folder, repo) as store:
        clock = Clock()
        yield Local(repo, store, LocalForge(store, clock, Ids()), clock)


@asynccontextmanager
async def github(folder: Path, repo: Path) -> AsyncIterator[Player]:
    bare = folder / "github.git"
    run(folder, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    there = FakeGitHub(bare)
    async with a_store(folder, repo) as store:
        with Served(there) as served:
            forge = {"type": "github", "repository": there.name, "baseUrl": served.url}
            configs = ConfigFiles(scripted_home(folder / "home", forge=forge))
            yield OnGitHub(repo, store, GitHub(store, Clock(), Ids(), configs), there)
    assert there.faults == []


@asynccontextmanager
async def a_store(folder: Path, repo: Path) -> AsyncIterator[Store]:
    store = open_database(folder / "agents-manager.db")

    def furnish(tx: Tx) -> None:
        tx.projects.add(a_project(path=str(repo)))
        tx.pipelines.save(pipelines.parse(PIPELINE), PIPELINE, later(0))
        tx.tasks.add(a_task())

    await store.write(furnish)
    yield store
    store.close()


Opened = Callable[[Path, Path], AbstractAsyncContextManager[Player]]
FORGES: Mapping[str, Opened] = {"local": local, "github": github}


@dataclass
class Scene:
    player: Player
    project: Project
    repo: Path
    one: PullRequest
    two: PullRequest

    async def publish(self, branch: str, title: str = "Title", body: str = "Body") -> PullRequest:
        forge = self.player.forge
        return await forge.publish(self.project, a_task(), branch, "main", title, body)

    async def merge(self, pull: PullRequest, head: str | None = None) -> Merged | Conflicted:
        wanted = head or pull.head_sha
        return await self.player.forge.merge(self.project, pull, wanted, MergeMethod.MERGE)

    async def known(self) -> list[PullRequest]:
        return await self.player.store.read(lambda tx: tx.pulls.all_of_task(a_task().id))


@pytest.fixture(params=FORGES)
async def scene(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Scene]:
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    for branch in BRANCHES:
        run(repo, "switch", "-q", "-c", branch, "main")
        commit(repo, {"a": f"{branch}\n"})
    run(repo, "switch", "-q", "main")
    project = a_project(path=str(repo))
    async with FORGES[request.param](tmp_path, repo) as player:
        pulls = [
            await player.forge.publish(project, a_task(), branch, "main", "Title", "Body")
            for branch in BRANCHES
        ]
        yield Scene(player, project, repo, *pulls)


async def test_a_pull_request_is_made_once(scene: Scene) -> None:
    again = await scene.publish(BRANCHES[0])
    assert again.id == scene.one.id
    assert [(p.number, p.state, p.head_sha) for p in await scene.known()] == [
        (scene.one.number, PullState.OPEN, sha(scene.repo, BRANCHES[0])),
        (scene.two.number, PullState.OPEN, sha(scene.repo, BRANCHES[1])),
    ]


async def test_it_follows_its_branch_and_its_words(scene: Scene) -> None:
    run(scene.repo, "switch", "-q", BRANCHES[0])
    head = commit(scene.repo, {"b": "1\n"})
    scene.player.push(BRANCHES[0])
    again = await scene.publish(
        BRANCHES[0], "New\n\nSigned-off-by: Eve <eve@example.org>", "B" * 99_999
    )
    assert (again.id, again.head_sha) == (scene.one.id, head)
    assert again.title == "New Signed-off-by: Eve <eve@example.org>"
    assert len(again.body) == 60_000


async def test_a_merge_brings_it_into_its_base_once(scene: Scene) -> None:
    merged = await scene.merge(scene.one)
    assert isinstance(merged, Merged)
    assert scene.player.base() == merged.sha
    [known, _] = await scene.known()
    assert (known.state, known.merge_sha) == (PullState.MERGED, merged.sha)
    assert await scene.merge(known) == merged
    assert scene.player.base() == merged.sha
    assert (await scene.publish(BRANCHES[0])).id == scene.one.id, "it is done"


async def test_a_merge_that_conflicts_says_where(scene: Scene) -> None:
    scene.player.put_on_base("theirs\n")
    before = scene.player.base()
    result = await scene.merge(scene.one)
    assert isinstance(result, Conflicted)
    assert result.files == ("a",)
    assert scene.player.base() == before


async def test_a_head_that_moved_after_the_approval_is_not_merged(scene: Scene) -> None:
    run(scene.repo, "switch", "-q", BRANCHES[0])
    commit(scene.repo, {"b": "1\n"})
    scene.player.push(BRANCHES[0])
    before = scene.player.base()
    with pytest.raises(HookFailed, match=f"moved after the approval of {scene.one.head_sha}"):
        await scene.merge(scene.one)
    assert scene.player.base() == before


async def test_one_that_was_closed_is_not_merged_and_another_takes_its_place(scene: Scene) -> None:
    await scene.player.close(scene.one)
    closed = next(p for p in await scene.known() if p.id == scene.one.id)
    with pytest.raises(HookFailed, match=f"#{closed.number} is closed"):
        await scene.merge(closed)
    again = await scene.publish(BRANCHES[0])
    assert again.number not in (scene.one.number, scene.two.number)
    assert [p.state for p in await scene.known() if p.id == again.id] == [PullState.OPEN]


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


async def test_answers_belong_to_their_thread_which_is_resolved_as_a_whole(scene: Scene) -> None:
    said = scene.player
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


async def test_what_was_said_elsewhere_is_not_told(scene: Scene) -> None:
    await scene.player.say(scene.two, "ann", "Here.", None, None)
    assert list(await scene.player.forge.comments(scene.project, scene.one)) == []
    assert len(await scene.player.forge.comments(scene.project, scene.two)) == 1


async def test_what_was_said_outlives_a_new_head(scene: Scene) -> None:
    await scene.player.say(scene.one, "ann", "Here.", None, None)
    run(scene.repo, "switch", "-q", BRANCHES[0])
    commit(scene.repo, {"b": "1\n"})
    scene.player.push(BRANCHES[0])
    again = await scene.publish(BRANCHES[0])
    assert len(await scene.player.forge.comments(scene.project, again)) == 1
