"""Merges into a base that machines share. The commit is made on top of the base as the remote has
it and pushed there without force; only then does the base here follow. What is to be pushed is on
record before, so that whoever does it again, on any machine, finds it done."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import names
from agents_manager.domain.task import MergeMethod, PullRequest, PullState
from agents_manager.errors import ForgeUnavailable, HookFailed
from agents_manager.flow.ports import Conflicted, Merged
from agents_manager.scm import joining, landing, pushing, remotes
from agents_manager.scm.git import Place, branch_tip, commit_of, contains, git
from agents_manager.scm.remotes import Remote

TRIES = 20
"""How often it is made anew where others push at the same time: each failed one is a merge of
somebody else, so that together they get on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    repo: Path
    store: Place
    pull: PullRequest
    head: str
    method: MergeMethod
    note: Callable[[str], Awaitable[None]]
    """Puts the commit on record that the base is to become."""

    @property
    def base(self) -> str:
        return self.pull.base_branch


async def merge(remote: Remote, order: Order) -> Merged | Conflicted:
    """The caller holds the repository's lock."""
    for _ in range(TRIES):
        start = await _start(remote, order)
        done = await merged_as(order.store, order.pull, start, order.head)
        if done is not None:
            await _follow(order, start)
            return Merged(sha=done)
        check_open(order.pull, order.head, await branch_tip(order.store, order.pull.head_branch))
        new = await joining.made(order.store, order.pull, start, order.head, order.method)
        if isinstance(new, Conflicted):
            return new
        await order.note(new)
        refused = await pushing.put(remote, order.base, new)
        stands = new if refused is None else await remotes.asked(remote, order.base)
        if stands == new:
            await _follow(order, new)
            return Merged(sha=new)
        if stands == start:
            raise HookFailed(f"{remote.name} did not take the merge into {order.base}: {refused}")
    raise HookFailed(
        f"Others pushed to {order.base} in {remote.name} each time it was tried; try it again."
    )


async def _start(remote: Remote, order: Order) -> str:
    """What is merged into: the base as the remote has it."""
    error = await remotes.fetch(remote, [order.base])
    if error is not None:
        raise ForgeUnavailable(f"{remote.name} cannot be asked where {order.base} is: {error}")
    there = await remotes.tip(remote, order.base)
    here = await branch_tip(order.store, order.base)
    if there is None and here is None:
        raise HookFailed(f'There is no branch "{order.base}" in "{order.repo}" to merge into.')
    if there is None or here is None:
        return there or here or ""
    if await contains(order.store, there, here):
        return there
    # The branch of a task that phases go to is ours, and may not be pushed yet.
    of_task = names.whole_of(order.pull.head_branch) == order.base
    if of_task and await contains(order.store, here, there):
        return here
    raise HookFailed(
        f'"{order.base}" in "{order.repo}" has commits that {remote.name} does not have, and they '
        f"are nobody's to push but yours: git push {remote.name} {order.base}, or set it back to "
        f"{remote.name}/{order.base}; then try again."
    )


async def merged_as(store: Place, pull: PullRequest, base: str, head: str) -> str | None:
    """The commit that brought a pull request into its base, if it is there."""
    if await contains(store, base, head):
        line = await git(
            store, "rev-list", "--first-parent", "--ancestry-path", "--reverse", f"{head}..{base}"
        )
        return line.line.split("\n")[0] or head
    # As one commit or one by one, the base never holds the head itself.
    noted = pull.merge_sha
    known = noted is not None and await commit_of(store, noted) is not None
    return noted if noted and known and await contains(store, base, noted) else None


def check_open(pull: PullRequest, head: str, tip: str | None) -> None:
    """Refuses a closed pull request, and one whose branch is at another commit than the head."""
    if pull.state is PullState.CLOSED:
        raise HookFailed(f"Pull request #{pull.number} is closed.")
    if tip != head:
        raise HookFailed(
            f'"{pull.head_branch}" moved after the approval of {head}: it is at '
            f"{tip or 'no commit'} now. Review it again."
        )


async def _follow(order: Order, new: str) -> None:
    """A checkout with changes of its user in the way stays where it is: the merge is in the
    remote."""
    here = await branch_tip(order.store, order.base)
    if here is None:
        await git(order.store, "update-ref", f"refs/heads/{order.base}", new, "")
    elif here != new and await contains(order.store, new, here):
        with suppress(HookFailed):
            await landing.land(order.repo, order.store.git_dir, order.base, here, new)
