"""The indexes of nodes' words on SQLite: FTS5, kept in step by triggers. (On Postgres it is a GIN.)

People look for beginnings of words, ranked. What runs are told is looked for in an index of its
own, where each word is bound to its project and kind, and to findings of every kind: FTS5 would
pass over all nodes of a project that is asked for beside a word, and so it reads the end of a list.

Triggers go with a table that is built anew, so a migration that does that to the nodes makes them
again. Their names are not like those of our tables, as what belongs to them is not ours to compare.
"""

from collections.abc import Collection

from agents_manager.domain.knowledge import NodeKind

NODES = "am_node"
FTS = "fts_am_node"
BOUND = "fts_am_node_bound"
RETIRED = "retired_"
FINDING = "finding"
FINDINGS = frozenset(NodeKind) - {NodeKind.TASK}
_OLD = (
    "INSERT INTO fts_am_node (fts_am_node, rowid, words, project_id)"
    " VALUES ('delete', old.number, old.words, old.project_id);"
)
_NEW = (
    "INSERT INTO fts_am_node (rowid, words, project_id)"
    " VALUES (new.number, new.words, new.project_id);"
)
_STANDS = f"CASE {{0}}.state WHEN 'retired' THEN '{RETIRED}' ELSE '' END"
_EACH = (
    f"replace(' ' || {{0}}.words, ' ', ' ' || {{0}}.project_id || '_' || {{1}} || '_' || {_STANDS})"
)
_AS_BOUND = (
    f"{_EACH.format('{0}', '{0}.kind')} || CASE {{0}}.kind WHEN 'task' THEN ''"
    f" ELSE {_EACH.format('{0}', repr(FINDING))} END"
)
_INTO = f"INSERT INTO {BOUND}"
_OLD_BOUND = (
    f"{_INTO} ({BOUND}, rowid, bound) VALUES ('delete', old.number, {_AS_BOUND.format('old')});"
)
_NEW_BOUND = f"{_INTO} (rowid, bound) VALUES (new.number, {_AS_BOUND.format('new')});"
_OTHERWISE_BOUND = "old.words <> new.words OR (old.state = 'retired') <> (new.state = 'retired')"
STATEMENTS = (
    # The project is a column of it: words of other projects are passed over in the index.
    f"CREATE VIRTUAL TABLE {FTS} USING fts5(words, project_id, content='{NODES}',"
    " content_rowid='number', tokenize='unicode61 remove_diacritics 0')",
    f"CREATE TRIGGER {FTS}_add AFTER INSERT ON {NODES} BEGIN {_NEW} END",
    f"CREATE TRIGGER {FTS}_remove AFTER DELETE ON {NODES} BEGIN {_OLD} END",
    f"CREATE TRIGGER {FTS}_change AFTER UPDATE OF words ON {NODES} BEGIN {_OLD} {_NEW} END",
    # Nothing but which nodes have a word, as all of it has to be written.
    f"CREATE VIRTUAL TABLE {BOUND} USING fts5(bound, content='', columnsize=0, detail=none,"
    " tokenize=\"ascii tokenchars '_-'\")",
    f"CREATE TRIGGER {BOUND}_add AFTER INSERT ON {NODES} BEGIN {_NEW_BOUND} END",
    f"CREATE TRIGGER {BOUND}_remove AFTER DELETE ON {NODES} BEGIN {_OLD_BOUND} END",
    f"CREATE TRIGGER {BOUND}_change AFTER UPDATE OF words, state ON {NODES}"
    f" WHEN {_OTHERWISE_BOUND} BEGIN {_OLD_BOUND} {_NEW_BOUND} END",
    # FTS5 merges so and so many pages at a time, now and then: small ones hold up a write less.
    *(f"INSERT INTO {name} ({name}, rank) VALUES ('pgsz', 500)" for name in (FTS, BOUND)),  # noqa: S608 - constants
)


def bound(word: str, project: str, kinds: Collection[str], *, retired: bool) -> str:
    """A query for the nodes of a project and of some kinds that have a word."""
    kinds = [FINDING] if frozenset(kinds) == FINDINGS else kinds
    mark = RETIRED if retired else ""
    return " OR ".join(f'"{project}_{kind}_{mark}{word}"' for kind in kinds)
