"""A task's branch, brought to the remote: looked for first, never by force, and never needed for
the work to go on here. What the repository's own configuration could add to a push is left out."""

import re

from agents_manager.errors import GitError, GitKilled
from agents_manager.flow.ports import Pushed
from agents_manager.scm import commits, remotes
from agents_manager.scm.credentials import Key
from agents_manager.scm.git import Output, Place, contains, first_error, git
from agents_manager.scm.remotes import Remote

PUSH_TIMEOUT_S = 300.0
PUSH = (
    *("push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--no-force"),
    *("--recurse-submodules=no", "--receive-pack=git-receive-pack"),
)
LINES = 3
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")


async def push(place: Place, branch: str, key: Key | None = None) -> Pushed | None:
    """None where there is no remote."""
    remote = await remotes.of(place, key)
    if remote is None:
        return None
    here = await commits.tip_or_refuse(place, branch)
    try:
        refused = await _push(remote, branch, here)
    except GitKilled:
        raise
    except GitError as error:
        refused = error.message
    return Pushed(remote=remote.name, sha=here, refused=refused and _PASSWORD.sub("", refused))


async def _push(remote: Remote, branch: str, here: str) -> str | None:
    """Why the remote does not hold the branch as it is here."""
    there = await remotes.asked(remote, branch)
    if there == here:
        return None
    if there is not None:
        await remotes.fetch(remote, [branch])
        if not await contains(remote.place, here, there):
            return (
                f"{remote.name} has commits on it that are not here, and nothing is pushed by force"
                f". Merge them into the branch (git merge {remote.name}/{branch} in the task's "
                "worktree), or remove the branch there; then push it yourself: "
                f"git push {remote.name} {branch}"
            )
    refused = await put(remote, branch, here)
    return refused and f"{refused} When that is solved: git push {remote.name} {branch}"


async def put(remote: Remote, branch: str, sha: str) -> str | None:
    """Has the remote move a branch forward to a commit; why it did not."""
    order = (*PUSH, "--", remote.name, f"{sha}:refs/heads/{branch}")
    done = await git(remote.place, *order, check=False, timeout_s=PUSH_TIMEOUT_S)
    return None if done.code == 0 else _PASSWORD.sub("", _why(done))


def _why(done: Output) -> str:
    """What the remote's own hooks said and why it refused, which git's last words leave out."""
    lines = [line.strip() for line in done.stderr.splitlines()]
    told = [line for line in lines if line.startswith(("remote:", "!"))]
    return " ".join(told[:LINES]) or first_error(done)
