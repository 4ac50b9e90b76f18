"""What a repository is asked for whatever kind of workspace its tasks have: its branches, what they
changed, its remote, its snapshots. The user's checkout is never worked in, and branches are never
deleted."""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.change import ChangedFile, FileChange
from agents_manager.domain.event import Event
from agents_manager.domain.lines import Became
from agents_manager.errors import GitError, GitKilled, InvalidInput, InvalidRepository
from agents_manager.flow.ports import (
    Change,
    Conflicted,
    Filed,
    FiledAs,
    IncludedFiles,
    Pushed,
    SavedRef,
    Snapshot,
)
from agents_manager.scm import (
    changes,
    commits,
    copying_out,
    filing,
    including,
    joining,
    landing,
    locks,
    pushing,
    remotes,
    restoring,
    snapshots,
    submodules,
    syncing,
    trees,
)
from agents_manager.scm.credentials import Keys, no_key
from agents_manager.scm.git import (
    AGENT_SETTINGS,
    LFS,
    Place,
    branch_tip,
    commit_of,
    common_dir,
    configured,
    contains,
    first_error,
    git,
    locked,
    signed,
)
from agents_manager.scm.remotes import Remote
from agents_manager.scm.sandboxed import Helpers

LONG = 1024 * 1024
KNOWN_CHANGES = 32
AGENT_ENV = configured(AGENT_SETTINGS)
LFS_SKIP = (
    "filter.lfs.smudge=git-lfs smudge --skip -- %f",
    "filter.lfs.process=",
    "filter.lfs.required=false",
)


class Repositories:
    def __init__(self, root: Path, keys: Keys = no_key) -> None:
        self._root = root.resolve()
        self._keys = keys
        self._changes: dict[tuple[Path, str, str], Change] = {}
        """What was asked for last, by the two commits, between which nothing can change."""

    async def validate(self, path: Path) -> tuple[Path, str]:
        if not await asyncio.to_thread(path.is_dir):
            raise InvalidRepository(f'There is no folder "{path}".')
        asked = await git(path, "rev-parse", "--show-toplevel", check=False)
        if asked.code:
            raise InvalidRepository(_advice(path, asked.stderr) or first_error(asked))
        top = await _main_worktree(asked.path)
        place = Place(git_dir=Path((await git(top, "rev-parse", "--absolute-git-dir")).line))
        if not await commit_of(place, "HEAD"):
            raise InvalidRepository(
                f'"{top}" has no commit yet. Make the first one: '
                f'git -C "{top}" commit --allow-empty -m "First commit"'
            )
        return top, await _current_branch(top, place)

    async def is_same(self, one: Path, other: Path) -> bool:
        try:
            return await common_dir(one) == await common_dir(other)
        except InvalidRepository:  # A folder that is gone.
            return False

    async def ensure_branch(self, repo: Path, branch: str, base: str) -> bool:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        if branch != base and await branch_tip(store, branch):
            return False
        remote = await remotes.of(store, await self._keys(repo))
        if remote:
            await remotes.fetch(remote, (base, branch))
        async with locked(common):
            return (await ensured(store, branch, base, remote)).new

    @property
    def agent_env(self) -> Mapping[str, str]:
        return AGENT_ENV

    async def inputs(self, repo: Path, sha: str, patterns: Sequence[str]) -> str:
        return await commits.digest(Place(git_dir=await common_dir(repo)), sha, patterns)

    async def included(self, repo: Path, patterns: Sequence[str]) -> IncludedFiles:
        return await including.find(repo, patterns)

    async def place(
        self, files: IncludedFiles, tree: Path, state: Path | None = None
    ) -> Sequence[str]:
        return await asyncio.to_thread(including.place, files, tree, state)

    async def ends(self, repo: Path, branch: str, base: str) -> tuple[str, str]:
        return await commits.ends(Place(git_dir=await common_dir(repo)), branch, base)

    async def between(self, repo: Path, base_sha: str, head_sha: str) -> Change:
        common = await common_dir(repo)
        key = common, base_sha, head_sha
        known = self._changes.get(key)
        if known is None:
            known = await commits.between(Place(git_dir=common), base_sha, head_sha)
            while len(self._changes) >= KNOWN_CHANGES:
                del self._changes[next(iter(self._changes))]
            self._changes[key] = known
        return known

    async def change(self, repo: Path, branch: str, base: str) -> Change:
        return await self.between(repo, *await self.ends(repo, branch, base))

    async def diff(self, repo: Path, base_sha: str, head_sha: str) -> str:
        return await commits.diff(Place(git_dir=await common_dir(repo)), base_sha, head_sha)

    async def files(self, repo: Path, base_sha: str, head_sha: str) -> list[ChangedFile]:
        return await changes.files(Place(git_dir=await common_dir(repo)), base_sha, head_sha)

    async def file(self, repo: Path, base_sha: str, head_sha: str, file: ChangedFile) -> FileChange:
        return await changes.file(Place(git_dir=await common_dir(repo)), base_sha, head_sha, file)

    async def became(
        self, repo: Path, old_sha: str, new_sha: str, paths: Collection[str]
    ) -> dict[str, Became] | None:
        place = Place(git_dir=await common_dir(repo))
        return await changes.became(place, old_sha, new_sha, paths)

    async def paths(self, repo: Path, sha: str, pattern: str) -> list[str]:
        return await changes.paths(Place(git_dir=await common_dir(repo)), sha, pattern)

    async def copy_out(
        self, repo: Path, sha: str, folders: Mapping[str, str], target: Path
    ) -> list[str]:
        place = Place(git_dir=await common_dir(repo))
        return await copying_out.copy_out(place, sha, folders, target)

    async def texts(self, repo: Path, sha: str, paths: Collection[str]) -> dict[str, str]:
        return await changes.texts(Place(git_dir=await common_dir(repo)), sha, paths)

    async def file_away(self, repo: Path, branch: str, filed: FiledAs, *, replace: bool) -> Filed:
        common = await common_dir(repo)
        async with locked(common):
            return await filing.put(repo, common, branch, filed, replace=replace)

    async def push(self, repo: Path, branch: str) -> Pushed | None:
        key = await self._keys(repo)
        return await pushing.push(Place(git_dir=await common_dir(repo)), branch, key)

    async def stands_at(self, repo: Path, branch: str) -> str | None:
        return await branch_tip(Place(git_dir=await common_dir(repo)), branch)

    async def change_there(self, repo: Path, branch: str, base: str) -> Change | None:
        place = Place(git_dir=await common_dir(repo))
        remote = await remotes.of(place, await self._keys(repo))
        if remote is None:
            return None
        error = await remotes.fetch(remote, (base, branch))
        if error is not None:
            raise GitError(error)
        head = await remotes.tip(remote, branch)
        if head is None:
            return None
        return await commits.between(place, await commits.start(place, head, base), head)

    async def take_back(self, repo: Path, branch: str, sha: str, message: str) -> None:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        async with locked(common):
            tip = await branch_tip(store, branch)
            assert tip
            then = (await git(store, "rev-parse", f"{sha}^{{tree}}")).line
            if then == (await git(store, "rev-parse", f"{tip}^{{tree}}")).line:
                return
            order = ("commit-tree", then, "-p", tip, "-F", "-")
            made = await git(await signed(store), *order, input=message.encode())
            await git(store, "update-ref", f"refs/heads/{branch}", made.line, tip)

    async def join(self, repo: Path, branch: str, part: str, message: str) -> str | Conflicted:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        async with locked(common):
            await landing.complete_unfinished(repo, common, branch)
            tip = await commits.tip_or_refuse(store, branch)
            head = await commits.tip_or_refuse(store, part)
            if await contains(store, tip, head):
                return tip
            tree = await joining.joined(store, tip, head)
            if isinstance(tree, Conflicted):
                return tree
            order = ("commit-tree", tree, "-p", tip, "-p", head, "-F", "-")
            made = await git(await signed(store), *order, input=message.encode())
            await landing.land(repo, common, branch, tip, made.line)
            return made.line

    async def adopt(self, repo: Path, branch: str, sha: str, message: str) -> str:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        async with locked(common):
            await landing.complete_unfinished(repo, common, branch)
            tip = await commits.tip_or_refuse(store, branch)
            made = await joining.in_place_of(store, tip, sha, message)
            if made != tip:
                await landing.land(repo, common, branch, tip, made)
            return made

    async def shelve(self, repo: Path, key: str, branch: str) -> Sequence[Event]:
        common = await common_dir(repo)
        async with locked(common):
            return await snapshots.shelve(Place(git_dir=common), key, branch)

    async def saved(self, repo: Path) -> list[SavedRef]:
        return await restoring.saved(Place(git_dir=await common_dir(repo)))

    async def forget(self, repo: Path, saved: SavedRef) -> None:
        common = await common_dir(repo)
        async with locked(common):
            await git(Place(git_dir=common), "update-ref", "-d", saved.ref, saved.sha, check=False)

    async def snapshots(self, repo: Path, key: str | None, after: int = 0) -> list[Snapshot]:
        return await restoring.listed(Place(git_dir=await common_dir(repo)), key, after)

    async def restore_to(self, repo: Path, snapshot: Snapshot, branch: str) -> None:
        common = await common_dir(repo)
        async with locked(common):
            await restoring.make_branch(Place(git_dir=common), snapshot, branch)

    def _home(self, common: Path, root: Path | None) -> Path:
        return (root.resolve() if root else self._root) / home_name(common)


def home_name(common: Path) -> str:
    """The folder of a repository's worktrees. Its name tells which repository it belongs to, so
    that a worktree's own `.git` file, which an agent can write, need not be believed."""
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
    folder = common.parent.name if common.name == ".git" else common.name
    return f"{names.slug(folder)}-{digest}"


async def fetched(remote: Remote, branches: Sequence[str]) -> list[Event]:
    error = await remotes.fetch(remote, branches)
    return [event.FetchFailed(remote=remote.name, error=error)] if error else []


async def filled(
    place: Place, order: Sequence[str | Path], path: Path, store: Place, branch: str
) -> str | None:
    """Checks a branch out into a new folder by the order; says why files of Git LFS are not in
    it."""
    made = await git(place, *order, check=False)
    if made.code == 0:
        # Nobody has been in the tree yet, so its files are those of the branch.
        attributes = path / ".gitattributes"
        uses_lfs = not shutil.which(LFS) and "filter=lfs" in trees.read(attributes, LONG)
        return "git-lfs is not installed" if uses_lfs else None
    shown = await git(store, "cat-file", "-p", f"refs/heads/{branch}:.gitattributes", check=False)
    if b"filter=lfs" not in shown.stdout:
        raise GitError(f"git {order[0]} failed: {first_error(made)}")
    await git(replace(place, settings=LFS_SKIP), *order)
    return f"git-lfs failed ({first_error(made)})"


async def fill_submodules(
    store: Place, path: Path, head: str, helpers: Helpers | None = None
) -> list[Event]:
    try:
        missing = await submodules.fill(store, path, head, helpers)
    except GitKilled:
        raise
    except GitError as error:
        return [event.SubmodulesMissing(paths=("unknown",), reason=error.message)]
    paths = tuple(str(one.relative_to(path)) for one in missing)
    way_out = "Check them out in the project: git submodule update --init --recursive"
    return [event.SubmodulesMissing(paths=paths, reason=way_out)] if paths else []


def _advice(path: Path, stderr: str) -> str | None:
    if "dubious ownership" in stderr:
        return (
            f'"{path}" belongs to another user. If you trust it: '
            f'git config --global --add safe.directory "{path}"'
        )
    if "cannot use bare repository" in stderr or "must be run in a work tree" in stderr:
        return (
            f'"{path}" is a bare repository or inside a .git folder. Use a checkout: '
            f'git clone "{path}" FOLDER'
        )
    if "not a git repository" in stderr:
        return f'"{path}" is not a git repository. Make it one: git -C "{path}" init'
    return None


async def _main_worktree(top: Path) -> Path:
    """Return the main worktree of the repository; `top` itself if there is none, as for worktrees
    of a bare repository."""
    git_dir = Path((await git(top, "rev-parse", "--absolute-git-dir")).line)
    common = await common_dir(top)
    if git_dir.parent != common / "worktrees" or common.name != ".git":
        return top
    asked = await git(common.parent, "rev-parse", "--show-toplevel", check=False)
    return top if asked.code else asked.path


async def _current_branch(top: Path, place: Place) -> str:
    head = await git(place, "symbolic-ref", "-q", "HEAD", check=False)
    if head.code == 0:
        return _usable(head.line.removeprefix("refs/heads/"))
    default = await git(place, "config", "init.defaultBranch", check=False)
    for candidate in dict.fromkeys([default.line or "main", "main", "master"]):
        if await commit_of(place, f"refs/heads/{candidate}"):
            return _usable(candidate)
    raise InvalidRepository(
        f'No branch is checked out in "{top}". Choose one: git -C "{top}" switch BRANCH'
    )


def _usable(branch: str) -> str:
    try:
        return names.check_branch(branch)
    except InvalidInput as error:
        raise InvalidRepository(error.message) from error


@dataclass(frozen=True, slots=True)
class Ensured:
    tip: str
    new: bool
    of_base: bool = False
    """Whether it is new and begins at the base."""


async def ensured(store: Place, branch: str, base: str, remote: Remote | None) -> Ensured:
    if branch == base:
        raise InvalidRepository(f'"{branch}" is the base itself; a task needs a branch of its own.')
    await locks.drop_stale([locks.on_branch(store.git_dir, branch)])
    known = await commits.tips(store, branch, base)
    if tip := known.get(commits.local(branch)):
        return Ensured(tip, new=False)
    start, of_base = await _start(store, branch, base, known.get(commits.local(base)), remote)
    made = await git(store, "update-ref", commits.local(branch), start, "", check=False)
    if made.code == 0:
        return Ensured(start, new=True, of_base=of_base)
    tip = await branch_tip(store, branch)
    if tip is None:
        raise GitError(f'The branch "{branch}" cannot be created: {first_error(made)}')
    return Ensured(tip, new=False)


async def _start(
    store: Place, branch: str, base: str, here: str | None, remote: Remote | None
) -> tuple[str, bool]:
    """Where a new branch begins: at its own state in the remote, else at the base; and whether it
    is the base."""
    if remote is None:
        return commits.found(store, base, here), True
    pushed = await remotes.tip(remote, branch)
    base_there = await remotes.tip(remote, base)
    if base_there and not here:
        # Work is compared with the base and merged into it, so it has to be here.
        await git(store, "update-ref", f"refs/heads/{base}", base_there, "")
    if pushed:
        return pushed, False
    return await syncing.newest_base(store, base, base_there), True


def taken(branch: str, other: Path) -> InvalidRepository:
    out = "git worktree prune" if not other.exists() else "git switch to another branch there"
    return InvalidRepository(
        f'The branch "{branch}" is checked out in "{other}" already. '
        f"Free it ({out}), then try again."
    )
