"""What a project's runs have found out: nodes, where each comes from, how they hang together."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_manager.domain.handoff import Handoff, Level
from agents_manager.domain.ids import ProjectId, RunId, TaskId

IMPORTED = ", imported by "
"""In a source, between who a file says it was and who brought the file in."""


class NodeKind(StrEnum):
    TASK = "task"
    PATTERN = "pattern"
    GOTCHA = "gotcha"
    DECISION = "decision"
    QUESTION = "question"


class NodeState(StrEnum):
    ACTIVE = "active"
    STALE = "stale"
    """A file that it speaks of has changed since."""
    CONTRADICTED = "contradicted"
    """Another node says otherwise, and nobody has said which of the two holds."""
    RETIRED = "retired"


STANDING = (NodeState.ACTIVE, NodeState.STALE, NodeState.CONTRADICTED)
"""All but what was retired."""


class EdgeKind(StrEnum):
    FOUND_BY = "found_by"
    """From a finding to the node of a task that told of it."""
    CONTRADICTS = "contradicts"
    ANSWERS = "answers"
    """From a decision to the question."""
    FOLLOWS = "follows"
    """From the node of a task to that of one it depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a finding comes from; one that was found again has several."""

    task_id: TaskId | None
    """None: it was brought in from elsewhere."""
    run_id: RunId | None
    """None: a person said it."""
    by: str
    commit: str | None
    file: str | None
    lines: str | None
    """`N-M`; None: the whole file."""
    words: str
    """As they were said, where the node's text is not what this one said; else empty."""
    at: datetime

    @property
    def imported(self) -> bool:
        """It is what a file says that somebody said."""
        return IMPORTED in self.by


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str
    project_id: ProjectId
    kind: NodeKind
    text: str
    """The finding in one sentence; of a task its title."""
    detail: Mapping[str, Any]
    """Fields of the handoff beside the sentence: `location`; `discovered_in` and `mitigation`;
    `context`, `recommendation` and `blocking`; of a decision `reason`."""
    severity: Level | None
    tags: tuple[str, ...]
    state: NodeState
    sources: tuple[Source, ...]
    used: int
    """In the prompts of how many runs it was."""
    helpful: int
    """Of those, how many ended well."""
    created_at: datetime
    updated_at: datetime
    confirmed_at: datetime | None
    confirmed_commit: str | None
    """Where the project stood when somebody said that it holds."""
    version: int
    """Counts what people change, so that nobody overwrites what he has not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    source: str
    target: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNote:
    """A line of the context map: what a run did to a file."""

    id: str
    project_id: ProjectId
    path: str
    task_id: TaskId
    run_id: RunId
    change: str
    """`create`, or a change type of the handoff."""
    description: str
    lines: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveBlocker:
    id: str
    project_id: ProjectId
    task_id: TaskId
    """Whose run told of it."""
    run_id: RunId
    blocker: str
    impact: str
    suggested_resolution: str
    blocking_tasks: tuple[TaskId, ...]
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    note: str | None
    """What the one who resolved it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptHandoff:
    run_id: RunId
    task_id: TaskId
    project_id: ProjectId
    handoff: Handoff
    source: str
    """`message`, `file` or `tool`."""
    completeness: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for; a node fits that has all of what is given: every tag, one of the kinds,
    states and files. A file may be a folder, then all below it fits."""

    project_id: ProjectId | None = None
    text: str = ""
    tags: tuple[str, ...] = ()
    kinds: tuple[NodeKind, ...] = ()
    files: tuple[str, ...] = ()
    states: tuple[NodeState, ...] = STANDING
    task_id: TaskId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A node, and which of the words, tags and files that were asked for it has."""

    node: Node
    text: float
    """How much of what the words ask for, from 0 to 1; rare words count more."""
    words: tuple[str, ...]
    tags: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    node: Node
    score: float
    why: tuple[str, ...]
    """In words: `tag auth`, `file src/auth/jwt.ts`, `words: token, refresh`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What a task was nearly told."""

    node: Node
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A node that was put into the prompt of a run."""

    run_id: RunId
    node_id: str
    score: float
    why: tuple[str, ...]
    at: datetime
