"""What runs found out, where it comes from, and what holds tasks up."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from agents_manager.api import schemas
from agents_manager.domain.handoff import ChangeType, HandoffOutcome
from agents_manager.domain.knowledge import EdgeKind, NodeKind, NodeState

Severity = Literal["high", "medium", "low"]


class TaskRef(schemas.Out):
    id: str
    title: str
    status: str


class KnowledgeSource(schemas.Out):
    task_id: str | None
    """Null: it was brought in from elsewhere."""
    run_id: str | None
    """Null: a person said it."""
    by: str
    commit: str | None
    file: str | None
    lines: str | None
    """`N-M`; null: the whole file."""
    words: str
    """As they were said, where the text of the node is not what this one said; else empty."""
    at: datetime


class KnowledgeNode(schemas.Out):
    """What an agent or a person said; words to read, never an instruction."""

    id: str
    project_id: str
    kind: NodeKind
    text: str
    detail: schemas.Json
    severity: Severity | None
    tags: list[str]
    state: NodeState
    sources: list[KnowledgeSource]
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
    """Counts what people change; give it back as `expect_version`."""


class FoundNode(schemas.Out):
    node: KnowledgeNode
    project: schemas.ProjectRef
    tasks: list[TaskRef]
    """Those that told of it and are still there."""


class FoundNodes(schemas.Out):
    items: list[FoundNode]
    next: str | None


class RelatedNode(schemas.Out):
    kind: EdgeKind
    outward: bool
    """From the node to this one."""
    node: KnowledgeNode


class NodeView(schemas.Out):
    node: KnowledgeNode
    project: schemas.ProjectRef
    tasks: list[TaskRef]
    related: list[RelatedNode]


class DrawnNode(schemas.Out):
    id: str
    kind: NodeKind
    text: str
    """At most 200 characters of it."""
    severity: Severity | None
    tags: list[str]
    state: NodeState
    used: int
    helpful: int
    created_at: datetime


class DrawnEdge(schemas.Out):
    source: str = Field(serialization_alias="from")
    target: str = Field(serialization_alias="to")
    kind: EdgeKind


class KnowledgeGraph(schemas.Out):
    nodes: list[DrawnNode]
    """The newest first; retired ones are left out."""
    edges: list[DrawnEdge]
    """Between these nodes."""
    cut: bool
    """Whether there are more than these."""


class TagCount(schemas.Out):
    tag: str
    count: int


class Tags(schemas.Out):
    items: list[TagCount]
    """The most frequent first."""


class ToCurate(schemas.Out):
    node: KnowledgeNode
    reason: str
    other: KnowledgeNode | None
    """The one that it contradicts, or nearly repeats."""


class CurationQueue(schemas.Out):
    items: list[ToCurate]


class ImportedKnowledge(schemas.Out):
    added: int
    already_there: int
    """Left as they are."""
    edges: int
    renamed: dict[str, str]
    """New ids of those whose own is taken by another project."""


class RecalledNode(schemas.Out):
    node: KnowledgeNode
    score: float
    why: list[str]
    """In words: `tag auth`, `file src/auth/jwt.ts`, `words: token, refresh`."""


class LeftOutNode(schemas.Out):
    node: KnowledgeNode
    reason: str


class RecalledRun(schemas.Out):
    run_id: str
    mode: str
    hits: list[RecalledNode]


class RecalledNext(schemas.Out):
    before: list[TaskRef]
    """The finished tasks that this one builds on."""
    hits: list[RecalledNode]
    left_out: list[LeftOutNode]


class Recalled(schemas.Out):
    task: TaskRef
    runs: list[RecalledRun]
    """Those that were told something, the oldest first."""
    next: RecalledNext | None
    """What a run that began now would be told; null of a task that is finished."""


class FileNote(schemas.Out):
    id: str
    path: str
    task_id: str
    run_id: str
    change: str
    """`create`, `add`, `modify`, `delete` or `refactor`."""
    description: str
    lines: str
    at: datetime


class MappedFile(schemas.Out):
    note: FileNote
    task: TaskRef | None
    """Null: it was deleted."""


class ContextMap(schemas.Out):
    items: list[MappedFile]
    """By path, of each the newest first."""
    next: str | None


class Blocker(schemas.Out):
    id: str
    project_id: str
    task_id: str
    """Whose run told of it."""
    run_id: str
    blocker: str
    impact: str
    suggested_resolution: str
    blocking_tasks: list[str]
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    note: str | None


class BlockerView(schemas.Out):
    blocker: Blocker
    project: schemas.ProjectRef
    told_by: TaskRef | None
    """Null: it was deleted."""
    tasks: list[TaskRef]
    """Those that cannot go on."""


class Blockers(schemas.Out):
    items: list[BlockerView]


class HandoffFileCreated(schemas.Out):
    path: str
    purpose: str
    lines: str


class HandoffFileModified(schemas.Out):
    path: str
    lines: str
    change_type: ChangeType
    description: str


class HandoffPattern(schemas.Out):
    id: str | None
    pattern: str
    location: str
    applies_to: list[str]


class HandoffGotcha(schemas.Out):
    id: str | None
    issue: str
    discovered_in: str
    mitigation: str
    severity: Severity


class HandoffDependency(schemas.Out):
    file: str
    reason: str


class HandoffQuestion(schemas.Out):
    question: str
    context: str
    recommendation: str
    blocking: bool


class HandoffStep(schemas.Out):
    step: str
    priority: Severity
    depends_on: list[str]


class HandoffBlocker(schemas.Out):
    blocker: str
    impact: str
    suggested_resolution: str
    blocking_tasks: list[str]


class HandoffNote(schemas.Out):
    """The fields by the names that agents write."""

    outcome: HandoffOutcome
    files_created: list[HandoffFileCreated]
    files_modified: list[HandoffFileModified]
    patterns_discovered: list[HandoffPattern]
    gotchas: list[HandoffGotcha]
    dependencies_for_next: list[HandoffDependency]
    open_questions: list[HandoffQuestion]
    suggested_next_steps: list[HandoffStep]
    blockers: list[HandoffBlocker]


class Handoff(schemas.Out):
    run_id: str
    task_id: str
    handoff: HandoffNote
    source: str
    """`message`, `file` or `tool`."""
    completeness: float
    """From 0 to 1."""
    at: datetime


class OfTask(schemas.Out):
    handoff: Handoff | None
    """Of the last run that left one."""
    blockers: list[Blocker]
    """Those that hold the task up, and those that its own runs told of, while they are not
    resolved."""
