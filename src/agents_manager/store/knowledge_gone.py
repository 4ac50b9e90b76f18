"""What is found out goes with the tasks that alone told of it; what others told, too, stays in
their words."""

from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update

from agents_manager.domain import words
from agents_manager.store import knowledge_tables as tables
from agents_manager.store import node_rows, schema
from agents_manager.store.knowledge_notes import BLOCKERS
from agents_manager.store.node_rows import NODE, NODES, SOURCE, NodeRow
from agents_manager.store.statements import Session

_TOLD = NODES.select.where(
    NODE.number.in_(select(SOURCE.node).where(SOURCE.task_id == bindparam("task")))
).order_by(NODE.number)
_OF_PROJECT = NODES.select.where(NODE.project_id == bindparam("project")).order_by(NODE.number)
_DROP_SOURCES = delete(tables.source).where(
    SOURCE.node == bindparam("of"), SOURCE.task_id == bindparam("task")
)
_SAID_SO = select(SOURCE.number).where(
    SOURCE.node == bindparam("of"), SOURCE.task_id == bindparam("task"), SOURCE.words == ""
)
_REST = (
    select(SOURCE.number, SOURCE.words, SOURCE.file)
    .where(SOURCE.node == bindparam("of"))
    .order_by(SOURCE.number)
)
_OWN_WORDS = update(tables.source).where(SOURCE.number == bindparam("b_number"))
_TEXT = update(tables.node).where(NODE.number == bindparam("b_number"))
_DROP_EDGES = delete(tables.edge).where(
    or_(tables.edge.c.source == bindparam("id"), tables.edge.c.target == bindparam("id"))
)
_DROP_USES = delete(tables.use).where(tables.use.c.node_id == bindparam("id"))
_DROP_NODE = delete(tables.node).where(NODE.number == bindparam("of"))
_DROP_LOOK = delete(tables.look).where(tables.look.c.project_id == bindparam("project"))
_RUNS = select(schema.run.c.id).where(schema.run.c.task_id == bindparam("task"))
_DROP_RUNS_USES = delete(tables.use).where(tables.use.c.run_id.in_(_RUNS))
_OWN = select(tables.blocker.c.id).where(tables.blocker.c.task_id == bindparam("task"))
_DROP_BLOCKED = delete(tables.blocked).where(tables.blocked.c.blocker_id.in_(_OWN))
_NAMING = BLOCKERS.select.join(
    tables.blocked, tables.blocked.c.blocker_id == tables.blocker.c.id
).where(tables.blocked.c.task_id == bindparam("task"))


def of_task(session: Session, task_id: str) -> None:
    """Before the rows of the task itself go."""
    of: dict[str, Any] = {"task": task_id}
    session.run(_DROP_RUNS_USES, of)
    session.run(_DROP_BLOCKED, of)
    for blocker in BLOCKERS.all(session, _NAMING, of):
        rest = [other for other in blocker.blocking_tasks if other != task_id]
        BLOCKERS.update(session, blocker.id, {"blocking_tasks": rest})
    for row in NODES.all(session, _TOLD, of):
        said_so = session.one(_SAID_SO, {"of": row.number, **of}) is not None
        session.run(_DROP_SOURCES, {"of": row.number, **of})
        rest = session.all(_REST, {"of": row.number})
        if rest:
            _keep(session, row, rest, goes_with=said_so)
        else:
            _drop(session, row)


def of_project(session: Session, project_id: str) -> None:
    for row in NODES.all(session, _OF_PROJECT, {"project": project_id}):
        _drop(session, row)
    session.run(_DROP_LOOK, {"project": project_id})


def _keep(
    session: Session,
    row: NodeRow,
    rest: list[tuple[int, str, str | None]],
    *,
    goes_with: bool,
) -> None:
    """In the words of the first that is left, where the text is that of the one that goes."""
    number, said, _ = rest[0]
    if goes_with and all(words for _, words, _ in rest):
        session.run(_OWN_WORDS, {"b_number": number, "words": ""})
        fields = {"text": said, "fingerprint": words.fingerprint(said)}
        session.run(_TEXT, {"b_number": row.number, **fields})
    session.run(node_rows.drop(tables.file), {"of": row.number})
    files = [file for _, _, file in rest if file]
    node_rows.add_files(session, row.number, row.project_id, files)
    node_rows.index(session, row.id)


def _drop(session: Session, row: NodeRow) -> None:
    session.run(_DROP_EDGES, {"id": row.id})
    session.run(_DROP_USES, {"id": row.id})
    for table in (tables.source, tables.tag, tables.file):
        session.run(node_rows.drop(table), {"of": row.number})
    session.run(_DROP_NODE, {"of": row.number})
