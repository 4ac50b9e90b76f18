"""The variables that runs of a project get: where they reach, and that their values are kept
nowhere."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.cli import examination
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import Task
from agents_manager.errors import MissingVariable
from agents_manager.flow import surroundings, tasks, teardown
from agents_manager.flow.ports import Services
from agents_manager.flow.retention import sweep
from agents_manager.flow.views import TaskView
from agents_manager.redaction import MASK
from tests import sandboxes
from tests.repos import executable
from tests.repos import run as git
from tests.worlds import ANN, NO_RETRIES, World, repo, working

__all__ = ["repo"]

NAME = "CANARY_OF_THE_SHOP"
"""Nothing in the name says that it is a secret."""
SECRET = "canary-4f7d0a9c61-shop"
ENCODED = base64.b64encode(f"x={SECRET};".encode()).decode()
ITS_OWN = {"job.json", "sandbox.json"}
"""Where the environment of an agent is kept while it works; the folder is its user's alone."""
SHOW = 'echo "$AM_TASK_ID $AM_BRANCH $AM_PORT $AM_PROJECT_DIR"; echo "$' + NAME + '"'
AGENT = """
import base64, os, sys, time
secret = os.environ["CANARY_OF_THE_SHOP"]
print("It is", secret[:7], end="", flush=True)
time.sleep(0.2)
print(secret[7:], secret[::-1])
print(base64.b64encode(f"x={secret};".encode()).decode())
print(secret, file=sys.stderr, flush=True)
open("told.txt", "w").write(" ".join(os.environ[f"AM_{n}"] for n in ("TASK_ID", "BRANCH", "PORT")))
print(f'''<<<OUTCOME:pr_ready>>>
{{"title": "Use {secret}", "summary": "It is {secret}."}}
<<<END_PAYLOAD>>>''')
"""


@pytest.fixture
async def world(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setenv(NAME, SECRET)
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(json.dumps({"sandbox": {"hosts": []}, **NO_RETRIES}))
    async with working(home, repo) as world:
        yield world


async def started(world: World, tmp_path: Path, trusted: bool = True, **config: Any) -> Task:
    executable(world.repo / "agent.sh", f"exec {sys.executable} - <<'END'\n{AGENT}\nEND\n")
    agent = {"adapter": "command", "command": ["./agent.sh"]}
    told = {"defaultAgentType": "mine", "agents": {"mine": agent}, "env": {NAME: {}}, **config}
    world.configure(told)
    if trusted:
        world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title="Use it", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task


async def ended(world: World, task: Task) -> tuple[TaskView, Run]:
    view = await world.wait(task, lambda v: v.run is None and bool(v.runs[0].ended_at), "over")
    return view, view.runs[0]


class Later:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=15)


def later(world: World) -> Services:
    """The services after workspaces of finished tasks may go."""
    return replace(world.s, clock=Later())


def held(folder: Path, text: str) -> list[str]:
    files = [f for f in folder.rglob("*") if f.is_file() and f.name not in ITS_OWN]
    return [f.name for f in files if text.encode() in f.read_bytes()]


@pytest.mark.parametrize("level", ["auto", "none"])
async def test_variables_reach_setup_agent_and_checks_and_their_values_are_kept_nowhere(
    world: World, tmp_path: Path, level: str
) -> None:
    home = {"sandbox": {"hosts": [], "level": level}, **NO_RETRIES}
    (world.s.home / "config.json").write_text(json.dumps(home))
    checks = {"show": {"command": f"{SHOW}; exit 1", "severity": "warning"}}
    task = await started(world, tmp_path, setup=[SHOW], checks=checks)
    view, run = await ended(world, task)
    assert (view.task.status, run.sandbox) == ("review", "S3" if level == "auto" else level)
    told = git(world.repo, "show", f"{run.branch}:told.txt").split()
    assert told[:2] == [task.id, run.branch]
    assert int(told[2]) % 10 == 0
    shown = f"{task.id} {run.branch} {told[2]} {world.repo}\n{MASK}\n"
    folder = world.s.jobs_dir / run.id
    assert (folder / "setup.log").read_text().endswith(f"{shown}\n")
    found = json.loads((folder / "1" / "checks.json").read_text())
    assert [c["output"] for c in found if c["name"] == "show"] == [shown]
    assert (folder / "1" / "output").read_text().count(MASK) >= 4
    assert held(tmp_path / "home", SECRET) == []
    assert held(tmp_path / "home", ENCODED[8:-8]) == []
    assert view.pull is None or SECRET not in view.pull.title
    assert {"output", "stderr", "setup.log"} <= {f.name for f in folder.rglob("*")}


async def test_a_missing_variable_ends_the_run_before_its_agent_starts(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NAME)
    task = await started(world, tmp_path, retries={"environment": {"tries": 0}})
    _, run = await ended(world, task)
    assert run.error
    assert run.error.error_class is ErrorClass.ENVIRONMENT
    assert f'The variable "{NAME}" is not set in the server\'s environment.' in run.error.error
    assert not (world.s.jobs_dir / run.id / "1").exists()
    finding = (await examination.examine(world.program.settings))[-1]
    assert (finding.state, finding.fix) == ("warn", (f"export {NAME}=VALUE",))
    assert NAME in finding.text


async def test_variables_of_an_untrusted_project_reach_nobody(world: World, tmp_path: Path) -> None:
    task = await started(world, tmp_path, trusted=False)
    _, run = await ended(world, task)
    assert run.error
    assert "changed since they were trusted" in run.error.error
    config = world.s.configs.of(world.project)
    assert config.commands[f"env.{NAME}"] == f"{NAME} from the server's environment"


async def test_a_project_is_trusted_anew_when_it_asks_for_another_variable(world: World) -> None:
    world.configure({"env": {NAME: {}}})
    before = world.s.configs.of(world.project).commands_fingerprint
    world.configure({"env": {NAME: {"name": "ANOTHER"}}})
    assert world.s.configs.of(world.project).commands_fingerprint != before
    world.configure({})
    assert world.s.configs.of(world.project).commands_fingerprint != before


async def test_optional_and_renamed_variables(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.configure({"env": {"TOKEN": {"name": NAME}, "ABSENT": {"optional": True}}})
    world.project = await tasks.trust_project(world.s, world.project)
    config = world.s.configs.of(world.project)
    assert await surroundings.of_project(world.s, world.project, config) == {"TOKEN": SECRET}
    assert world.s.redact(f"It is {SECRET}.") == f"It is {MASK}."


async def test_an_entry_that_no_keyring_has_is_named(world: World) -> None:
    world.configure({"env": {"TOKEN": {"from": "keyring", "name": "nowhere"}}})
    world.project = await tasks.trust_project(world.s, world.project)
    config = world.s.configs.of(world.project)
    with pytest.raises(MissingVariable) as refused:
        await surroundings.of_project(world.s, world.project, config)
    assert '"nowhere" cannot be read from the keyring: ' in refused.value.details[0]


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"AM_DATABASE_URL": {}}, "is set by Agents Manager itself"),
        ({"TOKEN": {"name": "AM_GITHUB_TOKEN"}}, "is set by Agents Manager itself"),
        ({"LD_PRELOAD": {}}, "is set by Agents Manager itself"),
        ({"PATH": {}}, "is set by Agents Manager itself"),
        ({"A B": {}}, "is not the name of a variable"),
        ({"TOKEN": {"value": "x"}}, 'there is no key "value"'),
    ],
)
async def test_names_that_cannot_be_passed_on(world: World, env: dict[str, Any], said: str) -> None:
    world.configure({"env": env})
    trouble = world.s.configs.trouble(world.project)
    assert trouble
    assert said in trouble.text


def test_a_value_is_not_in_the_command_line_of_the_sandbox(tmp_path: Path) -> None:
    keeper = sandboxes.keeper(tmp_path / "data")
    sandboxes.installed()
    argv = keeper.command(
        ["/bin/sh", "-c", f'test "${NAME}" = {SECRET[::-1]} && echo fits'],
        {"PATH": os.environ["PATH"]},
        tmp_path,
        writes=(tmp_path,),
        inherits=(NAME,),
    )
    assert SECRET[::-1] not in " ".join(argv).replace(f"= {SECRET[::-1]} &&", "")
    env = {**os.environ, NAME: SECRET[::-1]}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "fits\n", done.stderr


async def test_a_task_keeps_its_ports_and_a_finished_one_gives_them_back(world: World) -> None:
    config = world.s.configs.of(world.project)

    async def port(task: Task) -> str:
        found = await surroundings.of_task(world.s, world.project, config, task, "agent/x")
        return found.env["AM_PORT"]

    first = await world.create({}, pipeline="simple")
    second = await world.create({}, pipeline="simple")
    mine = await port(first)
    assert await port(second) != mine
    assert await port(first) == mine
    assert set(world.s.ports.owners().values()) == {first.id, second.id}
    await tasks.move(world.s, first.id, ANN, to="cancelled", force=True, reason="Not wanted")
    third = await world.create({}, pipeline="simple")
    await port(third)
    assert set(world.s.ports.owners().values()) == {second.id, third.id}


async def test_ignored_files_reach_workspaces_and_check_copies_of_a_trusted_project(
    world: World, tmp_path: Path
) -> None:
    (world.repo / ".gitignore").write_text(".env*\ninstalled.txt\n")
    git(world.repo, "add", ".gitignore")
    git(world.repo, "commit", "-qm", "Ignore")
    for name in (".env", ".env.local"):
        (world.repo / name).write_text(f"in {name}")
    (world.repo / ".worktreeinclude").write_text("# Files for tests\n.env.local\n../x\n")
    checks = {"show": {"command": "cat .env .env.local", "severity": "error"}}
    setup = ["cat .env .env.local > installed.txt"]
    task = await started(
        world, tmp_path, setup=setup, checks=checks, copyFiles=[".env", ".gitignore"]
    )
    view, run = await ended(world, task)
    assert view.task.status == "review", run.error
    assert run.workspace is not None
    installed = (Path(run.workspace) / "installed.txt").read_text()
    assert installed == "in .envin .env.local"
    cached = [path.name for path in world.s.jobs_dir.parent.glob("**/entries/*/tree/*")]
    assert cached == ["installed.txt"], "the copied files are not kept in the cache"
    copied = [e for e in await world.events(task) if e.type == "workspace.files_copied"]
    assert copied[0].data["paths"] == [".env", ".env.local"]
    assert copied[0].data["refused"] == [".gitignore is tracked"]
    assert ".env" not in git(world.repo, "ls-tree", "--name-only", run.branch or "").split()
    config = world.s.configs.of(world.project)
    assert config.commands["copyFiles.3"] == ".env.local"
    (world.repo / ".worktreeinclude").write_text("*\n")
    changed = world.s.configs.of(world.project)
    assert changed.commands_fingerprint != config.commands_fingerprint


async def test_a_secret_in_a_copied_env_file_is_redacted(world: World, tmp_path: Path) -> None:
    (world.repo / ".gitignore").write_text(".env\n")
    (world.repo / ".env").write_text(
        "export SHOP_API_KEY='key-of-the-shop-81'\nCOLOR=light-blue-1\n"
    )
    # Set-up that names a variable of the task is not cached, so its output is in the log.
    setup = ['cat .env; : "$AM_TASK_ID"']
    task = await started(world, tmp_path, setup=setup, copyFiles=[".env"])
    _, run = await ended(world, task)
    said = (world.s.jobs_dir / run.id / "setup.log").read_text()
    assert f"'{MASK}'" in said
    assert "light-blue-1" in said
    assert "key-of-the-shop-81" not in said


async def test_patterns_that_lead_out_of_the_project_are_refused(world: World) -> None:
    for pattern in ("../.env", "a/../../b", "~/.ssh/id_rsa"):
        world.configure({"copyFiles": [pattern]})
        trouble = world.s.configs.trouble(world.project)
        assert trouble
        assert "leads out of the project" in trouble.text


@pytest.mark.parametrize("level", ["auto", "none"])
async def test_teardown_runs_before_retention_removes_a_workspace(
    world: World, tmp_path: Path, level: str
) -> None:
    home = {"sandbox": {"hosts": [], "level": level}, **NO_RETRIES}
    (world.s.home / "config.json").write_text(json.dumps(home))
    commands = [f"{SHOW}; exit 3", "ls told.txt; echo second"]
    task = await started(world, tmp_path, teardown=commands)
    view, run = await ended(world, task)
    assert view.task.status == "review", run.error
    await tasks.move(world.s, task.id, ANN, to="cancelled", force=True, reason="Not wanted")
    await world.settled(task)
    await sweep.sweep(later(world), dry_run=False)
    assert await world.s.workspaces.standing(world.repo) == {}
    events = [e for e in await world.events(task) if e.type.startswith("workspace.")]
    assert [e.type for e in events[-2:]] == ["workspace.torn_down", "workspace.removed"]
    assert f'"{commands[0]}" failed (exit code 3)' in events[-2].data["failed"]
    log = (world.s.jobs_dir / run.id / "teardown.log").read_text()
    assert f"{MASK}\n" in log
    assert log.endswith("told.txt\nsecond\n\n")


async def test_teardown_of_an_untrusted_project_does_not_run(world: World, tmp_path: Path) -> None:
    task = await started(world, tmp_path)
    _, run = await ended(world, task)
    spot = tmp_path / "spot"
    world.configure({"teardown": [f"touch {spot}"]})
    happened = await teardown.before_removal(world.s, task, world.project, task.id)
    assert "changed since they were trusted" in getattr(happened[0], "failed", "")
    assert not spot.exists()
    assert run.workspace
