"""Sandboxed agents commit files of Git LFS with the real git-lfs, and a merge brings the content
into the project. The objects of others cannot be changed meanwhile."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.domain.run import RunStatus
from agents_manager.errors import ImportRefused
from agents_manager.flow import agents, tasks
from agents_manager.scm import lfs
from agents_manager.scm.git import Place
from agents_manager.scm.worktrees import Worktrees
from tests import debian, sandboxes
from tests.repos import commit, executable, make_repo, own_home, run, status
from tests.workspaces import kept_clones
from tests.worlds import ANN, NO_RETRIES, World, repo, working

__all__ = ["own_home", "repo"]

BRANCH = "agent/one"
ATTRIBUTES = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
WORKS = """\
set -e
printf new > new.bin
printf changed > old.bin
git add -A
git commit -qm "Change large files"
git show HEAD:new.bin | grep 'oid sha256'
git checkout -q HEAD~1 -- old.bin && cat old.bin && echo
git checkout -q HEAD -- old.bin && cat old.bin && echo
git status --porcelain
printf 'left over' > left.bin
object=$(find "{objects}" -type f | head -1)
test -n "$object" && echo 'sees them'
echo evil > "$object" && echo wrote over it
rm -f "$object" && echo removed it
ln "$object" linked && echo linked it
echo evil > "{objects}/new" && echo wrote beside it
true
"""


LIMIT = 1000


@pytest.fixture
def git_lfs(repo: Path) -> None:
    """The repository has a file of Git LFS, set up as `git lfs install` does for a user."""
    debian.have("git-lfs", lambda: shutil.which("git-lfs"))
    subprocess.run(["git-lfs", "install", "--skip-repo"], check=True, capture_output=True)
    commit(repo, {".gitattributes": ATTRIBUTES, "old.bin": "old"})
    assert run(repo, "show", "HEAD:old.bin").startswith("version https://git-lfs")


def pointer(content: bytes) -> bytes:
    oid, size = name(content), len(content)
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n".encode()


def put(storage: Path, content: bytes, oid: str | None = None) -> Path:
    """Writes an object as git-lfs does, or under a name that is not its own."""
    oid = oid or name(content)
    file = storage / "objects" / oid[:2] / oid[2:4] / oid
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def stored(repo: Path) -> dict[str, bytes]:
    found = (repo / ".git/lfs/objects").rglob("*")
    return {file.name: file.read_bytes() for file in found if file.is_file()}


def name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(params=["auto", "worktree", "clone"])
async def world(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    repo: Path,
    git_lfs: None,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[World]:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.json").write_text(
        json.dumps({"workspace": {"kind": request.param}, **NO_RETRIES})
    )
    async with working(home, repo) as world:
        world.project = await agents.consent(world.s, world.project, given=False)
        yield world


@pytest.mark.slow
async def test_large_files_of_a_sandboxed_agent_reach_the_project(world: World) -> None:
    executable(world.repo / "agent.sh", WORKS.format(objects=world.repo / ".git/lfs/objects"))
    agent = {"adapter": "command", "command": ["./agent.sh"]}
    look = {"test": {"command": "cat *.bin; test $(cat new.bin)$(cat old.bin) = newchanged"}}
    world.configure({"defaultAgentType": "mine", "agents": {"mine": agent}, "checks": look})
    world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title="Change large files", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)

    view = await world.wait(task, lambda v: v.run is None and bool(v.runs[0].ended_at), "over")
    done = view.runs[0]
    printed = (world.s.jobs_dir / done.id / "1" / "output").read_text()
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), (done.error, printed)
    assert printed.splitlines()[1:] == ["old", "changed", "sees them"], printed
    contents = [b"old", b"new", b"changed", b"left over"]
    assert stored(world.repo) == {name(each): each for each in contents}

    await world.until(task, "review")
    await world.review(task, "approved")
    await world.until(task, "done")
    for file, content in {"new": "new", "old": "changed", "left": "left over"}.items():
        assert (world.repo / f"{file}.bin").read_text() == content
    assert "bin" not in status(world.repo)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["worktree", "clone"])
@pytest.mark.usefixtures("git_lfs")
async def test_committed_objects_outlive_a_workspace_that_nobody_gathered(
    repo: Path, tmp_path: Path, kind: str
) -> None:
    """As after a crash of the server during a run."""
    root = tmp_path / "trees"
    workspaces = Worktrees(root) if kind == "worktree" else kept_clones(root)
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    reach = await workspaces.reach(made.path, BRANCH)
    _commit_as_agent(made.path, reach.env)
    assert name(b"new") not in stored(repo)
    await workspaces.release(made.path)
    await workspaces.remove(repo, "task1")
    assert stored(repo)[name(b"new")] == b"new"
    again = await workspaces.prepare(repo, "task1", BRANCH, "main")
    assert (again.path / "new.bin").read_text() == "new"


def _commit_as_agent(tree: Path, env: Mapping[str, str]) -> None:
    (tree / "new.bin").write_text("new")
    for order in (("add", "-A"), ("commit", "-qm", "Add a large file")):
        subprocess.run(["git", "-C", tree, *order], env={**os.environ, **env}, check=True)
    (tree / "new.bin").unlink()


# ------------------------------------------------------------------- what an agent may have written


@pytest.fixture
def agents_storage(tmp_path: Path) -> Path:
    return tmp_path / "an agent's" / "lfs"


@pytest.fixture
def committed(own_home: Path, tmp_path: Path) -> Path:
    """A repository whose commits name some objects."""
    files = {f"{n}.bin": pointer(content) for n, content in enumerate(NAMED)}
    return make_repo(tmp_path / "project", files)


NAMED = (b"good", b"forged", b"linked", b"in a linked folder", b"long" * LIMIT)


def lead(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True)
    link.symlink_to(target)


async def take(repo: Path, storage: Path, limit: int | None = None) -> dict[str, bytes]:
    await lfs.take_over(Place(git_dir=repo / ".git"), storage.parent, storage.name, limit=limit)
    return stored(repo)


async def test_only_objects_of_commits_with_their_content_are_taken_over(
    committed: Path, agents_storage: Path, tmp_path: Path
) -> None:
    put(agents_storage, b"good")
    put(agents_storage, b"evil!!", name(b"forged"))
    put(agents_storage, b"named by no commit")
    secret = tmp_path / "secret"
    secret.write_bytes(b"linked")
    oid = name(b"linked")
    lead(agents_storage / "objects" / oid[:2] / oid[2:4] / oid, secret)
    elsewhere = put(tmp_path / "elsewhere", b"in a linked folder").parent
    lead(agents_storage / "objects" / elsewhere.parent.name / elsewhere.name, elsewhere)
    assert await take(committed, agents_storage) == {name(b"good"): b"good"}


async def test_a_storage_that_is_a_link_is_not_followed(
    committed: Path, agents_storage: Path, tmp_path: Path
) -> None:
    put(tmp_path / "other" / "lfs", b"good")
    lead(agents_storage, tmp_path / "other" / "lfs")
    assert await take(committed, agents_storage) == {}


async def test_an_object_of_the_project_stays_as_it_is(
    committed: Path, agents_storage: Path
) -> None:
    before = put(committed / ".git/lfs", b"good").stat().st_ino
    put(agents_storage, b"evil", name(b"good"))
    assert await take(committed, agents_storage) == {name(b"good"): b"good"}
    [file] = (committed / ".git/lfs/objects").rglob("?" * 64)
    assert file.stat().st_ino == before


async def test_more_than_the_limit_is_refused(committed: Path, agents_storage: Path) -> None:
    put(agents_storage, b"good")
    put(agents_storage, NAMED[-1])
    with pytest.raises(ImportRefused, match=r"larger than 0 MB\. Raise workspace\.importLimitMb"):
        await take(committed, agents_storage, LIMIT)
    assert stored(committed) == {}
