"""Git that looks at what an agent wrote runs in the real sandbox: should it be made to run
something after all, that reaches nothing of the user's. Each attack is also tried outside of
it."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents_manager.errors import GitError, GitKilled, ImportRefused
from agents_manager.flow.ports import Workspace
from agents_manager.scm import git as scm_git
from agents_manager.scm.clones import Clones
from agents_manager.scm.sandboxed import Started
from tests.repos import commit, executable, make_repo, own_home, run, sha, status, write
from tests.workspaces import kept_git

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
BOTH = pytest.mark.parametrize("kept", [True, False], ids=["kept", "loose"])


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"README.md": "Hello\n"})


def clones(tmp_path: Path, *, kept: bool = True) -> Clones:
    start = kept_git(tmp_path) if kept else None
    return Clones(tmp_path / "data/trees", start=start)


async def prepared(tmp_path: Path, repo: Path) -> Workspace:
    """Before an agent was there, nothing needs the sandbox, which takes its time."""
    return await clones(tmp_path, kept=False).prepare(repo, "task1", BRANCH, "main")


@pytest.mark.slow
async def test_all_that_is_done_with_a_clone(repo: Path, tmp_path: Path, own_home: Path) -> None:
    """Its user's own ignored files count, though their home is hidden."""
    (own_home / ".config/git").mkdir(parents=True)
    (own_home / ".config/git/ignore").write_text("*.log\n")
    workspaces = clones(tmp_path)
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    mine = commit(made.path, {"mine": "1"})
    await workspaces.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == mine
    write(made.path, {"left": "over", "a.log": "x"})
    new = (await workspaces.commit_all(made.path, BRANCH, "Left over")).sha
    assert run(repo, "show", "--format=%an", "--name-only", BRANCH) == "Ada Löve\n\nleft"
    assert (sha(repo, BRANCH), status(made.path)) == (new, "")
    write(made.path, {"later": "saved"})
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert [e.type for e in again.events] == ["snapshot.saved"]
    gone = await workspaces.remove(repo, "task1")
    assert [e.type for e in gone.events] == ["workspace.removed"]
    assert not made.path.exists()


@BOTH
async def test_a_program_that_upload_pack_is_made_to_run(
    repo: Path, tmp_path: Path, own_home: Path, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such way is known. So git is told to trust the agent's configuration, as a fault of it
    would."""
    (own_home / "secret").write_text("mine")
    workspaces = clones(tmp_path, kept=kept)
    made = await prepared(tmp_path, repo)
    git_dir, spot = made.path / ".git", repo / ".git/hooks/post-commit"
    tries = f"""touch '{git_dir}/ran'
touch '{spot}' '{own_home}/canary' '{tmp_path}/data/canary'
cat '{own_home}/secret' '{repo}/README.md' > '{git_dir}/stolen'
exec "$@\""""
    evil = executable(git_dir / "evil.sh", f"exec 2> /dev/null\n{tries}")
    run(made.path, "config", "uploadpack.packObjectsHook", str(evil))
    mine = commit(made.path, {"mine": "1"})
    trusting = (*scm_git.SETTINGS, f"include.path={git_dir / 'config'}")
    monkeypatch.setattr(scm_git, "SETTINGS", trusting)
    await workspaces.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == mine
    assert (git_dir / "ran").exists(), "the program should have run"
    reached = [p.exists() for p in (spot, own_home / "canary", tmp_path / "data/canary")]
    assert reached == [not kept] * 3
    assert (git_dir / "stolen").read_text() == ("" if kept else "mineHello\n")


@BOTH
async def test_objects_of_another_repository(repo: Path, tmp_path: Path, kept: bool) -> None:
    """Git reads them where the clone says that they are lent to it."""
    other = make_repo(tmp_path / "other", {"secret": "mine"})
    workspaces = clones(tmp_path, kept=kept)
    made = await prepared(tmp_path, repo)
    with (made.path / ".git/objects/info/alternates").open("a") as lent:
        lent.write(f"{other}/.git/objects\n")
    stolen = run(made.path, "commit-tree", f"{sha(other)}^{{tree}}", "-p", "HEAD", "-m", "Mine")
    run(made.path, "update-ref", f"refs/heads/{BRANCH}", stolen)
    if kept:
        with pytest.raises(ImportRefused):
            await workspaces.gather(made.path, BRANCH)
        assert sha(repo, BRANCH) == made.head_sha
    else:
        await workspaces.gather(made.path, BRANCH)
        assert run(repo, "show", f"{BRANCH}:secret") == "mine"


async def test_a_sandbox_that_fails_is_not_the_agents_fault(repo: Path, tmp_path: Path) -> None:
    """The work stays where it is, and taking it over is tried again."""

    def broken(control: int, writes: Sequence[Path], reads: Sequence[Path]) -> Started | None:
        return start(control, (*writes, tmp_path / "missing"), reads)

    start = kept_git(tmp_path)
    made = await prepared(tmp_path, repo)
    mine = commit(made.path, {"mine": "1"})
    workspaces = Clones(tmp_path / "data/trees", start=broken)
    with pytest.raises(GitError, match=r"missing does not exist") as gathering:
        await workspaces.gather(made.path, BRANCH)
    with pytest.raises(GitError, match=r"missing does not exist") as preparing:
        await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert [type(e.value) for e in (gathering, preparing)] == [GitError] * 2
    await clones(tmp_path, kept=False).gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == mine


async def test_a_git_that_is_killed_in_there_is_known_to_be(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "bin/git", '[ "$1" = --version ] || kill -9 $$')
    workspaces = clones(tmp_path)
    made = await prepared(tmp_path, repo)
    place = workspaces.find(made.path)
    assert place
    async with place.desk(BRANCH, made.head_sha) as desk:
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        with pytest.raises(GitKilled, match="SIGKILL"):
            await place.is_clean(desk)


async def test_submodule_that_leads_to_another_repository_is_not_entered(
    repo: Path, tmp_path: Path
) -> None:
    """It is kept with the clone, as if it held work."""
    library = make_repo(tmp_path / "projects/lib", {"lib.py": "1\n"})
    trusted = ("-c", "protocol.file.allow=always")
    run(repo, *trusted, "submodule", "--quiet", "add", str(library), "deps/lib")
    run(repo, "commit", "-q", "-m", "With a library")
    workspaces = clones(tmp_path)
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    shutil.rmtree(made.path / "deps")
    (made.path / "deps").symlink_to(library.parent)
    os.utime(library / "lib.py", (1, 1))
    index = (library / ".git/index").read_bytes()
    removed = await workspaces.remove(repo, "task1")
    assert (library / ".git/index").read_bytes() == index
    assert removed.events[-1].model_dump()["kept"]
