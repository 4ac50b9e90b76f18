"""What differs between two commits, file by file. Paths come from git and go back to it as they
are, behind `--`: they are never options, patterns or text."""

from collections.abc import Iterator, Mapping

from agents_manager.domain.change import ChangedFile, FileChange, FileStatus, looks_generated
from agents_manager.scm.commits import DIFF_LIMIT, PLAIN, checked
from agents_manager.scm.git import Place, git

MAX_TEXT = 1024 * 1024
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
