"""What is kept of handoffs and of what was found out. What nodes are looked for by, be it words,
tags or files, has an index that begins with it, so that it does not matter how many there are."""

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy import (
    event as sqlalchemy_event,
)

from agents_manager.store import word_index
from agents_manager.store.columns import Id, Json, Number, Prose, UtcTime, Words
from agents_manager.store.table_parts import (
    may,
    metadata,
    must,
    of_project,
    of_task,
    own_id,
    partial,
)


def _of_node() -> Column[int]:
    return Column("node", BigInteger, ForeignKey("am_node.number"), nullable=False)


DOUBTFUL = "state IN ('stale', 'contradicted')"
USELESS = "used >= 5 AND helpful = 0 AND state = 'active'"
REMEMBERED = "kind = 'gotcha' AND severity = 'high' AND state <> 'retired'"

node = Table(
    word_index.NODES,
    metadata,
    # In the order they were found in, and what the index of words knows them by.
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", Id, nullable=False),
    of_project(),
    *must("kind"),
    *must("text", be=Prose),
    *must("fingerprint"),
    *must("detail", be=Json),
    *may("severity"),
    *must("tags", be=Json),
    *must("state"),
    *must("used", "helpful", "version", be=Integer),
    *must("created_at", "updated_at", be=UtcTime),
    *may("confirmed_at", be=UtcTime),
    *may("confirmed_commit"),
    *must("words", be=Words),
    UniqueConstraint("id"),
    Index(None, "project_id", "number"),
    Index(None, "project_id", "kind", "number"),
    Index(None, "project_id", "kind", "fingerprint"),
    Index(None, "words", postgresql_using="gin").ddl_if(dialect="postgresql"),
    partial("ix_am_node_memory", "project_id", "number", where=REMEMBERED, unique=False),
    partial("ix_am_node_doubtful", "project_id", "number", where=DOUBTFUL, unique=False),
    partial("ix_am_node_useless", "project_id", "number", where=USELESS, unique=False),
)
for _statement in word_index.STATEMENTS:
    _create = DDL(_statement).execute_if(dialect="sqlite")
    sqlalchemy_event.listen(node, "after_create", _create)

source = Table(
    "am_node_source",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    _of_node(),
    Column("task_id", Id, ForeignKey("am_task.id")),
    *may("run_id", be=Id),
    *must("by", be=Prose),
    *may("commit"),
    *may("file", be=Prose),
    *may("lines"),
    *must("words", be=Prose),
    *must("at", be=UtcTime),
    Index(None, "node"),
    Index(None, "task_id", "node"),
)

tag = Table(
    "am_node_tag",
    metadata,
    of_project(),
    Column("tag", Id, nullable=False),
    _of_node(),
    PrimaryKeyConstraint("project_id", "tag", "node"),
    Index(None, "node"),
)

file = Table(
    "am_node_file",
    metadata,
    of_project(),
    Column("path", Id, nullable=False),
    _of_node(),
    PrimaryKeyConstraint("project_id", "path", "node"),
    Index(None, "node"),
)

edge = Table(
    "am_edge",
    metadata,
    *(Column(name, Id, ForeignKey("am_node.id"), nullable=False) for name in ("source", "target")),
    Column("kind", String, nullable=False),
    PrimaryKeyConstraint("source", "target", "kind"),
    Index(None, "target"),
)

use = Table(
    "am_use",
    metadata,
    Column("run_id", Id, ForeignKey("am_run.id"), nullable=False),
    Column("node_id", Id, ForeignKey("am_node.id"), nullable=False),
    *must("score", be=Number),
    *must("why", be=Json),
    *must("at", be=UtcTime),
    *must("helped", be=Boolean),
    PrimaryKeyConstraint("run_id", "node_id"),
    Index(None, "node_id"),
)

handoff = Table(
    "am_handoff",
    metadata,
    Column("run_id", Id, ForeignKey("am_run.id"), primary_key=True),
    of_task(),
    of_project(),
    *must("handoff", be=Json),
    *must("source"),
    *must("completeness", be=Number),
    *must("at", be=UtcTime),
    Index(None, "task_id", "at"),
)

file_note = Table(
    "am_file_note",
    metadata,
    own_id(),
    of_project(),
    Column("path", Id, nullable=False),
    of_task(),
    *must("run_id", be=Id),
    *must("change"),
    *must("description", be=Prose),
    *must("lines"),
    *must("at", be=UtcTime),
    Index(None, "project_id", "path", "at", "id"),
    Index(None, "task_id"),
)

blocker = Table(
    "am_blocker",
    metadata,
    own_id(),
    of_project(),
    of_task(),
    *must("run_id", be=Id),
    *must("blocker", "impact", "suggested_resolution", be=Prose),
    *must("blocking_tasks", be=Json),
    *must("created_at", be=UtcTime),
    *may("resolved_at", be=UtcTime),
    *may("resolved_by", "note", be=Prose),
    Index(None, "project_id", "created_at", "id"),
    Index(None, "task_id"),
    partial(
        "ix_am_blocker_active",
        *("project_id", "created_at", "id"),
        where="resolved_at IS NULL",
        unique=False,
    ),
)

blocked = Table(
    "am_blocked",
    metadata,
    Column("blocker_id", Id, ForeignKey("am_blocker.id"), primary_key=True),
    Column("task_id", Id, ForeignKey("am_task.id"), primary_key=True),
    Index(None, "task_id"),
)

look = Table(
    "am_look",
    metadata,
    Column("project_id", Id, ForeignKey("am_project.id"), primary_key=True),
    # The commit of the base branch that findings were last held against.
    *must("commit"),
)
