"""What people see of what is known: findings with their tasks, one with all that hangs on it, a
project's as a drawing, and what belongs to a task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import (
    STANDING,
    ActiveBlocker,
    Edge,
    EdgeKind,
    FileNote,
    Hit,
    KeptHandoff,
    LeftOut,
    Node,
    NodeKind,
    NodeState,
    Query,
)
from agents_manager.domain.names import visible
from agents_manager.domain.task import Project, Task
from agents_manager.errors import (
    InvalidInput,
    KnowledgeNotFound,
    NotFound,
    TaskNotFound,
    closest,
)
from agents_manager.flow.memory import recall
from agents_manager.flow.ports import Services, Tx

MOST_DRAWN = 2_000
MOST_RELATED = 200
LABEL = 200
"""Characters of what is written beside a node of the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for, in the words of a door: things by their names or ids."""

    text: str = ""
    tags: Sequence[str] = ()
    kinds: Sequence[str] = ()
    files: Sequence[str] = ()
    states: Sequence[str] = ()
    """All but retired ones unless given."""
    task: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    node: Node
    project: Project
    tasks: Sequence[Task]
    """Those that told of it and are still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teller:
    """A task, and what it told of."""

    task: Task
    nodes: Sequence[Node]


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    kind: EdgeKind
    outward: bool
    """From the node to this one."""
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    node: Node
    project: Project
    tasks: Sequence[Task]
    related: Sequence[Related]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    items: Sequence[Found]
    next: str | None
    """The cursor of the page that follows; None at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    cut: bool
    """Whether there are more than are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A line of the context map, with the task that it comes from."""

    note: FileNote
    task: Task | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    blocker: ActiveBlocker
    project: Project
    told_by: Task | None
    tasks: Sequence[Task]
    """Those that cannot go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledRun:
    run_id: RunId
    mode: str
    hits: Sequence[Hit]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledNext:
    before: Sequence[Task]
    """The finished tasks that this one builds on."""
    hits: Sequence[Hit]
    left_out: Sequence[LeftOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    task: Task
    runs: Sequence[RecalledRun]
    """Those that were told something, the oldest first."""
    next: RecalledNext | None
    """What a run that began now would be told; None of a task that is finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfTask:
    """What a task left for others, and what it waits for."""

    handoff: KeptHandoff | None
    """Of its last run that left one."""
    blockers: Sequence[ActiveBlocker]
    """Those that hold it up, and those that its own runs told of, while they are not resolved."""


def search(tx: Tx, wanted: Wanted, *, limit: int, after: str | None = None) -> Page:
    try:
        nodes = tx.knowledge.search(_query(tx, wanted), limit=limit + 1, after=after)
    except KnowledgeNotFound:
        raise _no_cursor() from None
    page = nodes[:limit]
    more = len(nodes) > limit
    return Page(items=_found(tx, page), next=page[-1].id if more else None)


def by_task(found: Sequence[Found]) -> list[Teller]:
    """The tasks that told of these, each with what it told."""
    tasks = {task.id: task for one in found for task in one.tasks}
    return [
        Teller(task=task, nodes=[one.node for one in found if task in one.tasks])
        for task in tasks.values()
    ]


def unknown_tags(tx: Tx, wanted: Wanted) -> list[str]:
    """For each tag that nothing has, a sentence with the closest that something has."""
    known = list(tags(tx, wanted.project)) if wanted.tags else []
    missing = [tag for tag in wanted.tags if tag.lower() not in known]
    return [f'Nothing is tagged "{tag}".{closest(tag, known)}' for tag in missing]


def node(tx: Tx, node_id: str) -> NodeView:
    found = tx.knowledge.find(node_id)
    (told,) = _found(tx, [found])
    edges = tx.knowledge.edges([found.id])[:MOST_RELATED]
    related = [
        Related(
            kind=edge.kind,
            outward=edge.source == found.id,
            node=tx.knowledge.get(edge.target if edge.source == found.id else edge.source),
        )
        for edge in edges
    ]
    return NodeView(node=found, project=told.project, tasks=told.tasks, related=related)


def drawing(tx: Tx, project: str) -> Drawing:
    """The newest ones that are not retired, and what is between them."""
    query = Query(project_id=tx.projects.find(project).id, states=STANDING)
    nodes = tx.knowledge.search(query, limit=MOST_DRAWN + 1)
    drawn = [replace(one, text=visible(one.text, LABEL)) for one in nodes[:MOST_DRAWN]]
    ids = {one.id for one in drawn}
    edges = [e for e in tx.knowledge.edges(ids) if e.source in ids and e.target in ids]
    return Drawing(nodes=drawn, edges=edges, cut=len(nodes) > MOST_DRAWN)


def tags(tx: Tx, project: str | None) -> Mapping[str, int]:
    """How many findings have each, the most frequent first."""
    counts = tx.knowledge.tags(None if project is None else tx.projects.find(project).id)
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def mapped(
    tx: Tx, project: str, *, under: str = "", limit: int, after: str | None = None
) -> tuple[list[Mapped], str | None]:
    """Lines of the context map, and the cursor of those that follow."""
    of = tx.projects.find(project).id
    try:
        notes = tx.knowledge.files(of, under=under.strip("/"), limit=limit + 1, after=after)
    except NotFound:
        raise _no_cursor() from None
    page = notes[:limit]
    tasks = _tasks(tx, (note.task_id for note in page))
    found = [Mapped(note=note, task=tasks.get(note.task_id)) for note in page]
    return found, page[-1].id if len(notes) > limit else None


def blockers(tx: Tx, project: str | None, *, resolved: bool = False) -> list[Blocked]:
    of = None if project is None else tx.projects.find(project).id
    return [_blocked(tx, one) for one in tx.knowledge.blockers(of, resolved=resolved)]


def blocker(tx: Tx, blocker_id: str) -> Blocked:
    return _blocked(tx, tx.knowledge.find_blocker(blocker_id))


def of_task(tx: Tx, task: Task) -> OfTask:
    kept = tx.knowledge.handoffs(task.id)
    told = [b for b in tx.knowledge.blockers(task.project_id) if b.task_id == task.id]
    every = {b.id: b for b in [*tx.knowledge.blocking(task.id), *told]}
    return OfTask(handoff=kept[-1] if kept else None, blockers=list(every.values()))


async def why(s: Services, task_ref: str) -> Recalled:
    """What agents of a task were told of what is known, what the next is told, and why."""
    found = await recall.why(s, task_ref)
    said = found.next
    return Recalled(
        task=found.task,
        runs=[RecalledRun(run_id=g.run.id, mode=g.run.mode, hits=g.hits) for g in found.runs],
        next=RecalledNext(before=said.before, hits=said.hits, left_out=said.left_out)
        if said
        else None,
    )


def _query(tx: Tx, wanted: Wanted) -> Query:
    return Query(
        project_id=None if wanted.project is None else tx.projects.find(wanted.project).id,
        text=wanted.text,
        tags=tuple(tag.lower() for tag in wanted.tags),
        kinds=tuple(map(NodeKind, wanted.kinds)),
        files=tuple(path.strip("/") for path in wanted.files),
        states=tuple(map(NodeState, wanted.states)) or STANDING,
        task_id=None if wanted.task is None else tx.tasks.find(wanted.task).id,
    )


def _no_cursor() -> InvalidInput:
    return InvalidInput("The cursor is not one of this listing.", ["cursor"])


def _found(tx: Tx, nodes: Sequence[Node]) -> list[Found]:
    told = _tasks(tx, (source.task_id for one in nodes for source in one.sources if source.task_id))
    projects = _projects(tx, (one.project_id for one in nodes))
    return [
        Found(node=one, project=projects[one.project_id], tasks=_of(one, told)) for one in nodes
    ]


def _of(node: Node, tasks: Mapping[TaskId, Task]) -> list[Task]:
    ids = dict.fromkeys(source.task_id for source in node.sources)
    return [tasks[id] for id in ids if id is not None and id in tasks]


def _blocked(tx: Tx, one: ActiveBlocker) -> Blocked:
    tasks = _tasks(tx, (one.task_id, *one.blocking_tasks))
    return Blocked(
        blocker=one,
        project=tx.projects.get(one.project_id),
        told_by=tasks.get(one.task_id),
        tasks=[tasks[id] for id in one.blocking_tasks if id in tasks],
    )


def _tasks(tx: Tx, ids: Iterable[TaskId]) -> dict[TaskId, Task]:
    """Those that are still there."""
    found: dict[TaskId, Task] = {}
    for id in dict.fromkeys(ids):
        try:
            found[id] = tx.tasks.get(id)
        except TaskNotFound:
            continue
    return found


def _projects(tx: Tx, ids: Iterable[ProjectId]) -> dict[ProjectId, Project]:
    return {id: tx.projects.get(id) for id in dict.fromkeys(ids)}
