"""Clones of projects on machines that lack them, and what machines pass on to each other by the
remote. A clone appears whole or not at all; its checkout follows the remote's base, and nobody
works in it."""

import asyncio
import os
import secrets
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.event import Event
from agents_manager.domain.remote import public
from agents_manager.errors import GitError, WorkElsewhere
from agents_manager.scm import landing, remotes, repositories, snapshots
from agents_manager.scm.commits import checked
from agents_manager.scm.credentials import Key, Keys, no_key
from agents_manager.scm.git import Place, branch_tip, commit_of, common_dir, contains, git, locked
from agents_manager.scm.remotes import Remote

CLONE_TIMEOUT_S = 3600.0
MODULES_TIMEOUT_S = 600.0
ORIGIN = "origin"
UNFINISHED = "."
"""Begins the name of a folder that a clone is made in."""
_NEAR, _FAR = (b"./", b"../"), (b"https://", b"ssh://")

UrlKeys = Callable[[str], Awaitable[Key | None]]
"""What an address is asked with while nothing is here that says more."""


async def no_url_key(url: str) -> Key | None:
    return None


class RemoteCopies:
    def __init__(self, keys: Keys = no_key, url_keys: UrlKeys = no_url_key) -> None:
        self._keys = keys
        self._url_keys = url_keys

    async def remote(self, repo: Path) -> str | None:
        found = await remotes.of(Place(git_dir=await common_dir(repo)))
        if found is None:
            return None
        beside = repo / found.url
        here = found.url.startswith(".") and await asyncio.to_thread(beside.is_dir)
        return public(str(beside.resolve()) if here else found.url)

    async def clone(self, url: str, target: Path, base: str) -> None:
        await asyncio.to_thread(_forget_unfinished, target)
        await _clone(url, target, base, await self._url_keys(url))

    async def follow(self, repo: Path, url: str, base: str) -> str | None:
        store = Place(git_dir=await common_dir(repo))
        await git(store, "config", f"remote.{ORIGIN}.url", url)
        remote = await remotes.of(store, await self._url_keys(url))
        assert remote
        error = await remotes.fetch(remote, [base])
        if error is not None:
            return error
        there = await _land(repo, store, remote, base)
        if there is not None:
            await _fill_submodules(replace(remote.place, work_tree=repo), there)
        return None

    async def is_shared(self, repo: Path) -> bool:
        store = Place(git_dir=await common_dir(repo))
        ours = ("--branches", "--glob=refs/agents-manager/*", "--not", "--remotes")
        return not (await git(store, "rev-list", "--max-count=1", *ours)).stdout

    async def has(self, repo: Path, *commits: str) -> bool:
        store = Place(git_dir=await common_dir(repo))
        return all([await commit_of(store, checked(one)) for one in commits])

    async def lacks(self, repo: Path, branch: str, head: str) -> bool:
        store = Place(git_dir=await common_dir(repo))
        tip = await branch_tip(store, branch)
        return tip is None or not await _holds(store, tip, checked(head))

    async def take(
        self, repo: Path, key: str, branch: str, base: str, head: str
    ) -> Sequence[Event]:
        common = await common_dir(repo)
        store = Place(git_dir=common)
        remote = await remotes.of(store, await self._keys(repo))
        if remote is None:
            raise WorkElsewhere(f'"{repo}" has no remote.')
        error = await remotes.fetch(remote, [branch, base])
        there, told = await remotes.tip(remote, branch), list[Event]()
        if there is None or not await _holds(store, there, checked(head)):
            grown_from = await remotes.tip(remote, base)
            if there is None and grown_from and await _holds(store, grown_from, checked(head)):
                return told  # Nothing was committed yet.
            raise WorkElsewhere(error or f"{remote.name} does not have it.")
        async with locked(common):
            here = await branch_tip(store, branch)
            if here is None:
                await git(store, "update-ref", f"refs/heads/{branch}", there, "")
                return told
            if not await contains(store, there, here):
                ref = await snapshots.record(store, key, here)
                number = int(ref.rpartition("/")[2])
                told.append(event.SnapshotSaved(number=number, ref=ref, files=0))
            await landing.land(repo, common, branch, here, there)
        return [*told, event.BranchAdvanced(branch=branch, remote=remote.name)]

    async def fetch(self, repo: Path, branches: Sequence[str]) -> str | None:
        store = Place(git_dir=await common_dir(repo))
        remote = await remotes.of(store, await self._keys(repo))
        return "It has no remote." if remote is None else await remotes.fetch(remote, branches)


async def _holds(store: Place, tip: str, commit: str) -> bool:
    return await commit_of(store, commit) is not None and await contains(store, tip, commit)


async def _land(repo: Path, store: Place, remote: Remote, base: str) -> str | None:
    """Where the base stands now, if it has moved."""
    async with locked(store.git_dir):
        await landing.complete_unfinished(repo, store.git_dir, base)
        here, there = await branch_tip(store, base), await remotes.tip(remote, base)
        if there is None or here is None or here == there:
            return None
        await landing.land(repo, store.git_dir, base, here, there)
        return there


def _forget_unfinished(target: Path) -> None:
    """What an attempt left that was killed: there is one worker for a data directory."""
    for folder in target.parent.glob(f"{UNFINISHED}{target.name}.*"):
        shutil.rmtree(folder, ignore_errors=True)


async def _clone(url: str, target: Path, base: str, key: Key | None) -> None:
    await asyncio.to_thread(target.parent.mkdir, parents=True, exist_ok=True, mode=0o700)
    folder = target.with_name(f"{UNFINISHED}{target.name}.{secrets.token_hex(4)}")
    first = f"--initial-branch={names.check_branch(base)}"
    every = f"+refs/heads/*:refs/remotes/{ORIGIN}/*"
    try:
        await git(target.parent, "init", "--quiet", "--template=", first, "--", folder)
        store = Place(git_dir=folder / ".git")
        await git(store, "config", f"remote.{ORIGIN}.url", url)
        await git(store, "config", f"remote.{ORIGIN}.fetch", every)
        remote = await remotes.of(store, key)
        assert remote
        await _fill(remote, folder, base)
        await asyncio.to_thread(os.rename, folder, target)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _fill(remote: Remote, folder: Path, base: str) -> None:
    if await remotes.asked(remote, base) is None:
        raise GitError(f'{remote.url} has no branch "{base}", the base of its tasks.')
    await remotes.bring(remote, [base], CLONE_TIMEOUT_S)
    tip = await remotes.tip(remote, base)
    assert tip
    inside, store = replace(remote.place, work_tree=folder), Place(git_dir=remote.place.git_dir)
    await git(store, "update-ref", f"refs/heads/{base}", tip, "")
    order = ("checkout", "--quiet", "-f", base, "--")
    await repositories.filled(inside, order, folder, store, base)
    await git(store, "config", f"branch.{base}.remote", ORIGIN)
    await git(store, "config", f"branch.{base}.merge", f"refs/heads/{base}")
    await _fill_submodules(inside, tip)


async def _fill_submodules(inside: Place, tip: str) -> None:
    """As the user would have them in a checkout; what cannot be had is told by each run. A
    repository of this machine that `.gitmodules` names is nobody's to hand to an agent."""
    order = ("--blob", f"{tip}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.url$")
    listed = await git(inside, "config", *order, check=False)
    urls = [entry.partition(b"\n")[2] for entry in listed.items]
    if listed.code or not urls or not all(url.startswith((*_NEAR, *_FAR)) for url in urls):
        return
    filled = ("submodule", "--quiet", "update", "--init", "--checkout")
    await git(inside, *filled, check=False, timeout_s=MODULES_TIMEOUT_S)
