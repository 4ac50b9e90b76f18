"""Brings a clean worktree up to date: forward to its own branch in the remote, and onto its base if
that is wanted. What cannot be done without a conflict is left as it was, and told."""

from dataclasses import replace

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.errors import GitError
from agents_manager.scm import commits, remotes
from agents_manager.scm.git import (
    Place,
    branch_tip,
    contains,
    first_error,
    git,
    programs_off,
    signed,
)
from agents_manager.scm.remotes import Remote

MAX_FILES = 20
REBASE_TIMEOUT_S = 300.0
# A driver of the repository's own is an agent's to write; one that fails is a conflict.
DRIVER_OFF = ("driver=false",)


async def sync(
    place: Place, branch: str, base: str, remote: Remote | None, *, rebase: bool
) -> list[Event]:
    events: list[Event] = await _forward(place, branch, remote) if remote else []
    if rebase:
        events += await _rebase(place, branch, base, remote)
    return events


async def newest_base(store: Place, base: str, there: str | None) -> str:
    """The remote's base, unless the one here holds it already and more, as merges here make it."""
    here = await commits.tip_or_refuse(store, base)
    return here if there is None or await contains(store, here, there) else there


async def _forward(place: Place, branch: str, remote: Remote) -> list[Event]:
    there, here = await remotes.tip(remote, branch), await branch_tip(place, branch)
    if here is None or there is None or await contains(place, here, there):
        return []
    if not await contains(place, there, here):
        return [event.BranchDiverged(branch=branch, remote=remote.name)]
    await git(place, "merge", "--quiet", "--ff-only", "--no-stat", "--end-of-options", there)
    return [event.BranchAdvanced(branch=branch, remote=remote.name)]


async def _rebase(place: Place, branch: str, base: str, remote: Remote | None) -> list[Event]:
    onto = await newest_base(place, base, await remotes.tip(remote, base) if remote else None)
    here = await branch_tip(place, branch)
    assert here
    if await contains(place, here, onto):
        return []
    quiet = replace(place, settings=await programs_off(place, "merge", DRIVER_OFF))
    order = ("rebase", "--quiet", "--end-of-options", onto)
    done = await git(await signed(quiet), *order, check=False, timeout_s=REBASE_TIMEOUT_S)
    if done.code == 0:
        return [event.BranchRebased(branch=branch, base=base)]
    unmerged = await git(place, "diff-files", "-z", "--name-only", "--diff-filter=U")
    files = tuple(path.decode(errors="replace") for path in dict.fromkeys(unmerged.items))
    aborted = await git(place, "rebase", "--abort", check=False)
    if aborted.code:
        raise GitError(f"git rebase failed: {first_error(done)}")
    return [event.RebaseConflicted(branch=branch, base=base, files=files[:MAX_FILES])]
