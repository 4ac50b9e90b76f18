"""Prints how the sandbox and what is taken over from agents stand: what was tried, what was open,
and what is open without them."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from agents_manager.sandbox import bubblewrap, landlock
from tests.hostile.cells import Attempt, Cell, cell
from tests.hostile.git_attacks import ATTACKS
from tests.hostile.imports import ROWS, WAYS, attacked
from tests.hostile.test_escapes import NOBODY, UNKEPT
from tests.hostile.test_git_attacks import OPEN_IN_WORKTREES, bites
from tests.repos import settle
from tests.workspaces import KINDS, kept_git

WHO = {None: "this user", NOBODY: "a plain user"}
KNOWN_OPEN = {"clone": 0, "worktree": len(OPEN_IN_WORKTREES)}


def main() -> int:
    if bubblewrap.found() is None:
        say("Escapes from the sandbox: not proven, bubblewrap is not installed.")
        return 1
    failed = escapes()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        settle(Path(folder), patched)
        return int(asyncio.run(git(Path(folder))) or failed)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def escapes() -> bool:
    kept: dict[str, Attempt] = {}
    loose = 0
    for user, who in WHO.items() if os.geteuid() == 0 else [(None, WHO[None])]:
        with cell(user) as place:
            kept[f"{who} (S3)"] = place.kept()
            if _landlocked(user):
                kept[f"{who} (S2)"] = place.kept(level="S2")
            loose = _loose(place) if user == NOBODY or os.geteuid() else loose
    for who, found in kept.items():
        told = f"{found.tried} tried, {len(found.open)} open, {len(found.broken)} broken"
        say(f"Escapes from the sandbox, as {who}: {told}")
    say(f"Control, outside of it, as a plain user: {loose} open")
    return any(found.open - UNKEPT or found.broken for found in kept.values())


def _landlocked(user: int | None) -> bool:
    return landlock.version() >= landlock.LEAST and (user == NOBODY or os.geteuid() != 0)


def _loose(place: Cell) -> int:
    return len(place.loose().open)


async def git(folder: Path) -> bool:
    """Whether more is open than is known to be."""
    failed = False
    every = list(enumerate(ATTACKS))
    for way in WAYS:
        wrap = kept_git(folder)
        ran = sum([await attacked(folder / f"{way}-{n}", one, way, wrap) for n, one in every])
        say(f"Git attacks (C7), taken over by {way}: {len(ATTACKS)} tried, {ran} ran")
        failed |= ran > 0
    for kind in KINDS:
        found = [await bites(kind, one, folder / f"{kind}-{n}") for n, one in every]
        control, ran = (sum(part) for part in zip(*found, strict=True))
        told = f"{len(ATTACKS)} tried, {ran} ran, {control} by plain git"
        say(f"Git attacks (C7), over the life of a {kind}: {told}")
        failed |= ran > KNOWN_OPEN[kind] or control < len(ATTACKS)
    for name, row in ROWS.items():
        figure = await row(folder / name)
        told = (
            f"{figure.tried} tried, {figure.through} through, {figure.without} without the measure"
        )
        say(f"{name}, {row.__name__.replace('_', ' ')}: {told}")
        failed |= figure.through > 0 or figure.without == 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
