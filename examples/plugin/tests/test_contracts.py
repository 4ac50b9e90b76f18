"""Each part of the plugin is held to what Agents Manager relies on: the tests come with it, and ask
by fixtures how ours is made."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from house_rules import register
from house_rules.logbook import Logbook, LogbookConfig
from house_rules.parrot import ParrotAgent, ParrotConfig
from house_rules.plain_git import PlainGit
from house_rules.rules import few_rounds, write_down
from house_rules.todos import Todos, count_todos

from agents_manager.domain.guards import Guard
from agents_manager.domain.plugin import HookCall, HookFunction
from agents_manager.domain.task import PullRequest
from agents_manager.flow.ports import Agent, CheckKind, CheckSpec, Tools
from agents_manager.plugins import Additions
from agents_manager.testing import repositories, values
from agents_manager.testing.contracts.agents import AgentContract
from agents_manager.testing.contracts.channels import ChannelContract, Shown
from agents_manager.testing.contracts.checks import CheckContract
from agents_manager.testing.contracts.forges import BRANCHES, ForgeContract, Player
from agents_manager.testing.contracts.pipelines import GuardContract, HookContract, PipelineContract


class TestFewRounds(GuardContract):
    @pytest.fixture
    def guard(self) -> Guard:
        return few_rounds

    @pytest.fixture
    def params(self) -> Mapping[str, Any]:
        return {"statusId": "in_progress", "max": 2}


class TestWriteDown(HookContract):
    @pytest.fixture
    def hook(self) -> HookFunction:
        return write_down

    @pytest.fixture
    def call(self, tmp_path: Path) -> HookCall:
        return values.hook_call(tmp_path, file="moves.txt")

    @pytest.fixture
    def seen(self, tmp_path: Path) -> Callable[[], object]:
        file = tmp_path / "moves.txt"
        return lambda: file.read_text() if file.exists() else None


class TestHotfix(PipelineContract):
    @pytest.fixture
    def register(self) -> Callable[[Additions], None]:
        return register


class TestParrot(AgentContract):
    @pytest.fixture
    def speaking(self, tmp_path: Path) -> Callable[[str], Agent]:
        def speaking(words: str) -> Agent:
            program = tmp_path / "parrot"
            program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'say': words})}\nEND\n")
            program.chmod(0o700)
            return ParrotAgent("parrot", ParrotConfig(program=str(program)))

        return speaking


class TestTodos(CheckContract):
    @pytest.fixture
    def kind(self) -> CheckKind:
        return CheckKind(run=count_todos, settings=Todos, plugin="am-house-rules")

    @pytest.fixture
    def spec(self) -> CheckSpec:
        usual = {"command": None, "severity": "warning", "modes": (), "timeout_s": 60.0}
        return CheckSpec(name="todos", kind="todos", settings=Todos(most=1), **usual)

    @pytest.fixture
    def good(self) -> Mapping[str, str]:
        return {"a.py": "# TODO later\n"}

    @pytest.fixture
    def bad(self) -> Mapping[str, str]:
        return {"a.py": "# TODO later\n# TODO even later\n"}


class Reader:
    """Who reads the logbook."""

    place = "logbook"
    answers = False
    updates = True
    longest = 2_000

    def __init__(self, file: Path) -> None:
        self.file = file
        self.config = LogbookConfig(enabled=True, file=str(file))
        self.channel = Logbook(lambda: self.config)

    async def down(self, wait_s: float | None) -> None:
        self.config = LogbookConfig(file=str(self.file.parent / "gone" / "logbook"))

    async def refuse(self) -> None:
        self.config = LogbookConfig(file=str(self.file.parent))

    async def shown(self, message: str) -> Shown:
        lines = [json.loads(line) for line in self.file.read_text().splitlines()]
        last = [line for line in lines if line["message"] == message][-1]
        return Shown("\n".join([last["title"], *last["body"]]), ())

    async def delete(self, message: str) -> None:
        self.file.unlink()


class TestLogbook(ChannelContract):
    @pytest.fixture
    def player(self, tmp_path: Path) -> Reader:
        return Reader(tmp_path / "logbook")

    @pytest.fixture
    def wait_s(self) -> None:
        """A file never says for how long it is not there."""


class Bare:
    """Who works with the bare repository."""

    def __init__(self, forge: PlainGit, repo: Path, bare: Path) -> None:
        self.forge = forge
        self.repo = repo
        self.bare = bare

    def push(self, branch: str) -> None:
        repositories.git(self.repo, "push", "-q", "origin", branch)

    def base(self) -> str:
        return repositories.git(self.bare, "rev-parse", "main")

    def put_on_base(self, text: str) -> None:
        repositories.git(self.repo, "switch", "-q", "main")
        repositories.commit(self.repo, {"a": text})
        self.push("main")

    async def close(self, pull: PullRequest) -> None:
        ref = f"refs/pulls/{pull.number}/{pull.head_branch}"
        repositories.git(self.bare, "update-ref", "-d", ref)


class TestPlainGit(ForgeContract):
    @pytest.fixture
    def register(self) -> Callable[[Additions], None]:
        return register

    @pytest.fixture
    def config(self) -> Mapping[str, Any]:
        return {"type": "plain-git"}

    @pytest.fixture
    def player(self, tools: Tools, repo: Path) -> Player:
        bare = repo.parent / "bare.git"
        repositories.git(repo.parent, "clone", "-q", "--bare", str(repo), str(bare))
        repositories.git(repo, "remote", "add", "origin", str(bare))
        player = Bare(PlainGit(tools), repo, bare)
        for branch in BRANCHES:
            player.push(branch)
        return player
