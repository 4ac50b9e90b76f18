"""A quick look at names in the database, for completion in a shell: without SQLAlchemy, which takes
longer to import than a shell may wait, and without creating, migrating or locking anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents_manager.store import library

PATIENCE_S = 1

TASKS = "SELECT id, title FROM am_task ORDER BY created_at DESC LIMIT 200"
PROMPTS = (
    "SELECT p.id, t.title FROM am_prompt p JOIN am_task t ON t.id = p.task_id"
    " WHERE p.status = 'pending' ORDER BY p.created_at LIMIT 200"
)
RUNS = (
    "SELECT r.id, t.title FROM am_run r JOIN am_task t ON t.id = r.task_id"
    " ORDER BY r.created_at DESC LIMIT 200"
)
PROJECTS = "SELECT name, path FROM am_project ORDER BY name LIMIT 200"
HOSTS = "SELECT name, state FROM am_host ORDER BY name LIMIT 200"
SCHEDULES = "SELECT name, rule FROM am_schedule ORDER BY name LIMIT 200"
PIPELINES = "SELECT DISTINCT id FROM am_pipeline ORDER BY id LIMIT 200"
DOCUMENTS = "SELECT document FROM am_pipeline ORDER BY created_at DESC LIMIT 50"

NODES = "SELECT id, text FROM am_node WHERE state <> 'retired' ORDER BY number DESC LIMIT 200"
TAGS = "SELECT tag, COUNT(*) FROM am_node_tag GROUP BY tag ORDER BY COUNT(*) DESC, tag LIMIT 200"
BLOCKERS = (
    "SELECT id, blocker FROM am_blocker WHERE resolved_at IS NULL"
    " ORDER BY created_at DESC LIMIT 200"
)


def rows(database: str | Path, query: str) -> Sequence[Sequence[Any]]:
    """What a query of this module finds; whoever asks takes any error for nothing."""
    connection = _postgres(database) if isinstance(database, str) else _sqlite(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _sqlite(path: Path) -> Any:
    return library.sqlite().connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=PATIENCE_S)


def _postgres(url: str) -> Any:
    import psycopg

    address = url.replace("postgresql+psycopg://", "postgresql://")
    return psycopg.connect(address, connect_timeout=PATIENCE_S, autocommit=True)
