"""Ignored files of the main checkout, such as `.env`, that workspaces and check copies get. Only
regular files that git ignores are copied. The tree they are copied into may have been written by an
agent, so that no link in it is followed."""

import asyncio
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from agents_manager.flow.ports import IncludedFiles
from agents_manager.scm import trees
from agents_manager.scm.git import git

MANIFEST = "agents-manager-files"
"""In the state folder of a workspace: the digest of each file as it was copied."""
MOST_FILES = 1_000
MOST_BYTES = 10 * 1024 * 1024
MOST_BYTES_TOGETHER = 100 * 1024 * 1024
MOST_MANIFEST = 1024 * 1024


async def find(repo: Path, patterns: Sequence[str]) -> IncludedFiles:
    """Find the ignored files of a checkout that match patterns in gitignore syntax."""
    if not patterns:
        return IncludedFiles(repo=repo)
    with tempfile.NamedTemporaryFile("w", prefix="agents-manager-", encoding="utf-8") as file:
        file.write("".join(f"{pattern}\n" for pattern in patterns))
        file.flush()
        asked = ("ls-files", "-z", "--ignored", f"--exclude-from={file.name}")
        untracked = (await git(repo, *asked, "--others")).items
        tracked = (await git(repo, *asked, "--cached")).items
    some = untracked[:MOST_FILES]
    standard = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--")
    ignored = frozenset((await git(repo, *standard, *some)).items if some else ())
    refused = [f"{os.fsdecode(path)} is tracked" for path in tracked]
    refused += [f"{os.fsdecode(path)} is not ignored" for path in some if path not in ignored]
    if len(untracked) > MOST_FILES:
        refused.append(f"{len(untracked) - MOST_FILES} files beyond the first {MOST_FILES}")
    wanted = [os.fsdecode(path) for path in untracked if path in ignored]
    return await asyncio.to_thread(_bounded, repo, wanted, refused)


def _bounded(repo: Path, wanted: Sequence[str], refused: list[str]) -> IncludedFiles:
    paths: list[str] = []
    left = MOST_BYTES_TOGETHER
    for path in wanted:
        found = (repo / path).lstat() if os.path.lexists(repo / path) else None
        if found is None or not stat.S_ISREG(found.st_mode):
            refused.append(f"{path} is not a regular file")
        elif found.st_size > MOST_BYTES:
            refused.append(f"{path} is larger than {MOST_BYTES // 1024**2} MB")
        elif found.st_size > left:
            most = MOST_BYTES_TOGETHER // 1024**2
            refused.append(f"{path} is beyond {most} MB of copied files")
        else:
            paths.append(path)
            left -= found.st_size
    return IncludedFiles(repo=repo, paths=tuple(paths), refused=tuple(refused))


def place(files: IncludedFiles, tree: Path, state: Path | None = None) -> tuple[str, ...]:
    """Copy the files into a tree; return the paths that were written. With the state folder of a
    workspace, a file that was copied before follows its source unless it was changed since. A file
    that is there for another reason stays."""
    manifest = _manifest(state) if state else {}
    written: list[str] = []
    for path in files.paths:
        content = _content(files.repo / path)
        if content is None:
            continue
        digest = hashlib.sha256(content[0]).hexdigest()
        with suppress(OSError), _folder_of(tree, path) as folder:
            name = path.rpartition("/")[2]
            there = _digest(name, folder)
            if there is None or (there == manifest.get(path) and there != digest):
                _write(name, folder, *content)
                written.append(path)
                manifest[path] = digest
    if state and written:
        trees.write(state / MANIFEST, json.dumps(manifest))
    return tuple(written)


def placed(state: Path) -> tuple[str, ...]:
    """The files that were copied into a workspace."""
    return tuple(_manifest(state))


def _manifest(state: Path) -> dict[str, str]:
    try:
        read: Any = json.loads(trees.read(state / MANIFEST, MOST_MANIFEST) or "{}")
    except ValueError:
        return {}
    if not isinstance(read, dict):
        return {}
    said = cast("Mapping[object, object]", read)
    return {str(path): str(digest) for path, digest in said.items()}


def _content(source: Path) -> tuple[bytes, int] | None:
    """The content and the permissions, or None for what is no regular file by now."""
    try:
        fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return None
        return file.read(MOST_BYTES), stat.S_IMODE(found.st_mode) & 0o700


@contextmanager
def _folder_of(tree: Path, path: str) -> Generator[int]:
    """A descriptor of the folder of a path, made where it is lacking; OSError where a link or a
    file is in its place."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(tree, flags)
    try:
        for part in path.split("/")[:-1]:
            if part in ("", ".", "..", ".git"):
                raise OSError(errno.EINVAL, "not a folder of the tree", path)
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
            inner = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _digest(name: str, folder: int) -> str | None:
    """None where there is nothing; empty for what is no regular file or too large."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return ""
        return hashlib.sha256(file.read(MOST_BYTES)).hexdigest()


def _write(name: str, folder: int, content: bytes, mode: int) -> None:
    """Whole or not at all."""
    new = f".agents-manager-{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(new, flags, mode | 0o600, dir_fd=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(new, dir_fd=folder)
        raise
