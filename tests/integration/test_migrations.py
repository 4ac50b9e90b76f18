"""A database is brought to this version's schema, or stays as it was."""

import asyncio
import hashlib
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import make_url

from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.run import CostBasis
from agents_manager.errors import MigrationFailed, SchemaTooNew
from agents_manager.store import migrate, schema
from agents_manager.store.database import Database, open_database
from agents_manager.store.engines import Engines, postgres_engines, sqlite_engines
from agents_manager.store.migrate import HEAD, SCRIPTS, run_scripts, stored_revision, upgrade
from tests.contract.store_values import furnish
from tests.postgres import fresh_database

GOOD = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "test", "{head}"

def upgrade():
    with op.batch_alter_table("am_task") as table:
        table.add_column(sa.Column("colour", sa.String(), nullable=False, server_default="red"))
        table.alter_column("plan", new_column_name="thoughts")
"""
FAILING = (
    GOOD
    + """
    op.execute("DELETE FROM am_pipeline")
    raise ArithmeticError("no more")
"""
)
ORPHANING = (
    GOOD
    + """
    op.execute("DELETE FROM am_project")
"""
)


@pytest.fixture
def engines(database_address: str) -> Iterator[Engines]:
    """A database of the version before, with a task in it."""
    store = open_database(database_address)
    asyncio.run(store.write(furnish))
    store.close()
    engines = engines_of(database_address)
    yield engines
    engines.dispose()


def engines_of(address: str) -> Engines:
    if address.startswith("postgresql"):
        return postgres_engines(make_url(address))
    Path(address).parent.mkdir(exist_ok=True)
    Path(address).touch()
    return sqlite_engines(Path(address), "NORMAL")


def scripts_with(tmp_path: Path, script: str) -> Path:
    scripts = tmp_path / "100% scripts"
    shutil.copytree(SCRIPTS, scripts)
    (scripts / "versions" / "test.py").write_text(script.format(head=HEAD))
    return scripts


def columns_of(engines: Engines, table: str) -> set[str]:
    with engines.reader.begin() as connection:
        return set(connection.exec_driver_sql(f"SELECT * FROM {table}").keys())


def rows_of(engines: Engines, table: str) -> list[Any]:
    with engines.reader.begin() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table}")]


def content(engines: Engines) -> dict[str, Any]:
    return {name: rows_of(engines, name) for name in schema.metadata.tables}


def test_the_head_is_the_newest_script() -> None:
    assert ScriptDirectory(str(SCRIPTS)).get_heads() == [HEAD]


def test_the_scripts_lead_to_the_schema(database_address: str) -> None:
    engines = engines_of(database_address)
    with engines.writer.begin() as connection:
        run_scripts(connection, SCRIPTS, HEAD)
        # As DBOS's, on SQLite: not ours to compare, nor to drop.
        connection.exec_driver_sql("CREATE TABLE workflow_status (id integer)")
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "version_table": migrate.VERSION.name,
                "include_name": lambda name, kind, _: kind != "table" or name.startswith("am_"),
                # Alembic does not know that an index may be for one kind of database only.
                "include_object": lambda item, name, *_: (
                    name != "ix_am_node_words" or engines.path is None
                ),
            },
        )
        assert compare_metadata(context, schema.metadata) == []
    assert stored_revision(engines) == HEAD
    engines.dispose()


def test_scripts_and_direct_creation_write_the_same_tables_on_sqlite(tmp_path: Path) -> None:
    by_scripts, directly = engines_of(str(tmp_path / "a.db")), engines_of(str(tmp_path / "b.db"))
    with by_scripts.writer.begin() as connection:
        run_scripts(connection, SCRIPTS, HEAD)
    upgrade(directly, backups=tmp_path)

    def statements(engines: Engines) -> set[str]:
        with engines.reader.begin() as connection:
            rows = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            return {clauses(sql) for (sql,) in rows}

    def clauses(sql: str) -> str:
        head, _, body = re.sub(r"\s+", " ", sql).partition("(")
        return head + " | ".join(sorted(part.strip(" )") for part in body.split(",")))

    assert statements(by_scripts) == statements(directly)
    by_scripts.dispose()
    directly.dispose()


def test_scripts_and_direct_creation_write_the_same_indexes_on_postgres(postgres_url: str) -> None:
    addresses = [fresh_database(postgres_url) for _ in range(2)]
    by_scripts, directly = (engines_of(address) for address in addresses)
    with by_scripts.writer.begin() as connection:
        run_scripts(connection, SCRIPTS, HEAD)
    upgrade(directly, backups=Path("unused"))

    def definitions(engines: Engines) -> set[str]:
        with engines.reader.begin() as connection:
            rows = connection.exec_driver_sql("SELECT indexdef FROM pg_indexes ORDER BY 1")
            return {definition for (definition,) in rows if ".am_" in definition}

    assert len(definitions(directly)) > len(schema.metadata.tables)
    assert definitions(by_scripts) == definitions(directly)
    by_scripts.dispose()
    directly.dispose()


Stored = tuple[str, str, str]
A_TASK: tuple[Stored, ...] = (
    ("am_project", "id, name, path, base_branch, created_at", "'p', 'p', '/p', 'm', {at}"),
    ("am_pipeline", "id, version, document, hash, created_at", "'s', 1, '{{}}', 'h', {at}"),
    (
        "am_task",
        "id, project_id, title, description, type, priority, size, complexity, tags,"
        " acceptance_criteria, dependencies, pipeline_id, pipeline_version, status,"
        " version, created_at, updated_at",
        "'t', 'p', 't', '', '', '', '', '', '[]', '[]', '[]', 's', 1, 'o', 1, {at}, {at}",
    ),
)


def brought_up(address: str, revision: str, *rows: Stored) -> Database:
    """A database that had the rows in an older schema."""
    engines = engines_of(address)
    with engines.writer.begin() as connection:
        run_scripts(connection, SCRIPTS, revision)
        for table, columns, values in (*A_TASK, *rows):
            row = values.format(at="'2026-03-01 12:00:00.000000'")
            connection.exec_driver_sql(f"INSERT INTO {table} ({columns}) VALUES ({row})")
        run_scripts(connection, SCRIPTS, HEAD)
    engines.dispose()
    return open_database(address)


def test_costs_that_were_reported_are_kept(database_address: str) -> None:
    columns = "id, task_id, project_id, effect_id, mode, status, attempt, created_at, usage"
    runs = {"r": '{{"cost_usd": 0.25}}', "s": '{{"cost_usd": null}}', "t": None}
    store = brought_up(
        database_address,
        "0007",
        *(
            (
                "am_run",
                columns,
                f"'{id}', 't', 'p', 'e', 'plan', 'failed', 1, {{at}}, "
                + (f"'{usage}'" if usage else "NULL"),
            )
            for id, usage in runs.items()
        ),
    )
    found = asyncio.run(store.read(lambda tx: tx.runs.of_task(TaskId("t"))))
    assert [(run.cost_usd, run.cost_basis) for run in found] == [
        (0.25, CostBasis.REPORTED),
        (None, None),
        (None, None),
    ]
    store.close()


def test_numbers_of_pull_requests_go_on_where_they_were(database_address: str) -> None:
    pull = (
        "am_pull",
        "id, project_id, task_id, number, title, body, head_branch, base_branch, head_sha,"
        " state, created_at, updated_at",
        "'u', 'p', 't', 7, '', '', 'h', 'b', 's', 'merged', {at}, {at}",
    )
    store = brought_up(database_address, "0003", pull)
    assert asyncio.run(store.read(lambda tx: tx.pulls.next_number(ProjectId("p")))) == 8
    assert asyncio.run(store.read(lambda tx: tx.tasks.get(TaskId("t")))).objective == ""
    store.close()


def test_a_database_that_is_behind_is_brought_up(engines: Engines, tmp_path: Path) -> None:
    scripts = scripts_with(tmp_path, GOOD)
    upgrade(engines, backups=tmp_path / "backups", scripts=scripts, head="test")
    assert stored_revision(engines) == "test"
    assert {"colour", "thoughts"} < columns_of(engines, "am_task")
    assert len(rows_of(engines, "am_task")) == 1
    if engines.path is None:
        return
    with engines.writer.begin() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    [backup] = (tmp_path / "backups").iterdir()
    assert re.fullmatch(rf"agents-manager-{HEAD}-\d{{8}}T\d{{12}}Z\.db", backup.name)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    store = open_database(backup)
    assert asyncio.run(store.read(lambda tx: tx.tasks.get(TaskId("task-1")))).status == "open"
    store.close()


@pytest.mark.parametrize("script", [FAILING, ORPHANING], ids=["failing", "orphaning"])
def test_a_migration_that_fails_changes_nothing(
    engines: Engines, tmp_path: Path, script: str
) -> None:
    before = content(engines)
    digest = engines.path and hashlib.sha256(engines.path.read_bytes()).hexdigest()
    scripts = scripts_with(tmp_path, script)
    with pytest.raises(MigrationFailed, match="unchanged") as failed:
        upgrade(engines, backups=tmp_path / "backups", scripts=scripts, head="test")
    assert failed.value.details
    assert stored_revision(engines) == HEAD
    assert content(engines) == before
    assert columns_of(engines, "am_task") == set(schema.task.c.keys())
    engines.dispose()
    if engines.path:
        assert hashlib.sha256(engines.path.read_bytes()).hexdigest() == digest
        assert str(tmp_path / "backups") in failed.value.message
    upgrade(engines, backups=tmp_path / "backups")


def test_a_newer_database_is_left_alone(engines: Engines, tmp_path: Path) -> None:
    with engines.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE am_alembic_version SET version_num = '9999'")
    engines.dispose()
    before = engines.path and engines.path.read_bytes()
    with pytest.raises(SchemaTooNew, match="9999"):
        upgrade(engines, backups=tmp_path / "backups")
    assert (engines.path and engines.path.read_bytes()) == before
    assert not (tmp_path / "backups").exists()


def test_three_backups_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "agents-manager.db"
    open_database(path).close()
    backups = tmp_path / "backups"
    scripts = scripts_with(tmp_path, FAILING)
    engines = sqlite_engines(path, "NORMAL")
    names: list[str] = []
    for _ in range(5):
        with pytest.raises(MigrationFailed):
            upgrade(engines, backups=backups, scripts=scripts, head="test")
        newest = max(backups.iterdir(), key=lambda backup: backup.name)
        names.append(newest.name)
    engines.dispose()
    assert sorted(backup.name for backup in backups.iterdir()) == names[-3:]
