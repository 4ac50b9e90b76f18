"""Machines, what works on them and what waits."""

from datetime import datetime

from agents_manager.api import schemas


class HostStart(schemas.Out):
    """An agent that works, or waits for its turn."""

    run_id: str
    task_id: str
    title: str
    project: str
    agent: str | None
    """Null until one was chosen."""
    why: str | None
    """Why it waits; null where nothing is on record."""


class Host(schemas.Out):
    id: str
    name: str
    version: str
    """Of the program."""
    labels: list[str]
    state: str
    """`up`; `draining`: takes nothing new; `left`: was sent away; `away`: was not heard of for a
    while; `over`: others take over what it had."""
    capacity: int | None
    """How many agents it works with at once; null: unknown."""
    started_at: datetime | None
    seen_at: datetime | None
    """By the clock of the database; null where there is only one machine."""
    free_disk_mb: int | None
    """Null: unknown."""
    here: bool
    """Whether it is the machine that answers."""
    working: list[HostStart]
    projects: list[str]
    """The names of those that lie on it."""


class HostUse(schemas.Out):
    """Of a limit."""

    name: str
    working: int
    most: int | None
    """Null: no limit."""


class Hosts(schemas.Out):
    hosts: list[Host]
    projects: list[HostUse]
    agents: list[HostUse]
    waiting: list[HostStart]
    """At most 200."""
    waiting_in_all: int
