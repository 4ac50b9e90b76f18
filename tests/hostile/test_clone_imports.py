"""Commits are taken over from a clone only when they are sound and small enough, and nothing of
what is refused stays in the user's repository. Each defence is also tried with its switch off."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager.errors import GitError, ImportRefused, InvalidRepository
from agents_manager.flow.ports import WorkspaceRules
from agents_manager.scm import quarantine, submodules
from agents_manager.scm.clones import Clones
from agents_manager.scm.git import Place
from agents_manager.scm.sandboxed import Box, Helpers, NoSandbox
from tests.repos import commit, executable, make_repo, own_home, refs, run, sha, status, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
MB = 1024 * 1024


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "my répo", {"README.md": "Hello\n"})


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path / "trees")


def given(tree: Path, command: Sequence[str], text: bytes) -> str:
    done = subprocess.run(
        ["git", "-C", tree, *command], input=text, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def with_entries(tree: Path, *entries: tuple[str, str, str]) -> str:
    """A commit of a tree that git itself would not make."""
    packed = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(of) for mode, name, of in entries
    )
    made = given(tree, ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], packed)
    commit = run(tree, "commit-tree", made, "-p", "HEAD", "-m", "Odd")
    run(tree, "update-ref", f"refs/heads/{BRANCH}", commit)
    return commit


def git_inside(tree: Path) -> None:
    blob = given(tree, ["hash-object", "-w", "--stdin"], b"[core]\n")
    below = given(tree, ["mktree"], f"100644 blob {blob}\tconfig\n".encode())
    with_entries(tree, ("40000", ".git", below))


def git_in_disguise(tree: Path) -> None:
    blob = given(tree, ["hash-object", "-w", "--stdin"], b"x")
    with_entries(tree, ("100644", ".g\u200cit", blob))


def linked_modules(tree: Path) -> None:
    blob = given(tree, ["hash-object", "-w", "--stdin"], b"/etc/passwd")
    with_entries(tree, ("120000", ".gitmodules", blob))


def no_modules(tree: Path) -> None:
    text = b'[submodule "../../x"]\npath = x\nurl = -oProxyCommand=x\n'
    blob = given(tree, ["hash-object", "-w", "--stdin"], text)
    with_entries(tree, ("100644", ".gitmodules", blob))


def climbing(tree: Path) -> None:
    blob = given(tree, ["hash-object", "-w", "--stdin"], b"x")
    with_entries(tree, ("100644", "..", blob))


ODD = [git_inside, git_in_disguise, linked_modules, no_modules, climbing]


def objects(repo: Path) -> set[str]:
    return set(run(repo, "cat-file", "--batch-all-objects", "--batch-check").splitlines())


def shallow(tree: Path) -> None:
    (tree / ".git/shallow").write_text(f"{sha(tree, 'HEAD~1')}\n")


def grafted(tree: Path) -> None:
    (tree / ".git/info").mkdir(exist_ok=True)
    (tree / ".git/info/grafts").write_text(f"{sha(tree, 'HEAD')}\n")


def graphed(tree: Path) -> None:
    """The commit graph says that the newest commit has no parents, and its checksum is right."""
    run(tree, "commit-graph", "write", "--reachable")
    file = tree / ".git/objects/info/commit-graph"
    data = bytearray(file.read_bytes())
    hash_end = data.find(bytes.fromhex(run(tree, "rev-parse", "HEAD^{tree}"))) + 20
    data[hash_end : hash_end + 4] = (0x70000000).to_bytes(4, "big")
    file.chmod(0o600)
    file.write_bytes(data[:-20] + hashlib.sha1(data[:-20], usedforsecurity=False).digest())


@pytest.mark.parametrize("hide", [shallow, grafted, graphed])
async def test_history_that_the_agents_repository_hides_is_taken_over_whole_or_not_at_all(
    clones: Clones, repo: Path, hide: Callable[[Path], None]
) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    commits = [commit(made.path, {"a": str(number)}) for number in range(3)]
    hide(made.path)
    assert run(made.path, "rev-list", "--count", "HEAD") in "12", "plain git should not see it"
    before = refs(repo)
    try:
        await clones.gather(made.path, BRANCH)
    except ImportRefused:
        assert refs(repo) == before
    else:
        assert run(repo, "rev-list", BRANCH).split() == [*reversed(commits), made.head_sha]
    assert not (repo / ".git/shallow").exists()
    assert "missing" not in run(repo, "fsck", "--connectivity-only", check=False)


async def test_a_shallow_history_is_refused_by_our_own_check(
    clones: Clones, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off: the branch of the project has a commit without its parent."""

    async def unchecked(*_: object) -> None:
        pass

    made = await clones.prepare(repo, "task1", BRANCH, "main")
    for number in range(3):
        commit(made.path, {"a": str(number)})
    shallow(made.path)
    with pytest.raises(ImportRefused, match="history of its repository is not complete"):
        await clones.gather(made.path, BRANCH)
    monkeypatch.setattr(quarantine, "_check_history", unchecked)
    await clones.gather(made.path, BRANCH)
    assert "missing" in run(repo, "fsck", "--connectivity-only", check=False)


@pytest.mark.parametrize(
    ("spoil", "checked"),
    [
        pytest.param(spoil, checked, marks=() if spoil is git_inside else pytest.mark.slow)
        for spoil in ODD
        for checked in (True, False)
    ],
)
async def test_malformed_trees(
    clones: Clones,
    repo: Path,
    spoil: Callable[[Path], None],
    checked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    spoil(made.path)
    before = objects(repo), refs(repo)
    if not checked:
        monkeypatch.setattr(quarantine, "CHECKED", ())
        await clones.gather(made.path, BRANCH)
        assert sha(repo, BRANCH) == sha(made.path, BRANCH), "the check is what refuses it"
        return
    with pytest.raises(ImportRefused, match=r"cannot be taken over: object [0-9a-f]{40}"):
        await clones.gather(made.path, BRANCH)
    assert (objects(repo), refs(repo)) == before
    assert list((repo / ".git/objects").glob("tmp_*")) == []
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert [e.type for e in again.events] == ["workspace.rebuilt"]
    assert (again.path.parent / ".kept" / "task1.1" / ".git").is_dir()


async def test_more_than_may_be_taken(
    clones: Clones, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what is sent, and by what that is when unpacked."""
    made = await clones.prepare(repo, "task1", BRANCH, "main", WorkspaceRules(import_limit=MB))
    before = objects(repo)
    small = sha(made.path)
    commit(made.path, {"noise": os.urandom(2 * MB)})
    with pytest.raises(ImportRefused, match=r"larger than 1 MB\. Raise workspace\.importLimitMb"):
        await clones.gather(made.path, BRANCH)
    run(made.path, "reset", "-q", "--hard", small)
    commit(made.path, {"bomb": bytes(8 * MB)})
    with pytest.raises(ImportRefused, match="unpacked it is larger than 1 MB"):
        await clones.gather(made.path, BRANCH)
    assert objects(repo) == before
    assert list((repo / ".git/objects").glob("**/tmp_*")) == []

    async def unmeasured(*_: object) -> dict[str, bytes]:
        return {}

    monkeypatch.setattr(quarantine, "_measure", unmeasured)
    await clones.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == sha(made.path), "the measure is what refuses it"


@pytest.mark.slow
async def test_a_very_big_file(clones: Clones, repo: Path) -> None:
    rules = WorkspaceRules(import_limit=100 * MB)
    made = await clones.prepare(repo, "task1", BRANCH, "main", rules)
    (made.path / "noise").write_bytes(os.urandom(300 * MB))
    commit(made.path, {})
    with pytest.raises(ImportRefused, match="larger than 100 MB"):
        await clones.gather(made.path, BRANCH)
    assert sum(f.stat().st_size for f in (repo / ".git").rglob("*") if f.is_file()) < MB


async def test_a_configuration_that_never_ends_is_given_up(
    clones: Clones, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    os.mkfifo(made.path / "pipe")
    with (made.path / ".git/config").open("a") as config:
        config.write(f'[include]\n\tpath = "{made.path / "pipe"}"\n')
    monkeypatch.setattr(quarantine, "TIMEOUT_S", 1.0)
    with pytest.raises(ImportRefused, match="took longer than 1 s"):
        await clones.gather(made.path, BRANCH)


async def test_hidden_work_is_found(clones: Clones, repo: Path) -> None:
    """Marks in the agent's index, and objects it gave another face, are not looked at."""
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    head = commit(made.path, {"code": "good\n", "skipped": "good\n"})
    run(made.path, "update-index", "--assume-unchanged", "code")
    run(made.path, "update-index", "--skip-worktree", "skipped")
    write(made.path, {"code": "evil\n", "skipped": "evil\n"})
    honest = given(made.path, ["hash-object", "-w", "--stdin"], b"good\n")
    run(made.path, "replace", given(made.path, ["hash-object", "-w", "--stdin"], b"evil\n"), honest)
    assert status(made.path) == ""
    new = (await clones.commit_all(made.path, BRANCH, "Left over")).sha
    assert new
    assert "+evil" in await clones.diff(repo, head, new)
    assert run(repo, "show", f"{BRANCH}:skipped") == "evil"
    assert refs(repo, "refs/replace") == {}


async def test_names_of_branches_are_not_believed(clones: Clones, repo: Path) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    other = run(made.path, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Mine")
    for name in ("--upload-pack=touch x", "HEAD", "a" * 200, "main.lock2"):
        ref = f"refs/heads/{name}".replace(" ", "-")
        run(made.path, "update-ref", ref, other)
    heads = refs(repo, "refs/heads")
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert refs(repo, "refs/heads") == heads
    assert [e.type for e in again.events] == ["snapshot.saved"]
    [saved] = await clones.snapshots(repo, "task1")
    assert saved.sha == other


async def test_branches_and_stashes_of_the_agents_own_are_kept(clones: Clones, repo: Path) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"README.md": "stashed\n"})
    run(made.path, "stash")
    stash = sha(made.path, "stash")
    run(made.path, "switch", "-q", "-c", "idea")
    idea = commit(made.path, {"idea": "1"})
    run(made.path, "switch", "-q", BRANCH)
    await clones.prepare(repo, "task1", BRANCH, "main")
    assert {s.sha for s in await clones.snapshots(repo, "task1")} == {stash, idea}


async def test_what_cannot_be_saved_stays_where_it_is(clones: Clones, repo: Path) -> None:
    """A branch of the agent's own that is malformed, and files that no tree may hold."""
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    git_inside(made.path)
    run(made.path, "update-ref", "refs/heads/evil", BRANCH)
    run(made.path, "update-ref", f"refs/heads/{BRANCH}", made.head_sha)
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert (again.created, again.events) == (False, ())
    kept = made.path.parent / ".kept"
    assert "refs/heads/evil" in refs(kept / "task1.1")
    write(made.path, {".g\u200cit": "x", "work": "precious"})
    last = await clones.prepare(repo, "task1", BRANCH, "main")
    assert [e.type for e in last.events] == ["workspace.rebuilt"]
    assert (kept / "task1.2" / "work").read_text() == "precious"
    assert status(made.path) == ""


async def test_a_clone_of_which_nothing_is_known(clones: Clones, repo: Path) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    head = commit(made.path, {"mine": "1"})
    shutil.rmtree(made.state)
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert (again.created, again.head_sha) == (True, head)
    shutil.rmtree(made.state)
    removed = await clones.remove(repo, "task1")
    assert removed.events[-1].model_dump()["kept"] == str(made.path.parent / ".kept" / "task1.1")


# ------------------------------------------------------------------------------- both went on


async def test_a_branch_that_went_on_in_the_project_too(clones: Clones, repo: Path) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    theirs = run(repo, "commit-tree", "HEAD^{tree}", "-p", BRANCH, "-m", "By a person")
    run(repo, "update-ref", f"refs/heads/{BRANCH}", theirs)
    again = await clones.prepare(repo, "task1", BRANCH, "main")
    assert (again.head_sha, again.created, sha(made.path)) == (theirs, False, theirs)
    mine = commit(made.path, {"mine": "1"})
    other = run(repo, "commit-tree", "HEAD^{tree}", "-p", BRANCH, "-m", "By a person again")
    run(repo, "update-ref", f"refs/heads/{BRANCH}", other)
    with pytest.raises(ImportRefused, match="went on in the project"):
        await clones.gather(made.path, BRANCH)
    last = await clones.prepare(repo, "task1", BRANCH, "main")
    assert last.head_sha == other
    assert [s.sha for s in await clones.snapshots(repo, "task1")] == [mine]


async def test_a_branch_that_is_checked_out_is_not_moved_under_its_user(
    clones: Clones, repo: Path
) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    commit(made.path, {"mine": "1"})
    run(repo, "switch", "-q", BRANCH)
    with pytest.raises(GitError, match="Switch to another branch there"):
        await clones.gather(made.path, BRANCH)
    run(repo, "switch", "-q", "main")
    await clones.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == sha(made.path)


async def test_an_agent_may_rewrite_its_own_branch(clones: Clones, repo: Path) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    commit(made.path, {"a": "1"})
    await clones.gather(made.path, BRANCH)
    run(made.path, "commit", "-q", "--amend", "-m", "Better")
    await clones.gather(made.path, BRANCH)
    assert sha(repo, BRANCH) == sha(made.path)


# -------------------------------------------------------------------------------- what it lives on


@pytest.mark.parametrize("pinned", [True, False], ids=["", "unpinned"])
async def test_the_base_outlives_garbage_collection(
    clones: Clones, repo: Path, pinned: bool
) -> None:
    run(repo, "switch", "-q", "-c", "base")
    commit(repo, {"base": "1"})
    made = await clones.prepare(repo, "task1", BRANCH, "base")
    run(repo, "switch", "-q", "main")
    run(repo, "branch", "-q", "-D", "base", BRANCH)
    if not pinned:
        run(repo, "update-ref", "-d", "refs/agents-manager/base/task1")
    run(repo, "reflog", "expire", "--expire=now", "--all")
    run(repo, "gc", "-q", "--prune=now")
    whole = run(made.path, "cat-file", "-t", "HEAD", check=False) == "commit"
    assert whole == pinned
    if pinned:
        head = commit(made.path, {"a": "1"})
        await clones.gather(made.path, BRANCH)
        assert sha(repo, BRANCH) == head


async def test_a_partial_clone_is_refused_with_the_way_out(clones: Clones, repo: Path) -> None:
    run(repo, "config", "core.repositoryFormatVersion", "1")
    run(repo, "config", "extensions.partialClone", "origin")
    with pytest.raises(InvalidRepository, match=r"Set workspace\.kind to worktree"):
        await clones.prepare(repo, "task1", BRANCH, "main")


async def test_a_repository_with_a_shallow_history(
    clones: Clones, repo: Path, tmp_path: Path
) -> None:
    commit(repo, {"a": "1"})
    own = tmp_path / "shallow"
    run(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", str(own))
    made = await clones.prepare(own, "task1", BRANCH, "main")
    head = commit(made.path, {"b": "1"})
    await clones.gather(made.path, BRANCH)
    write(made.path, {"c": "1"})
    assert (await clones.commit_all(made.path, BRANCH, "Left over")).sha == sha(own, BRANCH)
    assert sha(own, f"{BRANCH}~1") == head


async def test_a_repository_of_sha256(clones: Clones, tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    run(tmp_path / "long", "init", "-q", "--object-format=sha256")
    commit(tmp_path / "long", {"a": "1"}, "First")
    made = await clones.prepare(tmp_path / "long", "task1", BRANCH, "main")
    head = commit(made.path, {"b": "1"})
    await clones.gather(made.path, BRANCH)
    assert sha(tmp_path / "long", BRANCH) == head
    assert len(head) == 64


# ------------------------------------------------------------------------------------ the sandbox


async def test_every_git_that_sees_an_agents_files_runs_in_the_sandbox(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = tmp_path / "every"
    real = shutil.which("git")
    executable(tmp_path / "bin" / "git", f'echo "$*" >> \'{every}\'; exec {real} "$@"')
    inside: list[str] = []
    seen: list[tuple[Sequence[Path], Sequence[Path]]] = []

    async def run_outside(self: Helpers, box: Box, argv: Sequence[Any], *_: Any, **__: Any) -> None:
        inside.append(" ".join(os.fsdecode(part) for part in argv))
        seen.append((box.writes, box.reads))
        raise NoSandbox

    monkeypatch.setattr(Helpers, "run", run_outside)
    clones = Clones(tmp_path / "trees", start=lambda *_: None)
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    home = made.path.parent
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        write(made.path, {"a": "1"})
        assert (await clones.commit_all(made.path, BRANCH, "Left over")).sha
        write(made.path, {"b": "1"})
        again = await clones.prepare(repo, "task1", BRANCH, "main")
        assert [e.type for e in again.events] == ["snapshot.saved"]
        await clones.remove(repo, "task1")
    sees = [line for line in every.read_text().splitlines() if _sees_files(line, home)]
    assert len(sees) > 10
    assert [line for line in sees if not any(one.endswith(line) for one in inside)] == []
    assert not any(f"--git-dir={made.path}" in line for line in sees)
    for writes, reads in seen:
        assert writes
        assert all(p.is_relative_to(home) for p in writes)
        assert set(reads) == {repo / ".git/objects"}


def _sees_files(line: str, home: Path) -> bool:
    """Where only the repository is asked that we made ourselves, nothing of an agent's is seen."""
    ours = f"{home}/.desks/" in line
    served = " upload-pack " in line and "--upload-pack=" not in line
    theirs = not ours and (f"--git-dir={home}" in line or served)
    return f"--work-tree={home}" in line or theirs


async def test_nothing_is_fetched_for_a_submodule_that_lacks_it(
    clones: Clones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_repo(tmp_path / "library", {"lib.py": "1\n"})
    repo = make_repo(tmp_path / "my répo")
    file_allowed = ("-c", "protocol.file.allow=always")
    run(repo, *file_allowed, "submodule", "--quiet", "add", str(library), "lib")
    run(repo, "commit", "-q", "-m", "With a library")
    for off in (False, True):
        spot = tmp_path / f"canary-{off}"
        evil = executable(tmp_path / f"evil-{off}", f"touch '{spot}'")
        made = await clones.prepare(repo, "task1", BRANCH, "main")
        module = made.path / "lib"
        run(module, "config", "core.repositoryFormatVersion", "1")
        run(module, "config", "extensions.partialClone", "lazy")
        run(module, "config", "remote.lazy.url", str(tmp_path / "nowhere"))
        run(module, "config", "remote.lazy.promisor", "true")
        run(module, "config", "remote.lazy.uploadpack", str(evil))
        (module / ".git/HEAD").write_text(f"{'1' * 40}\n")
        if off:
            monkeypatch.setattr(submodules, "replace", lambda place, **_: _plain(place))
        await clones.remove(repo, "task1")
        assert spot.exists() == off


def _plain(place: Place) -> Place:
    return Place(git_dir=place.git_dir, work_tree=place.work_tree)
