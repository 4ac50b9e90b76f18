"""A task's clone as it lies on disk. The agent can write all of it, its `.git` too, so no git of
ours works with that `.git`: commits are taken over from it by git's own protocol, and its files are
looked at with a repository that we make beside it, which then takes the place of the agent's."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.event import Event
from agents_manager.errors import GitError, GitKilled, ImportRefused
from agents_manager.flow.ports import WorkspaceRules
from agents_manager.scm import commits, desks, lfs, quarantine, snapshots, submodules, trees
from agents_manager.scm.desks import Index
from agents_manager.scm.git import Place, branch_tip, commit_of, contains, git
from agents_manager.scm.quarantine import Source, Tips
from agents_manager.scm.sandboxed import Box, Helpers
from agents_manager.scm.trees import INITIALIZING, KEPT, TRASH, Discarded, Rescued, read, write

STATES = Path("agents-manager") / "clones"
"""What the repository knows of its clones, in its own folder."""
PINS = "refs/agents-manager/base"
"""Where the branch of a clone stood when both agreed: held for the clone, which has no copy."""
SOURCE = ".source"
MOST_OTHERS = 20


class Clone(trees.Folder):
    def __init__(
        self,
        common: Path,
        home: Path,
        key: str,
        helpers: Helpers | None = None,
        limit: int | None = None,
    ) -> None:
        super().__init__(common, home, key)
        self.git_dir = self.path / ".git"
        self.state = common / STATES / key
        self.store = Place(git_dir=common)
        self._desks = home / ".desks" / key
        """The folder in which a repository of ours is made each time the files are looked at."""
        self._desk: Path | None = None
        self._helpers = helpers
        told = read(self.state / "limit")
        self._limit = limit or (int(told) if told.isdecimal() else WorkspaceRules().import_limit)

    # ------------------------------------------------------------------------- what is known of it

    @property
    def branch(self) -> str:
        return read(self.state / "branch")

    def registered(self) -> bool:
        return read(self.state / "path") == str(self.path)

    def half_made(self) -> bool:
        """Whether its creation was cut off: it holds no work, only half a checkout or nothing."""
        return read(self.state / "locked") == INITIALIZING or self.is_empty()

    def in_use(self) -> bool:
        return read(self.state / "locked") not in ("", INITIALIZING)

    def register(self, branch: str, reason: str) -> None:
        self.state.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        write(self.home / SOURCE, str(self.common))
        write(self.state / "branch", branch)
        write(self.state / "limit", str(self._limit))
        write(self.state / "path", str(self.path))
        write(self.state / "locked", reason)

    def is_sound(self) -> bool:
        """Whether there is a repository to ask, and in the clone itself."""
        real = all(p.is_dir() and not p.is_symlink() for p in (self.path, self.git_dir))
        return real and bool(read(self.git_dir / "HEAD"))

    def may_have_submodules(self) -> bool:
        """Of a clean tree: told by the file that names them, unless only some files are here."""
        partial = (self.common / "info" / "sparse-checkout").exists()
        return partial or os.path.lexists(self.path / ".gitmodules")

    def checked_out(self) -> str:
        return read(self.git_dir / "HEAD").removeprefix("ref: refs/heads/")

    # ------------------------------------------------------------------------- taking commits over

    @property
    def owner(self) -> int | None:
        """To whom the files belong in the sandbox; None if that is our user."""
        return None if self._helpers is None else self._helpers.owner()

    async def tips(self) -> Tips:
        if not self.is_sound():
            raise ImportRefused(f'"{self.path}" holds no repository any more.')
        return await quarantine.tips(self.store, self._source)

    async def bring(self, sha: str) -> None:
        await quarantine.bring(self.store, self._source, sha)
        await lfs.take_over(self.store, self.path, ".git", lfs.STORAGE, limit=self._limit)

    @property
    def _source(self) -> Source:
        return Source(self.git_dir, self._box(), self._limit)

    def _box(self) -> Box | None:
        """The sandbox for all git commands that look at the clone."""
        if self._helpers is None:
            return None
        self._desks.mkdir(parents=True, exist_ok=True)
        return self._helpers.box((self.path, self._desks), desks.lent(self.common))

    async def tip_of(self, branch: str) -> str:
        """Where the agent's branch is. Git need not be asked where the agent's git wrote it to a
        file: what a commit is really worth is found out when it is taken over."""
        tip = await asyncio.to_thread(self._written_tip, branch)
        return tip or self._known_tip(await self.tips(), branch)

    def _written_tip(self, branch: str) -> str | None:
        file = self.git_dir / commits.local(branch)
        above = [folder for folder in file.parents if folder.is_relative_to(self.git_dir)]
        if not self.is_sound() or any(p.is_symlink() or not p.is_dir() for p in above):
            return None
        tip = read(file)
        return tip if commits.HASH.fullmatch(tip) else None

    def _known_tip(self, tips: Tips, branch: str) -> str:
        tip = tips.of(branch)
        if tip is None:
            raise ImportRefused(f'There is no branch "{branch}" in "{self.path}" any more.')
        return tip

    async def take_over(self, tips: Tips, branch: str) -> bool:
        """Moves the project's branch to where the agent's stands; False where both went on, each
        its own way."""
        return await self.take_over_tip(self._known_tip(tips, branch), branch)

    async def take_over_tip(self, tip: str, branch: str) -> bool:
        here, agreed = await self._positions(branch)
        if tip == here:
            return True
        await self.bring(tip)
        return await self._settle(branch, tip, here, agreed)

    async def settle(self, branch: str, tip: str) -> bool:
        return await self._settle(branch, tip, *await self._positions(branch))

    async def _positions(self, branch: str) -> tuple[str | None, str | None]:
        """Where the project's branch is, and where it was when both agreed."""
        refs = (commits.local(branch), self._pin)
        asked = await git(self.store, "for-each-ref", "--format=%(refname) %(objectname)", *refs)
        known = dict(line.split(" ", 1) for line in asked.line.splitlines())
        here, agreed = (known.get(ref) for ref in refs)
        return here, agreed

    async def _settle(self, branch: str, tip: str, here: str | None, agreed: str | None) -> bool:
        if here is None or here == agreed or await contains(self.store, tip, here):
            await self._move(branch, tip, here)
            return True
        return tip == agreed or await contains(self.store, here, tip)

    async def _move(self, branch: str, tip: str, here: str | None) -> None:
        if here != tip and (others := await commits.checkouts(self.store, branch)):
            raise GitError(
                f'"{branch}" is checked out in "{others[0]}", so the work of the agent cannot be '
                "put on it. Switch to another branch there (git switch), then try again."
            )
        zero = "0" * len(tip)
        moves = f"update {commits.local(branch)} {tip} {here or zero}\nupdate {self._pin} {tip}\n"
        await git(self.store, "update-ref", "--stdin", input=moves.encode())

    @property
    def _pin(self) -> str:
        return f"{PINS}/{self.key}"

    async def pin(self, tip: str) -> None:
        await git(self.store, "update-ref", self._pin, tip)

    async def save_others(self, tips: Tips) -> Rescued:
        """Branches and stashes of the agent's own would go with its `.git`, which is to be kept
        where they cannot be saved."""
        new = await self.news(tips)
        events: list[Event] = []
        refused = len(new) > MOST_OTHERS
        for sha in new[:MOST_OTHERS]:
            try:
                await self.bring(sha)
            except ImportRefused:
                refused = True
                continue
            ref = await snapshots.record(self.store, self.saved_as, sha)
            number = int(ref.rpartition("/")[2])
            events.append(event.SnapshotSaved(number=number, ref=ref, files=0))
        return Rescued(tuple(events), keep=refused)

    async def news(self, tips: Tips) -> list[str]:
        """Commits of the clone that nothing in the project's repository leads to."""
        named = await git(self.store, "for-each-ref", "--format=%(objectname)")
        new = sorted({*tips.refs.values()} - {*named.line.split()})
        return [sha for sha in new if not await self._is_held(sha)]

    async def _is_held(self, sha: str) -> bool:
        there = await commit_of(self.store, sha)
        return there is not None and await snapshots.reachable(self.store, sha)

    # ------------------------------------------------------------------------- looking at its files

    def expect(self) -> None:
        """Starts the sandbox that git commands will need, without waiting for it."""
        if box := self._box():
            box.helpers.expect(box)

    @asynccontextmanager
    async def desk(
        self, branch: str, tip: str, *, index: Index = Index.REFRESHED
    ) -> AsyncGenerator[Place]:
        """A repository of ours for the files as they are, on the branch at the commit. It is gone
        afterwards, unless it was handed over."""
        self._desks.mkdir(parents=True, exist_ok=True)
        # A new name each time: a command in the sandbox could have left a link under an old one.
        self._desk = Path(tempfile.mkdtemp(dir=self._desks))
        place = Place(git_dir=self._desk, work_tree=self.path, box=self._box())
        try:
            yield await desks.make(self.store, place, self.key, branch, tip, index)
        finally:
            await asyncio.to_thread(self._empty_desks)

    def _empty_desks(self) -> None:
        for left in self._desks.iterdir():
            if left.is_symlink() or not left.is_dir():
                left.unlink(missing_ok=True)
            else:
                shutil.rmtree(left, ignore_errors=True)

    async def from_desk(self, sha: str) -> None:
        assert self._desk is not None
        await quarantine.bring(self.store, replace(self._source, git_dir=self._desk), sha)
        await lfs.take_over(self.store, self._desk, lfs.STORAGE, limit=self._limit)

    async def hand_over(self, *, keep: bool = False) -> None:
        """The repository of the desk becomes that of the clone."""
        await self.check_free()
        await asyncio.to_thread(self._swap, KEPT if keep else TRASH)

    def _swap(self, folder: str) -> None:
        if os.path.lexists(self.git_dir):
            self.move_away(self.git_dir, folder)
        assert self._desk is not None
        self._desk.rename(self.git_dir)
        self.empty_trash()

    def index(self) -> Path | None:
        """The agent's own, if it is a file at all, and in the clone itself."""
        file = self.git_dir / "index"
        elsewhere = self.git_dir.is_symlink() or file.is_symlink()
        return file if file.is_file() and not elsewhere else None

    async def fault(self, desk: Place, branch: str) -> str | None:
        """Why the agent cannot have been done; None if it can."""
        if wrong := trees.misplaced(self.git_dir, branch):
            return wrong
        if index := self.index():
            of_agent = replace(desk, index=index)
            unmerged = await git(of_agent, "ls-files", "-z", "--unmerged", check=False)
            if unmerged.code:
                return "its index cannot be read"
            if unmerged.stdout:
                return "files with unresolved conflicts"
        return trees.halted(self.git_dir)

    async def is_clean(self, desk: Place) -> bool:
        """Whether the commit of the desk holds all that is there."""
        if not await snapshots.clean(desk):
            return False
        index = self.index()
        return index is None or not await snapshots.forced(replace(desk, index=index))

    async def has_no_work(self, desk: Place) -> bool:
        """Whether the commit of the desk holds all that is there, except build products."""
        if await self.is_clean(desk):
            return True
        work = (await snapshots.sort_out(desk, await snapshots.loose(desk))).work
        index = self.index()
        forced = await snapshots.forced(replace(desk, index=index)) if index else []
        return not (work or work.nested or forced or await snapshots.staged(desk))

    async def save(
        self, desk: Place, head: str | None, rules: BuildProducts = BUILT_IN
    ) -> snapshots.Saved:
        return await snapshots.save(
            self.store, desk, self.saved_as, head, self.index(), self.from_desk, rules=rules
        )

    # ------------------------------------------------------------------------------ taking it away

    async def discard(self, fallback: str | None = None) -> Discarded:
        """Takes the clone away, its work saved first; may be cut off anywhere and repeated.
        `fallback` is the branch it was on, if nothing tells that any more."""
        await self.check_free()
        rescued, kept = Rescued(), None
        stood, known = self.stands(), self.state.exists()
        if stood:
            if not self.half_made():
                rescued = await self._rescue(fallback)
            folder = KEPT if rescued.keep else TRASH
            away = await asyncio.to_thread(self.move_away, self.path, folder)
            kept = away if rescued.keep else None
        if stood or known:
            await git(self.store, "update-ref", "-d", self._pin, check=False)
        for folder in (self.state, self._desks):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        await asyncio.to_thread(self.empty_trash)
        return Discarded(stood, rescued.events, kept)

    async def _rescue(self, fallback: str | None) -> Rescued:
        branch = self.branch or fallback
        if branch is None or self.path.is_symlink() or not self.path.is_dir():
            return Rescued(keep=True)
        tips, refused = Tips(), self.is_sound()
        try:
            tips = await self.tips()
            if tips.of(branch):
                await self.take_over(tips, branch)
            if tips.head:
                await self.bring(tips.head)
            refused = False
        except GitKilled:
            raise
        except GitError:
            tips = Tips()  # What cannot be taken over stays where it is.
        head = tips.head or await branch_tip(self.store, branch)
        if head is None:
            return Rescued(keep=True)
        saved = await self._saved(branch, head)
        others = await self.save_others(tips)
        if saved is None:
            return replace(others, keep=True)
        inside = saved.found.nested or await submodules.hold_work(
            self.store, self.path, head, self._helpers
        )
        events = (*saved.events, *others.events)
        return Rescued(events, keep=refused or others.keep or bool(inside))

    async def _saved(self, branch: str, head: str) -> snapshots.Saved | None:
        """None where the work cannot be taken over."""
        try:
            async with self.desk(branch, head) as desk:
                return await self.save(desk, head)
        except ImportRefused:
            return None


def states(common: Path) -> Iterable[tuple[str, Path]]:
    """The clones of a repository, by key, and where each lies."""
    with suppress(OSError):
        for state in sorted((common / STATES).iterdir()):
            if path := read(state / "path"):
                yield state.name, Path(path)


def works_on(common: Path, branch: str) -> Path | None:
    """The clone in which an agent works on the branch now."""
    for key, path in states(common):
        clone = Clone(common, path.parent, key)
        if clone.branch == branch and clone.in_use():
            return path
    return None
