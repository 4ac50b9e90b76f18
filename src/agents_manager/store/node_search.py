"""Nodes by what they are about. What people look for is ranked by the database. What runs are told
is looked for word by word, tag by tag and file by file, the newest few of each, so that it takes as
long among a hundred thousand nodes as among a hundred."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from math import log2
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.types import UserDefinedType

from agents_manager.domain import words as texts
from agents_manager.domain.knowledge import STANDING, Fit, NodeKind, NodeState, Query
from agents_manager.store import knowledge_tables as tables
from agents_manager.store import word_index
from agents_manager.store.columns import Number, dumps
from agents_manager.store.listed import among, numbered
from agents_manager.store.node_rows import NODE, NODES, SOURCE, NodeRow, nodes
from agents_manager.store.rows import LAST_CHARACTER
from agents_manager.store.statements import INDEX_OF, Session

EACH = 30
"""How many nodes with a word, a tag or a file are looked at, the newest first."""
MOST_WORDS, MOST_TAGS, MOST_FILES = 40, 20, 100


class _TsQuery(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "tsquery"


_FTS = Table(word_index.FTS, MetaData(), Column("rowid", Integer), Column(word_index.FTS, String))
_BOUND = Table(
    word_index.BOUND,
    MetaData(),
    Column("rowid", Integer),
    Column(word_index.BOUND, String),
    info={INDEX_OF: word_index.NODES},
)
_ASKED = bindparam("asked", type_=String())
_TSQUERY = cast(_ASKED, _TsQuery())
_MATCHES = {
    True: NODE.words.op("@@", is_comparison=True)(_TSQUERY),
    False: _FTS.c[word_index.FTS].op("MATCH", is_comparison=True)(_ASKED),
}
_PLACES: Mapping[bool, FromClause] = {
    True: tables.node,
    False: _FTS.join(tables.node, NODE.number == _FTS.c.rowid),
}
# Smaller is better. Of FTS5's two columns only the words count.
_SCORES: Mapping[bool, ColumnElement[float]] = {
    True: -cast(func.ts_rank(NODE.words, _TSQUERY), Number),
    False: func.bm25(literal_column(word_index.FTS), 1.0, 0.0, type_=Number()),
}
_FILED = select(tables.file.c.node)
_FILE = tables.file.c
_OF_PROJECT = NODE.project_id == bindparam("project")
_KINDS = among(NODE.kind, "kinds")
_STATES = among(NODE.state, "states")
_TAGGED = NODE.number.in_(
    select(tables.tag.c.node)
    .where(among(tables.tag.c.tag, "tags"))
    .group_by(tables.tag.c.node)
    .having(func.count() == bindparam("how_many"))
)
_TOLD = NODE.number.in_(select(SOURCE.node).where(SOURCE.task_id == bindparam("task")))


@lru_cache
def _below(count: int) -> ColumnElement[bool]:
    """Nodes of one of so many files or folders."""
    each = [
        or_(
            _FILE.path == bindparam(f"path{i}"),
            (_FILE.path >= bindparam(f"low{i}")) & (_FILE.path < bindparam(f"high{i}")),
        )
        for i in range(count)
    ]
    return NODE.number.in_(_FILED.where(or_(*each)))


@lru_cache(256)
def _search(given: frozenset[str], files: int, *, text: bool, postgres: bool) -> Select[Any]:
    parts = {"project": _OF_PROJECT, "kinds": _KINDS, "tags": _TAGGED, "task": _TOLD}
    chosen = [part for name, part in parts.items() if name in given]
    found = NODES.select.where(_STATES, *chosen)
    if files:
        found = found.where(_below(files))
    last = bindparam("last", type_=Integer())
    if not text:
        found = found.where(NODE.number < last) if "last" in given else found
        return found.order_by(NODE.number.desc()).limit(bindparam("most"))
    score, best = _SCORES[postgres], bindparam("best", type_=Number())
    found = found.select_from(_PLACES[postgres]).where(_MATCHES[postgres])
    if "last" in given:
        found = found.where(or_(score > best, (score == best) & (NODE.number < last)))
    return found.order_by(score, NODE.number.desc()).limit(bindparam("most"))


@cache
def _score(*, postgres: bool) -> Select[Any]:
    scored = select(_SCORES[postgres]).select_from(_PLACES[postgres])
    return scored.where(_MATCHES[postgres], NODE.number == bindparam("number"))


def search(session: Session, query: Query, limit: int, after: str | None) -> list[NodeRow]:
    asked = texts.asked(session.redacted(query.text))
    if query.text.strip() and not asked:
        return []
    postgres = session.postgres
    params = _params(query)
    if asked:
        params["asked"] = _all_of(asked, query.project_id, postgres=postgres)
    if after is not None:
        params["last"] = NODES.get(session, after).number
        if asked:
            place = {"asked": params["asked"], "number": params["last"]}
            best = session.scalar(_score(postgres=postgres), place)
            if best is None:
                return []
            params["best"] = best
    statement = _search(frozenset(params), len(query.files), text=bool(asked), postgres=postgres)
    return NODES.all(session, statement, {**params, "most": limit})


def _params(query: Query) -> dict[str, Any]:
    params: dict[str, Any] = {"states": dumps(list(query.states))}
    if query.project_id is not None:
        params["project"] = query.project_id
    if query.kinds:
        params["kinds"] = dumps(list(query.kinds))
    if query.tags:
        unique = sorted(set(query.tags))
        params |= {"tags": dumps(unique), "how_many": len(unique)}
    if query.task_id is not None:
        params["task"] = query.task_id
    for i, path in enumerate(query.files):
        folder = path.rstrip("/") + "/"
        params |= {f"path{i}": path, f"low{i}": folder, f"high{i}": folder + LAST_CHARACTER}
    return params


def _all_of(asked: Iterable[str], project: str | None, *, postgres: bool) -> str:
    """Words are letters and figures alone, so that none of them can be an operator."""
    if postgres:
        return " & ".join(f"{word}:*" for word in asked)
    found = " AND ".join(f'"{word}"*' for word in asked)
    return _within(f"words : ({found})", project)


def _one(word: str, query: Query, *, postgres: bool) -> str:
    if postgres:
        return word
    retired = query.states == (NodeState.RETIRED,)
    assert retired or query.states == STANDING, "words are bound to whether a node stands"
    assert query.project_id is not None, "what a run is told is of its project"
    return word_index.bound(word, query.project_id, query.kinds or tuple(NodeKind), retired=retired)


def _within(found: str, project: str | None) -> str:
    if project is None:
        return found
    quoted = project.replace('"', '""')
    return f'project_id : "{quoted}" AND {found}'


@cache
def _newest(*, by: str, kinds: bool, postgres: bool) -> Select[Any]:
    """Numbers of the newest nodes with a word, a tag or a file."""
    if by == "word" and not postgres:
        number = _BOUND.c.rowid
        fits = _BOUND.c[word_index.BOUND].op("MATCH", is_comparison=True)(_ASKED)
        return select(number).where(fits).order_by(number.desc()).limit(bindparam("most"))
    table = {"tag": tables.tag, "path": tables.file}.get(by)
    if table is None:
        number, place, fits = NODE.number, tables.node, _MATCHES[postgres]
    else:
        number = table.c.node
        place = table.join(tables.node, NODE.number == number)
        fits = (table.c.project_id == bindparam("project")) & (table.c[by] == bindparam("asked"))
    found = select(number).select_from(place).where(fits, _OF_PROJECT, _STATES)
    found = found.where(_KINDS) if kinds else found
    return found.order_by(number.desc()).limit(bindparam("most"))


_BY_NUMBER = NODES.select.where(numbered(NODE.number))


def ranked(session: Session, query: Query, words: Collection[str], limit: int) -> list[Fit]:
    evidence = _evidence(session, query, words)
    weights = {asked: 1 / (1 + log2(len(found))) for asked, found in evidence.items() if found}
    has: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for asked, found in evidence.items():
        for number in found:
            has[number].append(asked)

    def weight(number: int) -> float:
        return sum(weights[asked] for asked in has[number])

    best = sorted(has, key=lambda number: (-weight(number), -number))[:limit]
    rows = {row.number: row for row in NODES.all(session, _BY_NUMBER, {"ids": dumps(best)})}
    all_words = sum(weight for (by, _), weight in weights.items() if by == "word")
    fits: list[Fit] = []
    for node, number in zip(nodes(session, [rows[n] for n in best]), best, strict=True):
        having = _by(has[number])
        text = sum(weights["word", word] for word in having["word"])
        fit = Fit(
            node=node,
            text=text / all_words if text else 0.0,
            words=tuple(having["word"]),
            tags=tuple(having["tag"]),
            files=tuple(having["path"]),
        )
        fits.append(fit)
    return fits


def _by(having: Sequence[tuple[str, str]]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {"word": [], "tag": [], "path": []}
    for by, asked in having:
        found[by].append(asked)
    return found


def _evidence(
    session: Session, query: Query, words: Collection[str]
) -> dict[tuple[str, str], list[int]]:
    """By what was asked for, which nodes have it."""
    postgres = session.postgres
    common = _params(Query(project_id=query.project_id, kinds=query.kinds, states=query.states))
    asked_words = dict.fromkeys(word for text in words for word in texts.asked(text))
    wanted = [
        *(("word", word) for word in list(asked_words)[:MOST_WORDS]),
        *(("tag", tag) for tag in list(dict.fromkeys(query.tags))[:MOST_TAGS]),
        *(("path", path) for path in list(dict.fromkeys(query.files))[:MOST_FILES]),
    ]
    found: dict[tuple[str, str], list[int]] = {}
    for by, asked in wanted:
        match = _one(asked, query, postgres=postgres) if by == "word" else asked
        statement = _newest(by=by, kinds=bool(query.kinds), postgres=postgres)
        rows = session.all(statement, {**common, "asked": match, "most": EACH})
        found[by, asked] = [number for (number,) in rows]
    return found
