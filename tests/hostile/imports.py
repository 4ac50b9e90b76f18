"""What comes out of an agent's repository into the user's, tried as `threats.md` numbers it. Each
row says how much was tried, how much got through, and how much does without what we do about it."""

import subprocess
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from agents_manager.domain import names
from agents_manager.errors import AgentsManagerError, ImportRefused, WorkspaceInUse
from agents_manager.scm import quarantine
from agents_manager.scm.clone import Clone
from agents_manager.scm.clones import Clones
from agents_manager.scm.git import Place, git
from agents_manager.scm.sandboxed import Helpers, StartHelper
from agents_manager.scm.trees import Rescued
from agents_manager.scm.worktrees import Worktrees
from tests.hostile.git_attacks import Attack
from tests.hostile.plain import canary, forget, plain_git, ran
from tests.repos import commit, make_repo, refs, run, sha, write

BRANCH = "agent/one"


@dataclass(frozen=True)
class Figure:
    tried: int
    through: int
    without: int
    """What gets through with the measure off, or to plain git."""


Row = Callable[[Path], Awaitable[Figure]]


async def _cloned(folder: Path) -> tuple[Clones, Path, Path]:
    repo = make_repo(folder / "repo", {"README.md": "Hello\n"})
    clones = Clones(folder / "trees")
    return clones, repo, (await clones.prepare(repo, "task1", BRANCH, "main")).path


async def _taken(clones: Clones, tree: Path) -> bool:
    try:
        await clones.gather(tree, BRANCH)
    except ImportRefused:
        return False
    return True


async def faces_of_git(folder: Path) -> Figure:
    through = without = 0
    faces = (".git", ".GIT", ".Git", "git~1", "GIT~1", ".g\u200cit", ".git ", ".git.", ".git\\x")
    for number, face in enumerate(faces):
        clones, _, tree = await _cloned(folder / str(number))
        blob = run(tree, "hash-object", "-w", "README.md")
        packed = f"100644 {face}".encode() + b"\0" + bytes.fromhex(blob)
        made = _given(tree, ("hash-object", "-t", "tree", "-w", "--stdin", "--literally"), packed)
        odd = run(tree, "commit-tree", made, "-p", "HEAD", "-m", "Odd")
        run(tree, "update-ref", f"refs/heads/{BRANCH}", odd)
        through += await _taken(clones, tree)
        with patch.object(quarantine, "CHECKED", ()):
            without += await _taken(clones, tree)
    return Figure(len(faces), through, without)


OPTIONS = ("--upload-pack=touch", "--output=x", "-x", "--exec=x", "agent/-x", "-")
PSEUDO = ("HEAD", "FETCH_HEAD", "@", "0" * 40, "refs/x", "a\u202eb", "a" * 300, "a.lock", "x..y")


async def names_that_are_options(folder: Path) -> Figure:
    """As the name of a task's branch, and as names that an agent made in its clone."""
    clones, repo, tree = await _cloned(folder)
    before = refs(repo, "refs/heads")
    other = run(tree, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Mine")
    for name in OPTIONS:
        run(tree, "update-ref", f"refs/heads/{name}", other)
    await clones.gather(tree, BRANCH)
    await clones.prepare(repo, "task1", BRANCH, "main")
    new = {*refs(repo, "refs/heads")} - {*before}
    accepted = [name for name in OPTIONS if _accepted(name)]
    known = [n for n in OPTIONS if _git(tree, "check-ref-format", f"refs/heads/{n}")]
    return Figure(2 * len(OPTIONS), len(accepted) + len(new), len(known))


async def names_of_other_things(folder: Path) -> Figure:
    """The base is refused as a task's branch, too."""
    clones, repo, tree = await _cloned(folder)
    accepted = [name for name in PSEUDO if _accepted(name)]
    with suppress(AgentsManagerError):
        await clones.prepare(repo, "task2", "main", "main")
        accepted.append("main")
    known = [n for n in (*PSEUDO, "main") if _git(tree, "check-ref-format", "--branch", n)]
    return Figure(len(PSEUDO) + 1, len(accepted), len(known))


async def addresses_that_are_commands(folder: Path) -> Figure:
    """Of the project's remote, which is asked before each run."""
    evil = canary(folder / "spots", "remote")
    addresses = (
        *(f"ext::{evil} x", f"ext::sh -c {evil}"),
        *(f"ssh://-oProxyCommand={evil}/x", f"--upload-pack={evil}", f"git::ext::{evil} x"),
    )
    through = without = 0
    for number, address in enumerate(addresses):
        repo = make_repo(folder / f"repo {number}", {"README.md": "Hello\n"})
        run(repo, "config", "protocol.ext.allow", "always")
        run(repo, "config", "remote.origin.url", address)
        run(repo, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        with suppress(AgentsManagerError):
            await Clones(folder / "trees").prepare(repo, f"task{number}", BRANCH, "main")
        through += bool(ran(folder / "spots"))
        forget(folder / "spots")
        plain_git(repo, [("fetch", "origin")])
        without += bool(ran(folder / "spots"))
        forget(folder / "spots")
    return Figure(len(addresses), through, without)


async def changes_that_are_hidden(folder: Path) -> Figure:
    """Whoever reviews the work has to see the line."""
    attributes = ("* -diff", "* binary", "* diff=none", "sub/* -text -diff", "")
    through = without = 0
    for number, text in enumerate(attributes):
        clones, repo, tree = await _cloned(folder / str(number))
        run(tree, "config", "diff.none.textconv", "true")
        start = sha(repo, BRANCH)
        commit(tree, {".gitattributes": f"{text}\n", "README.md": "evil\n", "sub/x": "evil\n"})
        if not text:  # What reads an object is shown another one.
            made = ("hash-object", "-w", "--stdin")
            evil, good = (_given(tree, made, one) for one in (b"evil\n", b"good\n"))
            run(tree, "replace", evil, good)
            run(tree, "config", "core.useReplaceRefs", "true")
        await clones.gather(tree, BRANCH)
        shown = await clones.diff(repo, start, sha(repo, BRANCH))
        through += shown.count("+evil") != 2
        without += run(tree, "diff", f"{start}..{BRANCH}").count("+evil") != 2
    return Figure(len(attributes), through, without)


async def other_branches(folder: Path) -> Figure:
    """Branches and tags moved and made, objects deleted: in a clone, and in a worktree."""
    counts: list[int] = []
    for kind in (Clones, Worktrees):
        repo = make_repo(folder / kind.__name__, {"README.md": "Hello\n"})
        run(repo, "tag", "mine")
        run(repo, "branch", "other")
        workspaces = kind(folder / "trees")
        made = await workspaces.prepare(repo, "task1", BRANCH, "main")
        before = refs(repo, "refs/heads") | refs(repo, "refs/tags")
        moved = ("refs/heads/main", "refs/heads/other", "refs/tags/mine", "refs/tags/new")
        evil = commit(made.path, {"a": "1"})
        for ref in moved:
            run(made.path, "update-ref", ref, evil)
        await workspaces.gather(made.path, BRANCH)
        after = refs(repo, "refs/heads") | refs(repo, "refs/tags")
        reached = sum(before.get(ref) != after.get(ref) for ref in moved)
        common = Path(run(made.path, "rev-parse", "--path-format=absolute", "--git-common-dir"))
        for file in (common / "objects").glob("??/*"):
            file.unlink()
        counts.append(reached + (not _git(repo, "fsck", "--full")))
    return Figure(5, *counts)


async def submodules_and_filters(folder: Path) -> Figure:
    """What a checked-out tree says about programs, when it is taken over and by the next run."""
    clones, repo, tree = await _cloned(folder)
    spots = folder / "spots"
    evil = canary(spots, "module")
    lfs = canary(spots, "lfs")
    inner = make_repo(folder / "inner")
    run(tree, "update-index", "--add", "--cacheinfo", f"160000,{sha(inner)},lib")
    files = {
        ".gitmodules": f'[submodule "lib"]\n\tpath = lib\n\turl = ext::{evil} x\n',
        ".gitattributes": "*.bin filter=lfs\n",
        ".lfsconfig": f"[lfs]\n\turl = ext::{lfs} x\n",
        "x.bin": "version https://git-lfs.github.com/spec/v1\n",
    }
    write(tree, files)
    run(tree, "add", *files)
    run(tree, "commit", "-q", "-m", "With a library")
    await clones.gather(tree, BRANCH)
    await clones.prepare(repo, "task1", BRANCH, "main")
    through = len(ran(spots))
    forget(spots)
    run(tree, "config", "protocol.ext.allow", "always")
    run(tree, "config", "filter.lfs.smudge", str(lfs))
    plain_git(tree, [("submodule", "update", "--init"), ("checkout", "-f", BRANCH)])
    (tree / "x.bin").unlink()
    plain_git(tree, [("checkout", "-f", "--", "x.bin")])
    return Figure(2, through, len(ran(spots)))


async def clearing_up(folder: Path) -> Figure:
    """A live run's tree; commits that the project has not yet; files that no commit has."""
    with patch.multiple(Clone, _rescue=_not_at_all, in_use=lambda _: False):
        without = await _lost(folder / "careless")
    return Figure(3, await _lost(folder / "careful"), without)


async def _lost(folder: Path) -> int:
    clones, repo, tree = await _cloned(folder)
    mine = commit(tree, {"a": "1"})
    write(tree, {"b": "precious"})
    removed = True
    try:
        await clones.remove(repo, "task1", idle=True)
    except WorkspaceInUse:
        removed = False
        await clones.remove(repo, "task1")
    saved = [run(repo, "show", f"{ref}:b", check=False) for ref in refs(repo)]
    return removed + (sha(repo, BRANCH) != mine) + ("precious" not in saved)


async def _not_at_all(self: Clone, fallback: str | None) -> Rescued:
    return Rescued()


ROWS: dict[str, Row] = {
    "B7": faces_of_git,
    "C1": names_that_are_options,
    "C2": names_of_other_things,
    "C6": addresses_that_are_commands,
    "C9": changes_that_are_hidden,
    "C10": other_branches,
    "C12": submodules_and_filters,
    "C13": clearing_up,
}


# ------------------------------------------------------------------------------- the three ways


async def by_bundle(repo: Path, tree: Path, start: StartHelper) -> None:
    """Made in the sandbox. Not what we do: git does not check the objects of a bundle."""
    file = tree / ".git/work.bundle"
    order = ("git", "bundle", "create", "-q", str(file), BRANCH)
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    box = Helpers(start).box([tree], [repo / ".git/objects"])
    if await (await box.helpers.run(box, order, env, tree)).wait() == 0:
        await git(Place(git_dir=repo / ".git"), "fetch", "-q", "--no-tags", "--", file, BRANCH)


async def by_path(repo: Path, tree: Path, start: StartHelper) -> None:
    await Clones(tree.parent.parent).gather(tree, BRANCH)


async def by_fetch(repo: Path, tree: Path, start: StartHelper) -> None:
    """With an `upload-pack` that is in the sandbox, as we do."""
    await Clones(tree.parent.parent, start=start).gather(tree, BRANCH)


WAYS = {"bundle": by_bundle, "path": by_path, "fetch": by_fetch}


async def attacked(folder: Path, attack: Attack, way: str, start: StartHelper) -> bool:
    """Whether a program of the attack ran outside."""
    _, repo, tree = await _cloned(folder)
    attack.plant(tree, canary(folder / "spots", attack.name))
    forget(folder / "spots")
    with suppress(AgentsManagerError):
        await WAYS[way](repo, tree, start)
    return bool(ran(folder / "spots"))


def _accepted(name: str) -> bool:
    try:
        names.check_branch(name)
    except AgentsManagerError:
        return False
    return True


def _git(tree: Path, *args: str) -> bool:
    return (
        subprocess.run(["git", "-C", tree, *args], capture_output=True, check=False).returncode == 0
    )


def _given(tree: Path, command: Iterable[str], text: bytes) -> str:
    done = subprocess.run(
        ["git", "-C", tree, *command], input=text, capture_output=True, check=True
    )
    return done.stdout.decode().strip()
