"""Takes commits over from a repository that an agent wrote. Only git's own protocol is spoken with
it: the `upload-pack` that reads it runs in the sandbox where there is one, what it sends is checked
object by object, and nothing of it is in the user's repository before it was found good and small
enough."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agents_manager.domain import names
from agents_manager.errors import GitError, GitKilled, ImportRefused
from agents_manager.scm import commits
from agents_manager.scm.git import (
    FIXED_ENV,
    FOREIGN_ENV,
    SETTINGS,
    Output,
    Place,
    Wrap,
    commit_of,
    first_error,
    git,
    no_sandbox,
)

TIMEOUT_S = 300.0
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
    reads: tuple[Path, ...]
    """Where it has its other objects from."""
    wrap: Wrap | None
    limit: int
    """How many bytes of it are taken at most."""

    async def upload_pack(self) -> str:
        """Git hands this to a shell, and adds the folder to it."""
        env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
        env |= FIXED_ENV | FOREIGN_ENV | {"GIT_PROTOCOL": "version=2"}
        told = [f"{name}={value}" for name, value in env.items()]
        # In the sandbox it may belong to another user; which folder it is was said by us.
        settings = (*SETTINGS, "safe.directory=*")
        flags = [part for setting in settings for part in ("-c", setting)]
        way = await asyncio.to_thread(self.wrap, [self.git_dir], self.reads) if self.wrap else ()
        return shlex.join([*way, "env", "-i", *told, "git", *flags, "upload-pack", "--strict"])


@dataclass(frozen=True, slots=True)
class Tips:
    head: str | None = None
    """The commit that is checked out."""
    refs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Its branches and its stash, by their full names."""

    def of(self, branch: str) -> str | None:
        return self.refs.get(f"{HEADS}{branch}")


async def tips(store: Place, source: Source) -> Tips:
    order = ("ls-remote", f"--upload-pack={await source.upload_pack()}", "--", source.git_dir)
    asked = await _asked(store, *order, "HEAD", f"{HEADS}*", STASH)
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
        order = (*FETCH, f"--upload-pack={await source.upload_pack()}", "--", source.git_dir, sha)
        await _asked(receiving, *order, largest=source.limit)
        (folder / "info" / "alternates").unlink()
        await _measure(receiving, source)
        await asyncio.to_thread(_move_in, folder, store.git_dir / "objects")
    if await commit_of(store, sha) != sha:
        raise ImportRefused(f"What the agent calls {sha[:8]} is not a commit.")


async def _asked(place: Place, *order: str | Path, largest: int | None = None) -> Output:
    try:
        done = await git(
            place, *order, check=False, limit=REFS_LIMIT, largest=largest, timeout_s=TIMEOUT_S
        )
    except GitKilled:
        raise
    except GitError as error:
        raise ImportRefused(f"The agent's work cannot be taken over: {error.message}") from error
    if done.code and not done.cut:
        if why := no_sandbox(done):
            raise GitError(f"The agent's work cannot be looked at: {why}")
        raise ImportRefused(f"The agent's work cannot be taken over: {_why(done, largest)}")
    return done


def _why(done: Output, largest: int | None) -> str:
    if largest is not None and "died of signal" in done.stderr:
        return _too_big(largest)
    found = [line for line in done.stderr.splitlines() if line.startswith("error: object ")]
    return names.one_line(found[0].removeprefix("error: ")) if found else first_error(done)


def _too_big(limit: int) -> str:
    megabytes = limit // 1024**2
    return f"it is larger than {megabytes} MB. Raise workspace.importLimitMb, or have it smaller."


async def _measure(receiving: Place, source: Source) -> None:
    """As it is when unpacked: a small pack can hold what fills a disk."""
    every = ("cat-file", "--batch-all-objects", "--batch-check=%(objectsize)", "--unordered")
    sizes = await git(receiving, *every)
    if sum(int(size) for size in sizes.stdout.split()) > source.limit:
        why = _too_big(source.limit)
        raise ImportRefused(f"The agent's work cannot be taken over: unpacked {why}")


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
