"""Work that no commit holds: finding it, staging it, and saving it under
`refs/agents-manager/snapshots/<key>/<n>` before anything is reset or removed. Repositories an agent
made inside its tree are never entered: `git add` there would run what their configuration says."""

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.scm.git import Place, commit_of, git, signed

SNAPSHOTS = "refs/agents-manager/snapshots"
STAGING = ("--add", "--remove", "--replace")

# What git refuses to store because some file system would take it for `.git`.
UNSTORABLE = re.compile(rb"(?i)(?:^|/)(?:\.git|git~1)[ .]*(?:[\\:][^/]*)?(?:/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """What differs from the index, submodules left out."""

    present: tuple[bytes, ...]
    gone: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    """Repositories inside the tree."""

    def __bool__(self) -> bool:
        return bool(self.present or self.gone)


async def clean(place: Place) -> bool:
    """Whether there is surely nothing to save: one question, where finding out what takes four."""
    seen = ("--porcelain", "-z", "--no-renames", "--untracked-files=normal")
    # Not "all", which would pass over a repository that was staged; neither enters one.
    asked = await git(place, "status", *seen, "--ignore-submodules=dirty", check=False)
    return asked.code == 0 and not asked.stdout


async def loose(place: Place) -> Loose:
    """Changed, deleted and untracked files that are not ignored."""
    await git(place, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)
    changed = await git(place, "diff-files", "-z", "--name-status", "--ignore-submodules=all")
    untracked = await git(place, "ls-files", "-z", "--others", "--exclude-standard")
    marks = list(zip(changed.items[::2], changed.items[1::2], strict=True))
    new = [path for path in untracked.items if not UNSTORABLE.search(path)]
    return Loose(
        present=(
            *(path for mark, path in marks if mark != b"D"),
            *(path for path in new if not path.endswith(b"/")),
        ),
        gone=tuple(path for mark, path in marks if mark == b"D"),
        nested=tuple(path for path in new if path.endswith(b"/")),
    )


async def stage(place: Place, found: Loose) -> None:
    """Brings the index to the files on disk. Not by `git add`, which looks into submodules."""
    await _update(place, ("--force-remove",), found.gone)
    await _update(place, STAGING, found.present)


async def _update(place: Place, flags: Iterable[str], paths: Iterable[bytes]) -> None:
    names = b"".join(path + b"\0" for path in paths)
    if names:
        await git(place, "update-index", *flags, "-z", "--stdin", input=names)


async def staged(place: Place) -> bool:
    asked = await git(place, "diff-index", "--cached", "--quiet", "HEAD", "--", check=False)
    return asked.code != 0


async def reveal(place: Place) -> None:
    """Clears the marks by which a changed file is hidden from git, and would outlive a reset."""
    listed = (await git(place, "ls-files", "-v", "-z")).items
    assumed = [entry[2:] for entry in listed if entry[:1].islower()]
    skipped = [entry[2:] for entry in listed if entry[:1].upper() == b"S"]
    if skipped:
        sparse = await git(place, "config", "--type=bool", "core.sparseCheckout", check=False)
        skipped = [] if sparse.line == "true" else skipped
    for flag, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        await _update(place, (flag,), paths)


@dataclass(frozen=True, slots=True)
class Saved:
    found: Loose
    ref: str | None
    """The new snapshot; None where there was nothing that is not kept already."""

    @property
    def events(self) -> tuple[Event, ...]:
        if self.ref is None:
            return ()
        files = len(self.found.present) + len(self.found.gone)
        number = int(self.ref.rpartition("/")[2])
        return (event.SnapshotSaved(number=number, ref=self.ref, files=files),)


async def save(
    common: Path, work_tree: Path, key: str, head: str | None, index: Path | None
) -> Saved:
    """Saves what a work tree holds beyond the commit `head`, and tells what it found. The tree's
    own index is only asked for forced files: it may be broken, or hide others."""
    with tempfile.TemporaryDirectory(prefix="agents-manager-") as scratch:
        place = Place(git_dir=common, work_tree=work_tree, index=Path(scratch) / "index")
        await git(place, "read-tree", head or "--empty")
        found = await loose(place)
        await stage(place, found)
        if index:
            await _update(place, STAGING, await _forced(replace(place, index=index)))
        written = (await git(place, "write-tree")).line
    return Saved(found, await _keep(Place(git_dir=common), key, written, head))


async def _forced(tree: Place) -> list[bytes]:
    """Files an index tracks against the ignore rules, as after `git add -f`."""
    asked = ("ls-files", "-z", "--cached", "--stage", "--ignored", "--exclude-standard")
    listed = await git(tree, *asked, check=False)
    entries = [] if listed.code else [entry.split(b"\t", 1) for entry in listed.items]
    return [path for mode, path in entries if not mode.startswith(b"160000")]


async def _keep(place: Place, key: str, written: str, head: str | None) -> str | None:
    if head and written == (await git(place, "rev-parse", f"{head}^{{tree}}")).line:
        return None if await _reachable(place, head) else await _record(place, key, head)
    last = await _last(place, key)
    if last and await _same(place, last, written, head):
        return None
    parents = ("-p", head) if head else ()
    message = f"Snapshot of {key}: uncommitted work\n".encode()
    author = await signed(place)
    made = await git(author, "commit-tree", written, *parents, "-F", "-", input=message)
    return await _record(place, key, made.line)


async def _reachable(place: Place, commit: str) -> bool:
    holders = await git(place, "for-each-ref", "--count=1", f"--contains={commit}")
    return bool(holders.stdout)


async def _numbers(place: Place, key: str) -> list[int]:
    listed = await git(place, "for-each-ref", "--format=%(refname)", f"{SNAPSHOTS}/{key}/")
    tails = (name.rpartition("/")[2] for name in listed.line.splitlines())
    return sorted(int(tail) for tail in tails if tail.isdecimal())


async def _last(place: Place, key: str) -> str | None:
    numbers = await _numbers(place, key)
    return await commit_of(place, f"{SNAPSHOTS}/{key}/{numbers[-1]}") if numbers else None


async def _same(place: Place, commit: str, tree: str, parent: str | None) -> bool:
    """Whether a snapshot saved this already: the process died between saving and resetting."""
    shown = await git(place, "log", "-1", "--format=%T %P", commit)
    return shown.line == f"{tree} {parent or ''}"


async def _record(place: Place, key: str, commit: str) -> str:
    number = max(await _numbers(place, key), default=0) + 1
    ref = f"{SNAPSHOTS}/{key}/{number}"
    await git(place, "update-ref", ref, commit, "")
    return ref
