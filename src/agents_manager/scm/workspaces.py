"""A worktree for each task, under one root, on the task's own branch. The user's checkout is never
worked in, work that no commit holds is saved before a reset or removal, and branches are never
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
from agents_manager.errors import (
    GitError,
    GitKilled,
    InvalidInput,
    InvalidRepository,
    WorkspaceInUse,
)
from agents_manager.flow.ports import (
    Change,
    Filed,
    FiledAs,
    Pushed,
    Reach,
    Removed,
    SavedRef,
    Snapshot,
    Workspace,
    WorkspaceRules,
)
from agents_manager.scm import (
    changes,
    commits,
    filing,
    ignoring,
    locks,
    pushing,
    reach,
    remotes,
    restoring,
    snapshots,
    submodules,
    syncing,
    trees,
)
from agents_manager.scm.credentials import Keys, no_key
from agents_manager.scm.git import (
    LFS,
    Place,
    branch_tip,
    commit_of,
    common_dir,
    first_error,
    git,
    locked,
    signed,
)
from agents_manager.scm.remotes import Remote

DEFAULT_RULES = WorkspaceRules()
LONG = 1024 * 1024
AGENT_ENV = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "maintenance.auto",
    "GIT_CONFIG_VALUE_1": "false",
}
"""No garbage is collected in the repository that all worktrees share while agents work there."""
LFS_SKIP = (
    "filter.lfs.smudge=git-lfs smudge --skip -- %f",
    "filter.lfs.process=",
    "filter.lfs.required=false",
)


class Worktrees:
    def __init__(self, root: Path, keys: Keys = no_key) -> None:
        self._root = root.resolve()
        self._keys = keys

    async def validate(self, path: Path) -> tuple[Path, str]:
        if not await asyncio.to_thread(path.is_dir):
            raise InvalidRepository(f'There is no folder "{path}".')
        asked = await git(path, "rev-parse", "--show-toplevel", check=False)
        if asked.code:
            raise InvalidRepository(_advice(path, asked.stderr) or first_error(asked))
        top = asked.path
        place = Place(git_dir=Path((await git(top, "rev-parse", "--absolute-git-dir")).line))
        if not await commit_of(place, "HEAD"):
            raise InvalidRepository(
                f'"{top}" has no commit yet. Make the first one: '
                f'git -C "{top}" commit --allow-empty -m "First commit"'
            )
        return top, await _current_branch(top, place)

    async def ensure_branch(self, repo: Path, branch: str, base: str) -> bool:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        if branch != base and await branch_tip(store, branch):
            return False
        remote = await remotes.of(store, await self._keys(repo))
        if remote:
            await remotes.fetch(remote, (base, branch))
        async with locked(common):
            return (await _ensure_branch(store, branch, base, remote)).new

    @property
    def agent_env(self) -> Mapping[str, str]:
        return AGENT_ENV

    async def reach(self, workspace: Path, branch: str) -> Reach:
        return await reach.of_worktree(workspace, branch)

    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = DEFAULT_RULES
    ) -> Workspace:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        tree = trees.Tree(common, self._home(common, rules.root), key)
        remote = await remotes.of(store, await self._keys(repo))
        events: list[Event] = await _fetch(remote, (base, branch)) if remote else []
        async with locked(common):
            trees.complete(common)
            if rules.root is not None:
                events += await ignoring.ignore(repo, rules.root)
            ensured = await _ensure_branch(store, branch, base, remote)
            if not ensured.new:
                events += await self._clear_others(store, tree, branch)
            reason, cleaned = await _reuse(tree, branch)
            events += cleaned
            if reason is not None:
                events += await _rebuild(store, tree, branch, reason)
            place = tree.place()
            assert place
            moved = await syncing.sync(place, branch, base, remote, rebase=rules.rebase)
            head = await branch_tip(store, branch) if moved else ensured.tip
            assert head
            events += [*moved, *await _fill_submodules(store, tree, head)]
            return Workspace(
                path=tree.path,
                branch=branch,
                head_sha=head,
                created=reason is not None,
                state=tree.lock(f"An agent works here, for task {key} of Agents Manager."),
                events=tuple(events),
            )

    async def release(self, workspace: Path) -> None:
        place = self._find_place(workspace)
        if place:
            (place.git_dir / "locked").unlink(missing_ok=True)

    async def inputs(self, repo: Path, sha: str, patterns: Sequence[str]) -> str:
        return await commits.digest(Place(git_dir=await common_dir(repo)), sha, patterns)

    async def _clear_others(self, store: Place, tree: trees.Tree, branch: str) -> list[Event]:
        """Git allows a branch in one checkout at a time. A worktree of this task that lies under an
        earlier root makes way; anybody else's is theirs."""
        events: list[Event] = []
        for other in await commits.checkouts(store, branch):
            if other == tree.path:
                continue
            if other.name != tree.key or other.parent.name != tree.home.name:
                raise _taken(branch, other)
            gone = await trees.Tree(tree.common, other.parent, tree.key).discard(branch)
            events += gone.events
        return events

    async def commit_all(self, workspace: Path, branch: str, message: str) -> str | None:
        place = self._place_of(workspace)
        common = place.git_dir.parent.parent
        async with locked(common):
            left = (locks.on_branch(common, branch), *locks.in_worktree(place.git_dir))
            await locks.drop_stale(left)
            return await _commit_all(place, branch, message)

    async def save(self, workspace: Path) -> Sequence[Event]:
        place = self._place_of(workspace)
        common, index = place.git_dir.parent.parent, place.git_dir / "index"
        async with locked(common):
            await snapshots.reveal(place)
            if await snapshots.clean(place):
                return ()
            head = await commit_of(place, "HEAD")
            return (await snapshots.save(common, workspace, workspace.name, head, index)).events

    async def ends(self, repo: Path, branch: str, base: str) -> tuple[str, str]:
        return await commits.ends(Place(git_dir=await common_dir(repo)), branch, base)

    async def between(self, repo: Path, base_sha: str, head_sha: str) -> Change:
        return await commits.between(Place(git_dir=await common_dir(repo)), base_sha, head_sha)

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

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        common = await common_dir(repo)
        async with locked(common):
            home = self._found_home(common, key) or self._home(common, None)
            tree = trees.Tree(common, home, key)
            if idle and tree.in_use():
                raise WorkspaceInUse(f"A run works in {tree.path}.")
            gone = await tree.discard(fallback=None)
        if not gone.stood:
            return Removed(events=())
        kept = str(gone.kept) if gone.kept else None
        return Removed(events=(*gone.events, event.WorkspaceRemoved(kept=kept)))

    async def standing(self, repo: Path) -> Mapping[str, Path]:
        common = await common_dir(repo)
        known = (Path(trees.read(f)).parent for f in (common / "worktrees").glob("*/gitdir"))
        ours = _home_name(common)
        return {p.name: p for p in known if p.parent.name == ours and p.is_dir()}

    async def saved(self, repo: Path) -> list[SavedRef]:
        return await restoring.saved(Place(git_dir=await common_dir(repo)))

    async def forget(self, repo: Path, saved: SavedRef) -> None:
        common = await common_dir(repo)
        async with locked(common):
            await git(Place(git_dir=common), "update-ref", "-d", saved.ref, saved.sha, check=False)

    async def spare(self, repo: Path, key: str) -> bool:
        common = await common_dir(repo)
        place = trees.Tree(common, self._home(common, None), key).place()
        if place is None or (place.git_dir / "locked").exists():
            return False
        branch = trees.read(place.git_dir / "HEAD").removeprefix("ref: refs/heads/")
        if await trees.fault(place, branch) is not None:
            return False
        await snapshots.reveal(place)
        return await snapshots.clean(place)

    async def snapshots(self, repo: Path, key: str | None, after: int = 0) -> list[Snapshot]:
        return await restoring.listed(Place(git_dir=await common_dir(repo)), key, after)

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        place = self._place_of(workspace.path)
        async with locked(await common_dir(repo)):
            await restoring.restore(place, snapshot)

    async def restore_to(self, repo: Path, snapshot: Snapshot, branch: str) -> None:
        common = await common_dir(repo)
        async with locked(common):
            await restoring.make_branch(Place(git_dir=common), snapshot, branch)

    def _home(self, common: Path, root: Path | None) -> Path:
        return (root.resolve() if root else self._root) / _home_name(common)

    def _found_home(self, common: Path, key: str) -> Path | None:
        """Where the worktree of a task lies, under whichever root it was made."""
        known = (Path(trees.read(f)).parent for f in (common / "worktrees").glob("*/gitdir"))
        homes = (p.parent for p in known if p.name == key)
        return next((home for home in homes if home.name == _home_name(common)), None)

    def _find_place(self, workspace: Path) -> Place | None:
        pointed = trees.read(workspace / ".git").removeprefix("gitdir: ")
        common = Path(pointed).parent.parent
        if _home_name(common) != workspace.parent.name:
            return None
        return trees.Tree(common, workspace.parent, workspace.name).place()

    def _place_of(self, workspace: Path) -> Place:
        place = self._find_place(workspace)
        if place is None:
            raise GitError(f'"{workspace}" is no longer a worktree of its repository.')
        return place


def _home_name(common: Path) -> str:
    """The folder of a repository's worktrees. Its name tells which repository it belongs to, so
    that a worktree's own `.git` file, which an agent can write, need not be believed."""
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
    folder = common.parent.name if common.name == ".git" else common.name
    return f"{names.slug(folder)}-{digest}"


async def _fetch(remote: Remote, branches: Sequence[str]) -> list[Event]:
    error = await remotes.fetch(remote, branches)
    return [event.FetchFailed(remote=remote.name, error=error)] if error else []


async def _reuse(tree: trees.Tree, branch: str) -> tuple[str | None, list[Event]]:
    """None when the worktree stands and is clean now, else why it is to be built, which is nothing
    to tell for a first one; and what was saved."""
    missing = not tree.stands() and trees.registered(tree.common, tree.path) is None
    if missing or tree.half_made():
        return "", []
    place = tree.place()
    if place is None:
        return "folder and repository do not know each other any more", []
    if _on_another_phase(place, branch):
        return "", []
    fault = await trees.fault(place, branch)
    if fault:
        return fault, []
    await snapshots.reveal(place)
    if await snapshots.clean(place):
        return None, []
    if not await snapshots.loose(place) and not await snapshots.staged(place):
        return None, []
    head = await commit_of(place, "HEAD")
    saved = await snapshots.save(tree.common, tree.path, tree.key, head, place.git_dir / "index")
    await git(place, "reset", "--quiet", "--hard")
    await git(place, "clean", "-fdq")
    return None, [*saved.events]


def _on_another_phase(place: Place, branch: str) -> bool:
    head = trees.read(place.git_dir / "HEAD").removeprefix("ref: refs/heads/")
    return head != branch and names.whole_of(head) == names.whole_of(branch)


async def _rebuild(store: Place, tree: trees.Tree, branch: str, reason: str) -> list[Event]:
    gone = await tree.discard(fallback=branch)
    await asyncio.to_thread(tree.path.parent.mkdir, parents=True, exist_ok=True)
    pointers = await _add(store, tree.path, branch)
    events = [*gone.events]
    if reason:
        events.append(event.WorkspaceRebuilt(branch=branch, reason=reason))
    if pointers:
        events.append(event.LfsPointers(reason=pointers))
    return events


async def _add(store: Place, path: Path, branch: str) -> str | None:
    """Checks the branch out into a new folder; says why files of Git LFS are not in it."""
    add = ("worktree", "add", "--quiet", "--end-of-options", path, branch)
    made = await git(store, *add, check=False)
    if made.code == 0:
        # Nobody has been in the tree yet, so its files are those of the branch.
        attributes = path / ".gitattributes"
        uses_lfs = not shutil.which(LFS) and "filter=lfs" in trees.read(attributes, LONG)
        return "git-lfs is not installed" if uses_lfs else None
    shown = await git(store, "cat-file", "-p", f"refs/heads/{branch}:.gitattributes", check=False)
    if b"filter=lfs" not in shown.stdout:
        raise GitError(f"git worktree failed: {first_error(made)}")
    await git(replace(store, settings=LFS_SKIP), *add)
    return f"git-lfs failed ({first_error(made)})"


async def _fill_submodules(store: Place, tree: trees.Tree, head: str) -> list[Event]:
    if not tree.may_have_submodules():
        return []
    try:
        missing = await submodules.fill(store, tree.path, head)
    except GitKilled:
        raise
    except GitError as error:
        return [event.SubmodulesMissing(paths=("unknown",), reason=error.message)]
    paths = tuple(str(path.relative_to(tree.path)) for path in missing)
    way_out = "Check them out in the project: git submodule update --init --recursive"
    return [event.SubmodulesMissing(paths=paths, reason=way_out)] if paths else []


async def _commit_all(place: Place, branch: str, message: str) -> str | None:
    if trees.is_fit(place, branch) and await snapshots.clean(place):
        return None
    fault = await trees.fault(place, branch)
    if fault not in (None, trees.MERGING):
        raise GitError(
            f'What the agent left in "{place.work_tree}" cannot be committed to "{branch}": '
            f"{fault}."
        )
    await snapshots.stage(place, await snapshots.loose(place))
    if not fault and not await snapshots.staged(place):
        return None
    text = message.replace("\0", "").encode(errors="replace")
    await git(await signed(place), "commit", "-q", "--cleanup=verbatim", "-F", "-", input=text)
    return await commit_of(place, "HEAD")


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


async def _ensure_branch(store: Place, branch: str, base: str, remote: Remote | None) -> Ensured:
    if branch == base:
        raise InvalidRepository(f'"{branch}" is the base itself; a task needs a branch of its own.')
    await locks.drop_stale([locks.on_branch(store.git_dir, branch)])
    known = await commits.tips(store, branch, base)
    if tip := known.get(commits.local(branch)):
        return Ensured(tip, new=False)
    start = await _start(store, branch, base, known.get(commits.local(base)), remote)
    made = await git(store, "update-ref", commits.local(branch), start, "", check=False)
    if made.code == 0:
        return Ensured(start, new=True)
    tip = await branch_tip(store, branch)
    if tip is None:
        raise GitError(f'The branch "{branch}" cannot be created: {first_error(made)}')
    return Ensured(tip, new=False)


async def _start(
    store: Place, branch: str, base: str, here: str | None, remote: Remote | None
) -> str:
    """Where a new branch begins: at its own state in the remote, else at the base."""
    if remote is None:
        return commits.found(store, base, here)
    pushed = await remotes.tip(remote, branch)
    base_there = await remotes.tip(remote, base)
    if base_there and not here:
        # Work is compared with the base and merged into it, so it has to be here.
        await git(store, "update-ref", f"refs/heads/{base}", base_there, "")
    return pushed or await syncing.newest_base(store, base, base_there)


def _taken(branch: str, other: Path) -> InvalidRepository:
    out = "git worktree prune" if not other.exists() else "git switch to another branch there"
    return InvalidRepository(
        f'The branch "{branch}" is checked out in "{other}" already. '
        f"Free it ({out}), then try again."
    )
