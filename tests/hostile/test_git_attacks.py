"""What an agent plants in its workspace is not run by us. `make test` tries all of it at once in a
clone; `make prove` tries each by itself, in both kinds of workspaces, beside its control."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from agents_manager.errors import AgentsManagerError
from agents_manager.flow.ports import Workspace, WorkspaceRules
from agents_manager.scm import git as scm_git
from agents_manager.scm.clone import Clone
from agents_manager.scm.clones import Clones
from agents_manager.scm.git import Place
from agents_manager.scm.worktrees import Worktrees
from tests.hostile.git_attacks import ATTACKS, Attack
from tests.hostile.plain import canary, forget, plain_git, ran
from tests.repos import commit, make_repo, own_home, refs, run, sha, write
from tests.workspaces import KINDS, Kind

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
TOUCHED = dict.fromkeys(("washed.txt", "long.txt", "far.txt", "hidden.txt"), "x\n")
OPEN_IN_WORKTREES = {
    *("clean filter", "smudge filter", "filter process", "config.worktree + filter"),
    "missing object",
}
"""Their configuration is the user's own, which has filters that must run (git-crypt, Git LFS) and
may have its missing objects from a remote. Who wants these closed takes clones."""
TOGETHER = [attack for attack in ATTACKS if not attack.alone]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"README.md": "Hello\n"})


async def walk(workspaces: Kind, repo: Path, made: Workspace) -> None:
    """All that we do with a workspace in its life, whatever of it is refused."""
    rebase = WorkspaceRules(rebase=True)
    with suppress(AgentsManagerError):
        await workspaces.gather(made.path, BRANCH)
    with suppress(AgentsManagerError):
        await workspaces.save(made.path)
    with suppress(AgentsManagerError):
        await workspaces.commit_all(made.path, BRANCH, "Left over")
    with suppress(AgentsManagerError):
        change = await workspaces.change(repo, BRANCH, "main")
        await workspaces.diff(repo, change.base_sha, change.head_sha)
        await workspaces.push(repo, BRANCH)
    write(made.path, {"README.md": "once more\n"})
    with suppress(AgentsManagerError):
        again = await workspaces.prepare(repo, "task1", BRANCH, "main", rebase)
        for snapshot in await workspaces.snapshots(repo, "task1"):
            await workspaces.restore(repo, snapshot, again)
    with suppress(AgentsManagerError):
        await workspaces.release(made.path)
        await workspaces.spare(repo, "task1")
    await workspaces.remove(repo, "task1")
    await workspaces.prepare(repo, "task1", BRANCH, "main")


async def planted(
    workspaces: Kind, repo: Path, key: str, attacks: Sequence[Attack], at: Path
) -> Workspace:
    branch = BRANCH if key == "task1" else f"agent/{key}"
    made = await workspaces.prepare(repo, key, branch, "main")
    for attack in attacks:
        attack.plant(made.path, canary(at, attack.name))
    write(made.path, {"README.md": "changed\n", **TOUCHED})
    forget(at)
    return made


async def bites(kind: str, attack: Attack, folder: Path) -> tuple[bool, bool]:
    """Whether plain git falls for it, and whether we do."""
    workspaces = KINDS[kind](folder / "trees")
    control, spots = folder / "control", folder / "spots"
    other = make_repo(folder / "other", {"README.md": "Hello\n"})
    beside = await planted(workspaces, other, "control", [attack], control)
    plain_git(beside.path, attack.control)

    repo = make_repo(folder / "my répo", {"README.md": "Hello\n"})
    made = await planted(workspaces, repo, "task1", [attack], spots)
    with suppress(AgentsManagerError):
        await walk(workspaces, repo, made)
    return bool(ran(control)), bool(ran(spots))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
async def test_each_attack(kind: str, attack: Attack, tmp_path: Path) -> None:
    is_open = kind == "worktree" and attack.name in OPEN_IN_WORKTREES
    assert await bites(kind, attack, tmp_path) == (True, is_open)


async def test_all_at_once_in_a_clone(repo: Path, tmp_path: Path) -> None:
    workspaces, spots = Clones(tmp_path / "trees"), tmp_path / "spots"
    made = await planted(workspaces, repo, "task1", TOGETHER, spots)
    await walk(workspaces, repo, made)
    assert ran(spots) == set()


async def test_what_protects_is_that_the_agents_git_folder_is_not_worked_with(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch: with the agent's own repository as the desk, filters of its configuration run."""
    workspaces, spots = Clones(tmp_path / "trees"), tmp_path / "spots"
    made = await planted(workspaces, repo, "task1", TOGETHER, spots)

    def agents_own(self: Clone, branch: str, tip: str, **_: object) -> "Own":
        return Own(Place(git_dir=self.git_dir, work_tree=self.path))

    monkeypatch.setattr(Clone, "desk", agents_own)
    with suppress(AgentsManagerError):
        await workspaces.commit_all(made.path, BRANCH, "Left over")
    assert {"clean-filter", "filter-process"} & ran(spots)


@pytest.mark.parametrize("off", [False, True], ids=["", "off"])
async def test_objects_are_seen_as_they_are(
    repo: Path, tmp_path: Path, off: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that nothing keeps can have the user's repository show one object for another."""
    if off:
        without = tuple(s for s in scm_git.SETTINGS if "useReplaceRefs" not in s)
        monkeypatch.setattr(scm_git, "SETTINGS", without)
    workspaces = Worktrees(tmp_path / "trees")
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    head = commit(made.path, {"code": "evil\n"})
    write(made.path, {"good": "good\n"})
    run(made.path, "replace", f"{head}:code", run(made.path, "hash-object", "-w", "good"))
    run(made.path, "config", "core.useReplaceRefs", "true")
    shown = await workspaces.diff(repo, made.head_sha, head)
    assert ("+good" if off else "+evil") in shown


class Own:
    def __init__(self, place: Place) -> None:
        self.place = place

    async def __aenter__(self) -> Place:
        return self.place

    async def __aexit__(self, *_: object) -> None:
        pass


async def test_the_project_is_untouched_by_what_is_done_to_the_clone(
    repo: Path, tmp_path: Path
) -> None:
    """Branches moved, tags made, objects deleted: none of it reaches the user's repository."""
    run(repo, "tag", "mine")
    run(repo, "branch", "other")
    before = refs(repo, "refs/heads") | refs(repo, "refs/tags")
    workspaces = Clones(tmp_path / "trees")
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    evil = commit(made.path, {"a": "1"})
    for ref in ("refs/heads/main", "refs/heads/other", "refs/tags/mine", "refs/tags/new"):
        run(made.path, "update-ref", ref, evil)
    await workspaces.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == evil
    run(made.path, "symbolic-ref", "HEAD", "refs/heads/main")
    write(made.path, {"b": "1"})
    with pytest.raises(AgentsManagerError, match='it is on "main"'):
        await workspaces.commit_all(made.path, BRANCH, "To main?")
    for file in sorted((made.path / ".git/objects").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    await workspaces.prepare(repo, "task1", BRANCH, "main")
    after = refs(repo, "refs/heads") | refs(repo, "refs/tags")
    assert after == before | {f"refs/heads/{BRANCH}": evil}
    assert run(repo, "fsck", "--strict") == ""
