"""What a remote knows, asked before work begins: within a time limit, and never needed for it. Only
branches that are asked for are fetched, and only the remote's names for them move."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents_manager.domain import names
from agents_manager.errors import GitError, GitKilled
from agents_manager.scm.credentials import Key
from agents_manager.scm.git import Place, commit_of, git, settings_of

ASK_TIMEOUT_S = 20.0
FETCH_TIMEOUT_S = 300.0
# The repository's own configuration could name another program here.
UPLOAD_PACK = "--upload-pack=git-upload-pack"
FETCH = (
    *("fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules"),
    *("--no-auto-maintenance", "--no-write-fetch-head", "--no-write-commit-graph", UPLOAD_PACK),
    # Else git would also follow the configured refspecs, which may name the user's own branches.
    "--refmap=",
)
TRUSTED_SCOPES = (b"system", b"global")


@dataclass(frozen=True, slots=True)
class Remote:
    name: str
    place: Place
    """The repository, with the settings that a call to the remote needs."""
    url: str


async def of(place: Place, key: Key | None = None) -> Remote | None:
    """The remote that work goes by: `origin`, else the only one."""
    settings = await settings_of(place)
    found = {
        os.fsdecode(key.removeprefix(b"remote.").removesuffix(b".url")): os.fsdecode(url or b"")
        for _, key, url in settings
        if key.startswith(b"remote.") and key.endswith(b".url")
    }
    name = "origin" if "origin" in found else next(iter(found), None)
    if name is None or (name != "origin" and len(found) > 1):
        return None
    helpers = [
        f"{os.fsdecode(key)}={os.fsdecode(value or b'')}"
        for scope, key, value in settings
        if scope in TRUSTED_SCOPES and _is_helper(key)
    ]
    # An empty helper forgets all that came before: those of the repository's own configuration.
    secret = key.setting if key else None
    asking = replace(place, settings=("credential.helper=", *helpers), network=True, secret=secret)
    return Remote(names.check_branch(name), asking, found[name])


def _is_helper(key: bytes) -> bool:
    return key.startswith(b"credential.") and key.endswith(b".helper") and b"=" not in key


async def fetch(remote: Remote, branches: Sequence[str]) -> str | None:
    """Brings the branches up to date as far as the remote has them; else tells what went wrong."""
    try:
        theirs = await _asked(remote, branches)
        ours = await _known(remote, branches)
        stale = [branch for branch, tip in theirs.items() if ours.get(branch) != tip]
        if stale:
            await bring(remote, stale)
    except GitKilled:
        raise
    except GitError as error:
        return error.message
    return None


async def _asked(remote: Remote, branches: Sequence[str]) -> dict[str, str]:
    wanted = {f"refs/heads/{names.check_branch(branch)}": branch for branch in branches}
    told = await git(
        remote.place,
        *("ls-remote", "--heads", UPLOAD_PACK, "--", remote.name, *wanted),
        timeout_s=ASK_TIMEOUT_S,
    )
    lines = (line.split("\t", 1) for line in told.line.splitlines())
    return {wanted[ref]: tip for tip, ref in lines if ref in wanted}


async def _known(remote: Remote, branches: Sequence[str]) -> dict[str, str]:
    prefix = f"refs/remotes/{remote.name}/"
    listed = await git(
        remote.place,
        *("for-each-ref", "--format=%(objectname) %(refname)"),
        *(f"{prefix}{branch}" for branch in branches),
    )
    lines = (line.split(" ", 1) for line in listed.line.splitlines())
    return {ref.removeprefix(prefix): tip for tip, ref in lines}


async def bring(
    remote: Remote, branches: Sequence[str], timeout_s: float = FETCH_TIMEOUT_S
) -> None:
    specs = [f"+refs/heads/{name}:refs/remotes/{remote.name}/{name}" for name in branches]
    await git(remote.place, *FETCH, "--", remote.name, *specs, timeout_s=timeout_s)


async def asked(remote: Remote, branch: str) -> str | None:
    """Where the remote itself says that the branch stands; None when it has none."""
    return (await _asked(remote, [branch])).get(branch)


async def tip(remote: Remote, branch: str) -> str | None:
    return await commit_of(remote.place, f"refs/remotes/{remote.name}/{names.check_branch(branch)}")
