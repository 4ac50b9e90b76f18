"""What is known of a project on its way out and in: all of it as a document, and what holds as a
section of AGENTS.md. What is brought in stays marked as brought in, by whom."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_manager.domain import agents_md, knowledge_document
from agents_manager.domain.audit import Deed
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.knowledge import IMPORTED, Edge, Node, NodeState, Query, Source
from agents_manager.domain.knowledge_document import About, NodeWritten, SourceWritten, Written
from agents_manager.domain.task import Actor, Project
from agents_manager.errors import TaskNotFound
from agents_manager.flow import audit
from agents_manager.flow.ports import Services, Tx

PAGE = 500
FIRST_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    project: Project
    added: int
    already_there: int
    """Left as they are."""
    edges: int
    renamed: Mapping[str, str]
    """New ids of those whose own is taken by another project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    text: str
    left_out: Sequence[str]
    """Nodes that seem to hold a secret."""


def export(tx: Tx, s: Services, project: Project) -> dict[str, Any]:
    nodes = _all(tx, project)
    ids = {node.id for node in nodes}
    edges = [e for e in tx.knowledge.edges(ids) if e.source in ids and e.target in ids]
    about = About(project=project.name, exported_at=s.clock.now())
    return knowledge_document.written(about, nodes, edges)


async def import_(s: Services, project: Project, text: str, actor: Actor) -> Imported:
    """Adds what is not there yet, all of it or nothing."""
    document = await asyncio.to_thread(knowledge_document.read, text)
    return await s.store.write(lambda tx: _write(tx, s, project, document, actor))


async def section(s: Services, project: Project) -> Section:
    nodes = await s.store.read(lambda tx: _all(tx, project))
    left = {node.id: node for node in nodes if agents_md.wanted(node)}
    texts = {id: agents_md.words(node) for id, node in left.items()}
    # A search tells of some at a time.
    while found := await s.checks.secrets_in(texts):
        for place in found:
            texts.pop(place.partition(": ")[0], None)
    kept = [left[id] for id in texts]
    return Section(text=agents_md.section(kept), left_out=[id for id in left if id not in texts])


def _all(tx: Tx, project: Project) -> list[Node]:
    """The oldest first."""
    query = Query(project_id=project.id, states=tuple(NodeState))
    found: list[Node] = []
    after: str | None = None
    while page := tx.knowledge.search(query, limit=PAGE, after=after):
        found += page
        after = page[-1].id
    return found[::-1]


def _write(tx: Tx, s: Services, project: Project, document: Written, actor: Actor) -> Imported:
    ids = _ids(tx, project, document)
    there = {node.id for node in tx.knowledge.named(list(ids.values()))}
    new = [node for node in document.nodes if ids[node.id] not in there]
    tasks = _tasks(tx, project, new)
    for node in new:
        tx.knowledge.add(_node(node, ids[node.id], project, tasks, actor))
    edges = {Edge(source=ids[e.source], target=ids[e.target], kind=e.kind) for e in document.edges}
    missing = edges - set(tx.knowledge.edges(list(ids.values())))
    for edge in missing:
        tx.knowledge.add_edge(edge)
    if new or missing:
        summary = f'imported {counted_as(len(new), "finding")} into project "{project.name}"'
        said = {"project": project.name, "added": len(new)}
        audit.note(tx, s.clock.now(), actor, Deed.KNOWLEDGE_IMPORTED, summary, **said)
    return Imported(
        project=project,
        added=len(new),
        already_there=len(document.nodes) - len(new),
        edges=len(missing),
        renamed={old: now for old, now in ids.items() if old != now},
    )


def _ids(tx: Tx, project: Project, document: Written) -> dict[str, str]:
    """Each keeps its own, unless a node of another project has it; then always the same other."""
    known = {node.id: node for node in tx.knowledge.named([n.id for n in document.nodes])}
    taken = {id for id, node in known.items() if node.project_id != project.id}
    ids = {n.id: _other(project, n.id) if n.id in taken else n.id for n in document.nodes}
    if len(set(ids.values())) < len(ids):
        raise knowledge_document.refused(["nodes: two of them would get the same id"])
    return ids


def _other(project: Project, id: str) -> str:
    return hashlib.sha256(f"{project.id}\n{id}".encode()).hexdigest()[:16]


def _tasks(tx: Tx, project: Project, nodes: Sequence[NodeWritten]) -> set[str]:
    """Those of the project that the nodes speak of."""
    found: set[str] = set()
    for id in {source.task for node in nodes for source in node.sources if source.task}:
        try:
            if tx.tasks.get(TaskId(id)).project_id == project.id:
                found.add(id)
        except TaskNotFound:
            continue
    return found


def _node(node: NodeWritten, id: str, project: Project, tasks: set[str], actor: Actor) -> Node:
    nobody = SourceWritten(
        task=None,
        run=None,
        by="nobody named",
        commit=None,
        file=None,
        lines=None,
        words="",
        at=node.created_at,
    )
    return Node(
        id=id,
        project_id=project.id,
        sources=tuple(_source(one, tasks, actor) for one in node.sources or (nobody,)),
        version=FIRST_VERSION,
        **node.model_dump(exclude={"id", "sources"}),
    )


def _source(source: SourceWritten, tasks: set[str], actor: Actor) -> Source:
    return Source(
        task_id=TaskId(source.task) if source.task in tasks else None,
        run_id=RunId(source.run) if source.run else None,
        by=f"{source.by.partition(IMPORTED)[0]}{IMPORTED}{actor.name}",
        commit=source.commit,
        file=source.file,
        lines=source.lines,
        words=source.words,
        at=source.at,
    )
