"""Checks see the commit and nothing else, and leave nothing behind."""

import asyncio
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agents_manager import built_in
from agents_manager.checks.command import ProjectChecks
from agents_manager.checks.copies import MARK, remove
from agents_manager.checks.shell import OUTPUT_LIMIT
from agents_manager.engine import processes
from agents_manager.errors import InvalidRepository
from agents_manager.flow.ports import CheckResult, Checks, CheckSpec
from agents_manager.scm import commits
from tests.repos import (
    canary,
    commit,
    executable,
    make_repo,
    own_home,
    refs,
    run,
    sha,
    status,
    write,
)
from tests.sandboxes import keeper
from tests.worlds import lives

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "check räume"


@pytest.fixture
def checks(root: Path) -> ProjectChecks:
    made = ProjectChecks(
        root,
        commits.export,
        commits.written,
        processes.kill_marked,
        keeper(root).command,
        adapters=built_in.adapters(),
    )
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


async def run_all(checks: ProjectChecks, repo: Path, specs: list[CheckSpec]) -> list[CheckResult]:
    return await checks.run(repo, sha(repo), sha(repo), specs)


def left_in(root: Path) -> list[Path]:
    return list(root.iterdir())


async def test_products_virtual_environment_is_not_used_even_if_first_on_path(
    checks: ProjectChecks, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Path(sys.prefix) / "bin"
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    imports, where, usable = await run_all(
        checks,
        repo,
        [
            spec("python3 -c 'import agents_manager'"),
            spec("command -v python3 python; echo $VIRTUAL_ENV $PYTHONPATH"),
            spec("python3 -c 'print(1)'"),
        ],
    )
    assert "No module named 'agents_manager'" in imports.output
    assert str(tools) not in where.output
    assert usable.passed


async def test_results_in_order(checks: ProjectChecks, repo: Path, root: Path) -> None:
    passed, failed = await checks.run(
        repo,
        sha(repo, "main"),
        sha(repo),
        [spec("echo out; echo err >&2; touch made"), spec("test ! -e made")],
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
    (result,) = await checks.run(
        repo, sha(repo, "main"), head, [spec("find . -type f | sort; cat a")]
    )
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
    (result,) = await checks.run(
        repo, sha(repo, "main"), sha(repo), [spec("env; echo HOME is $HOME")]
    )
    assert "SECRET_TOKEN" not in result.output
    assert f"TMPDIR={root}" in result.output
    assert f"HOME is {os.environ['HOME']}" in result.output


async def test_timeout_ends_everything(checks: ProjectChecks, repo: Path, tmp_path: Path) -> None:
    spot = tmp_path / "late"
    began = time.monotonic()
    (result,) = await checks.run(
        repo,
        sha(repo, "main"),
        sha(repo),
        [spec(f"echo before; (sleep 1; touch '{spot}') & sleep 60", 0.3)],
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
    (result,) = await checks.run(
        repo, sha(repo, "main"), sha(repo), [spec("yes | head -c 300000; printf 'caf\\351'")]
    )
    assert result.output.startswith("[The beginning was cut.]\n")
    assert result.output.endswith("y\ncaf\ufffd")
    assert len(result.output) < OUTPUT_LIMIT + 100


async def test_unknown_commit_and_sealed_folders_leave_nothing(
    checks: ProjectChecks, repo: Path, root: Path
) -> None:
    with pytest.raises(InvalidRepository):
        await checks.run(repo, sha(repo, "main"), "--output=x", [spec("true")])
    write(root, {"check-99999999-killed/tree/a": "x"})
    await checks.run(
        repo, sha(repo, "main"), sha(repo), [spec("mkdir -p d/e && touch d/e/f && chmod -R a-w d")]
    )
    assert left_in(root) == []


async def test_how_a_check_ended_is_said(checks: ProjectChecks, repo: Path) -> None:
    commands = ["exit 3", "no-such-program", "./a", "kill -9 $$", "sleep 9"]
    results = await run_all(checks, repo, [spec(c, 0.3 if "sleep" in c else 10) for c in commands])
    assert [r.how for r in results] == [
        "exit code 3",
        "a program was not found (exit code 127)",
        "a program cannot be run (exit code 126)",
        "killed by SIGKILL",
        "stopped after 0.3 s",
    ]
    assert "no-such-program" in results[1].output


async def test_what_detached_itself_is_ended(
    checks: ProjectChecks, repo: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "pid"
    begun = f"while [ ! -s '{spot}' ]; do sleep 0.01; done"
    daemon = f"setsid sh -c 'echo $$ > \"{spot}\"; exec sleep 60' & {begun}"
    (result,) = await run_all(checks, repo, [spec(daemon)])
    assert result.passed
    assert not lives(spot.read_text())


async def test_what_a_killed_process_left_is_ended_with_its_folder(
    checks: ProjectChecks, repo: Path, root: Path
) -> None:
    (root / "check-99999999-killed").mkdir(parents=True)
    env = {**os.environ, MARK: "check-99999999-killed"}
    left = await asyncio.create_subprocess_exec("sleep", "60", env=env)
    await run_all(checks, repo, [spec("true")])
    assert await left.wait() == -signal.SIGKILL
    assert left_in(root) == []


def test_several_may_remove_what_was_left(tmp_path: Path) -> None:
    """Checks that begin beside each other after a crash find the same folder."""
    left = tmp_path / "left"

    def join_in() -> None:
        while left.exists() and len(list(left.iterdir())) == 100:
            time.sleep(0.0002)
        remove(left)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            for number in range(100):
                (left / str(number) / "deep").mkdir(parents=True)
            others = [pool.submit(join_in) for _ in range(3)]
            remove(left)
            assert [other.result() for other in others] == [None] * 3
    assert not left.exists()


async def test_a_check_finds_no_repository_to_change(
    checks: ProjectChecks, repo: Path, root: Path
) -> None:
    """Neither that of the project nor one that the folder of the checks lies in."""
    above = make_repo(root.parent / "above", {"a": "1\n"})
    inner = ProjectChecks(
        above / "x",
        commits.export,
        commits.written,
        processes.kill_marked,
        keeper(above).command,
        adapters=built_in.adapters(),
    )
    before = refs(repo), refs(above), sha(repo)
    meddle = "git checkout -q -b evil; git commit -qam evil --allow-empty; rm -rf a; git status"
    (result,) = await run_all(inner, repo, [spec(meddle)])
    assert "not a git repository" in result.output
    assert (refs(repo), refs(above), sha(repo)) == before
    assert status(repo) == ""
    assert (repo / "a").read_text() == "1\n"


async def test_secrets_in_any_commit_and_message_are_found(
    checks: ProjectChecks, repo: Path
) -> None:
    base = sha(repo)
    token = "gh" + "p_" + "k3Jd9" * 8
    run(repo, "config", "diff.noprefix", "true")
    run(repo, "config", "log.showRoot", "false")
    commit(repo, {"sub/ä b": f"x\nt = '{token}'\n", ".gitattributes": "* -diff\n"})
    commit(repo, {"sub/ä b": "x\n"})
    last = commit(repo, {"b.bin": b"\0\0" + token.encode()}, f"Try {token}")
    search = CheckSpec(name="no-secrets", command=None, severity="error", modes=(), timeout_s=1)
    (result,) = await checks.run(repo, base, last, [search])
    lines = result.output.splitlines()
    assert not result.passed
    assert lines[:3] == [
        f"commit {last[:8]}, message: GitHub token",
        "b.bin:1: GitHub token",
        "sub/ä b:2: GitHub token",
    ]
    assert f"git reset --soft {base}" in result.output
    assert token not in result.output
    assert token[4:] not in result.output
    first, second = await checks.run(repo, last, last, [search, spec("true")])
    assert (first.passed, first.output, second.passed) == (True, "", True)


async def test_a_change_too_long_to_search_does_not_pass(
    checks: ProjectChecks, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "WRITTEN_LIMIT", 1000)
    base = sha(repo)
    last = commit(repo, {"long": "x\n" * 1000})
    search = CheckSpec(name="no-secrets", command=None, severity="error", modes=(), timeout_s=1)
    (result,) = await checks.run(repo, base, last, [search])
    assert not result.passed
    assert "longer than can be searched" in result.output
