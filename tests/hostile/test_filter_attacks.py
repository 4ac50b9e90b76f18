"""A filter of the user's configuration may run a program of the repository, which an agent can
change. The program runs in the sandbox and can write to the repository that we make to look at the
clone, so no git command outside of the sandbox may read that repository."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager.errors import AgentsManagerError, ImportRefused
from agents_manager.flow.ports import Workspace
from agents_manager.scm import quarantine
from agents_manager.scm.clone import Clone
from agents_manager.scm.clones import Clones
from agents_manager.scm.git import Place
from tests.hostile.plain import canary, ran
from tests.repos import executable, make_repo, own_home, run, sha, status, write
from tests.workspaces import kept_git

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
FILTER = "tools/wash"
OFF = pytest.mark.parametrize("off", [False, True], ids=["", "off"])
FETCHES = """cat
cat >> "$GIT_DIR/config" <<'end'
[core]
repositoryFormatVersion = 1
[extensions]
partialClone = lazy
[remote "lazy"]
url = /nowhere
promisor = true
uploadpack = {canary}
end
rm -rf "$GIT_DIR"/objects/[0-9a-f][0-9a-f]
"""
"""Git fetches what is missing by running this."""
STEALS = """cat
cd "$GIT_DIR"
echo '{objects}' >> objects/info/alternates
tree=$( {{ git ls-tree HEAD; printf '100644 blob {blob}\\tstolen\\n'; }} | git mktree --missing)
GIT_INDEX_FILE=/tmp/planned git read-tree "$tree"
rm index.lock
cp /tmp/planned index.lock
"""
"""Git puts this in the place of its index, with a file of another repository in it."""
LEADS_ELSEWHERE = """cat
mv "$GIT_DIR" "$GIT_DIR.away"
ln -s '{elsewhere}' "$GIT_DIR"
"""


@pytest.fixture
def repo(tmp_path: Path, own_home: Path) -> Path:
    with (own_home / ".gitconfig").open("a") as config:
        config.write(f'[filter "wash"]\n\tclean = {FILTER}\n')
    files = {".gitattributes": "*.txt filter=wash\n", "README.md": "Hello\n", FILTER: "cat\n"}
    return make_repo(tmp_path / "repo", files)


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path / "data/trees", start=kept_git(tmp_path))


async def spoiled(clones: Clones, repo: Path, program: str) -> Workspace:
    """A clone with changed files that the filter is run for."""
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    executable(made.path / FILTER, program)
    write(made.path, {"a.txt": "1\n", "b.txt": "2\n"})
    return made


@OFF
async def test_no_program_of_an_agent_is_run_to_fetch_missing_objects(
    clones: Clones, repo: Path, tmp_path: Path, off: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off: the repository without its work tree is read outside of the sandbox."""
    spots = tmp_path / "spots"
    made = await spoiled(clones, repo, FETCHES.format(canary=canary(spots, "fetch")))
    if off:
        outside = property(lambda place: replace(place, work_tree=None, box=None))
        monkeypatch.setattr(Place, "alone", outside)
    with suppress(AgentsManagerError):
        await clones.save(made.path)
    with suppress(AgentsManagerError):
        await clones.commit_all(made.path, BRANCH, "Left over")
    assert bool(ran(spots)) == off


@OFF
async def test_no_file_of_another_repository_is_taken_over(
    clones: Clones, repo: Path, tmp_path: Path, off: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off: what was committed in our repository is read outside of the sandbox."""
    other = make_repo(tmp_path / "other", {"secret": "mine"})
    blob = run(other, "rev-parse", "HEAD:secret")
    made = await spoiled(clones, repo, STEALS.format(objects=other / ".git/objects", blob=blob))
    if not off:
        with pytest.raises(ImportRefused):
            await clones.commit_all(made.path, BRANCH, "Left over")
        assert sha(repo, BRANCH) == made.head_sha
        return

    async def from_desk(self: Clone, commit: str) -> None:
        source = replace(self._source, git_dir=self._desk, box=None)
        await quarantine.bring(self.store, source, commit)

    monkeypatch.setattr(Clone, "from_desk", from_desk)
    await clones.commit_all(made.path, BRANCH, "Left over")
    assert run(repo, "show", f"{BRANCH}:stolen") == "mine"


async def test_our_repository_that_was_replaced_by_a_link_is_not_followed(
    clones: Clones, repo: Path, tmp_path: Path
) -> None:
    other = make_repo(tmp_path / "other", {"secret": "mine"})
    before = changes(other / ".git")
    made = await spoiled(clones, repo, LEADS_ELSEWHERE.format(elsewhere=other / ".git"))
    with suppress(AgentsManagerError):
        await clones.save(made.path)
    with suppress(AgentsManagerError):
        await clones.commit_all(made.path, BRANCH, "Left over")
    (made.path / FILTER).write_text("#!/bin/sh\ncat\n")
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert changes(other / ".git") == before
    assert (again.path / ".git").is_dir()
    assert not (again.path / ".git").is_symlink()
    assert status(again.path) == ""
    assert list((again.path.parent / ".desks" / "task1").iterdir()) == []


def changes(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}
