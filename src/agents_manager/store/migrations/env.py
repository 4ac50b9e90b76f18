"""Run by Alembic, on the connection that it is given."""

from typing import Any, Literal

from alembic import context

from agents_manager.store import columns, schema
from agents_manager.store.migrate import VERSION


def include_name(name: str | None, kind: str, parents: object) -> bool:
    """DBOS and others may have tables beside ours."""
    return kind != "table" or (name or "").startswith("am_")


def render_item(kind: str, item: Any, autogen: object) -> str | Literal[False]:
    return "columns.Id" if kind == "type" and item is columns.Id else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=schema.metadata,
    version_table=VERSION.name,
    include_name=include_name,
    render_item=render_item,
    user_module_prefix="columns.",
    render_as_batch=True,
    # Alembic does not trust SQLite to undo schema changes; with an explicit BEGIN it does.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
