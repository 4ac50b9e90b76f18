"""The index of nodes' words on SQLite: FTS5, kept in step by triggers. (On Postgres it is a GIN.)

Triggers go with a table that is built anew, so a migration that does that to the nodes makes them
again. Its name is not like those of our tables, as what belongs to it is not ours to compare.
"""

NODES = "am_node"
FTS = "fts_am_node"
_OLD = (
    "INSERT INTO fts_am_node (fts_am_node, rowid, words, project_id)"
    " VALUES ('delete', old.number, old.words, old.project_id);"
)
_NEW = (
    "INSERT INTO fts_am_node (rowid, words, project_id)"
    " VALUES (new.number, new.words, new.project_id);"
)
STATEMENTS = (
    # The project is a column of it: words of other projects are passed over in the index.
    f"CREATE VIRTUAL TABLE {FTS} USING fts5(words, project_id, content='{NODES}',"
    " content_rowid='number', tokenize='unicode61 remove_diacritics 0', prefix='2 3')",
    f"CREATE TRIGGER {FTS}_add AFTER INSERT ON {NODES} BEGIN {_NEW} END",
    f"CREATE TRIGGER {FTS}_remove AFTER DELETE ON {NODES} BEGIN {_OLD} END",
    f"CREATE TRIGGER {FTS}_change AFTER UPDATE OF words ON {NODES} BEGIN {_OLD} {_NEW} END",
)
