"""Submodules of a worktree, filled from what the user's own checkout has: no network, and nothing
that `.gitmodules` says is run or followed but a name below `modules`. A submodule lies in a tree
that an agent writes to, so its configuration is never believed."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.scm import desks, snapshots
from agents_manager.scm.git import Place, commit_of, git, programs_off
from agents_manager.scm.sandboxed import Box, Helpers

FILTER_OFF = ("clean=", "smudge=", "process=", "required=no")
MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Module:
    path: Path
    commit: str
    source: Path | None
    """The user's copy of its repository, if there is one."""

    @property
    def place(self) -> Place:
        return Place(git_dir=self.path / ".git", work_tree=self.path)

    def box(self, helpers: Helpers | None) -> Box | None:
        """The sandbox for git commands that look at it."""
        lent = desks.lent(self.source) if self.source else ()
        return helpers.box((self.path,), lent) if helpers else None


async def fill(
    store: Place, tree: Path, head: str, helpers: Helpers | None = None, depth: int = 0
) -> list[Path]:
    """Checks out each submodule whose folder is empty; returns those that cannot be."""
    missing: list[Path] = []
    async for module in _modules(store, tree, head):
        if not _is_free(tree, module.path):
            continue
        source = Place(git_dir=module.source) if module.source else None
        if source is None or not await commit_of(source, module.commit):
            missing.append(module.path)
            continue
        await _clone(source, module, helpers)
        if depth < MAX_DEPTH:
            missing += await fill(source, module.path, module.commit, helpers, depth + 1)
    return missing


async def _clone(source: Place, module: Module, helpers: Helpers | None) -> None:
    shared = ("clone", "--quiet", "--shared", "--no-checkout", "--no-tags", "--template=")
    await git(source, *shared, "--", source.git_dir, module.path)
    inside = replace(module.place, box=module.box(helpers))
    await git(inside, "checkout", "--quiet", "--detach", module.commit)


async def hold_work(
    store: Place, tree: Path, head: str | None, helpers: Helpers | None = None
) -> bool:
    """Whether a submodule of the tree holds what the user's copy of it does not."""
    if head is None:
        return False
    async for module in _modules(store, tree, head):
        if _is_free(tree, module.path):
            continue
        if module.source is None or not _is_real(tree, module.path / ".git"):
            return True
        source = Place(git_dir=module.source)
        if await _has_own(source, replace(module.place, foreign=True, box=module.box(helpers))):
            return True
        if await hold_work(source, module.path, module.commit, helpers):
            return True
    return False


async def _has_own(source: Place, place: Place) -> bool:
    tips = await git(place, "for-each-ref", "--format=%(objectname)", check=False)
    head = await commit_of(place, "HEAD")
    if tips.code or head is None:
        return True
    for tip in {head, *tips.line.split()}:
        if not await commit_of(source, tip):
            return True
    off = await programs_off(place, "filter", FILTER_OFF)
    quiet = replace(place, settings=off)
    return bool(await snapshots.loose(quiet)) or await snapshots.staged(quiet)


async def _modules(store: Place, tree: Path, head: str) -> AsyncIterator[Module]:
    listed = await git(store, "cat-file", "-e", f"{head}:.gitmodules", check=False)
    if listed.code:
        return
    names = await _names(store, head)
    entries = (await git(store, "ls-tree", "-r", "-z", "--full-tree", head)).items
    for entry in entries:
        facts, path = entry.split(b"\t", 1)
        mode, _, commit = facts.split(b" ")[:3]
        if mode == b"160000":
            source = _source(store.git_dir, names.get(path))
            yield Module(tree / os.fsdecode(path), commit.decode(), source)


async def _names(store: Place, head: str) -> dict[bytes, str]:
    blob = (
        "config",
        "--blob",
        f"{head}:.gitmodules",
        "-z",
        "--get-regexp",
        r"^submodule\..*\.path$",
    )
    listed = await git(store, *blob, check=False)
    pairs = (item.partition(b"\n") for item in listed.items)
    return {
        path: os.fsdecode(key.removeprefix(b"submodule.").removesuffix(b".path"))
        for key, _, path in pairs
    }


def _source(git_dir: Path, name: str | None) -> Path | None:
    if not name:
        return None
    folder = git_dir / "modules"
    found = (folder / name).resolve()
    inside = found.is_relative_to(folder.resolve()) and found != folder.resolve()
    return found if inside and (found / "HEAD").is_file() else None


def _is_free(tree: Path, path: Path) -> bool:
    """An empty folder, or none, that lies where it seems to."""
    if not _lies_in(tree, path.parent):
        return False
    return not os.path.lexists(path) or (_is_real(tree, path) and not any(path.iterdir()))


def _is_real(tree: Path, folder: Path) -> bool:
    return folder.is_dir() and _lies_in(tree, folder)


def _lies_in(tree: Path, path: Path) -> bool:
    """Returns whether no link on the way from the tree to the path leads elsewhere."""
    return path.resolve() == tree.resolve() / path.relative_to(tree)
