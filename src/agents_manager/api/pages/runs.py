"""Runs, and the agents that make them."""

from datetime import datetime
from typing import Any

from agents_manager.api import schemas
from agents_manager.api.pages.knowledge import HandoffNote


class Output(schemas.Out):
    """A line that the agent printed, as messages for people: `assistant` and `output` with `text`,
    `tool_use` with `name` and `input`, `tool_result` with `name`, `ok` and the `text` that it
    returned (both with the `id` of the call, if the agent has one), `usage`, `result` with `text`
    or `error`."""

    turn: int
    offset: int
    messages: list[dict[str, Any]]


class Check(schemas.Out):
    """What one check said about the work of a run."""

    name: str
    passed: bool
    severity: str
    how: str
    """How it ended, in a few words."""
    output: str
    """The end of what it printed."""
    seconds: float


class Checks(schemas.Out):
    run_id: str
    rounds: list[list[Check]]
    """Each time that the checks were run: after the run's work, and after each round of fixing."""


class LeftOut(schemas.Out):
    """The build products that were left out of the commit of uncommitted work."""

    run_id: str
    paths: list[str]
    """Files and folders; a folder ends in a slash."""
    more: int
    """How many others there are."""


class Violation(schemas.Out):
    """Why a handoff could not be taken."""

    field: str
    wrong: str
    right: str


class RunHandoff(schemas.Out):
    run_id: str
    handoff: HandoffNote | None
    """Null: there is none that can be taken."""
    source: str | None
    """`message`, `file` or `tool`."""
    completeness: float | None
    """From 0 to 1: the share of the sections asked for that it has."""
    violations: list[Violation]
    """What was wrong with the one that was not kept."""


class Transcript(schemas.Out):
    """A part of what the agent wrote. Offsets count bytes; `next_offset` is where to go on."""

    run_id: str
    turn: int
    turns: int
    """How many turns the run has had so far; each has a transcript of its own."""
    offset: int
    next_offset: int
    size: int
    live: bool
    """Whether more may still come."""
    text: str
    removed_at: datetime | None
    """When retention removed it; null while it can be read."""
    missing: str | None
    """That it was copied from a machine that is gone, and need not be all; else null."""


class Capabilities(schemas.Out):
    resumes: bool
    structured_output: bool
    mcp: bool
    reports_cost: bool
    read_only_modes: bool
    system_prompt: bool
    harmless: bool
    """It plays a script and needs no consent."""
    interrupts: bool
    asks_permission: bool


class Agent(schemas.Out):
    name: str
    usable: bool
    """Whether nothing is missing."""
    model: str | None
    program: str | None
    version: str | None
    missing: list[str]
    doubts: list[str]
    capabilities: Capabilities


class Agents(schemas.Out):
    items: list[Agent]
    next: str | None


class Runs(schemas.Out):
    items: list[schemas.Run]
    next: str | None
