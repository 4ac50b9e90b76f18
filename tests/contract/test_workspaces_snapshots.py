"""Snapshots are listed as they are, and come back without taking anything away."""

import shutil
from pathlib import Path

import pytest

from agents_manager.errors import InvalidInput, RestoreRefused
from agents_manager.flow.ports import Snapshot, Workspace
from tests.repos import commit, make_repo, own_home, refs, run, sha, status, write
from tests.workspaces import Kind, workspaces

__all__ = ["own_home", "workspaces"]
pytestmark = [pytest.mark.usefixtures("own_home"), pytest.mark.slow]

BRANCH = "agent/one"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"a": "1\n2\n3\n4\n5\n", "gone": "x\n"})


async def prepare(workspaces: Kind, repo: Path) -> Workspace:
    return await workspaces.prepare(repo, "task1", BRANCH, "main")


async def snapshot(workspaces: Kind, repo: Path) -> tuple[Workspace, Snapshot]:
    """A changed, a new and a deleted file, saved and cleared away."""
    made = await prepare(workspaces, repo)
    write(made.path, {"a": "one\n2\n3\n4\n5\n", "né w/f": "new"})
    (made.path / "gone").unlink()
    made = await prepare(workspaces, repo)
    return made, (await workspaces.snapshots(repo, "task1"))[-1]


async def test_what_a_snapshot_tells(workspaces: Kind, repo: Path) -> None:
    assert await workspaces.snapshots(repo, None) == []
    made, saved = await snapshot(workspaces, repo)
    assert (saved.number, saved.key, saved.head) == (1, "task1", made.head_sha)
    assert saved.files == ("a", "gone", "né w/f")
    assert refs(repo, "refs/agents-manager/snapshots") == {saved.ref: saved.sha}
    run(made.path, "switch", "-q", "--detach")
    lost = commit(made.path, {"lost": "x"})
    await prepare(workspaces, repo)
    everything = await workspaces.snapshots(repo, None)
    assert [(s.number, s.files) for s in everything] == [(1, saved.files), (2, ())]
    assert everything[1].sha == lost


async def test_work_comes_back_on_top_of_what_was_done_since(workspaces: Kind, repo: Path) -> None:
    made, saved = await snapshot(workspaces, repo)
    head = commit(made.path, {"a": "1\n2\n3\n4\nfive\n", "since": "x"})
    await workspaces.restore(repo, saved, made)
    assert (made.path / "a").read_text() == "one\n2\n3\n4\nfive\n"
    assert (made.path / "né w/f").read_text() == "new"
    assert (sha(made.path), (made.path / "since").exists()) == (head, True)
    assert status(made.path).splitlines() == [" M a", " D gone", '?? "n\\303\\251 w/"']
    again = await prepare(workspaces, repo)
    assert [e.type for e in again.events] == ["snapshot.saved"]


async def test_conflicting_work_stays_where_it_is(workspaces: Kind, repo: Path) -> None:
    made, saved = await snapshot(workspaces, repo)
    commit(made.path, {"a": "other\n2\n3\n4\n5\n"})
    with pytest.raises(RestoreRefused, match=r"both changed a\. Restore it to a branch"):
        await workspaces.restore(repo, saved, made)
    assert status(made.path) == ""
    await workspaces.restore_to(repo, saved, "rescüed")
    assert sha(repo, "rescüed") == saved.sha
    assert sha(repo, "rescüed^") == saved.head


async def test_a_branch_that_exists_is_not_moved(workspaces: Kind, repo: Path) -> None:
    _, saved = await snapshot(workspaces, repo)
    before = sha(repo, "main")
    with pytest.raises(RestoreRefused, match="already"):
        await workspaces.restore_to(repo, saved, "main")
    with pytest.raises(RestoreRefused, match="cannot be created"):
        await workspaces.restore_to(repo, saved, "main/below")
    with pytest.raises(InvalidInput):
        await workspaces.restore_to(repo, saved, "--force")
    assert sha(repo, "main") == before


async def test_removal_saves_and_the_snapshot_outlives_it(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    write(made.path, {"work": "precious"})
    removed = await workspaces.remove(repo, "task1")
    assert [e.type for e in removed.events] == ["snapshot.saved", "workspace.removed"]
    assert (await workspaces.remove(repo, "task1")).events == ()
    made = await prepare(workspaces, repo)
    [saved] = await workspaces.snapshots(repo, "task1")
    await workspaces.restore(repo, saved, made)
    assert (made.path / "work").read_text() == "precious"


async def test_a_rebuilt_worktree_says_why(workspaces: Kind, repo: Path) -> None:
    made = await prepare(workspaces, repo)
    write(made.path, {"work": "precious"})
    run(made.path, "switch", "-q", "-c", "elsewhere")
    again = await prepare(workspaces, repo)
    assert [e.type for e in again.events] == ["snapshot.saved", "workspace.rebuilt"]
    assert again.events[1].sentence().endswith('built anew from agent/one: it is on "elsewhere".')
    shutil.rmtree(made.path)
    assert [e.type for e in (await prepare(workspaces, repo)).events] == ["workspace.rebuilt"]
