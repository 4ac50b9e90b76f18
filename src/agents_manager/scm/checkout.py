"""The first checkout of a clone, before any agent or any program of the repository was there."""

import asyncio
import hashlib
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from agents_manager.scm.git import Place

OWN_ATTRIBUTES = ("core.attributesFile=/dev/null",)
"""The user's own attributes are in their home, which the sandbox does not see either."""
OLDER_S = 2
HEAD, ENTRY = struct.Struct(">4sII"), struct.Struct(">10I")
SIGNATURE, VERSIONS = b"DIRC", (2, 3)
Digest = Callable[..., Any]
DIGESTS: tuple[Digest, ...] = (partial(hashlib.sha1, usedforsecurity=False), hashlib.sha256)
MODE, FLAGS, PATH = 24, 60, 62
"""Where these begin in an entry, without the names of longer hashes."""
EXTENDED, STAGE, LENGTH = 0x4000, 0x3000, 0xFFF
SHORT_HASH = 20
KIND, SUBMODULE = 0xF000, 0xE000
WORD = 0xFFFFFFFF


def outside(desk: Place) -> Place:
    """The place of a checkout that runs no program of the repository, and so needs no sandbox."""
    return replace(desk, box=None, settings=(*desk.settings, *OWN_ATTRIBUTES))


async def age(desk: Place, owner: int | None) -> None:
    """Makes the files of a checkout that has just been written older than its index. Git reads each
    file again that is not, and `git add` writes it again as an object, because the objects that the
    clone borrows cannot be written. In a large repository that took an agent some seconds. `owner`
    is the user to whom the files belong in the sandbox; None if it is the same."""
    assert desk.work_tree
    with suppress(OSError, ValueError, struct.error):  # Then git takes the time.
        await asyncio.to_thread(_age, desk.git_dir / "index", desk.work_tree, owner)


class _Entry(NamedTuple):
    at: int
    path: bytes


def _age(index: Path, tree: Path, owner: int | None) -> None:
    data = bytearray(index.read_bytes())
    signature, version, count = HEAD.unpack_from(data)
    digest = next((one for one in DIGESTS if _fits(data, one)), None)
    if signature != SIGNATURE or version not in VERSIONS or digest is None:
        return
    hash_size = digest().digest_size
    past = (int(time.time()) - OLDER_S) * 10**9
    top = os.fsencode(tree) + b"/"
    for entry in list(_entries(data, count, hash_size)):
        file = top + entry.path
        os.utime(file, ns=(past, past), follow_symlinks=False)
        found = os.lstat(file)
        mode = int.from_bytes(data[entry.at + MODE : entry.at + MODE + 4])
        times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
        user, group = (found.st_uid, found.st_gid) if owner is None else (owner, owner)
        place = found.st_dev & WORD, found.st_ino & WORD
        ENTRY.pack_into(data, entry.at, *times, *place, mode, user, group, found.st_size & WORD)
    data[-hash_size:] = digest(data[:-hash_size]).digest()
    new = index.with_name("index.aged")
    new.write_bytes(data)
    new.replace(index)


def _fits(data: bytearray, digest: Digest) -> bool:
    """Whether the index ends with such a hash of its content."""
    size = digest().digest_size
    return digest(data[:-size]).digest() == bytes(data[-size:])


def _entries(data: bytearray, count: int, hash_size: int) -> Iterator[_Entry]:
    """Yields the entries whose files are on disk."""
    at = HEAD.size
    flags_at, path_at = FLAGS + hash_size - SHORT_HASH, PATH + hash_size - SHORT_HASH
    for _ in range(count):
        mode, flags = (
            int.from_bytes(data[at + MODE : at + MODE + 4]),
            int.from_bytes(data[at + flags_at : at + flags_at + 2]),
        )
        begin = at + path_at + (2 if flags & EXTENDED else 0)
        end = data.index(b"\0", begin + (flags & LENGTH) if flags & LENGTH < LENGTH else begin)
        # An extended entry may be one that is not checked out, or not added yet.
        if not flags & (STAGE | EXTENDED) and mode & KIND != SUBMODULE:
            yield _Entry(at, bytes(data[begin:end]))
        at += (end - at) // 8 * 8 + 8
