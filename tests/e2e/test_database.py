"""`am database`: the data goes to Postgres or to the next version, with all that is under way."""

import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agents_manager.store import migrate
from tests.e2e import live_state
from tests.e2e.am_program import PATIENCE_S, PROGRAM, Am, Done, document, until
from tests.postgres import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NEXT = "9000"
SCRIPT = f"""
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{NEXT}", "{migrate.HEAD}"


def upgrade() -> None:
    op.add_column("am_task", sa.Column("colour", sa.String(), server_default=sa.text("'red'")))
    op.alter_column("am_run", "attempt", new_column_name="tries")
"""


@pytest.fixture
def live(tmp_path: Path) -> Generator[live_state.Live]:
    am = Am(tmp_path)
    with am.quickly():
        live = live_state.prepare(am)
        yield live
        live.finish()


@pytest.fixture
def address(postgres_url: str) -> str:
    return fresh_database(postgres_url)


def refused(done: Done, says: str) -> None:
    assert done.code == 1, done
    assert says in done.err
    assert "Traceback" not in done.err


@contextmanager
def server(am: Am, kill: bool = False) -> Generator["subprocess.Popen[str]"]:
    """One that may end by itself."""
    process = subprocess.Popen(
        [*am.program, "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=am.env,
        cwd=am.home.parent,
        text=True,
    )
    try:
        document(process)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            process.communicate(timeout=PATIENCE_S)


# ---------------------------------------------------------------- to Postgres


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_what_is_under_way_goes_on_on_postgres(
    live: live_state.Live, address: str, killed: bool
) -> None:
    am = live.am
    with server(am, kill=killed):
        live_state.bring_about(live)
        refused(am("database", "move", address), "Another server")
    before = am.json("task", "list")
    told = am.json("database", "move", address)
    assert told["rows"]["am_task"] == 3
    assert told["total"] == sum(told["rows"].values())
    for args in (("serve", "--port", "0"), ("task", "list"), ("backup",)):
        refused(am(*args), "Set AM_DATABASE_URL")
    checks = json.loads(am("doctor", "--json").out)["checks"]
    [finding] = [check for check in checks if check["name"] == "database"]
    assert finding["state"] == "fail"
    assert "AM_DATABASE_URL" in finding["text"]
    am.env["AM_DATABASE_URL"] = address
    assert [t["task"]["id"] for t in am.json("task", "list")] == [t["task"]["id"] for t in before]
    assert am.json("audit")[0]["what"] == "data.moved"
    with server(am):
        live_state.goes_on(live)


def test_the_address_may_come_from_the_environment(tmp_path: Path, address: str) -> None:
    am = Am(tmp_path)
    am.make_repo()
    for file in am.home.glob("*.db*"):
        file.unlink()
    refused(am("database", "move", address), "There is no database")
    am.text("task", "list")
    refused(am("database", "move"), "AM_DATABASE_URL")
    refused(am("database", "move", "elsewhere.db"), "postgresql://")
    am.env["AM_DATABASE_URL"] = address
    assert "every value was compared" in am.text("database", "move")
    am.text("task", "list")


def test_a_backup_can_be_brought_back_where_the_data_was_moved_from(
    tmp_path: Path, address: str
) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    kept = str(tmp_path / "kept.zip")
    am.text("backup", kept)
    am.text("database", "move", address)
    refused(am("restore", kept), "add --force")
    aside = Path(am.json("restore", kept, "--force")["put_aside"])
    assert (aside / "agents-manager.db.moved").exists()
    assert len(am.json("project", "list")) == 1


def test_killed_at_any_moment_the_file_is_as_it_was_and_the_other_empty_or_whole(
    tmp_path: Path, postgres_url: str
) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    task = am.json("task", "create", "Many")["task"]["id"]
    _write_events(am.home / "agents-manager.db", task, 20_000)
    mark = am.home / "agents-manager.db.moved"
    address, whole, cut = fresh_database(postgres_url), 0, 0
    # Later and later, until it is done before.
    for patience in (0.4 * 1.3**n for n in range(18)):
        process = subprocess.Popen(
            [PROGRAM, "database", "move", address],
            env=am.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        with sqlite3.connect(am.home / "agents-manager.db") as file:
            assert file.execute("SELECT COUNT(*) FROM am_event").fetchone() == (20_001,)
        with psycopg.connect(address) as connection:
            # Waits for the transaction of whom we killed.
            connection.execute("SELECT pg_advisory_xact_lock(1634533377)")
            [made] = connection.execute("SELECT to_regclass('am_event')").fetchone() or [None]
            if made is None:
                cut += 1
                assert not mark.exists()
                continue
            found = connection.execute("SELECT COUNT(*), MAX(id) FROM am_event").fetchone()
            assert found == (20_001, 20_001)
            whole += 1
        break
    assert cut, "it was never cut short"
    assert whole, "it was never whole"


def _write_events(path: Path, task: str, count: int) -> None:
    with sqlite3.connect(path) as file:
        file.execute(
            "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= ?)"
            " INSERT INTO am_event (task_id, seq, time, category, type, level, summary, actor,"
            " data) SELECT ?, i, '2026-03-01T12:00:00.000000+00:00', 'run', 'agent.said', 'info',"
            """ 'Said ' || i, '{"type": "system"}', '{"n": ' || i || '}' FROM n""",
            [count, task],
        )


# ---------------------------------------------------------------- to the next version


@pytest.fixture(scope="session")
def next_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of this version with one more migration, after which this one cannot read runs."""
    folder = tmp_path_factory.mktemp("next")
    source = Path(migrate.__file__).parents[1]
    left = shutil.ignore_patterns("__pycache__", "static")
    shutil.copytree(source, folder / "agents_manager", ignore=left)
    store = folder / "agents_manager" / "store"
    (store / "migrations" / "versions" / f"{NEXT}_next.py").write_text(SCRIPT)
    _edit(store / "migrate.py", rf'^HEAD = "{migrate.HEAD}"', f'HEAD = "{NEXT}"')
    _edit(
        store / "schema.py",
        r'\*must\("attempt", be=Integer\),\n    \*may\("session"',
        'Column("tries", Integer, key="attempt", nullable=False),\n    *may("session"',
    )
    return folder


def _edit(file: Path, pattern: str, new: str) -> None:
    text, times = re.subn(pattern, new, file.read_text(), flags=re.MULTILINE)
    assert times == 1, (file, pattern)
    file.write_text(text)


def of_version(am: Am, code: Path) -> Am:
    program = [sys.executable, "-c", "from agents_manager.cli.main import main; exit(main())"]
    other = Am(am.home.parent, program)
    other.env = {**am.env, "PYTHONPATH": str(code)}
    return other


@pytest.fixture(params=["sqlite", "postgres"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[live_state.Live]:
    am = Am(tmp_path)
    if request.param == "postgres":
        am.env["AM_DATABASE_URL"] = fresh_database(request.getfixturevalue("postgres_url"))
    with am.quickly():
        live = live_state.prepare(am)
        yield live
        live.finish()


def test_a_newer_version_takes_over_what_is_under_way(
    anywhere: live_state.Live, next_version: Path
) -> None:
    old, new = anywhere.am, of_version(anywhere.am, next_version)
    with server(old) as process:
        live_state.bring_about(anywhere)
        for args in (("task", "list"), ("worker",)):
            refused(new(*args), "Another server" if args == ("worker",) else "works on it")
        told: dict[str, Any] = new.json("database", "upgrade")
        assert (told["from"], told["to"]) == (migrate.HEAD, NEXT)
        until(lambda: process.poll() is not None)
        _, said = process.communicate()
        assert process.returncode == 1
        assert f"schema {NEXT}" in said
        assert "Traceback" not in said
        refused(old("task", "list"), "install the newer version")
        assert new.json("audit")[0]["what"] == "data.upgraded"
        with server(new):
            live_state.goes_on(live_state.Live(new, *_tasks(anywhere)))


def test_a_newer_server_upgrades_where_nobody_else_works(
    anywhere: live_state.Live, next_version: Path
) -> None:
    old, new = anywhere.am, of_version(anywhere.am, next_version)
    with server(old, kill=True):
        live_state.bring_about(anywhere)
    with server(new):
        live_state.goes_on(live_state.Live(new, *_tasks(anywhere)))
    refused(old("worker"), "install the newer version")


def _tasks(live: live_state.Live) -> tuple[str, str, str]:
    return live.asking, live.working, live.waiting
