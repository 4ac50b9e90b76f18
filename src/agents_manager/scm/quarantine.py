"""Takes commits over from a repository that an agent wrote. Only git's own protocol is spoken with
it: the `upload-pack` that reads it runs in the sandbox where there is one, what it sends is checked
object by object, and nothing of it is in the user's repository before it was found good and small
enough."""

import asyncio
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents_manager.domain import names
from agents_manager.errors import GitError, GitKilled, ImportRefused
from agents_manager.scm import commits
from agents_manager.scm.git import (
    Output,
    Place,
    commit_of,
    first_error,
    git,
    no_sandbox,
    serve,
)
from agents_manager.scm.sandboxed import Box

TIMEOUT_S = 300.0
END_S = 5.0
REFS_LIMIT = 1024 * 1024
PREFIX = "tmp_objdir-agents-manager-"
"""Git's own `prune` clears away what begins like this, should we not come to it."""
HEADS = "refs/heads/"
STASH = "refs/stash"
CHECKED = (
    # What git refuses then: trees with `.git` in them, a `.gitmodules` that is a link or no text.
    *("fetch.fsckObjects=true", "transfer.fsckObjects=true"),
    # A file above this is not held in memory.
    "core.bigFileThreshold=16m",
)
FETCH = (
    *("fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--refmap="),
    *("--no-auto-maintenance", "--no-write-fetch-head", "--no-write-commit-graph"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A repository that an agent could write to."""

    git_dir: Path
    box: Box | None
    """The sandbox that it is read in; None for a repository of ours."""
    limit: int
    """How many bytes of it are taken at most."""


@dataclass(frozen=True, slots=True)
class Tips:
    head: str | None = None
    """The commit that is checked out."""
    refs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Its branches and its stash, by their full names."""

    def of(self, branch: str) -> str | None:
        return self.refs.get(f"{HEADS}{branch}")


async def tips(store: Place, source: Source) -> Tips:
    asked = await _asked(store, source, ("ls-remote", "--"), ("HEAD", f"{HEADS}*", STASH))
    if asked.cut:
        raise ImportRefused("The agent made more branches than can be taken over.")
    lines = (line.split("\t", 1) for line in asked.line.splitlines())
    told = {ref: commits.checked(sha) for sha, ref in lines}
    ours = {ref: sha for ref, sha in told.items() if ref.startswith(HEADS) or ref == STASH}
    return Tips(head=told.get("HEAD"), refs=ours)


async def bring(store: Place, source: Source, sha: str) -> None:
    """Afterwards the store has the commit and all that belongs to it, though no name for it."""
    with _quarantine(store.git_dir / "objects") as folder:
        receiving = Place(git_dir=store.git_dir, settings=CHECKED, objects=folder)
        wanted = commits.checked(sha)
        await _asked(receiving, source, (*FETCH, "--"), (wanted,), largest=source.limit)
        await _check_history(receiving, sha)
        (folder / "info" / "alternates").unlink()
        kinds = await _measure(receiving, source)
        await asyncio.to_thread(_move_in, folder, store.git_dir / "objects")
    is_commit = kinds[sha] == b"commit" if sha in kinds else await commit_of(store, sha) == sha
    if not is_commit:
        raise ImportRefused(f"What the agent calls {sha[:8]} is not a commit.")


async def _asked(
    place: Place,
    source: Source,
    order: Sequence[str],
    wanted: Sequence[str],
    largest: int | None = None,
) -> Output:
    """The answer to what our git asks an `upload-pack` that reads the source."""
    ours, theirs = socket.socketpair()
    asked = (*order, f"fd::{ours.fileno()}", *wanted)
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(_serve(source, theirs))
            asking = group.create_task(_ask(place, asked, ours, largest))
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    done, served = asking.result(), serving.result()
    if done.code and not done.cut:
        if served.code == -signal.SIGKILL:
            raise GitKilled("git upload-pack was killed by SIGKILL; trying again may help.")
        both = replace(done, stderr=f"{served.stderr}\n{done.stderr}")
        raise ImportRefused(f"The agent's work cannot be taken over: {_why(both, largest)}")
    return done


async def _ask(
    place: Place, asked: Sequence[str], ours: socket.socket, largest: int | None
) -> Output:
    try:
        with ours:
            return await git(
                place,
                *asked,
                check=False,
                limit=REFS_LIMIT,
                largest=largest,
                timeout_s=TIMEOUT_S,
                connection=ours,
            )
    except GitKilled:
        raise
    except GitError as error:
        raise ImportRefused(f"The agent's work cannot be taken over: {error.message}") from error


async def _serve(source: Source, theirs: socket.socket) -> Output:
    place = Place(git_dir=source.git_dir, box=source.box)
    order = ("upload-pack", "--strict", source.git_dir)
    try:
        served = await serve(place, *order, connection=theirs, timeout_s=TIMEOUT_S + END_S)
    except GitError as error:
        raise GitError(f"The agent's work cannot be looked at: {error.message}") from error
    if why := served.code and no_sandbox(served):
        raise GitError(f"The agent's work cannot be looked at: {why}")
    return served


def _why(done: Output, largest: int | None) -> str:
    if largest is not None and "died of signal" in done.stderr:
        return _too_big(largest)
    found = [line for line in done.stderr.splitlines() if line.startswith("error: object ")]
    return names.one_line(found[0].removeprefix("error: ")) if found else first_error(done)


def _too_big(limit: int) -> str:
    megabytes = limit // 1024**2
    return f"it is larger than {megabytes} MB. Raise workspace.importLimitMb, or have it smaller."


async def _check_history(receiving: Place, sha: str) -> None:
    """Refuses a commit of which an ancestor or a file is missing. Git's own check while it fetches
    lets them be missing where the source says that its history is shallow."""
    order = ("rev-list", "--objects", "--quiet", sha, "--not", "--all")
    walked = await git(receiving, *order, check=False)
    if walked.code:
        raise ImportRefused(
            "The agent's work cannot be taken over: the history of its repository is not complete"
            f" ({first_error(walked)})."
        )


async def _measure(receiving: Place, source: Source) -> Mapping[str, bytes]:
    """Refuses what is too large when it is unpacked: a small pack can hold what fills a disk.
    Returns the kind of each object by its name."""
    every = ("cat-file", "--batch-all-objects", "--unordered")
    fields = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
    listed = (await git(receiving, *every, fields)).stdout.splitlines()
    objects = [line.split(b" ") for line in listed]
    if sum(int(size) for _, _, size in objects) > source.limit:
        why = _too_big(source.limit)
        raise ImportRefused(f"The agent's work cannot be taken over: unpacked {why}")
    return {name.decode(): kind for name, kind, _ in objects}


@contextmanager
def _quarantine(objects: Path) -> Generator[Path]:
    """A store beside the user's own, which it sees. The caller holds the repository's lock, so what
    is there already was left by a process that died."""
    for left in objects.glob(f"{PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=objects))
    try:
        (folder / "info").mkdir()
        (folder / "pack").mkdir()
        (folder / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move_in(folder: Path, objects: Path) -> None:
    """As git does after a push: a pack's index last, since it is what makes the pack seen."""
    found = [file for file in folder.glob("*/*") if file.parent.name != "info"]
    for file in sorted(found, key=lambda one: one.suffix == ".idx"):
        target = objects / file.parent.name / file.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            file.rename(target)
