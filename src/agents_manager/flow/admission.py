"""What is handed out now. A run may have to wait: for others that go on, for settings that can be
read, for an answer, or for a machine. Why it waits is kept with its effect, so that everybody can
see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow
from agents_manager.errors import InvalidConfig
from agents_manager.flow.memory import questions
from agents_manager.flow.placing import Machines, Placed
from agents_manager.flow.ports import Services, Tx

WAITS = "waits"
"""Of the result of a start that waits: why."""
NO_ROOM = "The disk has too little room left for another agent (limits.freeDiskMb)."
"""Without the number, which changes all the time; the event has it."""


BATCH = 50


@dataclass(frozen=True, slots=True)
class Decided:
    admitted: list[EffectRow] = field(default_factory=list[EffectRow])
    waiting: dict[EffectId, str] = field(default_factory=dict[EffectId, str])
    """Why, where that is not on record."""


def decide(tx: Tx, s: Services, now: datetime) -> Decided:
    """What begins on this machine now. Looks further where all that comes first has to wait."""
    running = [e for e in tx.effects.started() if e.kind == "start_agent"]
    most = BATCH
    while True:
        due = tx.effects.due(now, most)
        room = Room(tx, s, now, running)
        for row in due:
            room.offer(row)
        if room.decided.admitted or len(due) < most or room.full:
            return room.decided
        most *= 4


class Room:
    """What there is room for, beside what is at work."""

    def __init__(self, tx: Tx, s: Services, now: datetime, running: Sequence[EffectRow]) -> None:
        self._tx = tx
        self._s = s
        self._now = now
        self._mine = s.here and s.here.host
        self._running = list(running)
        self._machines = Machines(tx, s, s.here, running) if s.here else None
        self.full = self._is_full()
        self.decided = Decided()

    def offer(self, row: EffectRow) -> None:
        if row.kind != "start_agent":
            if self._machines is None or self._machines.mine(row):
                self.decided.admitted.append(row)
            return
        placed = self._placed(row)
        known = waits(row)
        speaks = known is None or placed.speaker in (None, self._mine)
        if placed.why is not None and placed.why != known and speaks:
            self.decided.waiting[row.id] = placed.why
        if placed.mine:
            self.decided.admitted.append(row)
            self._running.append(row)
            self.full = self._is_full()

    def _placed(self, row: EffectRow) -> Placed:
        """What keeps it back wherever it began comes first; a machine that has not the project
        leaves that to those that have it."""
        if self._machines is None:
            why = self.full or held(self._tx, self._s, row, self._running)
            return Placed(why is None, why)
        run = _run(self._tx, row)
        project = self._tx.projects.get(run.project_id)
        if not self._machines.has(project):
            return self._machines.start(row, run, project, (), self._now)
        why = held(self._tx, self._s, row, self._running)
        if why is not None:
            return Placed(False, why, self._machines.speaker(project))
        wanted = self._s.configs.of(project, run).runs_on
        return self._machines.start(row, run, project, wanted, self._now)

    def _is_full(self) -> str | None:
        # What is only about to begin has no machine yet.
        whose = (None, self._mine)
        here = [row for row in self._running if self._mine is None or row.host in whose]
        return full(self._s, len(here))


def capacity(s: Services) -> int:
    """How many agents may work at a time on this machine."""
    said = s.here.capacity if s.here else None
    return said or s.configs.host_limit()


def takes(s: Services) -> int:
    """As others are told: none while there is no room on the disk."""
    return 0 if s.disk.shortage() else capacity(s)


def full(s: Services, running: int) -> str | None:
    """Why no agent may begin on this machine, where so many are at work; None if one may."""
    most = capacity(s)
    if running >= most:
        return f"This machine has {running} of {most} agents at work."
    return NO_ROOM if s.disk.shortage() else None


def held(tx: Tx, s: Services, start: EffectRow, running: Sequence[EffectRow]) -> str | None:
    """Why a run must wait beside those that go on; None if it need not."""
    run = _run(tx, start)
    asked = questions.holds(tx, run.task_id)
    if asked is not None:
        return asked
    project = tx.projects.get(run.project_id)
    try:
        config = s.configs.of(project, run)
    except InvalidConfig as error:
        why = " ".join([error.message, *error.details])
        return f'The settings of project "{project.name}" cannot be read: {why}'
    others = [_run(tx, other) for other in running]
    agent, most = run.agent or config.default_agent, config.limits
    here = sum(other.project_id == run.project_id for other in others)
    if most.project is not None and here >= most.project:
        return f'Project "{project.name}" has {here} of {most.project} agents at work.'
    same = sum((other.agent or config.default_agent) == agent for other in others)
    if most.agent is not None and same >= most.agent:
        return f'Agent "{agent}" has {same} of {most.agent} runs at a time.'
    return None


def waits(start: EffectRow) -> str | None:
    """Why a start that is due has not begun, as far as that is on record."""
    result = start.result if start.status == "pending" else None
    return result.get(WAITS) if result else None


def _run(tx: Tx, start: EffectRow) -> Run:
    return tx.runs.get(RunId(start.payload["run_id"]))
