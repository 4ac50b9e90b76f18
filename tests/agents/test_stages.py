"""The first stages of a staged task with the real Claude Code and the real Codex, each against a
scripted model: every way that an output can come by, one that has to be mended, the confirmation by
`am review`, and what the planner was given."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.task import Task
from agents_manager.flow import contexts, tasks
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    ModelServer,
    Say,
    Structured,
    Use,
    When,
    asked,
    claude_bash,
    codex_report,
    codex_run,
    codex_settings,
    outcome,
)
from agents_manager.testing.scripted_model.steps import Step
from tests.agents.codex_desk import CODEX
from tests.api.scenes import serving
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.e2e.am_program import PROGRAM
from tests.repos import make_repo, own_home
from tests.stage_samples import SAMPLES
from tests.staged_walk import FILES, plain
from tests.worlds import ANN, World, working

__all__ = ["account", "own_home", "server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

REQUEST = "Tell whether the shop is up,\nat /health."
QUESTION = {"questions": [{"id": "q1", "question": "Which version?"}]}


@dataclass(frozen=True)
class Ways:
    """How an agent does what the test needs."""

    run: Callable[[str], Use]
    report: Callable[[str, Any], Use]
    settings: Callable[[ModelServer], Mapping[str, Any]]


def _claude_report(name: str, payload: Any) -> Use:
    return Use("mcp__agents-manager__report_outcome", {"outcome": name, "payload": payload})


def _codex(model: ModelServer) -> Mapping[str, Any]:
    return {
        "command": [CODEX],
        "model": CODEX_MODEL,
        "env": [CODEX_KEY],
        "settings": codex_settings(model, SCENARIO),
    }


AGENTS = {
    "claude-code": Ways(claude_bash, _claude_report, lambda _: SETTINGS),
    "codex": Ways(codex_run, codex_report, _codex),
}


def said(name: str, payload: Any = None) -> dict[str, Any]:
    return {"text": "Done.", "outcome": name, "payload": payload or SAMPLES[name]}


def stages(ways: Ways) -> list[Step | When]:
    """Each stage knows its turn by the outcome that its prompt offers."""
    uncovered = {"batches": SAMPLES["implementation_plan"]["batches"][:1]}
    by_tool = {**SAMPLES["task_spec"], "summary": "By the tool."}
    # Claude Code asks for its form where it was left out, and the block counts all the same.
    in_words = [outcome("repo_profile", SAMPLES["repo_profile"]), Say("As I said.")]
    steps: dict[str, Sequence[Step]] = {
        "is in no batch": [Structured(said("implementation_plan"))],
        "docs_research_output": [Structured(said("needs_info", QUESTION))],
        "implementation_plan": [Structured(said("implementation_plan", uncovered))],
        "repo_profile": [ways.run("ls"), *in_words],
        "task_spec": [ways.report("task_spec", by_tool), Structured(said("task_spec"))],
        "optimized_prompt": [Structured(said("optimized_prompt"))],
    }
    return [When(asked(text), each) for text, each in steps.items()]


async def am(home: Path, *args: str) -> None:
    program = await asyncio.create_subprocess_exec(
        PROGRAM,
        *args,
        env={**os.environ, "AM_HOME": str(home)},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    _, errors = await program.communicate()
    assert program.returncode == 0, errors.decode()


async def until(world: World, task: Task, status: str) -> TaskView:
    def there(view: TaskView) -> bool:
        return view.task.status in (status, "failed") and view.run is None

    view = await world.wait(task, there, status)
    assert view.task.status == status, view.runs[-1].error
    return view


@pytest.mark.parametrize("agent", AGENTS)
async def test_from_the_request_to_a_plan(
    account: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    ways = AGENTS[agent]
    monkeypatch.setenv(CODEX_KEY, "scripted")
    monkeypatch.setattr("tests.worlds.PATIENCE_S", 120)
    account.script(SCENARIO, stages(ways))
    repo = make_repo(tmp_path / "shop", FILES)
    async with working(tmp_path / "home", repo) as world, serving(world.program):
        settings = {agent: dict(ways.settings(account))}
        world.configure({"defaultAgentType": agent, "agents": settings})
        world.project = await tasks.trust_project(world.s, world.project)
        new = tasks.NewTask(title="A health check", description=REQUEST, pipeline="staged")
        task = await tasks.create(world.s, world.project, new, ANN)
        await tasks.move(world.s, task.id, ANN)
        await until(world, task, "confirming")
        await am(tmp_path / "home", "review", task.id, "--approve")
        view = await until(world, task, "needs_info")
        found = await world.s.store.read(lambda tx: contexts.of_task(tx, world.s, task.id))
        planner = next(run for run in view.runs if run.mode == "plan-agent")
        given = await world.s.store.read(
            lambda tx: contexts.given(tx, world.s, task.id, planner.id)
        )

    assert [(run.mode, run.agent, run.outcome) for run in view.runs] == [
        ("prompt-optimizer", agent, "optimized_prompt"),
        ("task-breakdown", agent, "task_spec"),
        ("code-discovery", agent, "repo_profile"),
        ("plan-agent", agent, "implementation_plan"),
        ("docs-researcher", agent, "needs_info"),
    ]
    made = found.context.stage_outputs
    assert made.stage_neg1_prompt == SAMPLES["optimized_prompt"]["prompt"]
    assert made.stage_0_taskspec
    assert made.stage_0_taskspec.summary == "By the tool."
    assert made.stage_1_repoprofile
    assert made.stage_1_repoprofile.commands.test
    assert made.stage_2_plan
    assert [batch.files for batch in made.stage_2_plan.batches] == [("app.py",), ("README.md",)]
    (retry,) = found.context.retry_history
    assert (retry.agent, retry.issue) == (
        "plan-agent",
        "Feature F2 of the TaskSpec is in no batch.",
    )
    # The passing table: stage 2 is given 0 and 1, and the request.
    assert list(given.outputs) == ["Stage 0: TaskSpec", "Stage 1: RepoProfile"]
    for request in account.requests(SCENARIO):
        assert all(line in plain(request.body) for line in REQUEST.splitlines())
    planned = [r for r in account.requests(SCENARIO) if "implementation_plan" in plain(r.body)]
    heard = plain(planned[0].body)
    assert "GET /health answers 200 with the status" in heard
    assert "snake_case" in heard
    assert SAMPLES["optimized_prompt"]["prompt"] not in heard
