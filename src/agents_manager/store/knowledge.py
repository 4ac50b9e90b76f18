"""What was found out: nodes, how they hang together, and what became of them in prompts."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, SelectBase, bindparam, func, insert, or_, select, text, update

from agents_manager.domain import words
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import (
    STANDING,
    Edge,
    EdgeKind,
    Fit,
    Node,
    NodeKind,
    NodeState,
    Query,
    Source,
    Use,
)
from agents_manager.errors import StaleKnowledge
from agents_manager.store import knowledge_tables as tables
from agents_manager.store import node_rows, node_search
from agents_manager.store.columns import dumps
from agents_manager.store.knowledge_notes import Notes
from agents_manager.store.listed import among
from agents_manager.store.node_rows import NODE, NODES, SOURCE
from agents_manager.store.statements import Row

_NAMED = NODES.select.where(among(NODE.id)).order_by(NODE.number)
_OF_TASK = NODES.select.where(
    NODE.kind == NodeKind.TASK,
    NODE.number.in_(select(SOURCE.node).where(SOURCE.task_id == bindparam("task"))),
)
_SAME = (
    NODES.select.where(
        NODE.project_id == bindparam("project"),
        NODE.kind == bindparam("of_kind"),
        NODE.fingerprint == bindparam("like"),
    )
    .order_by(NODE.state == NodeState.RETIRED, NODE.number)
    .limit(1)
)
_CHANGE = update(tables.node).where(
    NODE.id == bindparam("b_id"), NODE.version == bindparam("b_version")
)
_MEMORY = (
    # Word for word, as SQLite looks for a partial index before it has values.
    NODES.select.where(NODE.project_id == bindparam("project"), text(tables.REMEMBERED))
    .order_by(NODE.number.desc())
    .limit(bindparam("most"))
)
_FINDINGS = NODES.select.where(
    NODE.project_id == bindparam("project"),
    NODE.state == NodeState.ACTIVE,
    NODE.kind != NodeKind.TASK,
).order_by(NODE.number)
_IN_FILES = _FINDINGS.where(
    NODE.number.in_(
        select(tables.file.c.node).where(
            tables.file.c.project_id == bindparam("project"), among(tables.file.c.path, "paths")
        )
    )
)
_IN_ANY_FILE = _FINDINGS.where(NODE.number.in_(select(tables.file.c.node)))
_DOUBTFUL = [
    NODES.select.where(NODE.project_id == bindparam("project"), text(where))
    .order_by(NODE.number.desc())
    .limit(bindparam("most"))
    for where in (tables.DOUBTFUL, tables.USELESS)
]
_LOOK = tables.look.c
_LOOKED = select(_LOOK.commit).where(_LOOK.project_id == bindparam("project"))
_RELOOK = update(tables.look).where(_LOOK.project_id == bindparam("project"))
_ADD_LOOK = insert(tables.look)
_SAY = update(tables.source).where(SOURCE.node == bindparam("of"), SOURCE.words == "")

_EDGE = tables.edge.c
_EDGES = (
    select(_EDGE.source, _EDGE.target, _EDGE.kind)
    .where(or_(among(_EDGE.source), among(_EDGE.target)))
    .order_by(_EDGE.source, _EDGE.target, _EDGE.kind)
)
_EDGE_THERE = select(_EDGE.kind).where(
    *(_EDGE[name] == bindparam(f"b_{name}") for name in ("source", "target", "kind"))
)
_ADD_EDGE = insert(tables.edge)

_USE = tables.use.c
_USES = (
    select(_USE.run_id, _USE.node_id, _USE.score, _USE.why, _USE.at)
    .where(among(_USE.run_id))
    .order_by(_USE.run_id, _USE.score.desc(), _USE.node_id)
)
_USED = select(_USE.helped).where(
    _USE.run_id == bindparam("run"), _USE.node_id == bindparam("node")
)
_ADD_USE = insert(tables.use)
_COUNT_USE = update(tables.node).where(NODE.id == bindparam("b_id")).values(used=NODE.used + 1)
_UNHELPED = _USE.run_id == bindparam("run"), _USE.helped.is_(False)
_COUNT_HELP = (
    update(tables.node)
    .where(NODE.id.in_(select(_USE.node_id).where(*_UNHELPED)))
    .values(helpful=NODE.helpful + 1)
)
_HELP = update(tables.use).where(*_UNHELPED).values(helped=True)


@cache
def _tags(*, project: bool) -> SelectBase:
    tag = tables.tag.c
    counted = (
        select(tag.tag, func.count())
        .join(tables.node, NODE.number == tag.node)
        .where(NODE.state.in_(STANDING))
        .group_by(tag.tag)
        .order_by(tag.tag)
    )
    return counted.where(tag.project_id == bindparam("project")) if project else counted


class Knowledge(Notes):
    def add(self, node: Node) -> None:
        node_rows.add(self._session, node)

    def get(self, node_id: str) -> Node:
        return node_rows.nodes(self._session, [NODES.get(self._session, node_id)])[0]

    def find(self, id_or_prefix: str) -> Node:
        return node_rows.nodes(self._session, [NODES.find(self._session, id_or_prefix)])[0]

    def named(self, node_ids: Collection[str]) -> list[Node]:
        return self._nodes(_NAMED, {"ids": dumps(list(node_ids))})

    def of_task(self, task_id: TaskId) -> Node | None:
        return next(iter(self._nodes(_OF_TASK, {"task": task_id})), None)

    def same(self, project_id: ProjectId, kind: NodeKind, text: str) -> Node | None:
        like = words.fingerprint(self._session.redacted(text))
        wanted = {"project": project_id, "of_kind": kind, "like": like}
        return next(iter(self._nodes(_SAME, wanted)), None)

    def update(
        self, node_id: str, now: datetime, *, version: int | None = None, **fields: Any
    ) -> Node:
        row = NODES.get(self._session, node_id)
        NODES.check(fields)
        changed = {"updated_at": now, **fields}
        if version is not None:
            changed["version"] = version + 1
        if "text" in fields:
            changed["fingerprint"] = words.fingerprint(self._session.redacted(fields["text"]))
        at = {"b_id": node_id, "b_version": row.version if version is None else version}
        if self._session.run(_CHANGE, {**at, **changed}) == 0:
            raise StaleKnowledge(
                f'Node "{node_id}" was changed since version {version} of it was read (it is'
                f" version {row.version} now); read it again and repeat what still applies."
            )
        if "tags" in fields:
            node_rows.retag(self._session, row, fields["tags"])
        if fields.keys() & {"text", "tags", "detail"}:
            node_rows.index(self._session, node_id)
        return self.get(node_id)

    def add_source(self, node_id: str, source: Source) -> None:
        node_rows.add_source(self._session, node_id, source)

    def say(self, node_id: str, words: str) -> None:
        row = NODES.get(self._session, node_id)
        self._session.run(_SAY, {"of": row.number, "words": words})

    def add_files(self, node_id: str, paths: Collection[str]) -> None:
        row = NODES.get(self._session, node_id)
        node_rows.add_files(self._session, row.number, row.project_id, paths)
        node_rows.index(self._session, node_id)

    def add_edge(self, edge: Edge) -> None:
        fields = {"source": edge.source, "target": edge.target, "kind": edge.kind}
        there = {f"b_{name}": value for name, value in fields.items()}
        if self._session.one(_EDGE_THERE, there) is None:
            self._session.run(_ADD_EDGE, fields)

    def edges(self, node_ids: Collection[str]) -> list[Edge]:
        return self._session.all(_EDGES, {"ids": dumps(list(node_ids))}, _edge)

    def search(self, query: Query, *, limit: int, after: str | None = None) -> list[Node]:
        found = node_search.search(self._session, query, limit, after)
        return node_rows.nodes(self._session, found)

    def ranked(self, query: Query, words: Collection[str], *, limit: int) -> list[Fit]:
        return node_search.ranked(self._session, query, words, limit)

    def about(self, project_id: ProjectId, paths: Collection[str] | None) -> list[Node]:
        if paths is None:
            return self._nodes(_IN_ANY_FILE, {"project": project_id})
        return self._nodes(_IN_FILES, {"project": project_id, "paths": dumps(sorted(set(paths)))})

    def doubtful(self, project_id: ProjectId, *, limit: int) -> list[Node]:
        wanted = {"project": project_id, "most": limit}
        return [node for statement in _DOUBTFUL for node in self._nodes(statement, wanted)][:limit]

    def looked(self, project_id: ProjectId) -> str | None:
        return self._session.scalar(_LOOKED, {"project": project_id})

    def look(self, project_id: ProjectId, commit: str) -> None:
        if self._session.run(_RELOOK, {"project": project_id, "commit": commit}) == 0:
            self._session.run(_ADD_LOOK, {"project_id": project_id, "commit": commit})

    def tags(self, project_id: ProjectId | None) -> Mapping[str, int]:
        of = {} if project_id is None else {"project": project_id}
        return dict(self._session.all(_tags(project=bool(of)), of))

    def memory(self, project_id: ProjectId, *, limit: int) -> list[Node]:
        return self._nodes(_MEMORY, {"project": project_id, "most": limit})

    def use(self, uses: Sequence[Use]) -> None:
        for use in uses:
            key = {"run": use.run_id, "node": use.node_id}
            if self._session.one(_USED, key) is not None:
                continue
            names = [column.name for column in _USES.selected_columns]
            fields: dict[str, Any] = {name: getattr(use, name) for name in names}
            self._session.run(_ADD_USE, {**fields, "helped": False})
            self._session.run(_COUNT_USE, {"b_id": use.node_id})

    def uses(self, run_ids: Collection[RunId]) -> list[Use]:
        return self._session.all(_USES, {"ids": dumps(list(run_ids))}, _use)

    def helped(self, run_id: RunId) -> None:
        self._session.run(_COUNT_HELP, {"run": run_id})
        self._session.run(_HELP, {"run": run_id})

    def _nodes(self, statement: Select[Any], params: Mapping[str, Any]) -> list[Node]:
        return node_rows.nodes(self._session, NODES.all(self._session, statement, params))


def _edge(row: Row) -> Edge:
    source, target, kind = row
    return Edge(source=source, target=target, kind=EdgeKind(kind))


def _use(row: Row) -> Use:
    run, node, score, why, at = row
    return Use(run_id=RunId(run), node_id=node, score=score, why=tuple(why), at=at)
