"""Reads files of a commit from the repository, whatever is checked out."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents_manager.errors import GitError
from agents_manager.scm.commits import checked
from agents_manager.scm.git import Place, common_dir, git

LINK, SUBMODULE = "120000", "160000"
MAX_LISTING = 64 * 1024 * 1024
MAX_CONTENTS = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Committed:
    """The paths of a commit, and the contents of some of its files."""

    paths: frozenset[str]
    contents: Mapping[str, bytes]
    links: Mapping[str, str]
    """Where symbolic links lead to, by their path."""


async def read(
    repo: Path, sha: str, wanted: Callable[[Iterable[str]], Iterable[str]], max_file_bytes: int
) -> Committed:
    """Lists the files of a commit, and reads those that are wanted unless they are too large."""
    place = Place(git_dir=await common_dir(repo))
    asked = ("ls-tree", "-r", "-z", "--long", "--full-tree", checked(sha))
    listed = await git(place, *asked, limit=MAX_LISTING)
    if listed.cut:
        raise GitError(f'The commit {sha[:8]} of "{repo}" has too many files to be listed.')
    blobs: dict[str, tuple[str, str, int]] = {}
    for item in listed.items:
        described, _, path = item.partition(b"\t")
        mode, _, blob, size = described.decode().split()
        if mode != SUBMODULE:
            blobs[os.fsdecode(path)] = mode, blob, int(size)
    links = [path for path, (mode, _, _) in blobs.items() if mode == LINK]
    named = set(wanted(blobs)) & set(blobs)
    # A wanted file may be a link to one that is not named like it.
    small = [p for p in sorted({*named, *links[:1000]}) if blobs[p][2] <= max_file_bytes]
    texts = await _contents(place, {path: blobs[path][1] for path in small})
    led = {path: os.fsdecode(texts.pop(path)) for path in links if path in texts}
    return Committed(frozenset(blobs), texts, led)


async def _contents(place: Place, blobs: Mapping[str, str]) -> dict[str, bytes]:
    """Returns the contents by path; files beyond the limit for all together are left out."""
    if not blobs:
        return {}
    asked = "\n".join(blobs.values()) + "\n"
    output = await git(place, "cat-file", "--batch", input=asked.encode(), limit=MAX_CONTENTS)
    contents: dict[str, bytes] = {}
    rest = memoryview(output.stdout)
    for path in blobs:
        header, newline, _ = bytes(rest[:200]).partition(b"\n")
        size = (
            int(header.rsplit(b" ", 1)[-1]) if newline and not header.endswith(b"missing") else -1
        )
        start = len(header) + 1
        if size < 0 or len(rest) < start + size:
            break
        contents[path] = bytes(rest[start : start + size])
        rest = rest[start + size + 1 :]
    return contents
