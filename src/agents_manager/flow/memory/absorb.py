"""What a run tells in its handoff is kept with the run's end, in the same transaction: the handoff
itself, the map of files, what was found out, and what blocks other tasks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents_manager.domain import event, findings, words
from agents_manager.domain.findings import Finding
from agents_manager.domain.handoff import Blocker, Handoff
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    Edge,
    EdgeKind,
    FileNote,
    KeptHandoff,
    Node,
    NodeKind,
    NodeState,
    Query,
    Source,
)
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, ActorType, Task
from agents_manager.errors import AgentsManagerError
from agents_manager.flow.ports import Services, Tx

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Told:
    node: Node
    again: bool
    """It was known before."""


def absorb(
    tx: Tx, s: Services, run: Run, task: Task, kept: KeptHandoff, commit: str | None
) -> None:
    """Once for each run, however often it is called."""
    if tx.knowledge.handoff(run.id) is not None:
        return
    tx.knowledge.keep_handoff(kept)
    source = Source(
        task_id=task.id,
        run_id=run.id,
        by=run.agent or "agent",
        commit=commit,
        file=None,
        lines=None,
        words="",
        at=kept.at,
    )
    stands_for = _of_task(tx, s, task, kept.handoff, source)
    _map(tx, s, kept, stands_for)
    _learn(tx, s, task, kept.handoff, source, stands_for, _agent(run))
    for blocker in kept.handoff.blockers:
        _block(tx, s, run, task, blocker, kept)


def tell(tx: Tx, s: Services, task: Task, handoff: Handoff, by: Actor) -> list[Node]:
    """What somebody keeps of a note that no run of ours left: its findings, on their word."""
    source = Source(
        task_id=task.id,
        run_id=None,
        by=by.name,
        commit=None,
        file=None,
        lines=None,
        words="",
        at=s.clock.now(),
    )
    stands_for = tx.knowledge.of_task(task.id) or _of_task(tx, s, task, handoff, source)
    return _learn(tx, s, task, handoff, source, stands_for, by)


def _learn(
    tx: Tx,
    s: Services,
    task: Task,
    handoff: Handoff,
    source: Source,
    stands_for: Node,
    actor: Actor,
) -> list[Node]:
    told = [keep(tx, s, task, finding, source) for finding in findings.of(handoff, task.tags)]
    for one in told:
        tx.knowledge.add_edge(
            Edge(source=one.node.id, target=stands_for.id, kind=EdgeKind.FOUND_BY)
        )
    if told:
        learned = event.KnowledgeLearned(
            run=source.run_id,
            nodes=tuple(dict.fromkeys(t.node.id for t in told if not t.again)),
            again=tuple(dict.fromkeys(t.node.id for t in told if t.again)),
        )
        tx.events.add(task.id, learned, actor, source.at)
    return [one.node for one in told]


def _of_task(tx: Tx, s: Services, task: Task, handoff: Handoff, source: Source) -> Node:
    """The node that stands for the task, with those of the tasks before and after it."""
    found = tx.knowledge.of_task(task.id)
    detail = {"outcome": handoff.outcome.value}
    if found is None:
        about = findings.tags(task.tags)
        found = _new(s, task, Finding(kind=NodeKind.TASK, text=task.title, tags=about), source)
        found = replace(found, detail=detail)
        tx.knowledge.add(found)
    else:
        tx.knowledge.add_source(found.id, source)
        tx.knowledge.update(found.id, source.at, text=task.title, detail=detail)
    for before in task.dependencies:
        _follow(tx, found, tx.knowledge.of_task(TaskId(before)))
    for after in tx.tasks.depending_on(task.id):
        _follow(tx, tx.knowledge.of_task(after.id), found)
    return found


def _follow(tx: Tx, later: Node | None, earlier: Node | None) -> None:
    if later is not None and earlier is not None:
        tx.knowledge.add_edge(Edge(source=later.id, target=earlier.id, kind=EdgeKind.FOLLOWS))


def _map(tx: Tx, s: Services, kept: KeptHandoff, stands_for: Node) -> None:
    paths: list[str] = []
    for path, change, description, lines in _files(kept.handoff):
        note = FileNote(
            id=s.ids.new(),
            project_id=kept.project_id,
            path=path,
            task_id=kept.task_id,
            run_id=kept.run_id,
            change=change,
            description=description,
            lines=lines,
            at=kept.at,
        )
        tx.knowledge.add_file(note)
        paths.append(path)
    if paths:
        tx.knowledge.add_files(stands_for.id, paths)


def _files(handoff: Handoff) -> Iterator[tuple[str, str, str, str]]:
    for created in handoff.files_created:
        yield created.path, "create", created.purpose, created.lines
    for modified in handoff.files_modified:
        yield modified.path, modified.change_type, modified.description, modified.lines


def keep(tx: Tx, s: Services, task: Task, finding: Finding, source: Source) -> Told:
    """Where it is known already, as one more source of that."""
    source = replace(source, file=finding.file, lines=finding.lines)
    same = tx.knowledge.same(task.project_id, finding.kind, finding.text)
    known = same or _like(tx, task, finding)
    if known is None:
        node = _new(s, task, finding, source)
        tx.knowledge.add(node)
        return Told(node, again=False)
    said = "" if words.normal(known.text) == words.normal(finding.text) else finding.text
    tx.knowledge.add_source(known.id, replace(source, words=said))
    changed = findings.merged(known, finding)
    if changed and known.state is not NodeState.RETIRED:
        tx.knowledge.update(known.id, source.at, **changed)
    return Told(known, again=True)


def _like(tx: Tx, task: Task, finding: Finding) -> Node | None:
    query = Query(project_id=task.project_id, kinds=(finding.kind,))
    near = tx.knowledge.ranked(query, findings.looked_for_by(finding.text), limit=CANDIDATES)
    return findings.nearest(finding, [fit.node for fit in near])


def _new(s: Services, task: Task, finding: Finding, source: Source) -> Node:
    return Node(
        id=s.ids.new(),
        project_id=task.project_id,
        kind=finding.kind,
        text=finding.text,
        detail=finding.detail,
        severity=finding.severity,
        tags=finding.tags,
        state=NodeState.ACTIVE,
        sources=(source,),
        used=0,
        helpful=0,
        created_at=source.at,
        updated_at=source.at,
        confirmed_at=None,
        confirmed_commit=None,
        version=1,
    )


def _block(tx: Tx, s: Services, run: Run, task: Task, told: Blocker, kept: KeptHandoff) -> None:
    named = [t for t in (_named(tx, task, ref) for ref in told.blocking_tasks) if t]
    for known in tx.knowledge.blockers(task.project_id):
        same = words.normal(known.blocker) == words.normal(told.blocker)
        if known.task_id == task.id and same and set(named) <= set(known.blocking_tasks):
            return  # A run that was tried again says it again.
    blocker = ActiveBlocker(
        id=s.ids.new(),
        project_id=task.project_id,
        task_id=task.id,
        run_id=run.id,
        blocker=told.blocker,
        impact=told.impact,
        suggested_resolution=told.suggested_resolution,
        blocking_tasks=tuple(dict.fromkeys(named)),
        created_at=kept.at,
        resolved_at=None,
        resolved_by=None,
        note=None,
    )
    tx.knowledge.add_blocker(blocker)
    raised = event.BlockerRaised(
        blocker=blocker.id, told=told.blocker, task=task.id, tasks=blocker.blocking_tasks
    )
    for task_id in dict.fromkeys((task.id, *blocker.blocking_tasks)):
        tx.events.add(task_id, raised, _agent(run), kept.at)


def _agent(run: Run) -> Actor:
    return Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)


def _named(tx: Tx, task: Task, reference: str) -> TaskId | None:
    """A task of the same project; an agent holds up no others."""
    try:
        found = tx.tasks.find(reference)
    except AgentsManagerError:
        return None
    return found.id if found.project_id == task.project_id else None
