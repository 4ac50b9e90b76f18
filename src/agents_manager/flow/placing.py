"""Which machine does what, where several share a database. A task stays where its workspace is;
what has none goes to the machine with the least to do, of those that suit it. All machines read the
same rows and come to the same answer, so that each takes what is its own and leaves the rest."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agents_manager.domain.effects import BESIDE
from agents_manager.domain.host import Host, HostState
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow, Project
from agents_manager.flow.ports import Here, Services, Tx

NO_DISK = "too little room on its disk (limits.freeDiskMb)"
LATE = timedelta(seconds=5)
"""What the machine with the least to do has not taken by then, any other may."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What is to be done about a start."""

    mine: bool
    why: str | None = None
    """Why nobody takes it now."""
    speaker: str | None = None
    """The machine that puts this on record: if all did, those whose files differ would correct each
    other for ever."""


class Machines:
    def __init__(self, tx: Tx, s: Services, here: Here, running: Sequence[EffectRow]) -> None:
        self._tx = tx
        self._s = s
        self._mine = here.host
        self._alive = tx.hosts.alive()
        self._load = Counter(row.host for row in running)
        self._places = tx.projects.places()
        self._homes: dict[TaskId, str | None] = {}

    def mine(self, row: EffectRow) -> bool:
        """Whether an effect that starts no agent is performed here."""
        project = self._tx.projects.get(self._tx.tasks.get(row.task_id).project_id)
        if row.kind in BESIDE:
            return self.has(project) or self.speaker(project) is None
        home = self._of_run(row) if row.kind == "stop_agent" else self._home(row.task_id)
        return self.has(project) if home is None else home == self._mine

    def start(
        self, row: EffectRow, run: Run, project: Project, wanted: Sequence[str], now: datetime
    ) -> Placed:
        """Who starts the agent; counted as begun there."""
        home = self._home(run.task_id)
        if home is not None:
            return self._at_home(self._alive[home], wanted, late=now - row.due_at > LATE)
        suit = [host for host in self._alive.values() if host.suits(wanted)]
        have = [host for host in suit if self._has(host.id, project)]
        up = [host for host in have if host.state is HostState.UP]
        free = [host for host in up if self._room(host) > 0]
        if not free:
            speaker = min((h.id for h in have or self._alive.values()), default=None)
            return Placed(False, _why_none(wanted, project, suit, have, up, self._load), speaker)
        best = min(free, key=lambda host: (self._share(host), host.name, host.id))
        late = now - row.due_at > LATE and any(host.id == self._mine for host in free)
        chosen = self._mine if late else best.id
        self._load[chosen] += 1
        return Placed(chosen == self._mine)

    def has(self, project: Project) -> bool:
        """Whether this machine can read what a project says."""
        return self._has(self._mine, project)

    def speaker(self, project: Project) -> str | None:
        return min((h for h in self._alive if self._has(h, project)), default=None)

    def _at_home(self, host: Host, wanted: Sequence[str], *, late: bool) -> Placed:
        where = f'machine "{host.name}", which has its workspace'
        why = None
        if not host.suits(wanted):
            why = f"It waits for {where} but not {_labels(wanted)}."
        elif host.state is not HostState.UP:
            why = f"It waits for {where} and takes nothing new (draining)."
        elif self._room(host) <= 0:
            why = f"It waits for {where}: {_at_work(host, self._load)}."
        if why is None:
            self._load[host.id] += 1
            mine = host.id == self._mine
            return Placed(mine, f"It waits for {where}." if late and not mine else None, host.id)
        return Placed(False, why, host.id)

    def _home(self, task_id: TaskId) -> str | None:
        """The machine that has the workspace of a task, if it lives."""
        if task_id not in self._homes:
            runs = reversed(self._tx.runs.of_task(task_id))
            given = (run.host for run in runs if run.started_at or run.status.live)
            newest = next((host for host in given if host is not None), None)
            self._homes[task_id] = newest if newest in self._alive else None
        return self._homes[task_id]

    def _of_run(self, row: EffectRow) -> str | None:
        host = self._tx.runs.get(RunId(row.payload["run_id"])).host
        return host if host in self._alive else None

    def _has(self, host_id: str, project: Project) -> bool:
        """What is on no record lies where it was registered."""
        lies: Mapping[str, str] | None = self._places.get(ProjectId(project.id))
        if lies is not None and host_id not in lies:
            return False
        return host_id != self._mine or (Path(project.path) / ".git").exists()

    def _room(self, host: Host) -> int:
        """For how many more agents; a machine whose disk is full tells that it takes none."""
        if host.id == self._mine and self._s.disk.shortage() is not None:
            return 0
        return (host.capacity or 0) - self._load[host.id]

    def _share(self, host: Host) -> float:
        return self._load[host.id] / (host.capacity or 1)


def _why_none(
    wanted: Sequence[str],
    project: Project,
    suit: Sequence[Host],
    have: Sequence[Host],
    up: Sequence[Host],
    load: Counter[str | None],
) -> str:
    if not suit:
        return f"No live machine has {_labels(wanted)}."
    named = f'Project "{project.name}"'
    if not have:
        those = f" with {_labels(wanted)}" if wanted else ""
        return f"{named} is on no live machine{those}."
    if not up:
        return f"{_names(have)} takes nothing new (draining)."
    told = "; ".join(f'machine "{host.name}": {_at_work(host, load)}' for host in up)
    return f"{told[0].upper()}{told[1:]}."


def _at_work(host: Host, load: Counter[str | None]) -> str:
    if host.capacity == 0:
        return NO_DISK
    return f"{load[host.id]} of {host.capacity} agents at work"


def _labels(wanted: Sequence[str]) -> str:
    return f"the label{'s' if len(wanted) > 1 else ''} {', '.join(wanted)}"


def _names(hosts: Sequence[Host]) -> str:
    return ", ".join(f'Machine "{host.name}"' for host in hosts)
