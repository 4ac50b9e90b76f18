"""The tables, one schema for SQLite and Postgres. A change here needs a migration; a test compares
the two."""

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy import (
    event as sqlalchemy_event,
)

from agents_manager.store import append_only, knowledge_tables
from agents_manager.store.columns import Id, Json, Number, Prose, UtcTime
from agents_manager.store.table_parts import (
    may,
    metadata,
    must,
    of_project,
    of_task,
    own_id,
    partial,
)

__all__ = ["knowledge_tables", "metadata"]
# The tables of a schema are all that were made with its metadata.

project = Table(
    "am_project",
    metadata,
    own_id(),
    *must("name", be=Prose),
    *must("path", "base_branch"),
    *may("trusted_commands"),
    *must("created_at", be=UtcTime),
    *may("consented_at", be=UtcTime),
    *may("trusted", be=Json),
    *may("remote"),
    # The highest number a pull request had: those of deleted tasks are not given again.
    Column("last_pull", Integer, nullable=False, server_default=text("0")),
    UniqueConstraint("path"),
)

pipeline = Table(
    "am_pipeline",
    metadata,
    own_id(),
    Column("version", Integer, primary_key=True, autoincrement=False),
    *must("document", be=Json),
    *must("hash"),
    *must("created_at", be=UtcTime),
)

task = Table(
    "am_task",
    metadata,
    own_id(),
    of_project(),
    *must("title", "description", be=Prose),
    *must("type", "priority", "size", "complexity"),
    *must("tags", "acceptance_criteria", "dependencies", be=Json),
    *must("pipeline_id", be=Id),
    *must("pipeline_version", be=Integer),
    *must("status"),
    *may("plan", be=Prose),
    *must("version", be=Integer),
    *must("created_at", "updated_at", be=UtcTime),
    Column("objective", Prose, nullable=False, server_default=text("''")),
    *may("starts_at", be=UtcTime),
    *may("agent", "model", be=Prose),
    ForeignKeyConstraint(
        ["pipeline_id", "pipeline_version"], ["am_pipeline.id", "am_pipeline.version"]
    ),
    Index(None, "project_id", "status", "created_at", "id"),
    Index(None, "created_at", "id"),
    Index(None, "project_id", "created_at", "id"),
    Index(None, "status", "created_at", "id"),
    Index(None, "project_id", "pipeline_id", "pipeline_version", "status"),
    Index(None, "updated_at", "id"),
    Index(None, "project_id", "updated_at", "id"),
    # Looked at every second, and most tasks have no such time.
    partial("ix_am_task_starts", "starts_at", where="starts_at IS NOT NULL", unique=False),
)

# Without references: it outlives its project and the tasks that it made.
schedule = Table(
    "am_schedule",
    metadata,
    own_id(),
    *must("project_id", be=Id),
    *must("project", "name", be=Prose),
    *must("rule", "zone"),
    *must("template", be=Json),
    *must("start", be=Boolean),
    *must("when_open", "state"),
    *may("reason", be=Prose),
    *may("next_at", "until", be=UtcTime),
    *may("most", be=Integer),
    *must("fired", be=Integer),
    *may("last_task_id", be=Id),
    *must("created_by", be=Prose),
    *must("created_at", "updated_at", be=UtcTime),
    UniqueConstraint("project_id", "name"),
    Index(None, "next_at"),
)

# The periods that a schedule had: each of them once.
firing = Table(
    "am_firing",
    metadata,
    Column("schedule_id", Id, ForeignKey("am_schedule.id", ondelete="CASCADE"), primary_key=True),
    Column("period", UtcTime, primary_key=True),
    *must("came"),
    *may("task_id", be=Id),
    *may("by", be=Prose),
    *must("time", be=UtcTime),
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
    own_id(),
    of_task(),
    *may("run_id", be=Id),
    *must("type"),
    *must("key", "label", be=Prose),
    *must("data", be=Json),
    *must("created_at", be=UtcTime),
    UniqueConstraint("task_id", "type", "key"),
)

REVIEWS = "\"trigger\" = 'review_submitted' AND result = 'done'"

history = Table(
    "am_history",
    metadata,
    own_id(),
    of_task(),
    # Attempts of one transaction have the same time; this is their order.
    *must("seq", "version", be=Integer),
    *must("result"),
    *may("transition_id"),
    *must("source", "to", "trigger"),
    *may("outcome"),
    *must("actor", be=Json),
    *may("payload", be=Json),
    *must("guards", "hooks", be=Json),
    *may("reason", be=Prose),
    *must("time", be=UtcTime),
    UniqueConstraint("task_id", "seq"),
    partial("ix_am_history_reviews", "task_id", where=REVIEWS, unique=False),
)

event = Table(
    "am_event",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    of_task(),
    *must("seq", be=Integer),
    *must("time", be=UtcTime),
    *must("category", "type", "level"),
    *must("summary", be=Prose),
    *must("actor", "data", be=Json),
    UniqueConstraint("task_id", "seq"),
    # Readers resume after an id, so SQLite must not give the id of a deleted row again.
    sqlite_autoincrement=True,
)

effect = Table(
    "am_effect",
    metadata,
    own_id(),
    of_task(),
    # The order of the task's effects over all its transitions.
    *must("seq", be=Integer),
    *must("history_id", be=Id),
    *must("position", be=Integer),
    *must("kind"),
    *must("payload", be=Json),
    *must("policy", "status"),
    *must("attempt", be=Integer),
    *must("due_at", be=UtcTime),
    *may("error", be=Prose),
    *may("result", be=Json),
    *must("created_at", be=UtcTime),
    *may("finished_at", be=UtcTime),
    *may("host"),
    # What is done side by side; empty where it is not.
    Column("part", String, nullable=False, server_default=text("''")),
    UniqueConstraint("task_id", "seq"),
    Index(None, "status", "due_at"),
    Index(None, "history_id", "position"),
    partial(
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
    own_id(),
    of_task(),
    of_project(),
    *must("effect_id", be=Id),
    *may("agent"),
    *must("mode"),
    *may("model"),
    *must("status"),
    *must("attempt", be=Integer),
    *may("session", "prompt", be=Prose),
    *may("outcome"),
    *may("payload", "error", "usage", be=Json),
    *may("branch", "base_sha", "head_sha", "workspace"),
    *must("created_at", be=UtcTime),
    *may("started_at", "ended_at", be=UtcTime),
    *may("phase_id", be=Id),
    *may("sandbox"),
    *may("cost_usd", be=Number),
    *may("cost_basis"),
    *may("transcript_removed_at", be=UtcTime),
    Column("overrides", Json, nullable=False, server_default=text("'{}'")),
    *may("settings", be=Json),
    Column("part", String, nullable=False, server_default=text("''")),
    *may("host"),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    # All that sums over runs need: their rows are long, and most of them would be read.
    Index(
        "ix_am_run_figures",
        *("task_id", "project_id", "started_at", "agent", "model", "mode", "status", "ended_at"),
        "cost_usd",
    ),
    # The same for those of a span of time.
    Index(
        "ix_am_run_spans",
        *("project_id", "started_at", "task_id", "agent", "model", "mode", "status", "ended_at"),
        "cost_usd",
    ),
    partial("uq_am_run_live", "task_id", "part", where="status IN ('queued', 'running')"),
)

phase = Table(
    "am_phase",
    metadata,
    own_id(),
    of_task(),
    *must("position", "number", be=Integer),
    *must("name"),
    *must("description", be=Prose),
    *must("complexity", "status"),
    *must("created_at", be=UtcTime),
    Index(None, "task_id", "position"),
    partial("uq_am_phase_active", "task_id", where="status = 'active'"),
)

_OPEN = "status = 'pending'"

prompt = Table(
    "am_prompt",
    metadata,
    own_id(),
    of_task(),
    *may("run_id", be=Id),
    *must("history_id", be=Id),
    *must("type"),
    *must("payload", be=Json),
    *may("note", be=Prose),
    *must("revision", be=Integer),
    *must("status"),
    *must("resume", be=Json),
    *must("created_at", be=UtcTime),
    *may("expires_at", be=UtcTime),
    *may("response", be=Json),
    *may("responded_by", "responded_via", be=Prose),
    *may("responded_at", be=UtcTime),
    *may("answer_key", be=Prose),
    Column("roles", Json, nullable=False, server_default=text("'[]'")),
    *may("default_at", be=UtcTime),
    Column("reminders", Integer, nullable=False, server_default=text("0")),
    *may("reminded_at", be=UtcTime),
    *may("undo", be=Json),
    Column("midway", Boolean, nullable=False, server_default=false()),
    Index(None, "task_id", "created_at"),
    Index(None, "status", "created_at"),
    Index(None, "type", "status", "responded_at"),
    # Looked at every second, and most questions have neither time.
    partial(
        "ix_am_prompt_expires",
        "expires_at",
        where=f"{_OPEN} AND expires_at IS NOT NULL",
        unique=False,
    ),
    partial(
        "ix_am_prompt_default",
        "default_at",
        where=f"{_OPEN} AND default_at IS NOT NULL",
        unique=False,
    ),
    partial(
        "uq_am_prompt_flow",
        "task_id",
        where=f"{_OPEN} AND NOT midway AND type NOT IN ('choice', 'permission', 'budget')",
    ),
)

pull = Table(
    "am_pull",
    metadata,
    own_id(),
    of_project(),
    of_task(),
    *must("number", be=Integer),
    *must("title", "body", be=Prose),
    *must("head_branch", "base_branch", "head_sha", "state"),
    *may("merge_sha"),
    *must("created_at", "updated_at", be=UtcTime),
    Column("forge", String, nullable=False, server_default=text("'local'")),
    *may("url", "checks"),
    UniqueConstraint("project_id", "forge", "number"),
    Index(None, "task_id"),
    Index(None, "state", "updated_at"),
    partial("uq_am_pull_open", "project_id", "head_branch", "base_branch", where="state = 'open'"),
)

grant = Table(
    "am_grant",
    metadata,
    own_id(),
    of_task(),
    *must("prompt_id", be=Id),
    *must("scope"),
    *must("subject", be=Id),
    *must("usd", be=Number),
    *must("created_at", be=UtcTime),
    Index(None, "scope", "subject"),
    Index(None, "task_id"),
)

host = Table(
    "am_host",
    metadata,
    Column("id", String, primary_key=True),
    *must("seen_at", be=UtcTime),
    # What it was started as; empty until a program of this version was.
    Column("name", String, nullable=False, server_default=text("''")),
    Column("version", String, nullable=False, server_default=text("''")),
    Column("labels", Json, nullable=False, server_default=text("'[]'")),
    *may("capacity", be=Integer),
    *may("started_at", be=UtcTime),
    # Counts its starts: what an earlier one began is not the newer one's.
    Column("epoch", Integer, nullable=False, server_default=text("0")),
    Column("state", String, nullable=False, server_default=text("'up'")),
    *may("free_disk_mb", be=Integer),
)

# Where a project lies on each machine; none at all while only one machine has it.
place = Table(
    "am_place",
    metadata,
    Column("host", String, primary_key=True),
    Column("project_id", Id, ForeignKey("am_project.id", ondelete="CASCADE"), primary_key=True),
    *must("path"),
)

# What agents print, for machines other than the one they run on.
output = Table(
    "am_output",
    metadata,
    Column("run_id", Id, ForeignKey("am_run.id", ondelete="CASCADE"), primary_key=True),
    Column("turn", Integer, primary_key=True, autoincrement=False),
    Column("file", String, primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("bytes", LargeBinary, nullable=False),
)

token = Table(
    "am_token",
    metadata,
    Column("digest", String, primary_key=True),
    *must("name", be=Prose),
    *must("role"),
    *must("created_at", be=UtcTime),
    Column("kind", String, nullable=False, server_default=text("'owner'")),
    *may("used_at", "expires_at", be=UtcTime),
    # The digest of the token that a session was opened with; it ends with it.
    *may("parent"),
    # Where the browser of a session takes notices.
    *may("push", be=Json),
)

login_code = Table(
    "am_login_code",
    metadata,
    Column("digest", String, primary_key=True),
    *must("parent"),
    *must("expires_at", be=UtcTime),
)

reply = Table(
    "am_reply",
    metadata,
    Column("key", String, primary_key=True),
    *must("request"),
    *must("status", be=Integer),
    *must("body", be=Prose),
    *must("created_at", be=UtcTime),
)

audit = Table(
    append_only.TABLE,
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    *must("time", be=UtcTime),
    *must("who", be=Prose),
    *may("via", "address"),
    *must("what"),
    *must("summary", be=Prose),
    *must("data", be=Json),
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
    own_id(),
    *must("key", "channel", "place", "occasion"),
    # Without references: what was told of a deleted task is taken back, too.
    *may("task_id", "prompt_id", be=Id),
    *must("title", be=Prose),
    *must("body", be=Json),
    *must("state"),
    *must("attempts", be=Integer),
    *must("due_at", be=UtcTime),
    *may("host"),
    *must("repeat", be=Boolean),
    *may("message"),
    *must("given", "actions", be=Json),
    *may("error", be=Prose),
    *must("created_at", be=UtcTime),
    *may("sent_at", "closed_at", be=UtcTime),
    UniqueConstraint("key", "channel", "place"),
    Index(None, "channel", "state", "due_at"),
    Index(None, "channel", "place", "message"),
    partial(
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
    *must("position", be=BigInteger),
)

lease = Table(
    "am_lease",
    metadata,
    Column("name", String, primary_key=True),
    *must("host"),
    *must("until", be=UtcTime),
)

words_asked = Table(
    "am_words_asked",
    metadata,
    *(Column(name, String, primary_key=True) for name in ("channel", "place", "person")),
    *must("button"),
    *must("asked_at", be=UtcTime),
)

stranger = Table(
    "am_stranger",
    metadata,
    *(Column(name, String, primary_key=True) for name in ("channel", "person")),
    *must("called", be=Prose),
    *must("times", be=Integer),
    *must("last_at", be=UtcTime),
)
