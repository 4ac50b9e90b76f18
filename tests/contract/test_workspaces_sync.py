"""Worktrees beside a remote: fetched, brought forward, rebased; and where they lie."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager.domain.event import Event
from agents_manager.errors import InvalidRepository, WorkspaceInUse
from agents_manager.flow.ports import Workspace, WorkspaceRules
from agents_manager.scm import remotes
from agents_manager.scm.git import Place, common_dir, git
from tests.repos import (
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
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/ümlaut-1a2b3c4d"
REBASE = WorkspaceRules(rebase=True)
PLAIN = WorkspaceRules()


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """The remote, as its other users see it."""
    return make_repo(tmp_path / "the remöte", {"README.md": "Hello\n", "a": "1\n"})


@pytest.fixture
def repo(tmp_path: Path, theirs: Path) -> Path:
    run(tmp_path, "clone", "-q", str(theirs), "my répo")
    return tmp_path / "my répo"


async def prepare(
    workspaces: Kind, repo: Path, rules: WorkspaceRules = PLAIN, base: str = "main"
) -> Workspace:
    return await workspaces.prepare(repo, "task1", BRANCH, base, rules)


def types(events: Sequence[Event]) -> list[str]:
    return [e.type for e in events]


# ------------------------------------------------------------------------------------- remotes


async def test_new_branches_start_from_the_remotes_base(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    news = commit(theirs, {"news": "1"})
    before = sha(repo, "main")
    made = await prepare(workspaces, repo)
    assert (made.head_sha, made.events) == (news, ())
    assert (sha(repo, "main"), status(repo)) == (before, "")
    change = await workspaces.change(repo, BRANCH, "main")
    assert (change.base_sha, change.commits) == (news, ())


async def test_a_base_that_is_ahead_of_the_remote_counts(workspaces: Kind, repo: Path) -> None:
    mine = commit(repo, {"merged": "here"})
    assert (await prepare(workspaces, repo)).head_sha == mine


async def test_bases_that_went_apart(workspaces: Kind, repo: Path, theirs: Path) -> None:
    commit(repo, {"mine": "1"})
    news = commit(theirs, {"news": "1"})
    assert (await prepare(workspaces, repo)).head_sha == news


async def test_a_base_that_only_the_remote_has(workspaces: Kind, repo: Path, theirs: Path) -> None:
    run(theirs, "branch", "develop")
    made = await prepare(workspaces, repo, base="develop")
    assert made.head_sha == sha(repo, "develop") == sha(theirs, "develop")
    assert await workspaces.ensure_branch(repo, "agent/other", "develop")


async def test_offline_is_told_and_work_goes_on(workspaces: Kind, repo: Path) -> None:
    run(repo, "remote", "set-url", "origin", "/nowhere at all")
    made = await prepare(workspaces, repo)
    assert types(made.events) == ["git.fetch_failed"]
    assert made.head_sha == sha(repo, "main")


async def test_a_remote_that_never_answers_is_given_up(
    workspaces: Kind, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "bin" / "ssh", "sleep 30")
    run(repo, "remote", "set-url", "origin", "ssh://example.org/repo")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(remotes, "ASK_TIMEOUT_S", 0.5)
    made = await prepare(workspaces, repo)
    [told] = made.events
    assert "took longer than 0.5 s" in told.sentence()


async def test_branch_goes_forward_to_its_remote(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    made = await prepare(workspaces, repo)
    run(theirs, "switch", "-q", "-c", BRANCH)
    news = commit(theirs, {"from elsewhere": "x"})
    again = await prepare(workspaces, repo)
    assert types(again.events) == ["git.branch_advanced"]
    assert (again.head_sha, again.created) == (news, False)
    assert ((made.path / "from elsewhere").read_text(), status(made.path)) == ("x", "")

    await workspaces.remove(repo, "task1")
    run(repo, "branch", "-q", "-D", BRANCH)
    assert (await prepare(workspaces, repo)).head_sha == news


async def test_diverged_branch_stays_as_it_is_here(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    made = await prepare(workspaces, repo)
    mine = commit(made.path, {"mine": "x"})
    run(theirs, "switch", "-q", "-c", BRANCH)
    commit(theirs, {"theirs": "x"})
    again = await prepare(workspaces, repo)
    assert (types(again.events), again.head_sha) == (["git.branch_diverged"], mine)


async def test_configured_refspecs_move_no_branch_of_the_user(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    run(repo, "switch", "-q", "-c", "elsewhere")
    before = sha(repo, "main")
    run(repo, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*")
    commit(theirs, {"news": "1"})
    await prepare(workspaces, repo)
    assert sha(repo, "main") == before


async def test_one_other_remote_will_do_and_two_are_a_riddle(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    run(repo, "remote", "rename", "origin", "upstream")
    news = commit(theirs, {"news": "1"})
    assert (await prepare(workspaces, repo)).head_sha == news
    run(repo, "remote", "add", "other", str(theirs))
    second = await workspaces.prepare(repo, "task2", "agent/two", "main")
    assert second.head_sha == sha(repo, "main")


async def test_shallow_clone(workspaces: Kind, theirs: Path, tmp_path: Path) -> None:
    commit(theirs, {"a": "2\n"})
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{theirs}", "shallow")
    shallow = tmp_path / "shallow"
    news = commit(theirs, {"a": "3\n"})
    made = await prepare(workspaces, shallow)
    assert made.head_sha == news
    commit(made.path, {"b": "1"})
    await workspaces.gather(made.path, BRANCH)
    assert (await workspaces.change(shallow, BRANCH, "main")).files == 1
    assert (await prepare(workspaces, shallow)).events == ()


@pytest.mark.parametrize(
    ("setting", "needs_alternate"),
    [("remote.origin.uploadpack", False), ("core.alternateRefsCommand", True)],
)
async def test_fetching_runs_nothing_of_the_repositorys_configuration(
    workspaces: Kind,
    repo: Path,
    theirs: Path,
    tmp_path: Path,
    setting: str,
    needs_alternate: bool,
) -> None:
    spot = tmp_path / "canary"
    evil = executable(tmp_path / "evil", f"touch '{spot}'; exec git-upload-pack \"$@\"")
    run(repo, "config", setting, str(evil))
    if needs_alternate:
        other = make_repo(tmp_path / "other", {"o": "1"})
        (repo / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    commit(theirs, {"news": "1"})
    run(repo, "fetch", "-q", check=False)
    assert spot.exists(), "plain git should fall for it"
    spot.unlink()
    commit(theirs, {"news": "2"})
    made = await prepare(workspaces, repo)
    assert (made.head_sha, made.events) == (sha(theirs), ())
    assert not spot.exists()


async def test_credential_helpers_are_the_users_only(repo: Path, tmp_path: Path) -> None:
    spot, mine = tmp_path / "canary", tmp_path / "mine"
    for scope, name, seen in (("--local", "evil", spot), ("--global", "own", mine)):
        helper = executable(tmp_path / name, f"touch '{seen}'")
        run(repo, "config", scope, "credential.helper", f"!'{helper}'")
    asked = b"protocol=https\nhost=example.org\n\n"
    remote = await remotes.of(Place(git_dir=await common_dir(repo)))
    assert remote
    await git(replace(remote.place, settings=()), "credential", "fill", input=asked, check=False)
    assert spot.exists(), "without the settings git should fall for it"
    spot.unlink()
    mine.unlink()
    await git(remote.place, "credential", "fill", input=asked, check=False)
    assert (spot.exists(), mine.exists()) == (False, True)


# -------------------------------------------------------------------------------------- rebase


async def test_rebase_on_start_only_when_asked(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    own = commit(made.path, {"mine": "x"})
    base = commit(repo, {"news": "1"})
    assert (await prepare(workspaces, repo)).head_sha == own
    again = await prepare(workspaces, repo, REBASE)
    assert types(again.events) == ["git.rebased"]
    assert run(made.path, "rev-parse", "HEAD^") == base
    assert run(made.path, "symbolic-ref", "--short", "HEAD") == BRANCH
    assert (await prepare(workspaces, repo, REBASE)).events == ()


async def test_rebase_goes_onto_the_remotes_base(
    workspaces: Kind, repo: Path, theirs: Path
) -> None:
    made = await prepare(workspaces, repo)
    commit(made.path, {"mine": "x"})
    news = commit(theirs, {"news": "1"})
    await prepare(workspaces, repo, REBASE)
    assert run(made.path, "rev-parse", "HEAD^") == news


async def test_conflicting_rebase_is_taken_back(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    own = commit(made.path, {"a": "mine\n", "ä": "mine\n"})
    commit(repo, {"a": "theirs\n", "ä": "theirs\n"})
    again = await prepare(workspaces, repo, REBASE)
    [told] = again.events
    assert told.type == "git.rebase_conflicted"
    assert told.model_dump()["files"] == ("a", "ä")
    assert (again.head_sha, status(made.path), again.created) == (own, "", False)


async def test_merge_drivers_of_the_repository_are_not_run(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    made = await prepare(workspaces, repo)
    run(made.path, "config", "merge.evil.driver", f"touch '{spot}'")
    commit(made.path, {"a": "mine\n", ".gitattributes": "a merge=evil\n"})
    commit(repo, {"a": "theirs\n", ".gitattributes": "a merge=evil\n"})
    assert types((await prepare(workspaces, repo, REBASE)).events) == ["git.rebase_conflicted"]
    assert not spot.exists()
    run(made.path, "config", "merge.evil.driver", f"touch '{spot}'")
    run(made.path, "rebase", "main", check=False)
    assert spot.exists(), "plain git should fall for it"


async def test_rebase_moves_no_other_branch(workspaces: Kind, repo: Path) -> None:
    run(repo, "config", "rebase.updateRefs", "true")
    made = await prepare(workspaces, repo)
    mine = commit(made.path, {"one": "x"})
    await workspaces.gather(made.path, BRANCH)
    run(repo, "branch", "mine", mine)
    commit(made.path, {"two": "x"})
    commit(repo, {"news": "1"})
    assert types((await prepare(workspaces, repo, REBASE)).events) == ["git.rebased"]
    assert sha(repo, "mine") == mine


HOOKS = ("post-checkout", "post-merge", "pre-rebase", "post-rewrite", "post-commit")


async def test_no_hook_runs_from_the_first_checkout_to_the_removal(
    workspaces: Kind, repo: Path, theirs: Path, tmp_path: Path
) -> None:
    spot = tmp_path / "canary"
    for hook in (*HOOKS, "reference-transaction", "post-index-change", "pre-commit"):
        executable(repo / ".git/hooks" / hook, f"touch '{spot}'")
    made = await prepare(workspaces, repo)
    run(theirs, "switch", "-q", "-c", BRANCH)
    commit(theirs, {"pushed": "x"})
    run(theirs, "switch", "-q", "main")
    commit(theirs, {"news": "x"})
    again = await prepare(workspaces, repo, REBASE)
    assert types(again.events) == ["git.branch_advanced", "git.rebased"]
    write(made.path, {"work": "x"})
    saved = await prepare(workspaces, repo)
    assert "snapshot.saved" in types(saved.events)
    [snapshot] = await workspaces.snapshots(repo, "task1")
    await workspaces.restore(repo, snapshot, made)
    await workspaces.commit_all(made.path, BRANCH, "Left over")
    await workspaces.remove(repo, "task1")
    assert not spot.exists()
    run(repo, "switch", "-q", "-c", "plain")
    assert spot.exists(), "plain git should fall for it"


# ------------------------------------------------------------------------ the user's own checkout


async def test_detached_checkout_is_neither_used_nor_moved(workspaces: Kind, repo: Path) -> None:
    run(repo, "switch", "-q", "--detach")
    lost = commit(repo, {"mine": "x"})
    made = await prepare(workspaces, repo)
    assert made.head_sha == sha(repo, "main") != lost
    assert (sha(repo), run(repo, "symbolic-ref", "-q", "HEAD", check=False)) == (lost, "")


async def test_repository_without_commits(workspaces: Kind, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run(tmp_path / "empty", "init", "-q")
    with pytest.raises(InvalidRepository, match='no branch "main"'):
        await prepare(workspaces, tmp_path / "empty")


async def test_going_on_to_the_next_phase_is_no_repair(workspaces: Kind, repo: Path) -> None:
    await workspaces.prepare(repo, "task1", f"{BRANCH}--1-first", "main")
    second = await workspaces.prepare(repo, "task1", f"{BRANCH}--2-next", "main")
    assert (second.created, second.events) == (True, ())


# --------------------------------------------------------------------------- where worktrees lie


async def test_root_inside_the_project_is_ignored_once(workspaces: Kind, repo: Path) -> None:
    write(repo, {".gitignore": "*.log"})
    inside = WorkspaceRules(root=repo / ".agent-worktrees")
    made = await prepare(workspaces, repo, inside)
    assert made.path.is_relative_to(repo / ".agent-worktrees")
    assert types(made.events) == ["workspace.ignored"]
    assert status(repo) == "?? .gitignore"
    assert (repo / ".gitignore").read_text() == (
        "*.log\n# Agent worktrees (managed by agents-manager)\n/.agent-worktrees/\n"
    )
    before = (repo / ".gitignore").read_text()
    assert (await prepare(workspaces, repo, inside)).events == ()
    assert (repo / ".gitignore").read_text() == before
    await workspaces.remove(repo, "task1")
    assert not made.path.exists()


@pytest.mark.parametrize("root", [".", ".git/x"])
async def test_roots_that_would_do_harm(workspaces: Kind, repo: Path, root: str) -> None:
    with pytest.raises(InvalidRepository, match="worktreeRoot cannot be"):
        await prepare(workspaces, repo, WorkspaceRules(root=repo / root))


async def test_gitignore_that_is_a_link_is_not_followed(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("mine")
    (repo / ".gitignore").symlink_to(tmp_path / "precious")
    with pytest.raises(InvalidRepository, match="is a link"):
        await prepare(workspaces, repo, WorkspaceRules(root=repo / "trees"))
    assert (tmp_path / "precious").read_text() == "mine"


async def test_another_root_takes_the_worktree_along(
    workspaces: Kind, repo: Path, tmp_path: Path
) -> None:
    first = await prepare(workspaces, repo)
    write(first.path, {"work": "precious"})
    second = await prepare(workspaces, repo, WorkspaceRules(root=tmp_path / "other röot"))
    assert second.path.is_relative_to(tmp_path / "other röot")
    assert not first.path.exists()
    assert types(second.events) == ["snapshot.saved"]
    head = commit(second.path, {"a": "2"})
    assert (await workspaces.commit_all(second.path, BRANCH, "Nothing")).sha is None
    write(second.path, {"b": "2"})
    await workspaces.commit_all(second.path, BRANCH, "Left over")
    assert run(repo, "rev-parse", f"{BRANCH}^") == head
    await workspaces.remove(repo, "task1")
    assert not second.path.exists()


# ---------------------------------------------------------------------------------------- locks


async def test_it_is_locked_until_it_is_released(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    with pytest.raises(WorkspaceInUse):
        await workspaces.remove(repo, "task1", idle=True)
    assert made.path.exists()
    assert not await workspaces.spare(repo, "task1")
    await workspaces.release(made.path)
    await workspaces.release(made.path)
    commit(repo, {"meanwhile": "1"})
    assert await workspaces.spare(repo, "task1")
    write(made.path, {"work": "precious"})
    assert not await workspaces.spare(repo, "task1")
    assert await workspaces.standing(repo) == {"task1": made.path}
    await workspaces.remove(repo, "task1", idle=True)
    assert await workspaces.standing(repo) == {}
    await workspaces.release(made.path)


async def test_lock_follows_no_link(workspaces: Kind, repo: Path, tmp_path: Path) -> None:
    made = await prepare(workspaces, repo)
    (tmp_path / "precious").write_text("mine")
    (made.state / "locked").unlink()
    (made.state / "locked").symlink_to(tmp_path / "precious")
    await prepare(workspaces, repo)
    assert (tmp_path / "precious").read_text() == "mine"


async def test_inputs_change_with_the_files_they_name(workspaces: Kind, repo: Path) -> None:
    patterns = ("requirements*.txt", "web/*.lock")
    first = await workspaces.inputs(repo, sha(repo), patterns)
    assert await workspaces.inputs(repo, commit(repo, {"code.py": "1"}), patterns) == first
    deep = await workspaces.inputs(repo, commit(repo, {"sub/requirements-ä.txt": "1"}), patterns)
    locked = await workspaces.inputs(repo, commit(repo, {"web/y.lock": "1"}), patterns)
    assert len({first, deep, locked}) == 3
    assert refs(repo, "refs/agents-manager") == {}
