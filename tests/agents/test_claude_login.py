"""The real Claude Code in the sandbox of this machine: with whose account it asks a model, and
which program it is."""

import json
import time
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.agents import claude_program, login_shell, programs
from agents_manager.flow import agents, tasks
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import ModelServer, Structured, claude_bash
from tests import sandboxes
from tests.claude import SCENARIO, SETTINGS, account, server
from tests.repos import own_home
from tests.worlds import ANN, World, repo, world

__all__ = ["account", "own_home", "repo", "server", "world"]
pytestmark = pytest.mark.slow

TOKEN = "sk-ant-oat01-of-the-subscription"
DONE = Structured({"text": "Done.", "outcome": "pr_ready", "payload": None})


@pytest.fixture(autouse=True)
def kept(no_sandbox: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())


async def ran(world: World) -> TaskView:
    config = {"defaultAgentType": "claude-code", "agents": {"claude-code": SETTINGS}}
    (world.s.home / "config.json").write_text(json.dumps({"sandbox": {"hosts": []}, **config}))
    world.project = await agents.consent(world.s, world.project, given=False)
    new = tasks.NewTask(title="Look", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "ended")
    assert view.runs[0].error is None, view.runs[0].error
    assert view.runs[0].sandbox == "S3"
    return view


def log_in(own_home: Path) -> Path:
    """The file that `claude` and its /login leave in a home."""
    login = {
        "accessToken": TOKEN,
        "refreshToken": "sk-ant-ort01-of-the-subscription",
        "expiresAt": int(time.time() * 1000) + 8 * 3600 * 1000,
        "scopes": ["user:inference", "user:profile"],
        "subscriptionType": "max",
    }
    file = own_home / ".claude" / ".credentials.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"claudeAiOauth": login}))
    file.chmod(0o600)
    return file


async def test_the_login_of_a_subscription_works_and_nothing_else_of_the_home_is_seen(
    account: ModelServer, world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    login = log_in(own_home)
    (own_home / ".claude" / "CLAUDE.md").write_text("MARK-OF-THE-USER\n")
    account.script(SCENARIO, [claude_bash(f"ls -A '{own_home}/.claude' 2>&1; true"), DONE])
    await ran(world)
    first, last = account.requests(SCENARIO)[0], account.requests(SCENARIO)[-1]
    assert first.headers["authorization"] == f"Bearer {TOKEN}"
    assert "x-api-key" not in first.headers
    told = json.dumps(last.body)
    assert "MARK-OF-THE-USER" not in told
    assert "CLAUDE.md" not in json.dumps(last.body["messages"][-1])
    assert json.loads(login.read_text())["claudeAiOauth"]["accessToken"] == TOKEN


async def test_the_token_of_setup_token_works(
    account: ModelServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", TOKEN)
    account.script(SCENARIO, [DONE])
    await ran(world)
    assert account.requests(SCENARIO)[0].headers["authorization"] == f"Bearer {TOKEN}"


async def test_an_api_key_works(account: ModelServer, world: World) -> None:
    account.script(SCENARIO, [DONE])
    await ran(world)
    assert account.requests(SCENARIO)[0].headers["x-api-key"] == "scripted"


@pytest.mark.parametrize("own", [True, False])
async def test_the_users_own_program_is_used_if_its_version_is_supported(
    account: ModelServer,
    world: World,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    own: bool,
) -> None:
    bundled = claude_program.choose("/nowhere")
    assert bundled is not None
    program = own_home / "bin" / "claude"
    program.parent.mkdir()
    old = 'case "$*" in *--version*) echo 1.0.3; exit;; esac\n'
    program.write_text(f"#!/bin/sh\n{'' if own else old}exec '{bundled.path}' \"$@\"\n")
    program.chmod(0o755)
    shell = own_home / "shell"
    shell.write_text(
        f'#!/bin/sh\nPATH="{program.parent}:$PATH"\nfor last; do :; done\neval "$last"\n'
    )
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    monkeypatch.setattr(programs, "PATIENCE_S", 120.0)
    login_shell.path.cache_clear()
    try:
        account.script(SCENARIO, [DONE])
        view = await ran(world)
        (found,) = await agents.examine(world.s, world.project, "claude-code")
    finally:
        login_shell.path.cache_clear()
    expected = str(program) if own else bundled.path
    noted = [e for e in await world.events(view.task) if e.type == "agent.program"]
    assert [(e.data["program"], e.data["version"]) for e in noted] == [(expected, bundled.version)]
    assert (found.diagnosis.program, found.diagnosis.version) == (expected, bundled.version)
    assert any("1.0.3" in doubt for doubt in found.diagnosis.doubts) is not own
