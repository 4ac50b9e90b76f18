"""Moves a branch to the commit of a merge, and the user's checkout of that branch with it. An
intent, refs under `refs/agents-manager/`, stands from before the first file moves until the branch
has moved; whoever lands next completes what a killed process left, so a merge happens once."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agents_manager.errors import GitError, HookFailed
from agents_manager.scm import commits, mending, trees
from agents_manager.scm.git import Output, Place, branch_tip, commit_of, first_error, git

INTENTS = "refs/agents-manager/merging"
STARTS = "refs/agents-manager/merging-from"
"""Where the branch stood; the commits of a rebase are several."""
LANDED = "refs/agents-manager/landed"
"""What a pull request became, until that is on record."""


async def land(repo: Path, common: Path, base: str, old: str, new: str) -> None:
    """The caller holds the repository's lock. Nothing has moved when this raises."""
    store = Place(git_dir=common)
    checkouts = await _checkouts(repo, store, base)
    for checkout in checkouts:
        await _move_files(checkout, old, new, "--dry-run")
    meant = f"update {INTENTS}/{base} {new}\nupdate {STARTS}/{base} {old}\n"
    await git(store, "update-ref", "--stdin", input=meant.encode())
    await _complete(store, checkouts, base, old, new)


@asynccontextmanager
async def known_as(common: Path, name: str, new: str) -> AsyncGenerator[None]:
    """It is known under the name what lands inside, until that is forgotten."""
    await git(Place(git_dir=common), "update-ref", f"{LANDED}/{name}", new)
    try:
        yield
    except (GitError, HookFailed):
        await forget(common, name)
        raise


@dataclass(frozen=True, slots=True)
class Known:
    """The commits that a repository has names for, of those that a merge asks for."""

    base: str | None
    head: str | None
    landed: str | None
    """The commit that was to land under the name; whether it did, the base says."""
    unfinished: bool
    """Whether a merge into the base was decided, and cut off."""


async def known(store: Place, base: str, head: str, name: str) -> Known:
    refs = (commits.local(base), commits.local(head), f"{LANDED}/{name}", f"{INTENTS}/{base}")
    asked = await git(store, "for-each-ref", "--format=%(refname) %(objectname)", *refs)
    told = dict(line.split(" ", 1) for line in asked.line.splitlines())
    into, tip, landed, intent = (told.get(ref) for ref in refs)
    return Known(base=into, head=tip, landed=landed, unfinished=intent is not None)


async def forget(common: Path, name: str) -> None:
    await git(Place(git_dir=common), "update-ref", "-d", f"{LANDED}/{name}")


async def complete_unfinished(repo: Path, common: Path, base: str) -> None:
    """Lands what was decided before a crash, unless the branch or its files went on since."""
    store = Place(git_dir=common)
    new = await commit_of(store, f"{INTENTS}/{base}")
    if new is None:
        return
    old = await commit_of(store, f"{STARTS}/{base}")
    if old and old == await branch_tip(store, base):
        checkouts = await _checkouts(repo, store, base)
        for checkout in checkouts:
            await mending.mend(checkout, old, new)
        # Files in the way are for the merge that is asked for now: it meets them too.
        with suppress(HookFailed):
            await _complete(store, checkouts, base, old, new)
    else:
        await _withdraw(store, base)


async def _complete(
    store: Place, checkouts: Sequence[Place], base: str, old: str, new: str
) -> None:
    moved: list[Place] = []
    try:
        # Files first: killed after this, the user sees staged changes that lose nothing when
        # committed. The other way round a careless commit would undo the merge.
        for checkout in checkouts:
            await _move_files(checkout, old, new)
            moved.append(checkout)
        moves = (
            f"update refs/heads/{base} {new} {old}\n"
            f"delete {INTENTS}/{base} {new}\ndelete {STARTS}/{base} {old}\n"
        )
        note = f"merge {new}: pull request"
        await git(store, "update-ref", "-m", note, "--stdin", input=moves.encode())
    except HookFailed:
        await _back_out(store, moved, base, old, new)
        raise
    except GitError:
        if await branch_tip(store, base) == new:  # The git was killed after that.
            return await _withdraw(store, base)
        for checkout in checkouts:
            await mending.mend(checkout, old, new)
        await _back_out(store, checkouts, base, old, new)
        raise


async def _back_out(store: Place, moved: Sequence[Place], base: str, old: str, new: str) -> None:
    await _withdraw(store, base)
    for checkout in moved:
        await _move_files(checkout, new, old)


async def _withdraw(store: Place, base: str) -> None:
    gone = f"delete {INTENTS}/{base}\ndelete {STARTS}/{base}\n"
    await git(store, "update-ref", "--stdin", input=gone.encode())


async def _checkouts(repo: Path, store: Place, base: str) -> list[Place]:
    """Where the branch is checked out: the user's folder, other worktrees, the first folder if the
    user registered another. A worktree whose own files lead elsewhere is not believed."""
    where = ("--show-toplevel", "--absolute-git-dir", "--symbolic-full-name", "HEAD")
    asked = await git(repo, "rev-parse", *where, check=False)
    # The last is missing where the branch that is checked out has no commit yet.
    folders, head = asked.line.split("\n")[:2], asked.line.split("\n")[2:]
    if len(folders) < len(where[:2]):
        raise GitError(f"git rev-parse failed: {first_error(asked)}")
    top, git_dir = map(_resolved, folders)
    own = Place(git_dir=git_dir, work_tree=top)
    found = [own] if head == [f"refs/heads/{base}"] else []
    for folder in await commits.checkouts(store, base):
        place = _first_folder(store, folder) or trees.linked(store.git_dir, folder)
        if place and folder != top:
            found.append(place)
    return found


def _resolved(folder: str) -> Path:
    return Path(folder).resolve()


def _first_folder(store: Place, folder: Path) -> Place | None:
    # Git names a wrong folder here for a submodule; it has no `.git`.
    first = (folder / ".git").resolve() == store.git_dir
    return Place(git_dir=store.git_dir, work_tree=folder) if first else None


async def _move_files(checkout: Place, old: str, new: str, *flags: str) -> None:
    """Like a checkout: local changes stay, and where they are in the way nothing is touched."""
    order = ("read-tree", "-m", "-u", *flags, old, new)
    moved = await git(checkout, *order, check=False)
    if moved.code and "not uptodate" in moved.stderr:
        # So is a file that was written again with the same content, until git has read it.
        await git(checkout, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)
        moved = await git(checkout, *order, check=False)
    if moved.code and "index.lock" in moved.stderr:
        raise GitError(f'Another git works in "{checkout.work_tree}": {first_error(moved)}')
    if moved.code:
        raise HookFailed(await _refusal(checkout, old, new, moved))


async def _refusal(checkout: Place, old: str, new: str, refused: Output) -> str:
    changed = (await git(checkout, "diff-tree", "-r", "-z", "--name-only", old, new)).items
    local = (await git(checkout, "diff-index", "-z", "--name-only", old)).items
    tracked = (await git(checkout, "ls-tree", "-r", "-z", "--name-only", old)).items
    files = _in_the_way(checkout, changed, {*local}, {*tracked})
    what = ", ".join(path.decode(errors="replace") for path in files) or first_error(refused)
    return (
        f'The checkout at "{checkout.work_tree}" has uncommitted changes in {what}; '
        "commit or stash them, then try again."
    )


def _in_the_way(
    checkout: Place, changed: Sequence[bytes], local: set[bytes], tracked: set[bytes]
) -> list[bytes]:
    assert checkout.work_tree
    top = checkout.work_tree
    return [
        path
        for path in changed
        if path in local or (path not in tracked and os.path.lexists(top / os.fsdecode(path)))
    ]
