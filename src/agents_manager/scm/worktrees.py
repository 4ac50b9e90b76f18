"""A worktree for each task, under one root, on the task's own branch. What no commit holds is saved
before a reset or removal."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from agents_manager.domain import event, names
from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.event import Event
from agents_manager.errors import GitError, WorkspaceInUse
from agents_manager.flow.ports import (
    Committed,
    Reach,
    Removed,
    Snapshot,
    Workspace,
    WorkspaceRules,
)
from agents_manager.scm import (
    commits,
    holders,
    ignoring,
    including,
    lfs,
    locks,
    reach,
    remotes,
    repositories,
    restoring,
    snapshots,
    syncing,
    trees,
)
from agents_manager.scm.git import Place, branch_tip, commit_of, common_dir, git, locked, signed
from agents_manager.scm.repositories import Repositories, home_name

DEFAULT_RULES = WorkspaceRules()


class Worktrees(Repositories):
    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = DEFAULT_RULES
    ) -> Workspace:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        tree = trees.Tree(common, self._home(common, rules.root), key)
        remote = await remotes.of(store, await self._keys(repo))
        events: list[Event] = await repositories.fetched(remote, (base, branch)) if remote else []
        await tree.wait_until_free()
        async with locked(common):
            trees.complete(common)
            if rules.root is not None:
                events += await ignoring.ignore(repo, rules.root)
            known = await repositories.ensured(store, branch, base, remote)
            if not known.new:
                events += await self._clear_others(store, tree, branch)
            reason, cleaned = await _reuse(tree, branch, rules.build_products)
            events += cleaned
            if reason is not None:
                events += await _rebuild(store, tree, branch, reason)
            place = tree.place()
            assert place
            # All that commits need of it was taken over.
            await asyncio.to_thread(rmtree, place.git_dir / lfs.STORAGE, ignore_errors=True)
            moved = await syncing.sync(place, branch, base, remote, rebase=rules.rebase)
            head = await branch_tip(store, branch) if moved else known.tip
            assert head
            events += moved
            if tree.may_have_submodules():
                events += await repositories.fill_submodules(store, tree.path, head)
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

    async def _clear_others(self, store: Place, tree: trees.Tree, branch: str) -> list[Event]:
        """Git allows a branch in one checkout at a time. A worktree of this task that lies under an
        earlier root makes way; anybody else's is theirs."""
        events: list[Event] = []
        for other in await commits.checkouts(store, branch):
            if other == tree.path:
                continue
            if other.name != tree.key or other.parent.name != tree.home.name:
                raise repositories.taken(branch, other)
            gone = await trees.Tree(tree.common, other.parent, tree.key).discard(branch)
            events += gone.events
        return events

    async def reach(self, workspace: Path, branch: str) -> Reach:
        return await reach.of_worktree(workspace, branch)

    async def gather(self, workspace: Path, branch: str) -> None:
        """Worktrees share the branches of their repository, but not what a sandboxed agent wrote by
        Git LFS."""
        place = self._find_place(workspace)
        if place:
            await _take_lfs_over(place)

    async def commit_all(
        self, workspace: Path, branch: str, message: str, rules: BuildProducts = BUILT_IN
    ) -> Committed:
        place = self._place_of(workspace)
        common = place.git_dir.parent.parent
        await holders.wait_until_free(workspace, place.git_dir)
        async with locked(common):
            left = (locks.on_branch(common, branch), *locks.in_worktree(place.git_dir))
            await locks.drop_stale(left)
            await _take_lfs_over(place)
            rules = replace(rules, paths=including.placed(place.git_dir))
            return await _commit_all(place, branch, message, rules)

    async def altered(self, workspace: Path, branch: str) -> list[str]:
        place = self._place_of(workspace)
        async with locked(place.git_dir.parent.parent):
            await locks.drop_stale(locks.in_worktree(place.git_dir))
            await snapshots.reveal(place)
            return await snapshots.altered(place, branch)

    async def save(self, workspace: Path) -> Sequence[Event]:
        place = self._place_of(workspace)
        common, index = place.git_dir.parent.parent, place.git_dir / "index"
        async with locked(common):
            await snapshots.reveal(place)
            if await snapshots.clean(place):
                return ()
            head = await commit_of(place, "HEAD")
            store, tree = Place(git_dir=common), Place(git_dir=common, work_tree=workspace)
            key = names.task_of(workspace.name)
            return (await snapshots.save(store, tree, key, head, index)).events

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
        ours = home_name(common)
        return {p.name: p for p in known if p.parent.name == ours and p.is_dir()}

    async def knows(self, repo: Path, key: str) -> bool:
        return self._found_home(await common_dir(repo), key) is not None

    async def spare(self, repo: Path, key: str) -> bool:
        common = await common_dir(repo)
        place = trees.Tree(common, self._home(common, None), key).place()
        if place is None or (place.git_dir / "locked").exists():
            return False
        branch = trees.read(place.git_dir / "HEAD").removeprefix("ref: refs/heads/")
        if await trees.fault(place, branch) is not None:
            return False
        await snapshots.reveal(place)
        return await _has_no_work(place)

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        place = self._place_of(workspace.path)
        async with locked(await common_dir(repo)):
            await restoring.restore(place, snapshot)

    def _found_home(self, common: Path, key: str) -> Path | None:
        """Where the worktree of a task lies, under whichever root it was made."""
        known = (Path(trees.read(f)).parent for f in (common / "worktrees").glob("*/gitdir"))
        homes = (p.parent for p in known if p.name == key)
        return next((home for home in homes if home.name == home_name(common)), None)

    def _find_place(self, workspace: Path) -> Place | None:
        pointed = trees.read(workspace / ".git").removeprefix("gitdir: ")
        common = Path(pointed).parent.parent
        if home_name(common) != workspace.parent.name:
            return None
        return trees.Tree(common, workspace.parent, workspace.name).place()

    def _place_of(self, workspace: Path) -> Place:
        place = self._find_place(workspace)
        if place is None:
            raise GitError(f'"{workspace}" is no longer a worktree of its repository.')
        return place


async def _has_no_work(place: Place) -> bool:
    """Whether a commit holds all that is in a worktree, except build products."""
    if await snapshots.clean(place):
        return True
    work = (await snapshots.sort_out(place, await snapshots.loose(place))).work
    return not work and not work.nested and not await snapshots.staged(place)


async def _reuse(
    tree: trees.Tree, branch: str, rules: BuildProducts
) -> tuple[str | None, list[Event]]:
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
    await tree.check_free()
    await _take_lfs_over(place)
    fault = await trees.fault(place, branch)
    if fault:
        return fault, []
    await snapshots.reveal(place)
    if await snapshots.clean(place):
        return None, []
    loose = (await snapshots.sort_out(place, await snapshots.loose(place), rules)).work
    if not loose and not await snapshots.staged(place):
        return None, []
    head = await commit_of(place, "HEAD")
    store, here = Place(git_dir=tree.common), Place(git_dir=tree.common, work_tree=tree.path)
    index = place.git_dir / "index"
    saved = await snapshots.save(store, here, tree.saved_as, head, index, rules=rules)
    await git(place, "reset", "--quiet", "--hard")
    await snapshots.remove_untracked(place, saved.products)
    return None, [*saved.events]


async def _take_lfs_over(place: Place) -> None:
    await lfs.take_over(Place(git_dir=place.git_dir.parent.parent), place.git_dir, lfs.STORAGE)


def _on_another_phase(place: Place, branch: str) -> bool:
    head = trees.read(place.git_dir / "HEAD").removeprefix("ref: refs/heads/")
    return head != branch and names.whole_of(head) == names.whole_of(branch)


async def _rebuild(store: Place, tree: trees.Tree, branch: str, reason: str) -> list[Event]:
    gone = await tree.discard(fallback=branch)
    await asyncio.to_thread(tree.path.parent.mkdir, parents=True, exist_ok=True)
    add = ("worktree", "add", "--quiet", "--end-of-options", tree.path, branch)
    pointers = await repositories.filled(store, add, tree.path, store, branch)
    events = [*gone.events]
    if reason:
        events.append(event.WorkspaceRebuilt(branch=branch, reason=reason))
    if pointers:
        events.append(event.LfsPointers(reason=pointers))
    return events


async def _commit_all(place: Place, branch: str, message: str, rules: BuildProducts) -> Committed:
    if trees.is_fit(place, branch) and await snapshots.clean(place):
        return Committed(sha=None)
    fault = await trees.fault(place, branch)
    if fault not in (None, trees.MERGING):
        raise GitError(
            f'What the agent left in "{place.work_tree}" cannot be committed to "{branch}": '
            f"{fault}."
        )
    found = await snapshots.sort_out(place, await snapshots.loose(place), rules)
    unstaged = await snapshots.unstage_products(place, rules)
    left_out = tuple(sorted({*found.products, *unstaged}))
    await snapshots.stage(place, found.work)
    if not fault and not await snapshots.staged(place):
        return Committed(sha=None, left_out=left_out)
    text = message.replace("\0", "").encode(errors="replace")
    await git(await signed(place), "commit", "-q", "--cleanup=verbatim", "-F", "-", input=text)
    return Committed(sha=await commit_of(place, "HEAD"), left_out=left_out)
