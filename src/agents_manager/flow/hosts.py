"""The machines that work: what each has and may have, what waits for a place, and what people tell
them."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version

from agents_manager.domain.audit import Deed
from agents_manager.domain.host import BEAT_S, Host, HostState
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.task import Actor, EffectRow
from agents_manager.errors import InvalidConfig, InvalidInput
from agents_manager.flow import admission, audit
from agents_manager.flow.ports import RunLimits, Services, Tx

MOST_WAITING = 200
"""Starts that are listed; more are counted."""
LATE = timedelta(seconds=3 * BEAT_S)
ALONE = "this"
"""The id of the only machine, where the database is a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """An agent that works, or waits for its turn."""

    run_id: RunId
    task_id: TaskId
    title: str
    project: str
    agent: str | None
    """None: nobody named one, and it was not chosen yet."""
    why: str | None = None
    """Why it waits, as far as that is on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostView:
    id: str
    name: str
    version: str
    labels: Sequence[str]
    state: str
    """`up`, `draining` or `left`; `away`: not heard of; `over`: others have its work."""
    capacity: int | None
    started_at: datetime | None
    seen_at: datetime | None
    """None where there is only one."""
    free_disk_mb: int | None
    here: bool
    """Whether it is the machine that answers."""
    working: Sequence[Start]
    projects: Sequence[str]
    """The names of those that lie on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Of a limit."""

    name: str
    working: int
    most: int | None
    """None: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    hosts: Sequence[HostView]
    projects: Sequence[Use]
    agents: Sequence[Use]
    waiting: Sequence[Start]
    waiting_in_all: int


async def overview(s: Services) -> Overview:
    return await s.store.read(lambda tx: _overview(tx, s))


def _overview(tx: Tx, s: Services) -> Overview:
    begun, limits = _begun(tx), _limits(tx, s)
    due = tx.effects.due(s.clock.now(), 10 * MOST_WAITING)
    waiting = [row for row in due if row.kind == "start_agent"]
    hosts = _hosts(tx, s, begun)
    working = [start for host in hosts for start in host.working]
    agents = [start.agent for start in working if start.agent]
    each = {most for one in limits.values() if (most := one.agent) is not None}
    return Overview(
        hosts=hosts,
        projects=_used(
            [start.project for start in working],
            {name: most for name, one in limits.items() if (most := one.project) is not None},
        ),
        agents=_used(agents, dict.fromkeys(agents, min(each)) if each else {}),
        waiting=[_start(tx, row) for row in waiting[:MOST_WAITING]],
        waiting_in_all=len(waiting),
    )


async def tell(s: Services, name_or_id: str, state: HostState, by: Actor) -> HostView:
    """Lets a machine finish what it has, take work again, or go."""
    if s.here is None:
        raise InvalidInput(
            "There is only this machine: its database is a file. Several share a Postgres database"
            " (AM_DATABASE_URL)."
        )

    def write(tx: Tx) -> HostView:
        host = tx.hosts.find(name_or_id)
        told = tx.hosts.set_state(host.id, state)
        summary = SUMMARIES[state].format(name=told.name)
        audit.note(tx, s.clock.now(), by, DEEDS[state], summary, host=told.name, id=told.id)
        return next(one for one in _hosts(tx, s, _begun(tx)) if one.id == told.id)

    return await s.store.write(write)


DEEDS = {
    HostState.DRAINING: Deed.HOST_DRAINED,
    HostState.UP: Deed.HOST_RESUMED,
    HostState.LEFT: Deed.HOST_REMOVED,
}
SUMMARIES = {
    HostState.DRAINING: "let machine {name} finish what it has and take nothing new",
    HostState.UP: "let machine {name} take work again",
    HostState.LEFT: "sent machine {name} away; others take over what it had",
}


def _hosts(tx: Tx, s: Services, begun: Sequence[EffectRow]) -> list[HostView]:
    if s.here is None:
        return [_alone(tx, s, begun)]
    lie, now = _lying(tx), tx.hosts.now()
    return [
        HostView(
            id=host.id,
            name=host.name or host.id,
            version=host.version,
            labels=host.labels,
            state=_state(host, now),
            capacity=host.capacity,
            started_at=host.started_at,
            seen_at=host.seen_at,
            free_disk_mb=host.free_disk_mb,
            here=host.id == s.here.host,
            working=[_start(tx, row) for row in begun if row.host == host.id],
            projects=lie.get(host.id, []),
        )
        for host in tx.hosts.all()
    ]


def _state(host: Host, now: datetime) -> str:
    if host.state is not HostState.LEFT and not host.alive(now):
        return "over"
    return "away" if host.state is HostState.UP and now - host.seen_at > LATE else host.state


def _alone(tx: Tx, s: Services, begun: Sequence[EffectRow]) -> HostView:
    return HostView(
        id=ALONE,
        name=platform.node() or ALONE,
        version=version("agents-manager"),
        labels=(),
        state=HostState.UP,
        capacity=admission.capacity(s),
        started_at=None,
        seen_at=None,
        free_disk_mb=s.disk.free_mb(),
        here=True,
        working=[_start(tx, row) for row in begun],
        projects=[project.name for project in tx.projects.all()],
    )


def _lying(tx: Tx) -> Mapping[str, list[str]]:
    """The names of projects by machine."""
    names = {project.id: project.name for project in tx.projects.all()}
    found: dict[str, list[str]] = {}
    for project_id, places in tx.projects.places().items():
        for host in places:
            found.setdefault(host, []).append(names[project_id])
    return found


def _begun(tx: Tx) -> list[EffectRow]:
    return [row for row in tx.effects.started() if row.kind == "start_agent"]


def _start(tx: Tx, row: EffectRow) -> Start:
    run = tx.runs.get(RunId(row.payload["run_id"]))
    return Start(
        run_id=run.id,
        task_id=run.task_id,
        title=tx.tasks.get(run.task_id).title,
        project=tx.projects.get(run.project_id).name,
        agent=run.agent,
        why=admission.waits(row),
    )


def _limits(tx: Tx, s: Services) -> dict[str, RunLimits]:
    """By the names of projects; those whose settings cannot be read have none."""
    found: dict[str, RunLimits] = {}
    for project in tx.projects.all():
        with suppress(InvalidConfig):
            found[project.name] = s.configs.of(project).limits
    return found


def _used(working: Sequence[str], most: Mapping[str, int]) -> list[Use]:
    counts = Counter(working)
    return [
        Use(name=name, working=counts[name], most=most.get(name))
        for name in sorted({*counts, *most})
    ]
