"""Set-up in check copies, and the reasons why a check could not run."""

import dataclasses
import json
import shlex
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents_manager import bootstrap, built_in
from agents_manager.checks.command import ProjectChecks
from agents_manager.checks.running import SandboxReports
from agents_manager.engine import processes
from agents_manager.flow import tasks
from agents_manager.flow.check_runs import CheckPlan, check_commit
from agents_manager.flow.ports import CheckSpec, Keeping, SetupPlan, SetupSpec
from agents_manager.sandbox.keeper import Keeper, Rules, ended
from agents_manager.sandbox.levels import Found, Level, Levels
from agents_manager.scm import commits
from tests import sandboxes
from tests.repos import make_repo, own_home, sha
from tests.worlds import GREETING, World, repo, working

__all__ = ["own_home", "repo"]
pytestmark = pytest.mark.usefixtures("own_home")


NO_HOSTS = Rules()


def project_checks(tmp_path: Path, levels: Levels, rules: Rules = NO_HOSTS) -> ProjectChecks:
    keeper = Keeper(tmp_path / "data", lambda: rules, levels)
    return ProjectChecks(
        tmp_path / "data" / "checks",
        commits.export,
        commits.written,
        processes.kill_marked,
        keeper.command,
        adapters=built_in.adapters(),
        reports=SandboxReports(ended, keeper.refused_by),
    )


def check(command: str | None, name: str = "test", timeout_s: float = 20) -> CheckSpec:
    return CheckSpec(
        name=name, command=command, severity="error", modes=("implement",), timeout_s=timeout_s
    )


def setup(*commands: str, timeout_s: float = 20) -> SetupSpec:
    return SetupSpec(commands=commands, inputs=(), timeout_s=timeout_s)


def plan_of(project: Path, *commands: str, timeout_s: float = 20) -> SetupPlan:
    spec = setup(*commands, timeout_s=timeout_s)
    return SetupPlan(spec=spec, commit=sha(project), inputs="", task=None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"a": "1\n"})


@pytest.mark.parametrize("kept", [False, True])
async def test_setup_runs_once_before_the_first_check(
    tmp_path: Path, project: Path, kept: bool
) -> None:
    checks = project_checks(tmp_path, sandboxes.levels())
    specs = [check(None, "no-secrets"), check("cat ready"), check("cat ready", "again")]
    told = plan_of(project, "echo x >> ready")
    results = await checks.run(project, sha(project), sha(project), specs, kept=kept, setup=told)
    assert [(r.problem, r.output) for r in results] == [(None, ""), (None, "x\n"), (None, "x\n")]


async def test_failed_setup_names_the_connections_that_the_sandbox_refused(
    tmp_path: Path, project: Path
) -> None:
    sandboxes.installed()
    rules = Rules(hosts=("pypi.org",))
    checks = project_checks(tmp_path, sandboxes.levels(), rules)
    ask = "import urllib.request as r; r.urlopen('http://registry.example.test/', timeout=10)"
    told = plan_of(project, f'{shlex.quote(sys.executable)} -c "{ask}"')
    [result] = await checks.run(
        project, sha(project), sha(project), [check("true")], kept=True, setup=told
    )
    assert result.problem == "setup_failed"
    assert "[The sandbox blocked registry.example.test:80. Allow it with: " in result.output
    assert "am config set --user sandbox.addresses" in result.output


async def test_sandboxed_checks_find_the_home_that_setup_filled(
    tmp_path: Path, project: Path
) -> None:
    checks = project_checks(tmp_path, sandboxes.levels())
    told = plan_of(project, 'mkdir -p "$HOME/go/pkg/mod"', 'echo module > "$HOME/go/pkg/mod/one"')
    specs = [check('cat "$HOME/go/pkg/mod/one"; ls "$HOME"')]
    [result] = await checks.run(project, sha(project), sha(project), specs, kept=True, setup=told)
    assert (result.problem, result.output) == (None, "module\ngo\n")


async def test_a_search_for_secrets_alone_needs_no_setup(tmp_path: Path, project: Path) -> None:
    checks = project_checks(tmp_path, sandboxes.levels())
    spot = tmp_path / "ran"
    [result] = await checks.run(
        project,
        sha(project),
        sha(project),
        [check(None)],
        setup=plan_of(project, f"touch '{spot}'"),
    )
    assert (result.passed, spot.exists()) == (True, False)


async def test_checks_whose_setup_failed_did_not_run(tmp_path: Path, project: Path) -> None:
    checks = project_checks(tmp_path, sandboxes.levels())
    spot = tmp_path / "ran"
    specs = [check(f"touch '{spot}'"), check("true", "other"), check(None, "no-secrets")]
    told = plan_of(project, "echo no such package; exit 4")
    results = await checks.run(project, sha(project), sha(project), specs, setup=told)
    assert [r.problem for r in results] == ["setup_failed", "setup_failed", None]
    assert results[0].how == 'set-up failed: "echo no such package; exit 4", exit code 4'
    assert "no such package\n" in results[0].output
    assert not spot.exists()


async def test_each_problem_is_named(tmp_path: Path, project: Path) -> None:
    checks = project_checks(tmp_path, sandboxes.levels())
    specs = [check("true"), check("exit 1"), check("sleep 60", timeout_s=0.2), check("exit 125")]
    results = await checks.run(project, sha(project), sha(project), specs, kept=True)
    assert [r.problem for r in results] == [None, "failed", "timed_out", "failed"]
    late = plan_of(project, "sleep 60", timeout_s=0.2)
    [result] = await checks.run(project, sha(project), sha(project), specs[:1], setup=late)
    assert (result.problem, result.how) == (
        "setup_failed",
        'set-up failed: "sleep 60", stopped after 0.2 s',
    )


async def test_without_a_sandbox_a_check_that_needs_one_does_not_run(
    tmp_path: Path, project: Path
) -> None:
    none = Levels(lambda: Found(Level.NONE, "Removed for this test."))
    checks = project_checks(tmp_path, none)
    spot = tmp_path / "ran"
    specs = [check(f"touch '{spot}'"), check(None, "no-secrets")]
    results = await checks.run(project, sha(project), sha(project), specs, kept=True)
    assert [r.problem for r in results] == ["sandbox_unavailable", None]
    assert "The sandbox could not be made" in results[0].output
    assert not spot.exists()


@pytest.fixture
async def world(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    config = {"defaultAgentType": "scripted", "sandbox": {"hosts": []}}
    (home / "config.json").write_text(json.dumps(config))
    async with working(home, repo) as world:
        yield world


async def test_a_plan_is_tried_on_a_commit_without_a_task(world: World) -> None:
    head = sha(world.repo)
    plan = CheckPlan(setup=setup('echo x > "$HOME/ready"'), checks=(check('cat "$HOME/ready"'),))
    tried = await check_commit(world.s, world.repo, head, plan)
    assert (tried.status, tried.reason, tried.results[0].output) == ("passed", "", "x\n")
    for installs, command, status, reason in [
        ("exit 3", "true", "setup_failed", 'test: set-up failed: "exit 3", exit code 3.'),
        ("true", "exit 3", "failed", "test: exit code 3."),
    ]:
        plan = CheckPlan(setup=setup(installs), checks=(check(command),))
        tried = await check_commit(world.s, world.repo, head, plan)
        assert (tried.status, tried.reason) == (status, reason)


async def test_a_plan_is_not_tried_with_less_than_the_required_sandbox(world: World) -> None:
    class Weak:
        def keeping(self) -> Keeping:
            return Keeping(level="S2", why="Only S2 works here.", required=True)

    s = dataclasses.replace(world.s, sandbox=Weak())  # pyright: ignore[reportArgumentType]
    plan = CheckPlan(setup=setup(), checks=(check("true"),))
    tried = await check_commit(s, world.repo, sha(world.repo), plan)
    assert (tried.status, tried.reason) == ("sandbox_unavailable", "Only S2 works here.")


async def test_a_failed_setup_of_checks_costs_no_fix_round(world: World) -> None:
    """It works in the workspace, which has a repository, and not in the check copy."""
    world.configure({"setup": ["git status"], "checks": {"test": {"command": "true"}}})
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start(GREETING, pipeline="simple")
    view = await world.wait(task, lambda v: v.run is None and bool(v.runs[0].ended_at), "over")
    [run] = view.runs
    assert run.error is not None
    assert run.error.error_class == "environment"
    assert run.error.error.startswith('Checks could not run: test (set-up failed: "git status"')
    assert "not a git repository" in run.error.output
    events = [e.type for e in await world.events(task)]
    assert "agent.fix_requested" not in events


async def test_a_check_that_fails_on_the_base_too_costs_no_fix_round(
    world: World, tmp_path: Path
) -> None:
    """Its result on the base is not asked for again by the next task."""
    counter = tmp_path / "ran"
    command = f"echo x >> '{counter}'; exit 1"
    world.configure({"defaultAgentType": "scripted", "checks": {"test": {"command": command}}})
    world.project = await tasks.trust_project(world.s, world.project)
    for expected in (2, 3):
        task = await world.start(GREETING, pipeline="simple")
        view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "asked")
        error = view.runs[0].error
        assert error is not None
        assert (error.error_class, len(view.runs)) == ("environment", 1)
        assert error.error == "Checks fail on the base commit too: test (exit code 1)."
        assert "agent.fix_requested" not in await world.types(task)
        assert len(counter.read_text().splitlines()) == expected


async def test_a_check_that_passes_on_the_base_is_the_agents_to_fix(world: World) -> None:
    command = "[ ! -e greeting.txt ] || [ $(wc -l < greeting.txt) = 1 ]"
    world.configure({"checks": {"test": {"command": command}}, "maxFixRounds": 0})
    world.project = await tasks.trust_project(world.s, world.project)
    task = await world.start(GREETING, pipeline="simple")
    view = await world.wait(task, lambda v: v.run is None and bool(v.runs[0].ended_at), "over")
    assert view.runs[0].error is not None, view.runs[0].outcome
    assert view.runs[0].error.error_class == "checks_failed"
