"""The world that a question is measured in. It is observed, not declared: the sandbox levels come
from the runs in the database, and HTTP counts as TCP only if a server process was started."""

import os
import platform
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from agents_manager.domain.run import UNSANDBOXED
from agents_manager.store import library

BUSY_SHARE = 0.25
"""The share of all cores that other programs may use before a missed goal says nothing."""
SAMPLE_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    sandbox: frozenset[str]
    """The levels at which agents ran; empty if none ran."""
    over_tcp: bool
    """Whether there was a server that answered HTTP over TCP."""
    load: float
    """The load average of the last minute before the question."""
    busy: float
    """The share of all cores that was in use before the question."""

    @property
    def is_busy(self) -> bool:
        return self.busy > BUSY_SHARE

    def __str__(self) -> str:
        levels = " and ".join(sorted(self.sandbox))
        return ", ".join(
            [
                f"sandbox {levels}" if levels else "no agent",
                f"{platform.python_implementation()} {platform.python_version()}",
                sys.executable,
                "HTTP over TCP" if self.over_tcp else "no HTTP",
                f"load {self.load:.1f}, {self.busy:.0%} of {os.cpu_count()} cores in use before",
            ]
        )


class Observed:
    """What was seen in this process since it began to ask."""

    def __init__(self) -> None:
        self._levels: set[str] = set()
        self._over_tcp = False
        self._load = 0.0
        self._busy = 0.0

    def begin(self) -> None:
        self._load = os.getloadavg()[0]
        self._busy = psutil.cpu_percent(SAMPLE_S) / 100

    def server(self) -> None:
        self._over_tcp = True

    def levels(self, levels: Iterable[str | None]) -> None:
        self._levels |= {one for one in levels if one}

    def runs_in(self, home: Path) -> None:
        """Reads the levels of the runs whose agent was started on this machine, from SQLite. One
        without a level, such as that of the scripted agent, had no sandbox."""
        started = {job.parents[1].name for job in home.glob("jobs/*/*/runner.json")}
        database = home / "agents-manager.db"
        if not (started and database.exists()):
            return
        with closing(library.sqlite().connect(database)) as connection:
            for run in started:
                for (level,) in connection.execute(LEVEL_OF_RUN, (run,)):
                    self.levels([level or UNSANDBOXED])

    def levels_on(self, program: Any) -> None:
        """Reads the levels of all runs in the database of an open program."""
        with program.database.engines.reader.connect() as connection:
            self.levels(level for (level,) in connection.exec_driver_sql(LEVELS))

    def world(self) -> World:
        return World(
            sandbox=frozenset(self._levels),
            over_tcp=self._over_tcp,
            load=self._load,
            busy=self._busy,
        )


LEVEL_OF_RUN = "SELECT sandbox FROM am_run WHERE id=?"
LEVELS = "SELECT DISTINCT sandbox FROM am_run WHERE sandbox IS NOT NULL"
observed = Observed()
