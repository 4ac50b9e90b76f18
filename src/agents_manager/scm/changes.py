"""What differs between two commits, file by file. Paths come from git and go back to it as they
are, behind `--`: they are never options, patterns or text."""

import os
import re
from collections.abc import Collection, Iterator, Mapping

from agents_manager.domain.change import ChangedFile, FileChange, FileStatus, looks_generated
from agents_manager.domain.lines import Became, hunks
from agents_manager.scm.commits import DIFF_LIMIT, PLAIN, checked
from agents_manager.scm.git import Place, commit_of, git

MAX_TEXT = 1024 * 1024
MAX_TEXTS = 32 * 1024 * 1024
BINARY_LOOK = 8000
"""Git looks for NUL in so many bytes."""
SUBMODULE = b"160000"
NO_FILE = b"000000"

_STATUSES: Mapping[str, FileStatus] = {
    "A": FileStatus.ADDED,
    "M": FileStatus.MODIFIED,
    "D": FileStatus.DELETED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.RETYPED,
}
Lines = tuple[int | None, int | None]


async def files(place: Place, base_sha: str, head_sha: str) -> list[ChangedFile]:
    """One call, however many there are: what each is, then how many lines of it differ."""
    ends = checked(base_sha), checked(head_sha)
    listed = await git(place, "diff-tree", "-z", "--raw", "--numstat", "--no-abbrev", *PLAIN, *ends)
    kinds: list[tuple[bytes, list[bytes]]] = []
    numbers: dict[bytes, Lines] = {}
    entries = iter(listed.items)
    for entry in entries:
        if entry.startswith(b":"):
            kinds.append((entry, _paths(entry, entries)))
            continue
        added, deleted, path = entry.split(b"\t", 2)
        if not path:
            # A rename: its two names are entries of their own.
            next(entries)
            path = next(entries)
        numbers[path] = _number(added), _number(deleted)
    return [_file(entry, names, numbers) for entry, names in kinds]


def _paths(entry: bytes, following: Iterator[bytes]) -> list[bytes]:
    renamed = entry.rsplit(b" ", 1)[1][:1] in b"RC"
    return [next(following) for _ in range(2 if renamed else 1)]


def _number(count: bytes) -> int | None:
    return None if count == b"-" else int(count)


def _file(entry: bytes, names: list[bytes], numbers: Mapping[bytes, Lines]) -> ChangedFile:
    old_mode, new_mode, old_blob, new_blob, kind = entry[1:].split(b" ")
    additions, deletions = numbers.get(names[-1], (None, None))
    path = _shown(names[-1])
    return ChangedFile(
        path=path,
        old_path=_shown(names[0]) if len(names) > 1 else None,
        status=_STATUSES[kind.decode()[:1]],
        additions=additions,
        deletions=deletions,
        generated=looks_generated(path),
        old_blob=_blob(old_mode, old_blob),
        new_blob=_blob(new_mode, new_blob),
        names=tuple(names),
    )


def _blob(mode: bytes, name: bytes) -> str | None:
    return None if mode in (NO_FILE, SUBMODULE) else name.decode()


def _shown(path: bytes) -> str:
    return path.decode(errors="replace")


async def file(place: Place, base_sha: str, head_sha: str, file: ChangedFile) -> FileChange:
    ends = checked(base_sha), checked(head_sha)
    patch = await git(place, "diff-tree", "-p", *PLAIN, *ends, "--", *file.names, limit=DIFF_LIMIT)
    return FileChange(
        file=file,
        diff=patch.stdout.decode(errors="replace"),
        cut=patch.cut,
        old_text=await _text(place, file.old_blob),
        new_text=await _text(place, file.new_blob),
    )


async def _text(place: Place, blob: str | None) -> str | None:
    if blob is None:
        return None
    held = await git(place, "cat-file", "blob", checked(blob), limit=MAX_TEXT + 1)
    if held.cut or len(held.stdout) > MAX_TEXT or b"\0" in held.stdout[:BINARY_LOOK]:
        return None
    return held.stdout.decode(errors="replace")


async def became(
    place: Place, old_sha: str, new_sha: str, paths: Collection[str]
) -> dict[str, Became] | None:
    for sha in (old_sha, new_sha):
        if await commit_of(place, checked(sha)) is None:
            return None
    changed = {file.old_path or file.path: file for file in await files(place, old_sha, new_sha)}
    return {
        path: await _became(place, old_sha, new_sha, changed[path])
        for path in paths
        if path in changed
    }


async def _became(place: Place, old_sha: str, new_sha: str, file: ChangedFile) -> Became:
    if file.status is FileStatus.DELETED:
        return Became(None, ())
    if file.binary:
        return Became(file.path, None)
    patch = await git(
        place,
        *("diff-tree", "-p", "--unified=0", *PLAIN, old_sha, new_sha, "--", *file.names),
        limit=DIFF_LIMIT,
    )
    return Became(file.path, None if patch.cut else hunks(patch.stdout.decode(errors="replace")))


async def paths(place: Place, sha: str, pattern: str) -> list[str]:
    """Returns the paths of a commit's files that match a regular expression as a whole."""
    listed = await git(place, "ls-tree", "-r", "-z", "--name-only", "--full-tree", checked(sha))
    names = (os.fsdecode(name) for name in listed.items)
    fits = re.compile(pattern).fullmatch
    return [name for name in names if fits(name)]


async def texts(place: Place, sha: str, paths: Collection[str]) -> dict[str, str]:
    """Returns the text files of a commit among the paths, by one git that gets a path a line."""
    asked = [path for path in paths if "\n" not in path]
    names = "".join(f"{checked(sha)}:{path}\n" for path in asked)
    order = ("cat-file", "--batch", "--follow-symlinks")
    listed = await git(place, *order, input=os.fsencode(names), limit=MAX_TEXTS)
    found: dict[str, str] = {}
    rest = listed.stdout
    for path in asked:
        head, _, rest = rest.partition(b"\n")
        _, _, size = head.rpartition(b" ")
        if not size.isdigit():  # It is not there.
            continue
        held, rest = rest[: int(size)], rest[int(size) + 1 :]
        if b" blob " in head and b"\0" not in held[:BINARY_LOOK]:
            found[path] = held.decode(errors="replace")
    return found
