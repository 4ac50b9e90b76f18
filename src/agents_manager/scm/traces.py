"""What the program leaves in a repository of its user: branches with work, refs, files of its own
beside git's, the settings of the project. Finding it, with the commands that remove it."""

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_manager.scm import ignoring
from agents_manager.scm.git import Place, common_dir, git, locked
from agents_manager.scm.snapshots import SNAPSHOTS

REFS = "refs/agents-manager"
FOLDER = ".agents-manager"


@dataclass(frozen=True, slots=True)
class Trace:
    what: str
    names: tuple[str, ...]
    remove: str
    """The command that removes it."""


async def find(repo: Path, prefix: str, trees: Sequence[Path]) -> list[Trace]:
    """`prefix` of the branches of its tasks, and the workspaces that stand."""
    common = await common_dir(repo)
    place, at = Place(git_dir=common), f"git -C {shlex.quote(str(repo))}"
    branches = await _refs(place, f"refs/heads/{prefix}") if prefix else ()
    listed = f"{at} branch --list --format='%(refname:short)' {shlex.quote(prefix + '*')}"
    everything = f"{at} for-each-ref --format='delete %(refname)' {REFS}"
    found = [
        Trace("workspaces", tuple(map(str, trees)), f"{at} worktree prune"),
        Trace(
            "branches",
            tuple(b.removeprefix("refs/heads/") for b in branches),
            f"{listed} | xargs {at} branch -D",
        ),
        Trace("refs", await _refs(place, f"{REFS}/"), f"{everything} | {at} update-ref --stdin"),
        *await asyncio.to_thread(_files, repo, common),
    ]
    return [one for one in found if one.names]


async def snapshots(repo: Path) -> int:
    return len(await _refs(Place(git_dir=await common_dir(repo)), f"{SNAPSHOTS}/"))


async def forget_refs(repo: Path) -> None:
    """All of ours; what only they hold is for git to keep or not."""
    common = await common_dir(repo)
    place = Place(git_dir=common)
    async with locked(common):
        gone = "".join(f"delete {ref}\n" for ref in await _refs(place, f"{REFS}/"))
        await git(place, "update-ref", "--stdin", input=gone.encode())
        await git(place, "worktree", "prune")


async def _refs(place: Place, prefix: str) -> tuple[str, ...]:
    told = await git(place, "for-each-ref", "--format=%(refname)")
    refs = told.stdout.decode(errors="surrogateescape").splitlines()
    return tuple(ref for ref in refs if ref.startswith(prefix))


def _files(repo: Path, common: Path) -> list[Trace]:
    own = sorted(str(path) for path in common.glob("agents-manager*"))
    folder, ignore = repo / FOLDER, repo / ".gitignore"
    return [
        Trace("files beside git's", tuple(own), f"rm -r {shlex.join(own)}"),
        Trace(
            "settings",
            (str(folder),) if folder.is_dir() else (),
            f"rm -r {shlex.quote(str(folder))}",
        ),
        Trace(
            f"lines of {ignore}",
            tuple(_ignored(ignore)),
            f'"${{EDITOR:-vi}}" {shlex.quote(str(ignore))}',
        ),
    ]


def _ignored(file: Path) -> list[str]:
    if not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    heads = [number for number, line in enumerate(lines) if line == ignoring.HEADING]
    return [line for number in heads for line in lines[number : number + 2]]
