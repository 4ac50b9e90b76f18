"""The sandbox in tests: a real one, made of the real bubblewrap."""

import os
import shutil
from pathlib import Path

from agents_manager.sandbox import bubblewrap
from agents_manager.sandbox.keeper import Keeper, Rules
from agents_manager.sandbox.levels import Levels, probe
from tests import debian

LEVELS = Levels(probe)
"""Tried once for the process, as a server does."""


WITHOUT = "AM_TEST_WITHOUT_BUBBLEWRAP"
"""Set where tests run that are to find no bubblewrap."""


def installed() -> None:
    if os.environ.get(WITHOUT):
        return
    debian.have("bubblewrap", bubblewrap.found)


def installed_for_another() -> None:
    """What root becomes another user with."""
    debian.have("util-linux", lambda: shutil.which("setpriv"))
    debian.have("python3", lambda: shutil.which("python3", path="/usr/bin"))


def levels() -> Levels:
    """The probe, which nothing is put in the place of."""
    installed()
    return LEVELS


def keeper(home: Path, rules: Rules | None = None) -> Keeper:
    """What keeps the commands of a data directory."""
    return Keeper(home, lambda: rules or Rules(), LEVELS)
