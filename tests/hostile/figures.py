"""Prints how the defences stand, row by row: what was tried, what came through, and what does
without them."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agents_manager import log, redaction
from agents_manager.sandbox import landlock
from tests import figures, sandboxes
from tests.hostile import parsers, routes, rows, secret_figures
from tests.hostile.cells import Attempt, Cell, cell
from tests.hostile.git_attacks import ATTACKS
from tests.hostile.imports import ROWS, WAYS, attacked
from tests.hostile.test_escapes import NOBODY, UNKEPT
from tests.hostile.test_git_attacks import OPEN_IN_WORKTREES, bites
from tests.repos import settle
from tests.workspaces import KINDS, kept_git

WHO = {None: "this user", NOBODY: "a plain user"}
KNOWN_OPEN = {"clone": 0, "worktree": len(OPEN_IN_WORKTREES)}
LEAST_RECALL, MOST_FALSE = 0.95, 0.07


def main() -> int:
    log.configure(json=False, level="error", redactor=redaction.NOTHING)
    failed = [_measured(part) for part in (_escapes, _git, _inputs, _secrets, _routes)]
    return int(any(failed))


def _measured(part: Callable[[], bool]) -> bool:
    """Whether it failed, or could not be measured for what this machine lacks."""
    try:
        return part()
    except (pytest.skip.Exception, pytest.fail.Exception) as lacking:
        _say(f"Not proven: {lacking}")
        return True


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _inputs() -> bool:
    tried = refused = 0
    bad = False
    for kind, told in parsers.every().items():
        fell = f"{len(told.crashed)} crashed, {len(told.slow)} slow"
        _say(f"Hostile inputs, {kind}: {told.tried} tried, {told.refused} refused, {fell}")
        tried, refused = tried + told.tried, refused + told.refused
        bad = bad or bool(told.crashed or told.slow)
        fallen = len(told.crashed) + len(told.slow)
        figures.note("G-5", kind, tried=told.tried, fell=fallen)
    _say(f"Hostile inputs of {len(parsers.KINDS)} kinds: {tried} tried, {refused} refused")
    _say(f"Rows of the threat model with a test (A outcome, B paths, E web): {len(rows.ROWS)}")
    _say(f"Measures that are switched off in a test, which then fails: {len(rows.SWITCHED_OFF)}")
    return bad


def _secrets() -> bool:
    held_out = secret_figures.recall()
    tried, missed = secret_figures.redaction()
    kinds = f"{held_out.tried} of kinds that the rules were not written with"
    wrong = sum(held_out.false.values())
    _say(f"Secrets found of {kinds}: {held_out.found:.1%}")
    _say(f"Look-alikes taken for one: {wrong} of {held_out.harmless}")
    _say(f"Known values in {tried} forms, whole and in pieces: {len(missed)} not hidden")
    counts = {"recall": held_out.found, "false": wrong, "harmless": held_out.harmless}
    figures.note("G-7", "secrets", forms=tried, missed=len(missed), **counts)
    return held_out.found < LEAST_RECALL or held_out.wrong > MOST_FALSE or bool(missed)


def _routes() -> bool:
    known, without, with_keys = asyncio.run(routes.figures())
    _say(f"Routes that let somebody in without a token: {without} of {known}")
    figures.note("G-10", "routes", routes=known, open=without)
    _say(f"Routes of people that let an agent in with the keys of its run: {with_keys} of {known}")
    return bool(without or with_keys)


def _escapes() -> bool:
    sandboxes.installed()
    if os.geteuid() == 0:
        sandboxes.installed_for_another()
    kept: dict[str, tuple[Attempt, set[str]]] = {}
    loose = 0
    for user, who in WHO.items() if os.geteuid() == 0 else [(None, WHO[None])]:
        with cell(user) as place:
            kept[f"{who} (S3)"] = place.kept(), set()
            if _landlocked(user):
                kept[f"{who} (S2)"] = place.kept(level="S2"), UNKEPT
            loose = _loose(place) if user == NOBODY or os.geteuid() else loose
    through = set[str]()
    failed = False
    for who, (found, known) in kept.items():
        told = f"{found.tried} tried, {len(found.open)} open, {len(found.broken)} broken"
        _say(f"Escapes from the sandbox, as {who}: {told}")
        through |= found.open - known
        still = len(found.open - known) + len(found.broken)
        failed |= still > 0
        figures.note("G-6", who, tried=found.tried, open=still, known=len(found.open & known))
    most = max(found.tried for found, _ in kept.values())
    figures.note("G-5", "escapes", tried=most, fell=len(through))
    figures.note("G-6", "control", open=loose)
    _say(f"Control, outside of it, as a plain user: {loose} open")
    return failed


def _landlocked(user: int | None) -> bool:
    return landlock.version() >= landlock.LEAST and (user == NOBODY or os.geteuid() != 0)


def _loose(place: Cell) -> int:
    return len(place.loose().open)


def _git() -> bool:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        settle(Path(folder), patched)
        return asyncio.run(_attacks(Path(folder)))


async def _attacks(folder: Path) -> bool:
    """Whether more is open than is known to be."""
    failed = False
    every = list(enumerate(ATTACKS))
    for way in WAYS:
        start = kept_git(folder)
        ran = sum([await attacked(folder / f"{way}-{n}", one, way, start) for n, one in every])
        _say(f"Git attacks (C7), taken over by {way}: {len(ATTACKS)} tried, {ran} ran")
        figures.note("G-5", f"git by {way}", tried=len(ATTACKS), fell=ran)
        failed |= ran > 0
    for kind in KINDS:
        found = [await bites(kind, one, folder / f"{kind}-{n}") for n, one in every]
        control, ran = (sum(part) for part in zip(*found, strict=True))
        told = f"{len(ATTACKS)} tried, {ran} ran, {control} by plain git"
        _say(f"Git attacks (C7), over the life of a {kind}: {told}")
        failed |= ran > KNOWN_OPEN[kind] or control < len(ATTACKS)
    for name, row in ROWS.items():
        figure = await row(folder / name)
        told = (
            f"{figure.tried} tried, {figure.through} through, {figure.without} without the measure"
        )
        _say(f"{name}, {row.__name__.replace('_', ' ')}: {told}")
        figures.note("G-5", name, tried=figure.tried, fell=figure.through)
        failed |= figure.through > 0 or figure.without == 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
