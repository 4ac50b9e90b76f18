"""Commits one file to a branch, in the object store alone: nothing an agent left in a work tree
can change where it goes. What is checked out of the branch follows, as after a merge."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath

from agents_manager.errors import Conflict, GitError, HookFailed, WorkspaceInUse
from agents_manager.flow.ports import Filed, FiledAs
from agents_manager.scm import clone, commits, landing, trees
from agents_manager.scm.git import Place, git, signed

LINK, FOLDER, MODULE, PLAIN = "120000", "040000", "160000", "100644"
WHAT = {LINK: "a symbolic link", MODULE: "a submodule"}
TRAILER = "Agents-Manager-Document"


async def put(repo: Path, common: Path, branch: str, filed: FiledAs, *, replace: bool) -> Filed:
    """The caller holds the repository's lock. The commit that holds the file, made now unless the
    branch says the same there already."""
    store = Place(git_dir=common)
    await landing.complete_unfinished(repo, common, branch)
    await _nobody_works(store, branch)
    tip = await commits.tip_or_refuse(store, branch)
    mode = await _mode_there(store, tip, filed.path)
    blob = (await git(store, "hash-object", "--stdin", input=filed.text.encode())).line
    known = await git(store, "rev-parse", "-q", "--verify", f"{tip}:{filed.path}", check=False)
    if known.line == blob:
        return await _made_before(store, tip, filed)
    if known.line and not replace:
        raise Conflict(
            f'"{filed.path}" is there already on {branch}, with other content; choose another'
            " path, or replace it with --replace."
        )
    new = await _commit(store, tip, filed, mode or PLAIN)
    try:
        await landing.land(repo, common, branch, tip, new)
    except HookFailed as error:
        raise Conflict(error.message) from None
    return Filed(sha=new, ours=True)


async def _nobody_works(store: Place, branch: str) -> None:
    at_work = clone.works_on(store.git_dir, branch)
    for folder in await commits.checkouts(store, branch):
        place = trees.linked(store.git_dir, folder)
        if place and (place.git_dir / "locked").exists():
            at_work = folder
    if at_work:
        raise WorkspaceInUse(f'An agent works in "{at_work}"; stop it first, or wait for it.')


async def _mode_there(store: Place, tip: str, path: str) -> str | None:
    """How the path is kept now; refused where it leads through something that is no folder, or is
    no file itself."""
    folders = [str(p) for p in PurePosixPath(path).parents if p.name]
    listed = await git(store, "ls-tree", "-z", "--full-tree", tip, *folders, path)
    modes = {e.split(b"\t", 1)[1].decode(errors="replace"): e[:6].decode() for e in listed.items}
    for folder in folders:
        if (mode := modes.get(folder, FOLDER)) != FOLDER:
            what = WHAT.get(mode, "a file")
            raise Conflict(f'"{path}" cannot be committed: "{folder}" is {what}, not a folder.')
    mode = modes.get(path)
    if mode in (*WHAT, FOLDER):
        raise Conflict(f'"{path}" cannot be committed: it is {WHAT.get(mode, "a folder")} there.')
    return mode


async def _made_before(store: Place, tip: str, filed: FiledAs) -> Filed:
    asked = ("log", "-1", "--format=%H%n%B", "--end-of-options", tip, "--", filed.path)
    sha, _, message = (await git(store, *asked)).line.partition("\n")
    return Filed(sha=sha, ours=_trailer(filed) in message.splitlines())


async def _commit(store: Place, tip: str, filed: FiledAs, mode: str) -> str:
    blob = (await git(store, "hash-object", "-w", "--stdin", input=filed.text.encode())).line
    async with _index(store) as place:
        await git(place, "read-tree", tip)
        entry = f"{mode},{blob},{filed.path}"
        added = await git(place, "update-index", "--add", "--cacheinfo", entry, check=False)
        if added.code:
            raise GitError(f'git does not take "{filed.path}" as a path.')
        tree = (await git(place, "write-tree")).line
    message = f"{filed.message}\n\n{_trailer(filed)}\n".encode(errors="replace")
    made = await git(await signed(store), "commit-tree", tree, "-p", tip, "-F", "-", input=message)
    return made.line


@asynccontextmanager
async def _index(store: Place) -> AsyncGenerator[Place]:
    with tempfile.TemporaryDirectory(prefix="agents-manager-") as scratch:
        yield Place(git_dir=store.git_dir, index=Path(scratch) / "index")


def _trailer(filed: FiledAs) -> str:
    return f"{TRAILER}: {filed.key}"
