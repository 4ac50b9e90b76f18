"""What every forge does with a pull request. A forge takes part by a player, who does what people
do there."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from agents_manager import built_in
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain import registry
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState
from agents_manager.errors import HookFailed
from agents_manager.flow.ports import Conflicted, Forge, Merged, Store, Tools, Tx
from agents_manager.plugins import Additions
from agents_manager.settings import ConfigFiles
from agents_manager.store.database import open_database
from agents_manager.testing import repositories, values

BRANCHES = ("agent/one", "agent/two")


class Player(Protocol):
    @property
    def forge(self) -> Forge: ...
    def push(self, branch: str) -> None:
        """Brings the branch to where the forge sees it."""
        ...

    def base(self) -> str:
        """Where `main` stands for the forge."""
        ...

    def put_on_base(self, text: str) -> None:
        """Somebody else's work on the file `a`."""
        ...

    async def close(self, pull: PullRequest) -> None: ...


class Clock:
    """Every look at it is a second later."""

    def __init__(self) -> None:
        self._looks = count(1)

    def now(self) -> datetime:
        return values.NOW + timedelta(seconds=next(self._looks))


class Ids:
    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return f"pull-{next(self._numbers)}"


@asynccontextmanager
async def a_store(folder: Path, project: Project) -> AsyncGenerator[Store]:
    """With the project, and the task that `values.task` makes."""
    document = built_in.adapters().pipelines["simple"]
    store = open_database(folder / "agents-manager.db")

    def furnish(tx: Tx) -> None:
        tx.projects.add(project)
        tx.pipelines.save(pipelines.parse(document), document, values.NOW)
        tx.tasks.add(values.task())

    await store.write(furnish)
    yield store
    store.close()


@dataclass
class Scene:
    """Two pull requests, of a branch each that changes the file `a`."""

    player: Player
    store: Store
    project: Project
    repo: Path
    one: PullRequest
    two: PullRequest

    async def publish(self, branch: str, title: str = "Title", body: str = "Body") -> PullRequest:
        forge = self.player.forge
        return await forge.publish(self.project, values.task(), branch, "main", title, body)

    async def merge(self, pull: PullRequest) -> Merged | Conflicted:
        how = MergeMethod.MERGE
        return await self.player.forge.merge(self.project, pull, pull.head_sha, how)

    async def known(self) -> list[PullRequest]:
        return await self.store.read(lambda tx: tx.pulls.all_of_task(values.task().id))

    def work_on(self, branch: str) -> str:
        repositories.git(self.repo, "switch", "-q", branch)
        head = repositories.commit(self.repo, {"b": "1\n"})
        self.player.push(branch)
        return head


class ForgeContract:
    @pytest.fixture(autouse=True)
    def user(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Somebody whose git knows a name and nothing else."""
        home = tmp_path / "user"
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    @pytest.fixture
    def repo(self, tmp_path: Path) -> Path:
        repo = repositories.make(tmp_path / "repo", {"a": "1\n"})
        for branch in BRANCHES:
            repositories.git(repo, "switch", "-q", "-c", branch, "main")
            repositories.commit(repo, {"a": f"{branch}\n"})
        repositories.git(repo, "switch", "-q", "main")
        return repo

    @pytest.fixture
    def register(self) -> Callable[[Additions], None]:
        """To be overridden: the function that the entry point names."""
        return lambda add: None

    @pytest.fixture
    def config(self) -> Mapping[str, Any]:
        """To be overridden: what a configuration file says of its `forge`."""
        return {}

    @pytest.fixture
    async def tools(
        self,
        tmp_path: Path,
        repo: Path,
        register: Callable[[Additions], None],
        config: Mapping[str, Any],
    ) -> AsyncIterator[Tools]:
        home = tmp_path / "home"
        home.mkdir()
        (home / "config.json").write_text(json.dumps({"forge": config}))
        add = Additions(registry.built_in(), built_in.adapters(), "mine")
        register(add)
        async with a_store(tmp_path, values.project(repo)) as store:
            yield Tools(
                store=store,
                clock=Clock(),
                ids=Ids(),
                configs=ConfigFiles(home, add.adapters),
                home=home,
                here=None,
            )

    @pytest.fixture
    def player(self, tools: Tools, repo: Path) -> Player:
        """To be overridden: a forge that both branches of the repository are pushed to."""
        raise NotImplementedError

    @pytest.fixture
    async def scene(self, player: Player, tools: Tools, repo: Path) -> Scene:
        project, task = values.project(repo), values.task()
        one, two = [
            await player.forge.publish(project, task, branch, "main", "Title", "Body")
            for branch in BRANCHES
        ]
        return Scene(player, tools.store, project, repo, one, two)

    async def test_a_pull_request_is_made_once(self, scene: Scene) -> None:
        again = await scene.publish(BRANCHES[0])
        assert again.id == scene.one.id
        heads = [repositories.git(scene.repo, "rev-parse", branch) for branch in BRANCHES]
        assert [(p.number, p.state, p.head_sha) for p in await scene.known()] == [
            (scene.one.number, PullState.OPEN, heads[0]),
            (scene.two.number, PullState.OPEN, heads[1]),
        ]

    async def test_it_follows_its_branch_and_its_words(self, scene: Scene) -> None:
        head = scene.work_on(BRANCHES[0])
        again = await scene.publish(BRANCHES[0], "New\n\nSigned-off-by: Eve", "B" * 99_999)
        assert (again.id, again.head_sha) == (scene.one.id, head)
        assert again.title == "New Signed-off-by: Eve"
        assert len(again.body) == 60_000

    async def test_a_merge_brings_it_into_its_base_once(self, scene: Scene) -> None:
        merged = await scene.merge(scene.one)
        assert isinstance(merged, Merged)
        assert scene.player.base() == merged.sha
        [known, _] = await scene.known()
        assert (known.state, known.merge_sha) == (PullState.MERGED, merged.sha)
        assert await scene.merge(known) == merged
        assert scene.player.base() == merged.sha
        assert (await scene.publish(BRANCHES[0])).id == scene.one.id, "it is done"

    async def test_a_merge_that_conflicts_says_where(self, scene: Scene) -> None:
        scene.player.put_on_base("theirs\n")
        before = scene.player.base()
        result = await scene.merge(scene.one)
        assert isinstance(result, Conflicted)
        assert result.files == ("a",)
        assert scene.player.base() == before

    async def test_a_head_that_moved_after_the_approval_is_not_merged(self, scene: Scene) -> None:
        scene.work_on(BRANCHES[0])
        before = scene.player.base()
        with pytest.raises(HookFailed, match=r"moved|stands"):
            await scene.merge(scene.one)
        assert scene.player.base() == before

    async def test_one_that_was_closed_is_not_merged_and_another_takes_its_place(
        self, scene: Scene
    ) -> None:
        await scene.player.close(scene.one)
        closed = next(p for p in await scene.known() if p.id == scene.one.id)
        with pytest.raises(HookFailed, match="is closed"):
            await scene.merge(closed)
        again = await scene.publish(BRANCHES[0])
        assert again.number not in (scene.one.number, scene.two.number)
        assert [p.state for p in await scene.known() if p.id == again.id] == [PullState.OPEN]

    async def test_nobody_has_said_anything(self, scene: Scene) -> None:
        assert list(await scene.player.forge.comments(scene.project, scene.one)) == []
