"""The real Claude Code and the real Codex ask their model through the gateway: they work as ever,
and never see the key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.run import CostBasis, ErrorClass, RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import snapshots, tasks
from agents_manager.flow.runs import counts
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    ModelServer,
    Say,
    Structured,
    Turn,
    claude_bash,
    claude_write,
    codex_add,
    codex_run,
)
from agents_manager.testing.scripted_model.unusual import RESET, UNUSUAL
from tests import sandboxes
from tests.agents.codex_desk import READY, Desk
from tests.agents.codex_desk import SCENARIO as CODEX
from tests.api.scenes import serving
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import own_home, run
from tests.worlds import ANN, World, repo, world

pytestmark = pytest.mark.slow

__all__ = ["account", "own_home", "repo", "server", "world"]

REAL = "sk-real-0123456789abcdef"
PRICES = {CODEX_MODEL: {"input": 3, "output": 15, "cacheRead": 1, "cacheWrite": 1}}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", REAL)
    monkeypatch.setenv(CODEX_KEY, REAL)
    return REAL


def holding(folder: Path, text: str) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and text.encode() in path.read_bytes():
            yield path


def one_job(world: World) -> dict[str, str]:
    (file,) = world.s.jobs_dir.glob("*/1/job.json")
    return json.loads(file.read_text())["env"]


async def started(world: World) -> Task:
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task


async def test_claude_code(account: ModelServer, key: str, world: World) -> None:
    settings = {**SETTINGS, "gateway": True, "env": [*SETTINGS["env"], "ANTHROPIC_API_KEY"]}
    config = {"defaultAgentType": "claude-code", "agents": {"claude-code": settings}}
    (world.s.home / "config.json").write_text(json.dumps(config))
    account.script(
        SCENARIO,
        [
            Turn([Say("I write."), claude_write(Path("hello.txt"), "moin\n")]),
            claude_bash("git add hello.txt && git commit -qm 'Say moin'; env"),
            Structured({"text": "Done.", "outcome": "pr_ready", "payload": None}),
        ],
    )
    async with serving(world.program):
        view = await world.until(await started(world), "review")
    (done,) = view.runs
    assert (done.status, done.cost_basis) == (RunStatus.COMPLETED, CostBasis.REPORTED), done.error
    assert run(world.repo, "log", "-1", "--format=%s", done.branch or "") == "Say moin"
    asked = account.requests(SCENARIO)
    assert {r.headers["x-api-key"] for r in asked} == {key}
    env = one_job(world)
    assert env["ANTHROPIC_API_KEY"] not in str([r.headers for r in asked])
    assert env["ANTHROPIC_BASE_URL"].endswith(f"/model/run/{done.id}")
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:" in str(asked[-1].body), "what env printed"
    assert key not in str([r.body for r in asked])
    assert list(holding(world.s.home, key)) == []
    # Counted here and told by Claude Code: the same.
    counted = counts.together(world.s.jobs_dir / done.id / "1").usage
    assert counted is not None
    assert done.usage is not None
    assert done.usage.model_dump(exclude={"cost_usd"}) == counted.model_dump(exclude={"cost_usd"})


async def test_codex(desk: Desk, key: str) -> None:
    async with serving(desk.world.program):
        task = await desk.start(
            [
                codex_add("hello.txt", "hello"),
                codex_run("git add . && git commit -qm 'Say hello'; env"),
                Structured(READY),
            ],
            gateway=True,
        )
        done = await desk.one_run(task)
    assert done.status is RunStatus.COMPLETED, done.error
    desk.model.check()
    assert run(desk.world.repo, "log", "-1", "--format=%s", done.branch or "") == "Say hello"
    asked = desk.model.requests(CODEX)
    assert {r.headers["authorization"] for r in asked} == {f"Bearer {key}"}
    assert key not in str([r.body for r in asked])
    env = one_job(desk.world)
    assert CODEX_KEY not in env
    assert env["AM_MODEL_KEY"] not in desk.results()
    assert list(holding(desk.world.s.home, key)) == []
    assert done.usage is not None
    assert (done.usage.input_tokens, done.usage.output_tokens) == (300, 30)


async def test_in_the_sandbox_nothing_else_is_reached(
    desk: Desk, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap.LEVELS, "found", sandboxes.levels().found)
    home = {"sandbox": {"hosts": []}}
    (desk.world.s.home / "config.json").write_text(json.dumps(home))
    async with serving(desk.world.program):
        look = f"curl -sm 5 {desk.model.url(CODEX)}/v1/models; echo ended $?"
        task = await desk.start(
            [codex_add("a.txt", "a"), codex_run(look), Structured(READY)], gateway=True
        )
        done = await desk.one_run(task)
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), done.error
    assert "ended" in desk.results()
    paths = {r.path for r in desk.model.requests(CODEX)}
    assert paths == {f"/s/{CODEX}/v1/responses"}, "the provider itself is out of reach"


async def test_codex_is_stopped_within_a_turn_and_a_grant_lets_it_go_on(
    desk: Desk, key: str
) -> None:
    """By itself Codex tells what it used at the end of a turn, when it is too late."""
    world = desk.world
    home = {"prices": PRICES, "budgets": {"taskUsd": 0.0005}}
    (world.s.home / "config.json").write_text(json.dumps(home))
    steps = [codex_add("draft.txt", "half"), codex_run("ls"), codex_run("ls"), Structured(READY)]
    async with serving(world.program):
        task = await desk.start(steps, gateway=True)
        view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "held")
        (prompt,) = view.prompts
        (first,) = view.runs
        assert prompt.type is PromptType.BUDGET
        assert first.error is not None
        assert first.error.error_class is ErrorClass.BUDGET
        # One request costs $0.00045 and leaves some; the second uses the budget up.
        assert len(desk.model.requests(CODEX)) == 2
        assert first.cost_usd == pytest.approx(0.0009)
        [saved] = await snapshots.of_task(world.s, task.id)
        assert saved.files == ("draft.txt",)
        await world.answer(prompt, {"decision": "grant", "usd": 1})
        view = await world.until(task, "review")
    assert view.runs[-1].status is RunStatus.COMPLETED


async def test_without_a_server_it_is_not_started(
    desk: Desk, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_manager.flow.runs.gateway.START_LOOKS", 1)
    error = await desk.failed(await desk.start([], gateway=True))
    assert error.startswith('environment: Agent "codex" asks its model through the gateway')
    assert desk.model.requests(CODEX) == []


async def test_without_a_key_it_says_which_one(
    desk: Desk, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CODEX_KEY)
    error = await desk.failed(await desk.start([], gateway=True))
    assert f"set {CODEX_KEY} for the server" in error


def limited(view: TaskView) -> float:
    """How many seconds after its run failed the next one is due."""
    first = view.runs[0]
    assert first.error is not None
    assert first.error.error_class is ErrorClass.RATE_LIMIT
    assert first.error.resets_at is not None
    assert first.ended_at is not None
    return (first.error.resets_at - first.ended_at).total_seconds()


@pytest.mark.parametrize("form", ["429 seconds", "429 date", "429 reset"])
async def test_claude_code_is_retried_when_the_limit_ends_that_it_does_not_tell(
    account: ModelServer, key: str, world: World, form: str
) -> None:
    settings = {**SETTINGS, "gateway": True}
    config = {"defaultAgentType": "claude-code", "agents": {"claude-code": settings}}
    (world.s.home / "config.json").write_text(json.dumps(config))
    account.script(SCENARIO, [UNUSUAL[form].step("anthropic")] * 9)
    async with serving(world.program):
        view = await world.wait(await started(world), lambda v: len(v.runs) == 2, "a retry")
    assert RESET.total_seconds() - 60 < limited(view) <= RESET.total_seconds()
    assert view.next_mover.kind == "timer"


@pytest.mark.parametrize("form", ["429 seconds", "429 date", "429 reset"])
async def test_codex_ends_rather_than_wait_for_hours_and_is_retried_then(
    desk: Desk, key: str, form: str
) -> None:
    async with serving(desk.world.program):
        task = await desk.start([UNUSUAL[form].step("openai")] * 9, gateway=True)
        view = await desk.world.wait(task, lambda v: bool(v.prompts) and v.run is None, "over")
    assert RESET.total_seconds() - 60 < limited(view) <= RESET.total_seconds()
