"""One task, planned by the real Claude Code and implemented by the real Codex."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agents_manager.flow import tasks
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    ModelServer,
    Structured,
    Use,
    codex_add,
    codex_run,
    codex_settings,
)
from tests.agents.codex_desk import CODEX, READY
from tests.api.scenes import serving
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import own_home, run
from tests.worlds import ANN, World, repo, world

__all__ = ["account", "own_home", "repo", "server", "world"]

AGENTS = {"plan": "claude-code", "implement": "codex"}


def shared_out(document: Mapping[str, Any]) -> dict[str, Any]:
    """The pipeline with an agent for each mode, under a name of its own."""
    transitions = [
        {
            **transition,
            "hooks": [
                {**hook, "params": {**hook["params"], "agent": AGENTS[hook["params"]["mode"]]}}
                if hook.get("params", {}).get("mode") in AGENTS
                else hook
                for hook in transition.get("hooks", [])
            ],
        }
        for transition in document["transitions"]
    ]
    return {**document, "id": "two", "transitions": transitions}


async def test_from_creation_to_merge(
    account: ModelServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CODEX_KEY, "scripted")
    report = Use("mcp__agents-manager__report_outcome", {"outcome": "plan_complete"})
    planned = {"text": "1. Say hello.", "outcome": "plan_complete", "payload": None}
    account.script(SCENARIO, [report, Structured(planned)])
    account.script(
        "codex",
        [
            codex_add("hello.txt", "hello"),
            codex_run("git add . && git commit -qm 'Say hello'"),
            Structured(READY),
        ],
    )
    codex = {
        "command": [CODEX],
        "model": CODEX_MODEL,
        "env": [CODEX_KEY],
        "settings": codex_settings(account, "codex"),
    }
    folder = world.repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    document = shared_out(world.s.built_in["feature"])
    (folder / "two.json").write_text(json.dumps(document))
    world.configure({"agents": {"codex": codex, "claude-code": dict(SETTINGS)}})
    world.project = await tasks.trust_project(world.s, world.project)
    async with serving(world.program):
        new = tasks.NewTask(title="Add greeting", pipeline="two")
        task = await tasks.create(world.s, world.project, new, ANN)
        await tasks.move(world.s, task.id, ANN)
        view = await world.until(task, "planned")
        assert view.task.plan == "1. Say hello."
        await world.review(task, "approved")
        await world.until(task, "pr_review")
        await world.review(task, "approved")
        view = await world.until(task, "done")
    assert [(r.mode, r.agent, r.outcome) for r in view.runs] == [
        ("plan", "claude-code", "plan_complete"),
        ("implement", "codex", "pr_ready"),
    ]
    assert run(world.repo, "show", "main:hello.txt") == "hello"
    # The plan of the one is what the other was told.
    told = json.dumps(account.requests("codex")[0].body["input"])
    assert "1. Say hello." in told
    heard = [m for r in account.requests(SCENARIO) for m in r.body["messages"]]
    assert "Taken. Reported again" in json.dumps(heard)
