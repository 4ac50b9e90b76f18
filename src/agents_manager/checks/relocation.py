"""Finds the files that contain the path of the folder they were made in, such as the scripts of a
virtual environment, and rewrites them for another folder."""

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

COMPILED = ".pyc"
"""Compiled Python contains the path of its source and is compiled again when it is missing."""


@dataclass(slots=True)
class References:
    """The files below a folder that contain a path of interest, relative to that folder."""

    texts: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    compiled: list[str] = field(default_factory=list[str])
    binary: str | None = None
    """A file that contains the path and cannot be rewritten; None if there is none."""
    files: int = 0
    bytes: int = 0


def find(folder: Path, origins: list[Path]) -> References:
    """Searches all files and symbolic links below a folder for paths of the origins."""
    found = References()
    needles = [form for origin in origins for form in _forms(origin)]
    for path, entry in _files(folder):
        name = str(path.relative_to(folder))
        found.files += 1
        if entry.is_symlink():
            if any(needle in os.fsencode(path.readlink()) for needle in needles):
                found.links.append(name)
            continue
        found.bytes += entry.stat(follow_symlinks=False).st_size
        kind = _kind(path, needles) if entry.is_file(follow_symlinks=False) else None
        if kind == "text":
            found.texts.append(name)
        elif kind == "binary" and name.endswith(COMPILED):
            found.compiled.append(name)
        elif kind == "binary" and found.binary is None:
            found.binary = name
    return found


def rewrite(folder: Path, names: list[str], moves: Mapping[Path, Path]) -> None:
    """Replaces the origins by their new places in text files; modes and times stay."""
    pairs = _pairs(moves)
    for name in names:
        path = folder / name
        before, content = path.stat(), path.read_bytes()
        for old, new in pairs:
            content = content.replace(old, new)
        with _writable(path, before.st_mode):
            path.write_bytes(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def relink(folder: Path, names: list[str], moves: Mapping[Path, Path]) -> None:
    """Replaces the origins by their new places in the targets of symbolic links."""
    pairs = _pairs(moves)
    for name in names:
        path = folder / name
        target = os.fsencode(path.readlink())
        for old, new in pairs:
            target = target.replace(old, new)
        path.unlink()
        path.symlink_to(os.fsdecode(target))


class _writable:
    """Makes a read-only file writable for a moment."""

    def __init__(self, path: Path, mode: int) -> None:
        self._path = path
        self._mode = mode & 0o7777

    def __enter__(self) -> None:
        self._path.chmod(self._mode | 0o200)

    def __exit__(self, *_: object) -> None:
        self._path.chmod(self._mode)


def _pairs(moves: Mapping[Path, Path]) -> list[tuple[bytes, bytes]]:
    return [
        pair
        for old, new in moves.items()
        for pair in zip(_all_forms(old), _all_forms(new), strict=True)
    ]


def _all_forms(path: Path) -> tuple[bytes, bytes, bytes]:
    """A path as programs write it: as it is, in a URL, and in JSON."""
    text = str(path)
    return os.fsencode(text), quote(text).encode(), json.dumps(text)[1:-1].encode()


def _forms(path: Path) -> list[bytes]:
    return list(dict.fromkeys(_all_forms(path)))


def _files(folder: Path) -> Iterator[tuple[Path, "os.DirEntry[str]"]]:
    """Everything below a folder that is not a folder itself."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                yield Path(entry.path), entry


def _kind(path: Path, needles: list[bytes]) -> str | None:
    """Whether a file contains one of the needles: "text" if it can be rewritten."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if all(content.find(needle) < 0 for needle in needles):
                return None
            return "text" if content.find(b"\0") < 0 else "binary"
