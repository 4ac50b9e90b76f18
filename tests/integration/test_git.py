"""The git caller: its settings, its errors, its lock."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager.errors import GitError, InvalidRepository
from agents_manager.scm import commits
from agents_manager.scm.git import Place, both, common_dir, git, locked, settings_of, signed
from tests.repos import canary, commit, executable, make_repo, own_home, run, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo")


async def test_output_is_bytes_and_names_are_split_at_nul(repo: Path) -> None:
    write(repo, {os.fsdecode(b"new\nline \xff"): "x"})
    listed = await git(repo, "ls-files", "-z", "--others")
    assert listed.items == [b"new\nline \xff"]


async def test_failure_is_one_line_of_git(repo: Path) -> None:
    with pytest.raises(GitError, match=r"^git rev-parse failed: fatal: Needed a single revision$"):
        await git(repo, "rev-parse", "--verify", "--end-of-options", "no-such")


async def test_missing_folder_and_missing_git(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidRepository, match="no folder"):
        await common_dir(tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not found on PATH"):
        await git(repo, "status")


def plain(repo: Path) -> Path:
    return repo


def linked(repo: Path) -> Path:
    (repo / ".git").rename(repo.parent / "elsewhere")
    (repo / ".git").symlink_to(repo.parent / "elsewhere")
    return repo


def by_a_link(repo: Path) -> Path:
    (repo.parent / "link").symlink_to(repo)
    return repo.parent / "link"


def worktree(repo: Path) -> Path:
    run(repo, "worktree", "add", "-q", "-b", "other", str(repo.parent / "tree"))
    return repo.parent / "tree"


def a_folder_below(repo: Path) -> Path:
    (repo / "below").mkdir()
    return repo / "below"


@pytest.mark.parametrize("place", [plain, linked, by_a_link, worktree, a_folder_below])
async def test_a_repository_is_where_git_finds_it(
    repo: Path, place: Callable[[Path], Path]
) -> None:
    folder = place(repo)
    found = await common_dir(folder)
    assert run(folder, "rev-parse", "--path-format=absolute", "--git-common-dir") == str(found)


@pytest.mark.parametrize("lost", ["HEAD", "objects", "refs"])
async def test_half_a_repository_is_none(repo: Path, lost: str) -> None:
    (repo / ".git" / lost).rename(repo / "lost")
    with pytest.raises(InvalidRepository, match="not a git repository"):
        await common_dir(repo)


async def test_a_repository_of_somebody_else_is_gits_to_judge(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    monkeypatch.setenv("PATH", str(repo))
    with pytest.raises(GitError, match="not found on PATH"):
        await common_dir(repo)


async def test_killed_git_can_be_tried_again(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "bin" / "git", "kill -9 $$")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(GitError, match="killed by SIGKILL") as caught:
        await git(repo, "status")
    assert caught.value.retryable


async def test_timeout_ends_the_whole_group(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    executable(tmp_path / "bin" / "git", f"sleep 60 & echo $! > '{pid}'; wait")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(GitError, match="took longer than"):
        await git(repo, "status", timeout_s=0.3)
    child = int(pid.read_text())
    for _ in range(100):
        if _is_gone(child):
            return
        await asyncio.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child lives on")


async def test_of_two_at_a_time_the_error_of_one_ends_the_other(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await both(git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "main"))
    assert one.line == other.line
    pid = tmp_path / "pid"
    hangs = f"echo $$ > '{pid}'; exec sleep 60"
    fails = f"until [ -s '{pid}' ]; do sleep 0.01; done; exit 1"
    last = '"$(eval echo \\${$#})"'
    executable(tmp_path / "bin" / "git", f"if [ {last} = hangs ]; then {hangs}; else {fails}; fi")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with pytest.raises(GitError, match="git fails failed"):
        await both(git(repo, "hangs"), git(repo, "fails"))
    assert _is_gone(int(pid.read_text()))


def _is_gone(pid: int) -> bool:
    """A zombie counts: nobody in a container may ever reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_output_above_the_limit_is_not_waited_for(repo: Path) -> None:
    commit(repo, {"big": "line\n" * 100_000})
    shown = await git(repo, "show", "HEAD:big", limit=1000)
    assert (len(shown.stdout), shown.cut) == (1000, True)


async def test_big_input_to_a_git_that_does_not_read_it(repo: Path) -> None:
    with pytest.raises(GitError):
        await git(repo, "update-index", "--no-such-option", input=b"x" * 1_000_000)


@pytest.mark.parametrize(
    ("setting", "args"),
    [
        pytest.param("core.fsmonitor", ["status"], id="fsmonitor"),
        pytest.param("diff.external", ["diff", "--no-ext-diff", "HEAD"], id="external-diff"),
        pytest.param("core.pager", ["log", "-1"], id="pager"),
        pytest.param("core.hooksPath", ["commit", "--allow-empty", "-m", "x"], id="hooks-path"),
    ],
)
async def test_configuration_of_the_repository_runs_nothing(
    repo: Path, tmp_path: Path, setting: str, args: list[str]
) -> None:
    spot = tmp_path / "canary"
    hook = executable(tmp_path / "evil" / "pre-commit", canary(spot))
    run(repo, "config", setting, str(hook.parent if "hooks" in setting else hook))
    (repo / "README.md").write_text("changed\n")
    if setting != "core.pager":
        run(repo, *[arg for arg in args if arg != "--no-ext-diff"], check=False)
        assert spot.exists(), "plain git should fall for it"
        spot.unlink()
    await git(repo, *args, check=False)
    assert not spot.exists()


async def test_no_program_is_asked_for_a_password(repo: Path, tmp_path: Path) -> None:
    spot = tmp_path / "canary"
    evil = executable(tmp_path / "evil", f"touch '{spot}'; echo x")
    run(repo, "config", "core.askPass", str(evil))
    asked = b"protocol=https\nhost=example.org\n\n"
    _plain_fill(repo, asked)
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    await git(repo, "credential", "fill", input=asked, check=False)
    assert not spot.exists()


def _plain_fill(repo: Path, asked: bytes) -> None:
    subprocess.run(["git", "-C", repo, "credential", "fill"], input=asked, check=False)


async def test_no_editor_of_the_repository_is_opened(repo: Path, tmp_path: Path) -> None:
    spot = tmp_path / "canary"
    commit(repo, {"a": "1"})
    run(repo, "config", "sequence.editor", f"touch '{spot}'; true")
    run(repo, "rebase", "-i", "HEAD~1")
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    await git(repo, "rebase", "-i", "HEAD~1")
    assert not spot.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("GIT_DIR", "/nowhere"), ("GIT_CONFIG_PARAMETERS", "'core.bare'='true'"), ("GIT_TRACE", "1")],
)
async def test_variables_of_git_are_not_passed_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    told = await git(repo, "rev-parse", "--is-bare-repository")
    assert (told.line, told.stderr) == ("false", "")


async def test_keys_of_the_user_are_for_calls_to_a_remote_only(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/the/agent")
    run(repo, "config", "alias.told", "!echo $SSH_AUTH_SOCK")
    place = Place(git_dir=await common_dir(repo))
    assert (await git(place, "told")).line == ""
    assert (await git(replace(place, network=True), "told")).line == "/the/agent"


async def test_replaced_objects_are_seen_as_they_are(repo: Path) -> None:
    commit(repo, {"f": "true\n"})
    honest = run(repo, "rev-parse", "HEAD:f")
    fake = run(repo, "hash-object", "-w", "README.md")
    run(repo, "replace", honest, fake)
    assert run(repo, "cat-file", "-p", honest) == "Hello"
    assert (await git(repo, "cat-file", "-p", honest)).stdout == b"true\n"


async def test_ext_remotes_are_refused(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not allowed"):
        await git(repo, "ls-remote", f"ext::touch {tmp_path / 'canary'}")
    assert not (tmp_path / "canary").exists()


async def test_author_is_the_user_or_ourselves(repo: Path, own_home: Path) -> None:
    place = Place(git_dir=await common_dir(repo))
    assert (await signed(place)).author is None
    (own_home / ".gitconfig").unlink()
    assert (await signed(place)).author == ("Agents Manager", "agents-manager@localhost")


async def test_lock_lets_one_in_at_a_time(repo: Path) -> None:
    common = await common_dir(repo)
    inside: list[int] = []

    async def enter(number: int) -> None:
        async with locked(common):
            inside.append(number)
            await asyncio.sleep(0.03)
            assert inside[-1] == number

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(enter(number))
    assert sorted(inside) == [0, 1, 2, 3]


async def test_lock_is_held_by_the_git_of_a_killed_process(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = await common_dir(repo)
    started = tmp_path / "started"
    executable(tmp_path / "bin" / "git", f"touch '{started}'; sleep 1")
    program = (
        "import asyncio; from pathlib import Path; from agents_manager.scm.git import git, locked\n"
        f"common = Path({str(common)!r})\n"
        "async def main():\n"
        "    async with locked(common): await git(common, 'status')\n"
        "asyncio.run(main())"
    )
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    _start_and_kill(program, path, started)
    with pytest.raises(GitError, match="held by another process"):
        async with locked(common, timeout_s=0.1):
            pass
    async with locked(common, timeout_s=5):
        pass


def _start_and_kill(program: str, path: str, started: Path) -> None:
    env = {**os.environ, "PATH": path}
    with subprocess.Popen([sys.executable, "-c", program], env=env) as victim:
        while not started.exists():
            time.sleep(0.01)
        victim.kill()


async def test_configuration_is_read_again_when_a_file_of_it_changes(
    repo: Path, own_home: Path
) -> None:
    store = Place(git_dir=await common_dir(repo))
    assert b"ada@example.org" in [value for _, _, value in await settings_of(store)]
    for write_it in (
        lambda: run(repo, "config", "user.email", "in@repository.example"),
        lambda: run(repo, "config", "--unset", "user.email"),
        lambda: run(repo, "config", "--global", "user.email", "of@user.example"),
    ):
        write_it()
        expected = run(repo, "config", "user.email").encode()
        assert [v for _, k, v in await settings_of(store) if k == b"user.email"][-1] == expected
        assert (await signed(store, store)).author == ("Ada Löve", expected.decode())


async def test_checkouts_are_as_git_lists_them(repo: Path, tmp_path: Path) -> None:
    store = Place(git_dir=await common_dir(repo))
    run(repo, "branch", "other")
    assert await commits.checkouts(store, "main") == [repo]
    assert await commits.checkouts(store, "other") == []
    run(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "other")
    assert await commits.checkouts(store, "other") == [tmp_path / "linked"]
    run(repo, "worktree", "remove", str(tmp_path / "linked"))
    run(repo, "checkout", "-q", "--detach")
    assert await commits.checkouts(store, "main") == []
    run(repo, "checkout", "-q", "main")
    run(repo, "config", "core.bare", "true")
    assert await commits.checkouts(store, "main") == []
