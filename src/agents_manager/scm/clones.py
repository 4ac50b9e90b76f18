"""A clone for each task, under one root. It reads the objects of the project's repository and has
nothing else in common with it: what an agent does reaches the project only by being taken over."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.event import Event
from agents_manager.errors import GitError, GitKilled, ImportRefused, WorkspaceInUse
from agents_manager.flow.ports import (
    Committed,
    Reach,
    Removed,
    Snapshot,
    Workspace,
    WorkspaceRules,
)
from agents_manager.scm import (
    checkout,
    commits,
    desks,
    ignoring,
    including,
    reach,
    remotes,
    repositories,
    restoring,
    snapshots,
    syncing,
    trees,
)
from agents_manager.scm.clone import SOURCE, Clone, states
from agents_manager.scm.credentials import Keys, no_key
from agents_manager.scm.desks import Index
from agents_manager.scm.git import Place, branch_tip, commit_of, common_dir, git, locked
from agents_manager.scm.remotes import Remote
from agents_manager.scm.repositories import Repositories, home_name
from agents_manager.scm.sandboxed import Helpers, Owner, StartHelper, own_user
from agents_manager.scm.trees import INITIALIZING, MERGING

DEFAULT_RULES = WorkspaceRules()


class Clones(Repositories):
    def __init__(
        self,
        root: Path,
        keys: Keys = no_key,
        start: StartHelper | None = None,
        owner: Owner = own_user,
    ) -> None:
        """`start` starts a git helper in the sandbox. `owner` tells to whom an agent's files belong
        there."""
        super().__init__(root, keys)
        self._helpers = Helpers(start, owner) if start else None

    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = DEFAULT_RULES
    ) -> Workspace:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        clone = Clone(
            common, self._home(common, rules.root), key, self._helpers, rules.import_limit
        )
        remote = await remotes.of(store, await self._keys(repo))
        events = await repositories.fetched(remote, (base, branch)) if remote else []
        await clone.wait_until_free()
        async with locked(common):
            if rules.root is not None:
                events += await ignoring.ignore(repo, rules.root)
            found = await repositories.ensured(store, branch, base, remote)
            for other in await commits.checkouts(store, branch):
                raise repositories.taken(branch, other)
            events += await self._clear_others(clone)
            reason, head = _why_anew(clone, branch), found.tip
            if reason is None:
                reason, head, saved = await _renew(clone, branch, base, remote, rules)
                events += saved
            if reason is not None:
                gone = await clone.discard(fallback=branch)
                events += gone.events
                head = await commits.tip_or_refuse(store, branch) if gone.stood else found.tip
                new = found.of_base and not gone.stood
                boxed = not (new and await _runs_nothing(store, branch, base, head))
                head, built = await _build(clone, branch, base, remote, rules, reason, head, boxed)
                events += built
            await clone.pin(head)
            if clone.may_have_submodules():
                events += await repositories.fill_submodules(store, clone.path, head, self._helpers)
            clone.register(branch, f"An agent works here, for task {key} of Agents Manager.")
            return Workspace(
                path=clone.path,
                branch=branch,
                head_sha=head,
                created=reason is not None,
                state=clone.state,
                events=tuple(events),
            )

    async def _clear_others(self, clone: Clone) -> list[Event]:
        """The clone of this task that lies under an earlier root makes way."""
        before = dict(states(clone.common)).get(clone.key)
        if before is None or before == clone.path:
            return []
        gone = await Clone(clone.common, before.parent, clone.key, self._helpers).discard()
        return [*gone.events]

    async def release(self, workspace: Path) -> None:
        clone = self.find(workspace)
        if clone:
            (clone.state / "locked").unlink(missing_ok=True)

    async def reach(self, workspace: Path, branch: str) -> Reach:
        return await reach.of_clone(workspace, self._clone_of(workspace).common)

    async def gather(self, workspace: Path, branch: str) -> None:
        clone = self._clone_of(workspace)
        async with locked(clone.common):
            await _gather(clone, branch)

    async def commit_all(
        self, workspace: Path, branch: str, message: str, rules: BuildProducts = BUILT_IN
    ) -> Committed:
        clone = self._clone_of(workspace)
        await asyncio.to_thread(clone.expect)
        await clone.wait_until_free()
        async with locked(clone.common):
            tip = await _gather(clone, branch)
            async with clone.desk(branch, tip, index=Index.COMMIT) as desk:
                rules = replace(rules, paths=including.placed(clone.state))
                return await _commit_all(clone, desk, branch, message, rules)

    async def altered(self, workspace: Path, branch: str) -> list[str]:
        clone = self._clone_of(workspace)
        async with locked(clone.common):
            tip = await _gather(clone, branch)
            async with clone.desk(branch, tip, index=Index.COMMIT) as desk:
                return await snapshots.altered(desk, branch)

    async def save(self, workspace: Path) -> Sequence[Event]:
        clone = self._clone_of(workspace)
        async with locked(clone.common):
            tips = await clone.tips()
            head = tips.head or await branch_tip(clone.store, clone.branch)
            if head is None:
                raise ImportRefused(f'There is no commit in "{workspace}" to save work on.')
            await clone.bring(head)
            async with clone.desk(clone.branch, head) as desk:
                return (await clone.save(desk, head)).events

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        common = await common_dir(repo)
        async with locked(common):
            home = dict(states(common)).get(key, self._home(common, None) / key).parent
            clone = Clone(common, home, key, self._helpers)
            if idle and clone.in_use():
                raise WorkspaceInUse(f"A run works in {clone.path}.")
            gone = await clone.discard()
        if not gone.stood:
            return Removed(events=())
        kept = str(gone.kept) if gone.kept else None
        return Removed(events=(*gone.events, event.WorkspaceRemoved(kept=kept)))

    async def standing(self, repo: Path) -> Mapping[str, Path]:
        return {key: path for key, path in states(await common_dir(repo)) if path.is_dir()}

    async def knows(self, repo: Path, key: str) -> bool:
        return key in dict(states(await common_dir(repo)))

    async def spare(self, repo: Path, key: str) -> bool:
        common = await common_dir(repo)
        clone = Clone(common, self._home(common, None), key, self._helpers)
        if not clone.registered() or clone.in_use() or not clone.is_sound():
            return False
        async with locked(common):
            tips = await clone.tips()
            tip = tips.of(clone.branch)
            if tip is None or tips.head != tip or await clone.news(tips):
                return False
            async with clone.desk(clone.branch, tip, index=Index.COMMIT) as desk:
                fault = await clone.fault(desk, clone.branch)
                return fault is None and await clone.has_no_work(desk)

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        clone = self._clone_of(workspace.path)
        async with locked(clone.common):
            tip = await _gather(clone, workspace.branch)
            async with clone.desk(workspace.branch, tip) as desk:
                await restoring.restore(desk, snapshot)
                await clone.hand_over()

    def find(self, workspace: Path) -> Clone | None:
        """The clone that lies there, if it is one of ours."""
        common = Path(trees.read(workspace.parent / SOURCE))
        if home_name(common) != workspace.parent.name:
            return None
        clone = Clone(common, workspace.parent, workspace.name, self._helpers)
        return clone if clone.registered() else None

    def _clone_of(self, workspace: Path) -> Clone:
        clone = self.find(workspace)
        if clone is None:
            raise GitError(f'"{workspace}" is no longer a clone of its repository.')
        return clone


async def _gather(clone: Clone, branch: str) -> str:
    """The commit that the agent's branch stands at, which the project's holds now."""
    tip = await clone.tip_of(branch)
    if not await clone.take_over_tip(tip, branch):
        raise _went_on(clone, branch)
    return tip


def _went_on(clone: Clone, branch: str) -> ImportRefused:
    return ImportRefused(
        f'"{branch}" went on in the project while the agent worked on it, so its commits are not on'
        f' it. They are in "{clone.path}"; the next run saves them as a snapshot.'
    )


async def _commit_all(
    clone: Clone, desk: Place, branch: str, message: str, rules: BuildProducts
) -> Committed:
    fault = await clone.fault(desk, branch)
    if fault not in (None, MERGING):
        raise GitError(
            f'What the agent left in "{clone.path}" cannot be committed to "{branch}": {fault}.'
        )
    if not fault and await clone.is_clean(desk):
        return Committed(sha=None)
    if fault:
        await _merge_too(clone, desk)
    found = await snapshots.sort_out(desk, await snapshots.loose(desk), rules)
    await snapshots.stage(desk, found.work)
    if index := clone.index():
        await snapshots.stage_forced(desk, index)
    if not fault and not await snapshots.staged(desk):
        return Committed(sha=None, left_out=found.products)
    text = message.replace("\0", "").encode(errors="replace")
    await git(desk, "commit", "-q", "--cleanup=verbatim", "-F", "-", input=text)
    made = await commit_of(desk.alone, "HEAD")
    assert made
    await clone.from_desk(made)
    # Before the project: cut off in between, the commit is taken over like one of the agent's.
    await clone.hand_over()
    if not await clone.settle(branch, made):
        raise _went_on(clone, branch)
    return Committed(sha=made, left_out=found.products)


async def _merge_too(clone: Clone, desk: Place) -> None:
    others = trees.read(clone.git_dir / "MERGE_HEAD").splitlines()
    for other in others:
        await clone.bring(commits.checked(other))
    trees.write(desk.git_dir / "MERGE_HEAD", "".join(f"{other}\n" for other in others))


def _why_anew(clone: Clone, branch: str) -> str | None:
    """Why a clone is to be built anew, as far as its folders tell; nothing to tell for a first
    one."""
    if (not clone.stands() and not clone.registered()) or clone.half_made():
        return ""
    if not clone.registered() or not clone.is_sound():
        return "folder and repository do not know each other any more"
    head = clone.checked_out()
    if head != branch and names.whole_of(head) == names.whole_of(branch):
        return ""
    return None


async def _runs_nothing(store: Place, branch: str, base: str, head: str) -> bool:
    """Whether checking out the head of a new branch runs no program that an agent could have
    written. The branch of a part or phase begins at work that no person has looked at."""
    return not branch.startswith(f"{base}--") and not await desks.filters(store, head)


async def _renew(
    clone: Clone, branch: str, base: str, remote: Remote | None, rules: WorkspaceRules
) -> tuple[str | None, str, list[Event]]:
    """None when the clone is clean now and has a repository of our making, else why it is to be
    built anew; where its branch is; and what was saved."""
    try:
        tips = await clone.tips()
        agreed = await clone.take_over(tips, branch)
    except GitKilled:
        raise
    except ImportRefused as error:
        return error.message.removesuffix("."), "", []
    tip, here = tips.of(branch), await branch_tip(clone.store, branch)
    assert tip
    assert here
    async with clone.desk(branch, tip) as desk:
        fault = await clone.fault(desk, branch)
        if fault:
            return fault, here, []
        events: list[Event] = []
        if not agreed or here != tip or not await clone.is_clean(desk):
            try:
                saved = await clone.save(desk, tip, rules.build_products)
            except ImportRefused as error:
                return error.message.removesuffix("."), here, []
            events += saved.events
            await clone.check_free()
            await git(desk, "reset", "--quiet", "--hard", here)
            await snapshots.remove_untracked(desk, saved.products)
        others = await clone.save_others(tips)
        events += others.events
        head, synced = await _sync(clone, desk, branch, here, base, remote, rules)
        await clone.hand_over(keep=others.keep)
    return None, head, [*events, *synced]


async def _build(
    clone: Clone,
    branch: str,
    base: str,
    remote: Remote | None,
    rules: WorkspaceRules,
    reason: str,
    head: str,
    boxed: bool,
) -> tuple[str, list[Event]]:
    """Makes the clone with its branch at a commit. `boxed` checks it out in the sandbox."""
    clone.register(branch, INITIALIZING)
    await asyncio.to_thread(clone.path.mkdir)
    events: list[Event] = []
    if reason:
        events.append(event.WorkspaceRebuilt(branch=branch, reason=reason))
    async with clone.desk(branch, head, index=Index.EMPTY) as desk:
        place = desk if boxed else checkout.outside(desk)
        order = ("reset", "--quiet", "--hard")
        pointers = await repositories.filled(place, order, clone.path, clone.store, branch)
        if pointers:
            events.append(event.LfsPointers(reason=pointers))
        if not boxed:
            await checkout.age(desk, clone.owner)
        head, synced = await _sync(clone, desk, branch, head, base, remote, rules)
        await clone.hand_over()
    return head, [*events, *synced]


async def _sync(
    clone: Clone,
    desk: Place,
    branch: str,
    tip: str,
    base: str,
    remote: Remote | None,
    rules: WorkspaceRules,
) -> tuple[str, list[Event]]:
    """Brings the desk, whose branch is at the tip, up to date, and the project's branch with it.
    Returns where they are then."""
    events = await syncing.sync(desk, branch, base, remote, rebase=rules.rebase)
    head = await branch_tip(desk.alone, branch) if events else tip
    assert head
    if head != tip:
        await clone.from_desk(head)
        await clone.pin(tip)
        await clone.settle(branch, head)
    return head, events
