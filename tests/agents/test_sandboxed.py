"""The real Claude Code and the real Codex in the real sandbox: they find their model, which is a
scripted one on this machine, commit, go on with their session, and see nothing else."""

import json
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.domain.run import RunStatus
from agents_manager.flow import agents, tasks
from agents_manager.testing.scripted_model import (
    ModelServer,
    Say,
    Structured,
    Turn,
    When,
    asked,
    claude_bash,
    claude_write,
    codex_add,
    codex_run,
)
from tests import sandboxes
from tests.agents.codex_desk import READY, Desk
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import own_home, run
from tests.worlds import ANN, World, repo, world

__all__ = ["account", "own_home", "repo", "server", "world"]

COMMIT = "git add . && git commit -qm 'Say hello' && git log --oneline"


@pytest.fixture(autouse=True)
def kept(no_sandbox: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())


async def without_consent(world: World, **config: object) -> None:
    (world.s.home / "config.json").write_text(json.dumps({"sandbox": {"hosts": []}, **config}))
    world.project = await agents.consent(world.s, world.project, given=False)


async def test_codex(desk: Desk, own_home: Path) -> None:
    world = desk.world
    await without_consent(world)
    (own_home / "secret").write_text("mine\n")
    look = f"cat '{own_home}/secret' '{world.s.home}/config.json' 2>&1; id -u; env"
    task = await desk.start(
        [
            codex_add("hello.txt", "hello"),
            codex_run(COMMIT),
            codex_run(look),
            Structured(READY),
        ]
    )
    done = await desk.one_run(task)
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), done.error
    assert run(world.repo, "log", "-1", "--format=%s", done.branch or "") == "Say hello"
    printed = desk.results()
    assert printed.count("No such file") == 2
    assert "\n0\n" not in printed
    assert "SCRIPTED" not in printed


@pytest.mark.slow
async def test_claude_code(account: ModelServer, world: World, own_home: Path) -> None:
    await without_consent(world, defaultAgentType="claude-code", agents={"claude-code": SETTINGS})
    (own_home / "secret").write_text("mine\n")
    look = f"cat '{own_home}/secret' '{world.s.home}/config.json' 2>&1; id -u"
    asks = {"questions": [{"id": "q1", "question": "Which greeting?"}]}
    account.script(
        SCENARIO,
        [
            Structured({"text": "Hm.", "outcome": "needs_info", "payload": asks}),
            When(
                asked("Answer: Moin."),
                [
                    Turn([Say("I write."), claude_write(Path("hello.txt"), "moin\n")]),
                    claude_bash("git add hello.txt && git commit -qm 'Say moin'"),
                    claude_bash(look),
                    Structured({"text": "Done.", "outcome": "pr_ready", "payload": None}),
                ],
            ),
        ],
    )
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    assert view.runs[0].error is None, view.runs[0].error
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.until(task, "review")
    first, second = view.runs
    assert (first.sandbox, second.sandbox) == ("S3", "S3")
    assert first.session == second.session
    assert run(world.repo, "log", "-1", "--format=%s", second.branch or "") == "Say moin"
    printed = str(account.requests(SCENARIO)[-1].body["messages"])
    assert printed.count("No such file") == 2
