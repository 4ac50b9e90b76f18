"""Prints how the sandbox stands: the ways out that were tried, and those that were open."""

import os
import sys

from agents_manager.sandbox import bubblewrap, landlock
from tests.hostile.cells import Attempt, Cell, cell
from tests.hostile.test_escapes import NOBODY, UNKEPT

WHO = {None: "this user", NOBODY: "a plain user"}


def main() -> int:
    if bubblewrap.found() is None:
        sys.stdout.write("Escapes from the sandbox: not proven, bubblewrap is not installed.\n")
        return 1
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
        sys.stdout.write(f"Escapes from the sandbox, as {who}: {told}\n")
    sys.stdout.write(f"Control, outside of it, as a plain user: {loose} open\n")
    return int(any(found.open - UNKEPT or found.broken for found in kept.values()))


def _landlocked(user: int | None) -> bool:
    return landlock.version() >= landlock.LEAST and (user == NOBODY or os.geteuid() != 0)


def _loose(place: Cell) -> int:
    return len(place.loose().open)


if __name__ == "__main__":
    sys.exit(main())
