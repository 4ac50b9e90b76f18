"""Checks see the commit and nothing else, and leave nothing behind."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from agents_manager.checks.command import OUTPUT_LIMIT, ProjectChecks
from agents_manager.engine import processes
from agents_manager.errors import InvalidRepository
from agents_manager.flow.ports import Checks, CheckSpec
from agents_manager.scm import commits
from tests.repos import canary, commit, executable, make_repo, own_home, run, sha, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "check räume"


@pytest.fixture
def checks(root: Path) -> ProjectChecks:
    made = ProjectChecks(root, commits.export, commits.written, processes.kill_marked)
    fitting: Checks = made
    assert fitting
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"a": "1\n", ".gitignore": "*.log\n"})


def spec(command: str, timeout_s: float = 10) -> CheckSpec:
    return CheckSpec(
        name="test", command=command, severity="error", modes=("implement",), timeout_s=timeout_s
    )


def left_in(root: Path) -> list[Path]:
    return list(root.iterdir())


async def test_results_in_order(checks: ProjectChecks, repo: Path, root: Path) -> None:
    passed, failed = await checks.run(
        repo, sha(repo, "main"), sha(repo), [spec("echo out; echo err >&2; touch made"), spec("test ! -e made")]
    )
    assert (passed.passed, passed.output, passed.severity) == (True, "out\nerr\n", "error")
    assert not failed.passed
    assert left_in(root) == []
    assert await checks.run(repo, sha(repo, "main"), sha(repo), []) == []


async def test_only_the_commit_is_there(checks: ProjectChecks, repo: Path) -> None:
    commit(repo, {"sub dir/ä": "x", ".gitattributes": "secret export-ignore\n", "secret": "x"})
    head = sha(repo)
    write(repo, {"a": "2\n", "conftest.log": "x", "untracked": "x"})
    run(repo, "update-index", "--assume-unchanged", "a")
    (result,) = await checks.run(repo, sha(repo, "main"), head, [spec("find . -type f | sort; cat a")])
    expected = ["./.gitattributes", "./.gitignore", "./a", "./secret", "./sub dir/ä", "1", ""]
    assert result.output.split("\n") == expected


async def test_nothing_of_the_repository_runs(
    checks: ProjectChecks, repo: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    evil = str(executable(tmp_path / "evil", canary(spot)))
    commit(repo, {".gitattributes": "* filter=Evil.two\n", "b": "x\n"})
    included = tmp_path / "included"
    run(repo, "config", "--file", str(included), "filter.Evil.two.smudge", evil)
    run(repo, "config", "filter.Evil.two.required", "true")
    run(repo, "config", "include.path", str(included))
    run(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "plain"))
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    (result,) = await checks.run(repo, sha(repo, "main"), sha(repo), [spec("cat b")])
    assert (result.output, spot.exists()) == ("x\n", False)


async def test_environment_is_an_allow_list(
    checks: ProjectChecks, repo: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    (result,) = await checks.run(repo, sha(repo, "main"), sha(repo), [spec("env; echo HOME is $HOME")])
    assert "SECRET_TOKEN" not in result.output
    assert f"TMPDIR={root}" in result.output
    assert f"HOME is {os.environ['HOME']}" in result.output


async def test_timeout_ends_everything(checks: ProjectChecks, repo: Path, tmp_path: Path) -> None:
    spot = tmp_path / "late"
    began = time.monotonic()
    (result,) = await checks.run(
        repo, sha(repo, "main"), sha(repo), [spec(f"echo before; (sleep 1; touch '{spot}') & sleep 60", 0.3)]
    )
    assert time.monotonic() - began < 5
    assert not result.passed
    assert result.output == "before\n\n[Stopped: it took longer than 0.3 s.]"
    await asyncio.sleep(1)
    assert not spot.exists()


async def test_background_process_is_not_waited_for(checks: ProjectChecks, repo: Path) -> None:
    began = time.monotonic()
    (result,) = await checks.run(repo, sha(repo, "main"), sha(repo), [spec("sleep 60 & echo done")])
    assert (result.passed, result.output) == (True, "done\n")
    assert time.monotonic() - began < 5


async def test_long_output_keeps_its_end(checks: ProjectChecks, repo: Path) -> None:
    (result,) = await checks.run(repo, sha(repo, "main"), sha(repo), [spec("yes | head -c 300000; printf 'caf\\351'")])
    assert result.output.startswith("[The beginning was cut.]\n")
    assert result.output.endswith("y\ncaf\ufffd")
    assert len(result.output) < OUTPUT_LIMIT + 100


async def test_unknown_commit_and_sealed_folders_leave_nothing(
    checks: ProjectChecks, repo: Path, root: Path
) -> None:
    with pytest.raises(InvalidRepository):
        await checks.run(repo, sha(repo, "main"), "--output=x", [spec("true")])
    write(root, {"check-99999999-killed/tree/a": "x"})
    await checks.run(repo, sha(repo, "main"), sha(repo), [spec("mkdir -p d/e && touch d/e/f && chmod -R a-w d")])
    assert left_in(root) == []
