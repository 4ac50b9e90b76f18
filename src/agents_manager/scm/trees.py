"""A task's worktree as it lies on disk: its folder, what the repository knows about it, whether the
two agree, and how it is taken away without losing work. Files here are read with suspicion: an
agent can write all of them."""

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from agents_manager.domain import names
from agents_manager.domain.event import Event
from agents_manager.errors import GitError, InvalidInput, InvalidRepository
from agents_manager.scm import holders, lfs, locks, snapshots, submodules
from agents_manager.scm.git import Place, branch_tip, commit_of, git

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\.[0-9-]{1,20})?")
INITIALIZING = "initializing"
"""What git writes into the lock of a worktree while it makes it."""
TRASH, KEPT = ".trash", ".kept"
MERGING = "an unfinished merge"
UNFINISHED = {
    "MERGE_HEAD": MERGING,
    "CHERRY_PICK_HEAD": "an unfinished cherry-pick",
    "REVERT_HEAD": "an unfinished revert",
    "BISECT_LOG": "an unfinished bisect",
    "rebase-merge": "an unfinished rebase",
    "rebase-apply": "an unfinished rebase",
    "sequencer": "an unfinished sequence of commits",
}


@dataclass(frozen=True, slots=True)
class Rescued:
    events: tuple[Event, ...] = ()
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Discarded:
    stood: bool
    events: tuple[Event, ...]
    kept: Path | None
    """Where the folder was moved, if it holds what no snapshot can."""


class Folder:
    """Where a task's work lies, of whichever kind it is."""

    def __init__(self, common: Path, home: Path, key: str) -> None:
        if not KEY.fullmatch(key):
            raise InvalidRepository(f'"{names.one_line(key)}" cannot name a worktree.')
        self.common = common
        self.home = home
        self.key = key
        self.saved_as = names.task_of(key)
        """Under which name its snapshots are kept."""
        self.path = home / key

    def stands(self) -> bool:
        return os.path.lexists(self.path)

    async def wait_until_free(self) -> None:
        """Returns when no git of others works here; WorkspaceBusy if one goes on for long."""
        await holders.wait_until_free(self.path, self.admin())

    async def check_free(self) -> None:
        """WorkspaceBusy if a git of others works here: its folder must not change under it."""
        await holders.check_free(self.path, self.admin())

    def admin(self) -> Path:
        """Where git keeps the locks of this work tree."""
        return self.path / ".git"

    def is_empty(self) -> bool:
        real = self.path.is_dir() and not self.path.is_symlink()
        return real and not any(self.path.iterdir())

    def move_away(self, path: Path, folder: str) -> Path:
        """In one step, so that half a folder is never taken for work with deleted files."""
        (self.home / folder).mkdir(exist_ok=True)
        number = 1
        while os.path.lexists(target := self.home / folder / f"{self.key}.{number}"):
            number += 1
        path.rename(target)
        return target

    def empty_trash(self) -> None:
        for left in (self.home / TRASH).glob("*"):
            shutil.rmtree(left, onerror=make_writable)


class Tree(Folder):
    def admin(self) -> Path:
        return registered(self.common, self.path) or super().admin()

    def place(self) -> Place | None:
        return linked(self.common, self.path)

    async def discard(self, fallback: str | None) -> Discarded:
        """Takes the worktree away, its work saved first; may be cut off anywhere and repeated.
        `fallback` is the branch it was on, for a tree that does not tell any more."""
        complete(self.common)
        await self.check_free()
        admin = registered(self.common, self.path)
        rescued, kept = Rescued(), None
        stood = self.stands()
        if admin is not None:
            await lfs.take_over(Place(git_dir=self.common), admin, lfs.STORAGE)
        if stood:
            if not self.half_made():
                rescued = await self._rescue(admin, fallback)
            away = await asyncio.to_thread(
                self.move_away, self.path, KEPT if rescued.keep else TRASH
            )
            kept = away if rescued.keep else None
        if admin is not None:
            removal = ("worktree", "remove", "--force", "--force", "--end-of-options", self.path)
            await git(Place(git_dir=self.common), *removal)
        await asyncio.to_thread(self.empty_trash)
        return Discarded(stood, rescued.events, kept)

    def half_made(self) -> bool:
        """Whether its creation was cut off: it holds no work, only half a checkout or nothing."""
        admin = registered(self.common, self.path)
        return (admin is not None and read(admin / "locked") == INITIALIZING) or self.is_empty()

    def in_use(self) -> bool:
        """Whether `lock` was called and not taken back."""
        admin = registered(self.common, self.path)
        return admin is not None and read(admin / "locked") not in ("", INITIALIZING)

    def lock(self, reason: str) -> Path:
        """As `git worktree lock` does; returns the repository's folder about the worktree."""
        admin = registered(self.common, self.path)
        if admin is None:
            raise GitError(f'"{self.path}" is no longer a worktree of its repository.')
        write(admin / "locked", reason)
        return admin

    def may_have_submodules(self) -> bool:
        """Of a clean tree: told by the file that names them, unless only some files are here."""
        admin = registered(self.common, self.path)
        partial = admin is not None and (admin / "info" / "sparse-checkout").exists()
        return partial or os.path.lexists(self.path / ".gitmodules")

    async def _rescue(self, admin: Path | None, fallback: str | None) -> Rescued:
        """Saves a snapshot, and tells if the folder must be kept, as no snapshot holds all."""
        if self.path.is_symlink() or not self.path.is_dir():
            return Rescued(keep=True)
        store = Place(git_dir=self.common)
        head = await _head(store, admin) if admin else None
        if head is None and fallback:
            head = await branch_tip(store, fallback)
        index = admin / "index" if admin and (admin / "index").is_file() else None
        here = Place(git_dir=self.common, work_tree=self.path)
        saved = await snapshots.save(store, here, self.saved_as, head, index)
        keep = bool(saved.found.nested) or await submodules.hold_work(store, self.path, head)
        return Rescued(saved.events, keep)


def registered(common: Path, path: Path) -> Path | None:
    """The repository's folder about the worktree at a path. Git gives it the name of the worktree's
    own unless that is taken, so there it is looked for first."""
    folders = common / "worktrees"
    known = chain([folders / path.name / "gitdir"], folders.glob("*/gitdir"))
    return next((file.parent for file in known if read(file) == str(path / ".git")), None)


def complete(common: Path) -> None:
    """A git that is killed while it makes a worktree can leave this file empty, and no git looks at
    any worktree of the repository then. What belongs into it is always the same."""
    for file in (common / "worktrees").glob("*/commondir"):
        if not read(file):
            write(file, "../..\n")


def linked(common: Path, path: Path) -> Place | None:
    """Where git works on a worktree, or None when tree and repository do not agree."""
    admin = registered(common, path)
    if admin is None or path.is_symlink() or not path.is_dir():
        return None
    agreed = read(path / ".git") == f"gitdir: {admin}"
    # Git takes branches and configuration from where this file points.
    same = (admin / read(admin / "commondir")).resolve() == common
    return Place(git_dir=admin, work_tree=path) if agreed and same else None


def make_writable(remove: Callable[..., Any], path: str, _: Any) -> None:
    """Package caches make their folders read-only."""
    Path(path).parent.chmod(0o700)
    Path(path).chmod(0o700)
    remove(path)


async def _head(store: Place, admin: Path) -> str | None:
    """The commit a worktree stands on, by its own file: git may refuse a broken one."""
    text = read(admin / "HEAD")
    if not text.startswith("ref: refs/heads/"):
        return await commit_of(store, text) if text else None
    try:
        return await branch_tip(store, text.removeprefix("ref: refs/heads/"))
    except InvalidInput:
        return None


async def fault(place: Place, branch: str) -> str | None:
    """Why a worktree cannot be worked on as it stands; None if it can."""
    wrong = misplaced(place.git_dir, branch)
    if wrong:
        return wrong
    unmerged = await git(place, "ls-files", "-z", "--unmerged", check=False)
    if unmerged.code:
        return "its index cannot be read"
    if unmerged.stdout:
        return "files with unresolved conflicts"
    return unfinished(place.git_dir)


def is_fit(place: Place, branch: str) -> bool:
    """What `fault` finds without asking git. A tree that git calls clean besides has none."""
    return not misplaced(place.git_dir, branch) and not unfinished(place.git_dir)


def misplaced(git_dir: Path, branch: str) -> str | None:
    head = read(git_dir / "HEAD")
    if head != f"ref: refs/heads/{branch}":
        return f'it is on "{names.one_line(head.removeprefix("ref: refs/heads/"))}"'
    if read(git_dir / "locked") == INITIALIZING:
        return "its creation was cut off"
    return None


def unfinished(git_dir: Path) -> str | None:
    return "a git process that was cut off" if locks.in_worktree(git_dir) else halted(git_dir)


def halted(git_dir: Path) -> str | None:
    """What was begun in a repository and waits to be gone on with."""
    found = (text for file, text in UNFINISHED.items() if os.path.lexists(git_dir / file))
    return next(found, None)


def write(file: Path, text: str) -> None:
    """A small file among git's; a link or pipe that an agent put in its place is not followed."""
    try:
        file.unlink(missing_ok=True)
        with file.open("x", encoding="utf-8") as content:
            content.write(text)
    except OSError as error:
        raise GitError(f'"{file}" cannot be written: {error.strerror}.') from error


def read(file: Path, limit: int = 8192) -> str:
    """A small text file git wrote, or nothing: a pipe put in its place must not stop us."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return ""
        with file.open("rb") as content:
            return os.fsdecode(content.read(limit)).strip("\n")
    except OSError:
        return ""
