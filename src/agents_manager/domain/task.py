"""Projects, tasks, what they produced, and how they moved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, RunId, TaskId
from agents_manager.domain.value import Value


class ActorType(StrEnum):
    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"
    SUPERVISOR = "supervisor"


class Actor(Value):
    type: ActorType
    name: str = ""
    run: str | None = None
    via: str | None = None
    admin: bool = False
    role: str | None = None
    """What the person's token says; some questions are for some roles only."""
    address: str | None = Field(default=None, exclude=True)
    """Of the machine that asks over HTTP; for the record of decisions, not for events."""


SYSTEM = Actor(type=ActorType.SYSTEM, name="engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: ProjectId
    name: str
    path: str
    """On the machine that asks."""
    base_branch: str
    trusted_commands: str | None
    """Fingerprint of the project's commands its user allowed to run; None: none allowed."""
    consented_at: datetime | None
    """Since when its user allows agents to work at it without a sandbox; None: they may not."""
    created_at: datetime
    trusted: Mapping[str, str] | None = None
    """The commands that were allowed, by their places in the configuration; None where they are not
    on record."""
    remote: str | None = None
    """Where machines that lack it clone it from; None: nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: TaskId
    project_id: ProjectId
    title: str
    description: str
    objective: str
    """What it is good for, in a sentence or two; empty when nobody said."""
    type: str
    priority: str
    size: str
    complexity: str
    tags: tuple[str, ...]
    acceptance_criteria: tuple[str, ...]
    dependencies: tuple[str, ...]
    pipeline_id: str
    pipeline_version: int
    status: str
    plan: str | None
    version: int
    created_at: datetime
    updated_at: datetime
    starts_at: datetime | None = None
    """When the engine starts it; None: somebody does. A task that was moved has none."""
    agent: str | None = None
    """The agent that was chosen for its runs; None: the project's default."""
    model: str | None = None
    """The model of that agent; None: the agent's own choice."""


class ArtifactType(StrEnum):
    BRANCH = "branch"
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"
    DIFF = "diff"
    DOCUMENT = "document"
    LINK = "link"
    """Where the task comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    id: str
    task_id: TaskId
    run_id: RunId | None
    type: ArtifactType
    key: str
    """What makes it the same artifact when it is collected again."""
    label: str
    data: Mapping[str, Any]
    created_at: datetime


class Result(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    ROLLED_BACK = "rolled_back"
    FORCED = "forced"
    GRANTED = "granted"


class GuardCheck(Value):
    name: str
    passed: bool
    reason: str


class HookRecord(Value):
    name: str
    policy: str
    effect: str | None
    """The effect's id; None for a hook that is performed inside the transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One attempt at a transition, whatever came of it."""

    id: HistoryId
    task_id: TaskId
    version: int
    """The task's version after the attempt."""
    result: Result
    transition_id: str | None
    source: str
    to: str
    trigger: str
    outcome: str | None
    actor: Actor
    payload: Mapping[str, Any] | None
    guards: tuple[GuardCheck, ...]
    hooks: tuple[HookRecord, ...]
    reason: str | None
    time: datetime


class MergeMethod(StrEnum):
    """How the commits of a pull request come into its base."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


LOCAL = "local"
"""The forge that is our own."""


class PullState(StrEnum):
    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    id: str
    project_id: ProjectId
    task_id: TaskId
    number: int
    title: str
    body: str
    head_branch: str
    base_branch: str
    head_sha: str
    state: PullState
    merge_sha: str | None
    created_at: datetime
    updated_at: datetime
    forge: str = LOCAL
    """Where it lives."""
    url: str | None = None
    """Its page there, where it has one."""
    checks: str | None = None
    """What the checks of the forge say about its head: `passed`, `failed`, `pending`; None: there
    are none, or nobody has looked."""


EffectStatus = Literal["pending", "started", "done", "failed", "cancelled"]
OPEN_EFFECTS: tuple[EffectStatus, ...] = ("pending", "started")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """A work item: what a hook asked for, stored with the transition and performed after it."""

    id: EffectId
    task_id: TaskId
    history_id: HistoryId
    position: int
    kind: str
    payload: Mapping[str, Any]
    policy: str
    status: EffectStatus
    attempt: int
    due_at: datetime
    error: str | None
    result: Mapping[str, Any] | None
    created_at: datetime
    finished_at: datetime | None
    host: str | None = None
    """The machine that performs it, where several share a database."""
    part: str = ""
    """The part of the work that it is for; such effects do not wait for those of other parts."""
