"""Copies folders of a commit to a place outside of every workspace."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents_manager.scm.commits import checked
from agents_manager.scm.git import Place, git

MAX_FILES = 500
MAX_BYTES = 8 * 1024 * 1024
"""Of each folder."""
Entry = tuple[bytes, bytes, int, bytes]
"""The mode, blob, size and path of a file."""
REGULAR = (b"100644", b"100755")


async def copy_out(place: Place, sha: str, folders: Mapping[str, str], target: Path) -> list[str]:
    """Copies each folder of the commit to the target under its name, and returns the names of those
    that are not too large. Links and submodules are left out. What the target held is replaced."""
    await asyncio.to_thread(shutil.rmtree, target, ignore_errors=True)
    copied: list[str] = []
    for name, folder in folders.items():
        order = ("ls-tree", "-r", "-z", "-l", "--full-tree", checked(sha), "--", f"{folder}/")
        listed = [_entry(item) for item in (await git(place, *order)).items]
        files = [entry for entry in listed if entry[0] in REGULAR]
        if len(files) > MAX_FILES or sum(size for _, _, size, _ in files) > MAX_BYTES:
            continue
        blobs = b"".join(blob + b"\n" for _, blob, _, _ in files)
        held = (await git(place, "cat-file", "--batch", input=blobs)).stdout
        await asyncio.to_thread(_write, target / name, folder, files, held)
        copied.append(name)
    return copied


def _entry(item: bytes) -> Entry:
    """Reads a line of `ls-tree -l`."""
    facts, _, path = item.partition(b"\t")
    mode, _, blob, size = facts.split()
    return mode, blob, int(size) if size.isdigit() else 0, path


def _write(target: Path, folder: str, files: Sequence[Entry], held: bytes) -> None:
    """Writes the files from the answers of `cat-file --batch`, which are in the same order."""
    for mode, _, size, path in files:
        begin = held.index(b"\n") + 1
        content, held = held[begin : begin + size], held[begin + size + 1 :]
        place = target / os.fsdecode(path).removeprefix(f"{folder}/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o555 if mode == b"100755" else 0o444)
