"""Keeps what set-up commands installed, and copies it into other checkouts. An entry is complete or
absent: it is built under another name and renamed. Entries are copied, never linked: agents' code
writes into the copies."""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from agents_manager.checks import relocation
from agents_manager.checks.copies import CheckCopy, remove
from agents_manager.errors import ExternalError
from agents_manager.flow.ports import CachedSetup

ENTRIES, LOCKS, PARTIAL = "entries", "locks", ".partial"
MANIFEST = "entry.json"
DOWNLOADS = (".npm/_cacache", ".npm/_logs", ".cache/pip")
"""In the HOME of set-up: what was downloaded and is not needed once it is installed."""
LOOK_S = 0.1
DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an entry holds, beside its folders `tree` and `home`."""

    what: str
    """The set-up commands, for people."""
    tree: str
    home: str
    """The folders that set-up ran in."""
    roots: Sequence[str]
    """The paths in the tree that set-up created, without what lies below them."""
    texts: Mapping[str, Sequence[str]]
    links: Mapping[str, Sequence[str]]
    """The files and links to rewrite, by folder."""
    bytes: int
    binary: str | None
    """A file for which the entry cannot be copied elsewhere; the entry then has no folders."""


@dataclass(frozen=True, slots=True)
class Entry:
    path: Path
    manifest: Manifest

    def fits(self, tree: Path) -> bool:
        """Whether everything can be copied without replacing a file or following a link."""
        if self.manifest.binary is not None:
            return False
        return all(_is_free(tree, root) for root in self.manifest.roots)

    def restore(self, tree: Path, home: Path | None) -> None:
        """Copies the entry into a checkout that it fits, and into an empty HOME if there is one."""
        told = self.manifest
        for root in told.roots:
            _copy(self.path / "tree" / root, tree / root)
        moves = {Path(told.tree): tree}
        if home is not None:
            moves[Path(told.home)] = home
            for child in (self.path / "home").iterdir():
                _copy(child, home / child.name)
        for part, place in (("tree", tree), ("home", home)):
            if place is not None:
                relocation.rewrite(place, list(told.texts[part]), moves)
                relocation.relink(place, list(told.links[part]), moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """How much is kept; None for no limit."""

    bytes: int | None = None
    days: int | None = None


class SetupCache:
    def __init__(self, root: Path, limits: Callable[[], CacheLimits] = CacheLimits) -> None:
        self._root = root
        self._limits = limits

    @asynccontextmanager
    async def reading(self, key: str) -> AsyncGenerator[Entry | None]:
        """Provides the entry, which is not removed meanwhile; None if there is none."""
        async with self._locked(key, fcntl.LOCK_SH):
            entry = await asyncio.to_thread(self._entry, key)
            if entry is not None:
                os.utime(entry.path / MANIFEST)
            yield entry

    @asynccontextmanager
    async def making(self, key: str) -> AsyncGenerator[bool]:
        """Waits until no other process makes or reads the entry; provides whether it is still
        missing."""
        async with self._locked(key, fcntl.LOCK_EX):
            yield await asyncio.to_thread(self._entry, key) is None

    def store(self, key: str, origin: CheckCopy, tracked: frozenset[str], what: str) -> None:
        """Moves what set-up created in a check copy into a new entry. To be called while
        `making`."""
        folder = self._root / ENTRIES
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{PARTIAL}-{os.getpid()}-{uuid4().hex}"
        try:
            (partial / "tree").mkdir(parents=True)
            roots = sorted(_created(origin.tree, "", tracked))
            for root in roots:
                _move(origin.tree / root, partial / "tree" / root)
            for name in DOWNLOADS:
                remove(origin.home / name)
            _move(origin.home, partial / "home")
            manifest = _described(partial, origin, roots, what)
            if manifest.binary is not None:
                for part in ("tree", "home"):
                    remove(partial / part)
            (partial / MANIFEST).write_text(json.dumps(asdict(manifest)), encoding="utf-8")
            partial.rename(folder / key)
        finally:
            remove(partial)

    def entries(self) -> list[CachedSetup]:
        """Lists the entries, the least recently used first."""
        found: list[CachedSetup] = []
        for path in (self._root / ENTRIES).glob("[!.]*"):
            entry = self._entry(path.name)
            if entry is None:
                continue
            with suppress(FileNotFoundError):  # Another process has removed it.
                used = (path / MANIFEST).stat().st_mtime
                told = entry.manifest
                found.append(
                    CachedSetup(key=path.name, what=told.what, bytes=told.bytes, used=used)
                )
        return sorted(found, key=lambda one: one.used)

    def remove(self, key: str) -> bool:
        """Removes an entry unless it is in use."""
        with suppress(BlockingIOError), _Lock(self._lock_file(key), fcntl.LOCK_EX) as lock:
            lock.take()
            gone = self._root / ENTRIES / f"{PARTIAL}-{os.getpid()}-{uuid4().hex}"
            with suppress(FileNotFoundError):
                (self._root / ENTRIES / key).rename(gone)
            self._lock_file(key).unlink(missing_ok=True)
            remove(gone)
            return True
        return False

    def evict(self, but: str) -> None:
        """Removes what killed processes left, and entries beyond the limits except one."""
        for partial in (self._root / ENTRIES).glob(f"{PARTIAL}-*"):
            if not Path("/proc", partial.name.split("-")[1]).exists():
                remove(partial)
        for entry in self.excess():
            if entry.key != but:
                self.remove(entry.key)

    def excess(self) -> list[CachedSetup]:
        """Returns the entries beyond the limits, the least recently used first."""
        limits, entries = self._limits(), self.entries()
        oldest = time.time() - limits.days * DAY_S if limits.days is not None else 0
        total = sum(entry.bytes for entry in entries)
        found: list[CachedSetup] = []
        for entry in entries:
            if entry.used < oldest or (limits.bytes is not None and total > limits.bytes):
                found.append(entry)
                total -= entry.bytes
        return found

    def _entry(self, key: str) -> Entry | None:
        path = self._root / ENTRIES / key
        try:
            told = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
            return Entry(path, Manifest(**told))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError):  # Of another version of this program.
            remove(path)
            return None

    def _lock_file(self, key: str) -> Path:
        return self._root / LOCKS / f"{key}.lock"

    @asynccontextmanager
    async def _locked(self, key: str, how: int) -> AsyncGenerator[None]:
        with _Lock(self._lock_file(key), how) as lock:
            while True:
                try:
                    lock.take()
                    break
                except BlockingIOError:
                    await asyncio.sleep(LOOK_S)
            yield


class _Lock:
    """A lock on a file that its last holder may remove."""

    def __init__(self, path: Path, how: int) -> None:
        self._path = path
        self._how = how
        self._fd = -1

    def __enter__(self) -> "_Lock":
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def take(self) -> None:
        """Raises BlockingIOError while others hold it."""
        while True:
            self._close()
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, self._how | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.fstat(self._fd).st_ino == self._path.stat().st_ino:
                    return

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _described(partial: Path, origin: CheckCopy, roots: list[str], what: str) -> Manifest:
    parts = {name: relocation.find(partial / name, [origin.tree, origin.home]) for name in PARTS}
    for name, found in parts.items():
        for compiled in found.compiled:
            (partial / name / compiled).unlink()
    return Manifest(
        what=what,
        tree=str(origin.tree),
        home=str(origin.home),
        roots=roots,
        texts={name: found.texts for name, found in parts.items()},
        links={name: found.links for name, found in parts.items()},
        bytes=sum(found.bytes for found in parts.values()),
        binary=next((found.binary for found in parts.values() if found.binary), None),
    )


PARTS = ("tree", "home")


def _created(tree: Path, below: str, tracked: frozenset[str]) -> Iterator[str]:
    """The paths that are neither tracked nor folders of tracked files."""
    with os.scandir(tree / below) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if f"{name}/" in tracked and entry.is_dir(follow_symlinks=False):
                yield from _created(tree, f"{name}/", tracked)
            elif name not in tracked and f"{name}/" not in tracked:
                yield name


def tracked_paths(tree: Path) -> frozenset[str]:
    """Returns what is in a fresh checkout: files, and folders with a slash at their end."""
    found: set[str] = set()
    for folder, folders, names in os.walk(tree):
        below = Path(folder).relative_to(tree)
        links = {name for name in folders if Path(folder, name).is_symlink()}
        found.update(str(below / name) for name in (*names, *links))
        found.update(f"{below / name}/" for name in folders if name not in links)
    return frozenset(found)


def _is_free(tree: Path, root: str) -> bool:
    """Whether a path is missing in a checkout and its folder is there and is no link."""
    folder = tree
    for part in Path(root).parts[:-1]:
        folder /= part
        if folder.is_symlink() or not folder.is_dir():
            return False
    return not os.path.lexists(tree / root)


def _move(source: Path, target: Path) -> None:
    """Renames, also a folder that is read-only, which its owner cannot move otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = source.lstat().st_mode
    locked = source.is_dir() and not source.is_symlink() and not mode & 0o200
    if locked:
        source.chmod(mode | 0o200)
    source.rename(target)
    if locked:
        target.chmod(mode)


def _copy(source: Path, target: Path) -> None:
    """Copies with modes and times; by reference where the file system can."""
    program = shutil.which("cp") or "/bin/cp"
    how = ["-a", "--reflink=auto"] if os.uname().sysname == "Linux" else ["-Rpc"]
    done = subprocess.run(
        [program, *how, "--", str(source), str(target)], capture_output=True, check=False
    )
    if done.returncode:
        raise ExternalError(
            f'Files that set-up installed cannot be copied to "{target}":'
            f" {done.stderr.decode(errors='replace').strip()[-500:]}"
        )
