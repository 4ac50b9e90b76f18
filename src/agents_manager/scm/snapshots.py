"""Work that no commit holds: finding it, staging it, and saving it under
`refs/agents-manager/snapshots/<key>/<n>` before anything is reset or removed. Repositories an agent
made inside its tree are never entered: `git add` there would run what their configuration says."""

import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import build_products, event
from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.event import Event
from agents_manager.scm.commits import checkouts
from agents_manager.scm.git import Place, branch_tip, commit_of, git, signed

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


@dataclass(frozen=True, slots=True)
class Sorted:
    """What differs from the index, apart from build products."""

    work: Loose
    products: tuple[str, ...]
    """The files and folders by which new paths were recognised as build products."""


async def sort_out(
    place: Place, found: Loose, rules: BuildProducts = BUILT_IN, head: str | None = "HEAD"
) -> Sorted:
    """Separate build products from the work. The commit `head` tells what is tracked."""
    new = [os.fsdecode(path) for path in (*found.present, *found.nested)]
    if not build_products.may_match(new, rules):
        return Sorted(found, ())
    tracked = frozenset(await _tracked(place, head) if head else ())
    new = [path for path in new if path not in tracked]
    roots = build_products.left_out(new, tracked, rules)
    aside = {os.fsencode(path) for path in roots}
    work = Loose(
        present=tuple(path for path in found.present if path not in aside),
        gone=found.gone,
        nested=tuple(path for path in found.nested if path not in aside),
    )
    return Sorted(work, tuple(sorted({*roots.values()})))


async def _tracked(place: Place, head: str) -> list[str]:
    listed = await git(place.alone, "ls-tree", "-r", "-z", "--name-only", "--full-tree", head)
    return [os.fsdecode(path) for path in listed.items]


async def unstage_products(place: Place, rules: BuildProducts) -> tuple[str, ...]:
    """Take build products that the agent staged out of the index; return what they were recognised
    by. Files that it staged against the ignore rules are meant, and stay."""
    asked = ("diff-index", "--cached", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    added = await git(place, *asked, "HEAD", "--")
    if not build_products.may_match(map(os.fsdecode, added.items), rules):
        return ()
    meant = {*await forced(place)}
    new = tuple(path for path in added.items if path not in meant)
    found = await sort_out(place, Loose(present=new, gone=(), nested=()), rules)
    staged_work = {*found.work.present}
    await _update(place, ("--force-remove",), [path for path in new if path not in staged_work])
    return found.products


async def remove_untracked(place: Place, keep: Sequence[str]) -> None:
    """Delete files that git neither tracks nor ignores, except those to keep."""
    kept = (("-e", "/" + re.sub(r"([\\*?\[ !#])", r"\\\1", path)) for path in keep)
    await git(place, "clean", "-fdq", *(word for pair in kept for word in pair))


async def altered(place: Place, branch: str) -> list[str]:
    """Files of the branch's commit that are not as it has them, in the index or on disk."""
    await git(place, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)
    asked = ("diff-index", "-z", "--name-only", "--no-renames", "--diff-filter=a")
    found = await git(place, *asked, "--ignore-submodules=all", f"refs/heads/{branch}", "--")
    return [path.decode(errors="replace") for path in found.items]


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
    """The work; build products are left out."""
    ref: str | None
    """The new snapshot; None where there was nothing that is not kept already."""
    products: tuple[str, ...] = ()
    """The build products that were left out."""

    @property
    def events(self) -> tuple[Event, ...]:
        if self.ref is None:
            return ()
        files = len(self.found.present) + len(self.found.gone)
        number = int(self.ref.rpartition("/")[2])
        return (event.SnapshotSaved(number=number, ref=self.ref, files=files),)


async def nowhere(sha: str) -> None:
    """For commits that are made in the repository that is to keep them."""


async def save(
    store: Place,
    tree: Place,
    key: str,
    head: str | None,
    index: Path | None,
    bring: Callable[[str], Awaitable[None]] = nowhere,
    *,
    rules: BuildProducts = BUILT_IN,
) -> Saved:
    """Saves what a work tree holds beyond the commit `head`, and tells what it found; build
    products are left out. The tree's
    own index is only asked for forced files: it may be broken, or hide others. Commits are made in
    the repository of the tree, and brought from there to the store."""
    inside = tree.git_dir if tree.box else None
    with tempfile.TemporaryDirectory(prefix="agents-manager-", dir=inside) as scratch:
        place = replace(tree, index=Path(scratch) / "index")
        await git(place.alone, "read-tree", head or "--empty")
        sorted_out = await sort_out(place, await loose(place), rules, head)
        found, products = sorted_out.work, sorted_out.products
        await stage(place, found)
        if index:
            await stage_forced(place, index)
        written = (await git(place.alone, "write-tree")).line
    if head and written == (await git(store, "rev-parse", f"{head}^{{tree}}")).line:
        ref = None if await reachable(store, head) else await record(store, key, head)
        return Saved(found, ref, products)
    last = await _last(store, key)
    if last and await _same(store, last, written, head):
        return Saved(found, None, products)
    made = await _commit(tree, key, written, head)
    await bring(made)
    return Saved(found, await record(store, key, made), products)


async def _commit(tree: Place, key: str, written: str, head: str | None) -> str:
    parents = ("-p", head) if head else ()
    message = f"Snapshot of {key}: uncommitted work\n".encode()
    author = await signed(tree.alone)
    return (await git(author, "commit-tree", written, *parents, "-F", "-", input=message)).line


async def stage_forced(place: Place, index: Path) -> None:
    await _update(place, STAGING, await forced(replace(place, index=index)))


async def forced(tree: Place) -> list[bytes]:
    """Files an index tracks against the ignore rules, as after `git add -f`."""
    asked = ("ls-files", "-z", "--cached", "--stage", "--ignored", "--exclude-standard")
    listed = await git(tree, *asked, check=False)
    entries = [] if listed.code else [entry.split(b"\t", 1) for entry in listed.items]
    return [path for mode, path in entries if not mode.startswith(b"160000")]


async def shelve(store: Place, key: str, branch: str) -> tuple[Event, ...]:
    """Takes a branch away whose commits a snapshot or another branch holds then."""
    tip, own = await branch_tip(store, branch), f"refs/heads/{branch}"
    if tip is None:
        return ()
    kept = ("refs/heads", SNAPSHOTS)
    asked = ("for-each-ref", "--format=%(refname)", "--count=2", f"--contains={tip}", *kept)
    holders = (await git(store, *asked)).line.splitlines()
    ref = None if [name for name in holders if name != own] else await record(store, key, tip)
    if not await checkouts(store, branch):
        await git(store, "update-ref", "-d", own, tip)
    nothing = Loose(present=(), gone=(), nested=())
    return Saved(nothing, ref).events


async def reachable(place: Place, commit: str) -> bool:
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


async def record(place: Place, key: str, commit: str) -> str:
    number = max(await _numbers(place, key), default=0) + 1
    ref = f"{SNAPSHOTS}/{key}/{number}"
    await git(place, "update-ref", ref, commit, "")
    return ref
