"""Git processes that others run in a repository: people, their tools, and agents that went on. A
lock that one of them holds must not be removed, and their folder must not be reset. What cannot be
determined counts as held."""

import asyncio
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import names
from agents_manager.errors import WorkspaceBusy

PROC = Path("/proc")
OURS = ("-c", "core.hooksPath=/dev/null")
"""How the arguments of our own gits begin. Where this module is asked, the repository's own lock
keeps ours away."""
WAIT_S = 20.0
"""How long to wait for a git of others before it is reported."""
POLL_S = 0.2
WITH_VALUE = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)
READING = frozenset(
    {
        *("annotate", "archive", "blame", "cat-file", "count-objects", "credential", "daemon"),
        *("describe", "diff", "diff-files", "diff-index", "diff-tree", "difftool", "for-each-ref"),
        *("fsmonitor--daemon", "grep", "help", "log", "ls-files", "ls-remote", "ls-tree"),
        *("merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show"),
        *("show-branch", "show-ref", "status", "var", "verify-commit", "whatchanged"),
    }
)
"""Commands that keep no lock while they run; people leave some of them open in a pager."""
WRITING = frozenset(
    {
        *("add", "am", "apply", "bisect", "checkout", "cherry-pick", "citool", "clean", "commit"),
        *("filter-branch", "merge", "mv", "pull", "read-tree", "rebase", "reset", "restore"),
        *("revert", "rm", "stash", "submodule", "switch", "update-index"),
    }
)
"""Commands that change a work tree or its index. `git commit` holds no lock while its editor is
open, but continues with the index it finds then."""


@dataclass(frozen=True, slots=True)
class Git:
    """A git process of somebody else."""

    pid: int
    words: tuple[str, ...]
    cwd: Path | None
    """None if it cannot be read."""

    @property
    def verb(self) -> str:
        words = iter(self.words[1:])
        for word in words:
            if word in WITH_VALUE:
                next(words, None)
            elif not word.startswith("-"):
                return word
        return ""

    def __str__(self) -> str:
        return f'"{names.one_line(" ".join(self.words))[:80]}" (process {self.pid})'

    def works_in(self, folders: Collection[Path]) -> bool:
        return self.cwd is None or any(self.cwd.is_relative_to(folder) for folder in folders)


async def wait_until_free(work_tree: Path, git_dir: Path) -> None:
    """Return when no git of others works in a work tree or holds a lock of it; raise WorkspaceBusy
    if one still does after `WAIT_S`."""
    loop = asyncio.get_running_loop()
    last = loop.time() + WAIT_S
    while (reason := await asyncio.to_thread(at_work, work_tree, git_dir)) is not None:
        if loop.time() >= last:
            raise WorkspaceBusy(reason)
        await asyncio.sleep(POLL_S)


async def check_free(work_tree: Path, git_dir: Path) -> None:
    """Raise WorkspaceBusy if a git of others works in a work tree or holds a lock of it."""
    if reason := await asyncio.to_thread(at_work, work_tree, git_dir):
        raise WorkspaceBusy(reason)


def at_work(work_tree: Path, git_dir: Path) -> str | None:
    """Return what a git of others does in a work tree, or None."""
    folders = _real((work_tree, git_dir))
    for git in _gits():
        if git.cwd is not None and git.verb in WRITING and git.works_in(folders):
            return f'{git} is at work in "{work_tree}". Finish or abort it there, then try again.'
    held = (holder(lock, (work_tree, git_dir)) for lock in sorted(git_dir.glob("*.lock")))
    return next((reason for reason in held if reason is not None), None)


def holder(lock: Path, folders: Iterable[Path]) -> str | None:
    """Return why a lock file must not be removed: a living process holds it, or may do. None if
    every git that could have made it is gone. `folders` are where such a git works."""
    try:
        owner = lock.lstat().st_uid
    except OSError:
        return None
    advice = f'Finish or abort it, then try again. If no git works there: rm "{lock}"'
    if pid := _opener(lock):
        return f'"{lock}" is held by process {pid}. {advice}'
    if not _sees_all_of(owner):
        return f'"{lock}" may belong to a git of another user, which cannot be seen. {advice}'
    where = _real(folders)
    for git in _gits(owner):
        if git.verb not in READING and git.works_in(where):
            unsure = "is held by" if git.cwd is not None else "may be held by"
            return f'"{lock}" {unsure} {git}. {advice}'
    return None


def _real(folders: Iterable[Path]) -> list[Path]:
    return [folder.resolve() for folder in folders]


def _sees_all_of(owner: int) -> bool:
    """Whether all processes of a user are listed: /proc may hide those of other users."""
    if owner == os.geteuid() or not PROC.is_dir():
        return True
    return (PROC / "1").exists()


def _gits(owner: int | None = None) -> Iterator[Git]:
    """Yield the running gits of others, of one user if given."""
    if not (PROC / "self").exists():
        yield from _listed()
        return
    for entry in _named(b"git"):
        with suppress(OSError):  # It ended meanwhile.
            if owner is not None and entry.stat().st_uid != owner:
                continue
            words = (entry / "cmdline").read_bytes().split(b"\0")[:-1]
            if not words:  # It has ended, and its parent has not asked for its status yet.
                continue
            told = tuple(os.fsdecode(word) for word in words)
            if told[1:3] != OURS:
                yield Git(int(entry.name), told, _cwd(entry))


def _listed() -> Iterator[Git]:
    """Yield the running gits where there is no /proc: where they work is not told there."""
    asked = subprocess.run(
        ["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True, check=False
    )
    for line in asked.stdout.splitlines():
        pid, *words = line.split()
        if words and Path(words[0]).name.startswith("git") and tuple(words[1:3]) != OURS:
            yield Git(int(pid), tuple(words), None)


def _named(beginning: bytes) -> Iterator[Path]:
    """Yield the processes whose program's name begins so. There may be hundreds of others, so each
    is looked at by as few calls as possible."""
    for name in os.listdir(PROC):  # noqa: PTH208
        if name.isdecimal():
            with suppress(OSError):
                descriptor = os.open(f"{PROC}/{name}/comm", os.O_RDONLY)
                try:
                    found = os.read(descriptor, len(beginning))
                finally:
                    os.close(descriptor)
                if found == beginning:
                    yield PROC / name


def _processes() -> Iterator[Path]:
    return (entry for entry in PROC.iterdir() if entry.name.isdecimal())


def _cwd(entry: Path) -> Path | None:
    try:
        return Path(str((entry / "cwd").readlink()).removesuffix(" (deleted)"))
    except PermissionError:
        return None


def _opener(lock: Path) -> int | None:
    """Return a process that has a file open, as far as those of others can be looked at."""
    real = str(lock.resolve())
    for entry in _processes() if PROC.is_dir() else ():
        with suppress(OSError):
            for descriptor in (entry / "fd").iterdir():
                with suppress(OSError):
                    if str(descriptor.readlink()) == real:
                        return int(entry.name)
    return None
