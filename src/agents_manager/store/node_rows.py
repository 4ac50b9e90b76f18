"""Rows of nodes, and what each is found by."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Table, bindparam, delete, insert, select, update

from agents_manager.domain import words
from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.knowledge import Node, NodeKind, NodeState, Source
from agents_manager.errors import KnowledgeNotFound
from agents_manager.store import knowledge_tables as tables
from agents_manager.store.columns import dumps
from agents_manager.store.listed import numbered
from agents_manager.store.rows import Rows
from agents_manager.store.statements import Row, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A node but for its sources, and the number that other tables know it by."""

    number: int
    id: str
    project_id: str
    kind: NodeKind
    text: str
    detail: dict[str, Any]
    severity: Level | None
    tags: tuple[str, ...]
    state: NodeState
    used: int
    helpful: int
    created_at: datetime
    updated_at: datetime
    confirmed_at: datetime | None
    confirmed_commit: str | None
    version: int


NODES = Rows(
    tables.node,
    NodeRow,
    KnowledgeNotFound,
    kind=NodeKind,
    severity=Level,
    tags=tuple,
    state=NodeState,
)
NODE = tables.node.c
_ADD = insert(tables.node).returning(NODE.number)
SOURCE = tables.source.c
_ADD_SOURCE = insert(tables.source)
_SOURCES = (
    select(
        *(SOURCE.node, SOURCE.task_id, SOURCE.run_id, SOURCE.by, SOURCE.commit, SOURCE.file),
        *(SOURCE.lines, SOURCE.words, SOURCE.at),
    )
    .where(numbered(SOURCE.node))
    .order_by(SOURCE.node, SOURCE.number)
)
_WORDS = update(tables.node).where(NODE.number == bindparam("b_number"))
_FILES = select(tables.file.c.path).where(tables.file.c.node == bindparam("of"))
_ADD_TAG = insert(tables.tag)
_ADD_FILE = insert(tables.file)


@cache
def drop(table: Table) -> Any:
    """What a table has of one node."""
    return delete(table).where(table.c.node == bindparam("of"))


def add(session: Session, node: Node) -> None:
    fields: dict[str, Any] = {name: getattr(node, name) for name in NODES.names if name != "number"}
    files = list(dict.fromkeys(source.file for source in node.sources if source.file))
    # At once, as a row that is changed after it was added is indexed twice.
    fields |= {
        "fingerprint": words.fingerprint(session.redacted(node.text)),
        "words": _found_by(session, node, files),
    }
    [(number,)] = session.all(_ADD, fields)
    for source in node.sources:
        _add_source(session, number, source)
    _tag(session, number, node.project_id, node.tags)
    _add_files(session, number, node.project_id, files)


def add_source(session: Session, node_id: str, source: Source) -> None:
    row = NODES.get(session, node_id)
    _add_source(session, row.number, source)
    if source.file:
        add_files(session, row.number, row.project_id, [source.file])
    if source.file or source.words:
        index(session, node_id)


def _add_source(session: Session, number: int, source: Source) -> None:
    names = [name for name in SOURCE.keys() if name not in ("number", "node")]  # noqa: SIM118
    fields: dict[str, Any] = {name: getattr(source, name) for name in names}
    session.run(_ADD_SOURCE, {"node": number, **fields})


def add_files(session: Session, number: int, project_id: str, paths: Collection[str]) -> None:
    known = {path for (path,) in session.all(_FILES, {"of": number})}
    _add_files(session, number, project_id, [p for p in dict.fromkeys(paths) if p not in known])


def _add_files(session: Session, number: int, project_id: str, paths: Collection[str]) -> None:
    for path in paths:
        session.run(_ADD_FILE, {"project_id": project_id, "path": path, "node": number})


def retag(session: Session, row: NodeRow, tags: Sequence[str]) -> None:
    session.run(drop(tables.tag), {"of": row.number})
    _tag(session, row.number, row.project_id, tags)


def _tag(session: Session, number: int, project_id: str, tags: Sequence[str]) -> None:
    for tag in dict.fromkeys(tags):
        session.run(_ADD_TAG, {"project_id": project_id, "tag": tag, "node": number})


def index(session: Session, node_id: str) -> None:
    """Writes the words that it is found by; without secrets, which words no longer show."""
    row = NODES.get(session, node_id)
    [node] = nodes(session, [row])
    files = [path for (path,) in session.all(_FILES, {"of": row.number})]
    session.run(_WORDS, {"b_number": row.number, "words": _found_by(session, node, files)})


def _found_by(session: Session, node: Node, files: Sequence[str]) -> list[str]:
    told = [value for value in node.detail.values() if isinstance(value, str)]
    said = [source.words for source in node.sources]
    text = session.redacted("\n".join([node.text, *node.tags, *told, *said, *files]))
    return words.indexed(text)


def nodes(session: Session, rows: Sequence[NodeRow]) -> list[Node]:
    """With their sources, in the order of the rows."""
    sources: dict[int, list[Source]] = {row.number: [] for row in rows}
    if rows:
        for number, source in session.all(_SOURCES, {"ids": dumps(list(sources))}, _source):
            sources[number].append(source)
    return [_node(row, sources[row.number]) for row in rows]


def _source(row: Row) -> tuple[int, Source]:
    number, task, run, by, commit, file, lines, said, at = row
    source = Source(
        task_id=task and TaskId(task),
        run_id=run and RunId(run),
        by=by,
        commit=commit,
        file=file,
        lines=lines,
        words=said,
        at=at,
    )
    return number, source


def _node(row: NodeRow, sources: Sequence[Source]) -> Node:
    fields: dict[str, Any] = {name: getattr(row, name) for name in NODES.names if name != "number"}
    return Node(**fields, sources=tuple(sources))
