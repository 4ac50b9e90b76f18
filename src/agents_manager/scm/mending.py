"""Puts right a checkout that a killed git left halfway between two commits: some files of the one,
some of the other, and an index that does not know. Whatever else is found is the user's, and stays
as it is."""

import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agents_manager.scm.git import Place, git

Entries = Mapping[bytes, bytes]
"""Lines of `ls-tree` by their path."""


async def mend(checkout: Place, old: str, new: str) -> None:
    """The caller knows that the files that differ between the commits stood as in the old one
    before git began. Afterwards the index fits them again, so that they can be moved either way."""
    changed = (await git(checkout, "diff-tree", "-r", "-z", "--name-only", old, new)).items
    before, after = await _entries(checkout, old, changed), await _entries(checkout, new, changed)
    with tempfile.TemporaryDirectory(prefix="agents-manager-") as scratch:
        was = replace(checkout, index=Path(scratch) / "old")
        differs = await _differing(was, before, changed)
        differs_now = await _differing(
            replace(checkout, index=Path(scratch) / "new"), after, changed
        )
        cut_off = [p for p in changed if p in differs and p in differs_now and _is_cut_off(was, p)]
        await _restore(was, before, cut_off)
    arrived = [path for path in changed if path not in differs_now]
    gone = b"0 " + b"0" * len(new) + b"\t"
    await _record(checkout, [after.get(path, gone + path) for path in arrived])
    # What was recorded counts as changed until git has read it.
    await git(checkout, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)


async def _entries(place: Place, commit: str, wanted: list[bytes]) -> Entries:
    listed = (await git(place, "ls-tree", "-r", "-z", "--full-tree", commit)).items
    paths = {*wanted}
    found = ((line.split(b"\t", 1)[1], line) for line in listed)
    return {path: line for path, line in found if path in paths}


async def _differing(place: Place, entries: Entries, paths: list[bytes]) -> set[bytes]:
    """The paths that do not lie on disk as the entries say, in an index of its own."""
    await _record(place, list(entries.values()))
    await git(place, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)
    unlike = await git(place, "diff-files", "-z", "--name-only", "--ignore-submodules=all")
    return {*unlike.items, *(p for p in paths if p not in entries and _exists(place, p))}


async def _record(place: Place, lines: list[bytes]) -> None:
    if lines:
        info = b"".join(line + b"\0" for line in lines)
        await git(place, "update-index", "-z", "--index-info", input=info)


async def _restore(place: Place, entries: Entries, paths: list[bytes]) -> None:
    for path in paths:
        with suppress(OSError):
            _on_disk(place, path).unlink()
    known = b"".join(path + b"\0" for path in paths if path in entries)
    await git(place, "checkout-index", "--force", "--quiet", "-z", "--stdin", input=known)


def _is_cut_off(place: Place, path: bytes) -> bool:
    """Git removes a file before it writes the new one."""
    try:
        found = _on_disk(place, path).lstat()
    except OSError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _exists(place: Place, path: bytes) -> bool:
    return os.path.lexists(_on_disk(place, path))


def _on_disk(place: Place, path: bytes) -> Path:
    assert place.work_tree
    return place.work_tree / os.fsdecode(path)
