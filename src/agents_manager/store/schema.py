"""The tables, one schema for SQLite and Postgres. A change here needs a migration; a test compares
the two."""

from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy import (
    event as sqlalchemy_event,
)

from agents_manager.store import append_only
from agents_manager.store.columns import Id, Json, Number, Prose, UtcTime

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> Column[str]:
    return Column("id", Id, primary_key=True)


def _task() -> Column[str]:
    return Column("task_id", Id, ForeignKey("am_task.id"), nullable=False)


def _project() -> Column[str]:
    return Column("project_id", Id, ForeignKey("am_project.id"), nullable=False)


def _must(*names: str, be: Any = String) -> list[Column[Any]]:
    return [Column(name, be, nullable=False) for name in names]


def _may(*names: str, be: Any = String) -> list[Column[Any]]:
    return [Column(name, be) for name in names]


def _partial(name: str, *columns: str, where: str, unique: bool = True) -> Index:
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


project = Table(
    "am_project",
    metadata,
    _id(),
    *_must("name", be=Prose),
    *_must("path", "base_branch"),
    *_may("trusted_commands"),
    *_must("created_at", be=UtcTime),
    *_may("consented_at", be=UtcTime),
    *_may("trusted", be=Json),
    # The highest number a pull request had: those of deleted tasks are not given again.
    Column("last_pull", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("path"),
)

pipeline = Table(
    "am_pipeline",
    metadata,
    _id(),
    Column("version", Integer, primary_key=True, autoincrement=False),
    *_must("document", be=Json),
    *_must("hash"),
    *_must("created_at", be=UtcTime),
)

task = Table(
    "am_task",
    metadata,
    _id(),
    _project(),
    *_must("title", "description", be=Prose),
    *_must("type", "priority", "size", "complexity"),
    *_must("tags", "acceptance_criteria", "dependencies", be=Json),
    *_must("pipeline_id", be=Id),
    *_must("pipeline_version", be=Integer),
    *_must("status"),
    *_may("plan", be=Prose),
    *_must("version", be=Integer),
    *_must("created_at", "updated_at", be=UtcTime),
    Column("objective", Prose, nullable=False, server_default=text("''")),
    ForeignKeyConstraint(
        ["pipeline_id", "pipeline_version"], ["am_pipeline.id", "am_pipeline.version"]
    ),
    Index(None, "project_id", "status", "created_at", "id"),
    Index(None, "created_at", "id"),
    Index(None, "project_id", "created_at", "id"),
    Index(None, "status", "created_at", "id"),
)

dependency = Table(
    "am_dependency",
    metadata,
    Column("task_id", Id, ForeignKey("am_task.id"), primary_key=True),
    Column("depends_on", Id, primary_key=True),
    Index(None, "depends_on"),
)

artifact = Table(
    "am_artifact",
    metadata,
    _id(),
    _task(),
    *_may("run_id", be=Id),
    *_must("type"),
    *_must("key", "label", be=Prose),
    *_must("data", be=Json),
    *_must("created_at", be=UtcTime),
    UniqueConstraint("task_id", "type", "key"),
)

REVIEWS = "\"trigger\" = 'review_submitted' AND result = 'done'"

history = Table(
    "am_history",
    metadata,
    _id(),
    _task(),
    # Attempts of one transaction have the same time; this is their order.
    *_must("seq", "version", be=Integer),
    *_must("result"),
    *_may("transition_id"),
    *_must("source", "to", "trigger"),
    *_may("outcome"),
    *_must("actor", be=Json),
    *_may("payload", be=Json),
    *_must("guards", "hooks", be=Json),
    *_may("reason", be=Prose),
    *_must("time", be=UtcTime),
    UniqueConstraint("task_id", "seq"),
    _partial("ix_am_history_reviews", "task_id", where=REVIEWS, unique=False),
)

event = Table(
    "am_event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    _task(),
    *_must("seq", be=Integer),
    *_must("time", be=UtcTime),
    *_must("category", "type", "level"),
    *_must("summary", be=Prose),
    *_must("actor", "data", be=Json),
    UniqueConstraint("task_id", "seq"),
    # Readers resume after an id, so SQLite must not give the id of a deleted row again.
    sqlite_autoincrement=True,
)

effect = Table(
    "am_effect",
    metadata,
    _id(),
    _task(),
    # The order of the task's effects over all its transitions.
    *_must("seq", be=Integer),
    *_must("history_id", be=Id),
    *_must("position", be=Integer),
    *_must("kind"),
    *_must("payload", be=Json),
    *_must("policy", "status"),
    *_must("attempt", be=Integer),
    *_must("due_at", be=UtcTime),
    *_may("error", be=Prose),
    *_may("result", be=Json),
    *_must("created_at", be=UtcTime),
    *_may("finished_at", be=UtcTime),
    *_may("host"),
    UniqueConstraint("task_id", "seq"),
    Index(None, "status", "due_at"),
    Index(None, "history_id", "position"),
    _partial(
        "ix_am_effect_open",
        "task_id",
        "seq",
        where="status IN ('pending', 'started')",
        unique=False,
    ),
)

run = Table(
    "am_run",
    metadata,
    _id(),
    _task(),
    _project(),
    *_must("effect_id", be=Id),
    *_may("agent"),
    *_must("mode"),
    *_may("model"),
    *_must("status"),
    *_must("attempt", be=Integer),
    *_may("session", "prompt", be=Prose),
    *_may("outcome"),
    *_may("payload", "error", "usage", be=Json),
    *_may("branch", "base_sha", "head_sha", "workspace"),
    *_must("created_at", be=UtcTime),
    *_may("started_at", "ended_at", be=UtcTime),
    *_may("phase_id", be=Id),
    *_may("sandbox"),
    *_may("cost_usd", be=Number),
    *_may("cost_basis"),
    *_may("transcript_removed_at", be=UtcTime),
    Column("overrides", Json, nullable=False, server_default=text("'{}'")),
    *_may("settings", be=Json),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    # All that sums over runs need: their rows are long, and most of them would be read.
    Index(
        "ix_am_run_figures",
        *("task_id", "project_id", "started_at", "agent", "model", "mode", "status", "ended_at"),
        "cost_usd",
    ),
    _partial("uq_am_run_live", "task_id", where="status IN ('queued', 'running')"),
)

phase = Table(
    "am_phase",
    metadata,
    _id(),
    _task(),
    *_must("position", "number", be=Integer),
    *_must("name"),
    *_must("description", be=Prose),
    *_must("complexity", "status"),
    *_must("created_at", be=UtcTime),
    Index(None, "task_id", "position"),
    _partial("uq_am_phase_active", "task_id", where="status = 'active'"),
)

_OPEN = "status = 'pending'"

prompt = Table(
    "am_prompt",
    metadata,
    _id(),
    _task(),
    *_may("run_id", be=Id),
    *_must("history_id", be=Id),
    *_must("type"),
    *_must("payload", be=Json),
    *_may("note", be=Prose),
    *_must("revision", be=Integer),
    *_must("status"),
    *_must("resume", be=Json),
    *_must("created_at", be=UtcTime),
    *_may("expires_at", be=UtcTime),
    *_may("response", be=Json),
    *_may("responded_by", "responded_via", be=Prose),
    *_may("responded_at", be=UtcTime),
    *_may("answer_key", be=Prose),
    Column("roles", Json, nullable=False, server_default=text("'[]'")),
    *_may("default_at", be=UtcTime),
    Column("reminders", Integer, nullable=False, server_default=text("0")),
    *_may("reminded_at", be=UtcTime),
    *_may("undo", be=Json),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    # Looked at every second, and most questions have neither time.
    _partial(
        "ix_am_prompt_expires",
        "expires_at",
        where=f"{_OPEN} AND expires_at IS NOT NULL",
        unique=False,
    ),
    _partial(
        "ix_am_prompt_default",
        "default_at",
        where=f"{_OPEN} AND default_at IS NOT NULL",
        unique=False,
    ),
    _partial(
        "uq_am_prompt_flow",
        "task_id",
        where=f"{_OPEN} AND type NOT IN ('choice', 'permission', 'budget')",
    ),
)

pull = Table(
    "am_pull",
    metadata,
    _id(),
    _project(),
    _task(),
    *_must("number", be=Integer),
    *_must("title", "body", be=Prose),
    *_must("head_branch", "base_branch", "head_sha", "state"),
    *_may("merge_sha"),
    *_must("created_at", "updated_at", be=UtcTime),
    Column("forge", String, nullable=False, server_default=text("'local'")),
    *_may("url", "checks"),
    UniqueConstraint("project_id", "forge", "number"),
    Index(None, "task_id"),
    _partial("uq_am_pull_open", "project_id", "head_branch", "base_branch", where="state = 'open'"),
)

grant = Table(
    "am_grant",
    metadata,
    _id(),
    _task(),
    *_must("prompt_id", be=Id),
    *_must("scope"),
    *_must("subject", be=Id),
    *_must("usd", be=Number),
    *_must("created_at", be=UtcTime),
    Index(None, "scope", "subject"),
    Index(None, "task_id"),
)

host = Table(
    "am_host",
    metadata,
    Column("id", String, primary_key=True),
    *_must("seen_at", be=UtcTime),
)

token = Table(
    "am_token",
    metadata,
    Column("digest", String, primary_key=True),
    *_must("name", be=Prose),
    *_must("role"),
    *_must("created_at", be=UtcTime),
    Column("kind", String, nullable=False, server_default=text("'owner'")),
    *_may("used_at", "expires_at", be=UtcTime),
    # The digest of the token that a session was opened with; it ends with it.
    *_may("parent"),
    # Where the browser of a session takes notices.
    *_may("push", be=Json),
)

login_code = Table(
    "am_login_code",
    metadata,
    Column("digest", String, primary_key=True),
    *_must("parent"),
    *_must("expires_at", be=UtcTime),
)

reply = Table(
    "am_reply",
    metadata,
    Column("key", String, primary_key=True),
    *_must("request"),
    *_must("status", be=Integer),
    *_must("body", be=Prose),
    *_must("created_at", be=UtcTime),
)

audit = Table(
    append_only.TABLE,
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    *_must("time", be=UtcTime),
    *_must("who", be=Prose),
    *_may("via", "address"),
    *_must("what"),
    *_must("summary", be=Prose),
    *_must("data", be=Json),
    Index(None, "what", "time"),
    sqlite_autoincrement=True,
)
for _dialect in ("sqlite", "postgresql"):
    for _statement in append_only.statements(_dialect):
        _refuse = DDL(_statement).execute_if(dialect=_dialect)
        sqlalchemy_event.listen(audit, "after_create", _refuse)

delivery = Table(
    "am_delivery",
    metadata,
    _id(),
    *_must("key", "channel", "place", "occasion"),
    # Without references: what was told of a deleted task is taken back, too.
    *_may("task_id", "prompt_id", be=Id),
    *_must("title", be=Prose),
    *_must("body", be=Json),
    *_must("state"),
    *_must("attempts", be=Integer),
    *_must("due_at", be=UtcTime),
    *_may("host"),
    *_must("repeat", be=Boolean),
    *_may("message"),
    *_must("given", "actions", be=Json),
    *_may("error", be=Prose),
    *_must("created_at", be=UtcTime),
    *_may("sent_at", "closed_at", be=UtcTime),
    UniqueConstraint("key", "channel", "place"),
    Index(None, "channel", "state", "due_at"),
    Index(None, "channel", "place", "message"),
    _partial(
        "ix_am_delivery_open",
        "channel",
        "due_at",
        where="state = 'sent' AND closed_at IS NULL",
        unique=False,
    ),
)

cursor = Table(
    "am_cursor",
    metadata,
    Column("name", String, primary_key=True),
    *_must("position", be=BigInteger),
)

lease = Table(
    "am_lease",
    metadata,
    Column("name", String, primary_key=True),
    *_must("host"),
    *_must("until", be=UtcTime),
)

words_asked = Table(
    "am_words_asked",
    metadata,
    *(Column(name, String, primary_key=True) for name in ("channel", "place", "person")),
    *_must("button"),
    *_must("asked_at", be=UtcTime),
)

stranger = Table(
    "am_stranger",
    metadata,
    *(Column(name, String, primary_key=True) for name in ("channel", "person")),
    *_must("called", be=Prose),
    *_must("times", be=Integer),
    *_must("last_at", be=UtcTime),
)
