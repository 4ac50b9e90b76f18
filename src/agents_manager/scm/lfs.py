"""Git LFS in workspaces. An agent in a sandbox writes LFS objects to storage of its own; those that
belong to commits are copied to the project's storage, where merges and checks find them."""

import asyncio
import hashlib
import os
import re
import secrets
import shlex
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from agents_manager.errors import GitError, ImportRefused
from agents_manager.scm.git import Place, git

STORAGE = "lfs"
OBJECTS = "objects"
FILTER = "filter.lfs."
COMMANDS = ("clean", "smudge", "process")
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"
OID = re.compile(r"[0-9a-f]{64}")
PREFIX = re.compile(r"[0-9a-f]{2}")
MOST_FOLDERS = 256 + 256 * 256
MOST_OBJECTS = 100_000
CHUNK = 1024 * 1024
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


async def worktree_settings(store: Place, own: Path) -> list[tuple[str, str]]:
    """Returns the git settings with which an agent's git-lfs writes to the worktree's own folder
    and reads the project's objects as well. Empty where Git LFS is not configured.

    The filter commands are passed on because the sandbox hides the user's configuration, in which
    `git lfs install` puts them."""
    listed = await git(store, "config", "--list", "-z")
    filters: dict[str, str] = {}
    for item in listed.items:
        key, _, value = item.decode(errors="replace").partition("\n")
        if key.startswith(FILTER):
            filters[key] = value
    if not any(filters.get(f"{FILTER}{name}") for name in COMMANDS):
        return []
    # Only for git-lfs: with this variable, repositories that the agent creates would lack objects.
    lent = f"GIT_ALTERNATE_OBJECT_DIRECTORIES={shlex.quote(str(store.git_dir / OBJECTS))}"
    for name in COMMANDS:
        if command := filters.get(f"{FILTER}{name}"):
            filters[f"{FILTER}{name}"] = f"{lent} {command}"
    return [("lfs.storage", str(own / STORAGE)), *filters.items()]


async def take_over(store: Place, holder: Path, *parts: str, limit: int | None = None) -> None:
    """Copies LFS objects from an agent's storage to the project's: those that a blob of the store
    points to and that have the content that their name says. `parts` lead to the storage
    below `holder`, which the agent cannot replace. Raises ImportRefused beyond `limit` bytes."""
    found = await asyncio.to_thread(_sizes, holder, parts)
    if not found:
        return
    target = await _project_storage(store)
    new = {oid: size for oid, size in found.items() if not _path(target, oid).is_file()}
    wanted = await _pointed_to(store, new)
    if limit is not None and sum(new[oid] for oid in wanted) > limit:
        raise ImportRefused(
            "The agent's work cannot be taken over: its Git LFS files are larger than "
            f"{limit // 1024**2} MB. Raise workspace.importLimitMb, or have them smaller."
        )
    try:
        await asyncio.to_thread(_copy, holder, parts, target, {oid: new[oid] for oid in wanted})
    except OSError as error:
        raise GitError(f'Git LFS objects cannot be copied to "{target}": {error}.') from error


async def _project_storage(store: Place) -> Path:
    named = await git(store, "config", "--type=path", "lfs.storage", check=False)
    return store.git_dir / (named.line or STORAGE)


def _path(storage: Path, oid: str) -> Path:
    return storage / OBJECTS / oid[:2] / oid[2:4] / oid


async def _pointed_to(store: Place, sizes: Mapping[str, int]) -> list[str]:
    """Returns the objects whose pointer is a blob of the store."""
    if not sizes:
        return []
    algorithm = (await git(store, "rev-parse", "--show-object-format")).line
    pointers = [_blob(algorithm, oid, size) for oid, size in sizes.items()]
    # A partial clone would ask its remote for each blob that it lacks.
    asked = "".join(f"{pointer}\n" for pointer in pointers).encode()
    here = replace(store, foreign=True)
    told = await git(here, "cat-file", "--batch-check", input=asked, check=False)
    known = {line.split()[0] for line in told.line.splitlines() if " blob " in line}
    return [oid for oid, pointer in zip(sizes, pointers, strict=True) if pointer in known]


def _blob(algorithm: str, oid: str, size: int) -> str:
    text = POINTER.format(oid=oid, size=size).encode()
    return hashlib.new(algorithm, b"blob %d\0%b" % (len(text), text)).hexdigest()


@contextmanager
def _opened(holder: Path, parts: Sequence[str]) -> Generator[int]:
    """A descriptor of a folder that is reached without following a link below `holder`."""
    folder = os.open(holder, FOLDER_FLAGS)
    try:
        for part in parts:
            inner = os.open(part, FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _sizes(holder: Path, parts: Sequence[str]) -> dict[str, int]:
    """The objects of a storage, by name."""
    sizes: dict[str, int] = {}
    with suppress(OSError), _opened(holder, (*parts, OBJECTS)) as top:
        for seen, (_, folders, files, folder) in enumerate(os.fwalk(".", dir_fd=top)):
            folders[:] = sorted(name for name in folders if PREFIX.fullmatch(name))
            for name in files:
                if OID.fullmatch(name):
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        sizes[name] = found.st_size
            if seen > MOST_FOLDERS or len(sizes) > MOST_OBJECTS:
                raise ImportRefused("The agent made more Git LFS files than can be taken over.")
    return sizes


def _copy(holder: Path, parts: Sequence[str], target: Path, sizes: Mapping[str, int]) -> None:
    for oid, size in sizes.items():
        source = _open(holder, (*parts, OBJECTS, oid[:2], oid[2:4]), oid)
        if source is not None:
            with os.fdopen(source, "rb") as file:
                _copy_one(file, target, oid, size)


def _open(holder: Path, parts: Sequence[str], name: str) -> int | None:
    """A descriptor of a file of the agent's, or None where it is gone or is now a link."""
    try:
        with _opened(holder, parts) as folder:
            return os.open(name, FILE_FLAGS, dir_fd=folder)
    except OSError:
        return None


def _copy_one(file: BinaryIO, target: Path, oid: str, size: int) -> None:
    """The object appears whole or not at all, and only if its content has this hash."""
    scratch = target / "tmp" / f"agents-manager-{secrets.token_hex(8)}"
    scratch.parent.mkdir(parents=True, exist_ok=True)
    digest, left = hashlib.sha256(), size
    try:
        with scratch.open("xb") as copy:
            while left and (chunk := file.read(min(CHUNK, left))):
                digest.update(chunk)
                copy.write(chunk)
                left -= len(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        if digest.hexdigest() == oid:
            final = _path(target, oid)
            final.parent.mkdir(parents=True, exist_ok=True)
            scratch.rename(final)
    finally:
        scratch.unlink(missing_ok=True)
