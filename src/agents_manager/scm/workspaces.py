"""A worktree for each task, under one root, on the task's own branch. The user's checkout is never
worked in, work that no commit holds is saved before a reset or removal, and branches are never
deleted. No network: remotes are another module's business."""

import asyncio
import hashlib
import os
from pathlib import Path

from agents_manager.domain import names
from agents_manager.errors import GitError, InvalidInput, InvalidRepository
from agents_manager.flow.ports import Change, Workspace
from agents_manager.scm import commits, locks, snapshots, trees
from agents_manager.scm.git import (
    Place,
    branch_tip,
    commit_of,
    common_dir,
    first_error,
    git,
    locked,
    signed,
)


class Worktrees:
    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

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
        async with locked(common):
            return await _ensure_branch(Place(git_dir=common), branch, base)

    async def prepare(self, repo: Path, key: str, branch: str, base: str) -> Workspace:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        async with locked(common):
            await _ensure_branch(store, branch, base)
            tree = trees.Tree(common, self._home(common), key)
            await _not_elsewhere(store, tree.path, branch)
            created = not await self._reuse(tree, branch)
            if created:
                await tree.discard(fallback=branch)
                await asyncio.to_thread(tree.path.parent.mkdir, parents=True, exist_ok=True)
                await git(
                    store, "worktree", "add", "--quiet", "--end-of-options", tree.path, branch
                )
            head = await branch_tip(store, branch)
            assert head
            return Workspace(
                path=tree.path,
                branch=branch,
                head_sha=head,
                created=created,
            )

    async def _reuse(self, tree: trees.Tree, branch: str) -> bool:
        """Whether the worktree stands and is clean now; False if it is to be rebuilt."""
        place = tree.place()
        if place is None or await trees.fault(place, branch):
            return False
        await snapshots.reveal(place)
        if await snapshots.clean(place):
            return True
        if await snapshots.loose(place) or await snapshots.staged(place):
            head = await commit_of(place, "HEAD")
            index = place.git_dir / "index"
            await snapshots.save(tree.common, tree.path, tree.key, head, index)
            await git(place, "reset", "--quiet", "--hard")
            await git(place, "clean", "-fdq")
        return True

    async def commit_all(self, workspace: Path, branch: str, message: str) -> str | None:
        place = self._place_of(workspace)
        common = place.git_dir.parent.parent
        async with locked(common):
            left = (locks.on_branch(common, branch), *locks.in_worktree(place.git_dir))
            await locks.drop_stale(left)
            return await _commit_all(place, branch, message)

    async def change(self, repo: Path, branch: str, base: str) -> Change:
        return await commits.change(Place(git_dir=await common_dir(repo)), branch, base)

    async def diff(self, repo: Path, base_sha: str, head_sha: str) -> str:
        return await commits.diff(Place(git_dir=await common_dir(repo)), base_sha, head_sha)

    async def remove(self, repo: Path, key: str) -> None:
        common = await common_dir(repo)
        async with locked(common):
            await trees.Tree(common, self._home(common), key).discard(fallback=None)

    def _home(self, common: Path) -> Path:
        """The folder of a repository's worktrees. Its name tells which repository it belongs to,
        so that a worktree's own `.git` file, which an agent can write, need not be believed."""
        digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:16]
        folder = common.parent.name if common.name == ".git" else common.name
        return self._root / f"{names.slug(folder)}-{digest}"

    def _place_of(self, workspace: Path) -> Place:
        pointed = trees.read(workspace / ".git").removeprefix("gitdir: ")
        common = Path(pointed).parent.parent
        if self._home(common) == workspace.parent:
            place = trees.Tree(common, workspace.parent, workspace.name).place()
            if place:
                return place
        raise GitError(f'"{workspace}" is no longer a worktree of its repository.')


async def _commit_all(place: Place, branch: str, message: str) -> str | None:
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


async def _ensure_branch(store: Place, branch: str, base: str) -> bool:
    if branch == base:
        raise InvalidRepository(f'"{branch}" is the base itself; a task needs a branch of its own.')
    await locks.drop_stale([locks.on_branch(store.git_dir, branch)])
    if await branch_tip(store, branch):
        return False
    start = await commits.tip_or_refuse(store, base)
    made = await git(store, "update-ref", f"refs/heads/{branch}", start, "", check=False)
    if made.code and not await branch_tip(store, branch):
        raise GitError(f'The branch "{branch}" cannot be created: {first_error(made)}')
    return made.code == 0


async def _not_elsewhere(store: Place, path: Path, branch: str) -> None:
    """Git allows a branch in one checkout at a time."""
    for other in await commits.checkouts(store, branch):
        if other == path:
            continue
        out = "git worktree prune" if not other.exists() else "git switch to another branch there"
        raise InvalidRepository(
            f'The branch "{branch}" is checked out in "{other}" already. '
            f"Free it ({out}), then try again."
        )
