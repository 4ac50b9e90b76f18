"""`am backup` and `am restore`: all of it or nothing, and never under a server."""

import json
import sqlite3
import subprocess
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import PROGRAM, Am, Done, until

pytestmark = pytest.mark.slow

MANIFEST = {"format": "agents-manager/backup", "version": 1, "created_at": "x"}


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    return am


def refused(done: Done, says: str) -> None:
    assert done.code == 1
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_backup_of_a_working_server_is_brought_back(am: Am, tmp_path: Path) -> None:
    kept = tmp_path / "kept.zip"
    (am.home / "config.json").write_text('{"limits": {"host": 2}, "defaultAgentType": "scripted"}')
    (am.home / "token").write_text("secret")
    with am.quickly():
        task = am.json("task", "create", "Door", "--pipeline", "simple", "--start")["task"]["id"]
        with am.serving("worker"):
            am.open_prompt(task)
            am.text("backup", str(kept))
            refused(am("restore", str(kept), "--force"), "Another server")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert "token" not in zipfile.ZipFile(kept).namelist()
        refused(am("backup", str(kept)), "is there already")
        am.text("task", "create", "Later")
        refused(am("restore", str(kept)), "add --force")
        assert len(am.json("task", "list")) == 2
        restored = am.json("restore", str(kept), "--force")
        assert (Path(restored["put_aside"]) / "agents-manager.db").exists()
        assert [t["task"]["title"] for t in am.json("task", "list")] == ["Door"]
        with am.serving("worker"):
            am.text("review", task, "--approve")
            until(lambda: am.json("task", "show", task)["task"]["status"] == "done")


ASKS = """```agent-script
implement:
- - ask: {question: "Which colour?", options: [red, blue]}
- - write: {path: door.txt, text: red}
  - commit: Paint
  - outcome: pr_ready
```"""


def test_in_an_empty_home_work_goes_on_from_a_backup_taken_among_writers(
    am: Am, tmp_path: Path
) -> None:
    """With the question, what the task has to show, and the snapshot of what the run left."""
    kept = tmp_path / "kept.zip"
    with am.quickly():
        task = _asking(am)
        am.git("update-ref", f"refs/agents-manager/snapshots/{task}/1", "HEAD")
        with _reading(am), _writing(am):
            before = until(lambda: titles(am) if len(titles(am)) > 2 else None)
            am.text("backup", str(kept))
        shown = [am.json(*look, task) for look in (("artifact", "list"), ("task", "history"))]
        snapshots = am.json("snapshot", "list")
        assert len(snapshots) == 1
        am.env["AM_HOME"] = str(tmp_path / "new home")
        am.text("restore", str(kept))
        assert [am.json(*k, task) for k in (("artifact", "list"), ("task", "history"))] == shown
        assert am.json("snapshot", "list") == snapshots
        assert before <= titles(am)
        for one in am.json("task", "list"):
            [*_, first] = am.json("task", "events", one["task"]["id"])[::-1]
            assert first["type"] == "task.created", "a task came with its events"
        with am.serving("worker"):
            am.text("prompt", "answer", am.open_prompt(task)["prompt"]["id"], "--option", "red")
            until(lambda: am.json("task", "show", task)["task"]["status"] == "review")


def _asking(am: Am) -> str:
    made = am.json("task", "create", "Door", "--description", ASKS, "--pipeline", "simple")
    task: str = made["task"]["id"]
    am.json("task", "start", task)
    with am.serving("worker"):
        am.open_prompt(task)
    return task


def titles(am: Am) -> set[str]:
    return {one["task"]["title"] for one in am.json("task", "list")}


@contextmanager
def _reading(am: Am) -> Generator[None]:
    """One that looks for long: what is written meanwhile stays beside the file."""
    connection = sqlite3.connect(am.home / "agents-manager.db", isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT * FROM am_alembic_version").fetchall()
    yield
    connection.close()


@contextmanager
def _writing(am: Am) -> Generator[None]:
    """Others that write as fast as they can."""
    command = (
        f'for n in $(seq 100); do "{PROGRAM}" task create "Task $n" >/dev/null || exit 1; done'
    )
    writers = [subprocess.Popen(["sh", "-c", command], cwd=am.repo, env=am.env) for _ in range(2)]
    yield
    for writer in writers:
        assert writer.poll() is None, "it ended before the backup was taken"
        writer.kill()
        writer.wait()


def test_settings_are_not_written_over_unasked(am: Am, tmp_path: Path) -> None:
    kept, home = tmp_path / "kept.zip", tmp_path / "new"
    (am.home / "config.json").write_text('{"limits": {"host": 2}}')
    home.mkdir(mode=0o700)
    (home / "config.json").write_text('{"limits": {"host": 3}}')
    with am.quickly():
        am.text("backup", str(kept))
        am.env["AM_HOME"] = str(home)
        refused(am("restore", str(kept)), "config.json. To put it aside")
        assert '"host": 3' in (home / "config.json").read_text()
        aside = Path(am.json("restore", str(kept), "--force")["put_aside"])
    assert '"host": 3' in (aside / "config.json").read_text()
    assert '"host": 2' in (home / "config.json").read_text()


def test_what_is_no_backup_changes_nothing(am: Am, tmp_path: Path) -> None:
    elsewhere = {"AM_HOME": str(tmp_path / "new")}
    text, empty = tmp_path / "a.zip", tmp_path / "b.zip"
    text.write_text("no archive")
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("manifest.json", json.dumps(MANIFEST))
        archive.writestr("agents-manager.db", b"no database" * 1000)
    with am.quickly():
        for file, says in (
            (text, "no backup"),
            (empty, "is not a database"),
        ):
            refused(am("restore", str(file), env=elsewhere), says)
            refused(am("restore", str(file), "--force"), says)
        assert not (tmp_path / "new" / "agents-manager.db").exists()
        assert [p["name"] for p in am.json("project", "list")] == ["shop"]
        postgres = {"AM_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
        refused(am("backup", env=postgres), "pg_dump")
        refused(am("restore", str(text), env=postgres), "pg_restore")
        refused(am("backup", env=elsewhere), "no database")


def test_a_backup_of_another_version_changes_nothing(am: Am, tmp_path: Path) -> None:
    kept, newer, changed = tmp_path / "kept.zip", tmp_path / "newer.db", tmp_path / "changed.zip"
    with am.quickly():
        am.text("backup", str(kept))
        database = zipfile.ZipFile(kept).read("agents-manager.db")
        newer.write_bytes(database)
        with sqlite3.connect(newer) as connection:
            connection.execute("UPDATE am_alembic_version SET version_num = '9999'")
        connection.close()
        torn = database[:8192] + bytes([255]) * 4096 + database[12288:]
        for name, content, says in (
            ("manifest.json", manifest(format="else"), "is no backup of Agents Manager."),
            ("manifest.json", manifest(version=2), "another kind (2)"),
            ("agents-manager.db", newer.read_bytes(), "has schema 9999"),
            ("agents-manager.db", torn, "is damaged"),
        ):
            rewritten(kept, changed, {name: content})
            refused(am("restore", str(changed), "--force"), says)
        assert [p["name"] for p in am.json("project", "list")] == ["shop"]
        assert not (am.home / "backups").exists()


def manifest(**fields: Any) -> bytes:
    return json.dumps({**MANIFEST, **fields}).encode()


def test_damage_is_found_and_strangers_stay_outside(am: Am, tmp_path: Path) -> None:
    kept, more, cut = (tmp_path / f"{name}.zip" for name in ("kept", "more", "cut"))
    with am.quickly():
        am.text("backup", str(kept))
        data = bytearray(kept.read_bytes())
        middle = len(data) // 2
        data[middle : middle + 20] = bytes(20)
        cut.write_bytes(data)
        refused(am("restore", str(cut), "--force"), "or is damaged")
        assert not (am.home / "backups").exists()
        rewritten(kept, more, {"token": b"mine", "host.lock": b"1", "../outside": b"x"})
        am.text("restore", str(more), "--force")
        assert not (am.home / "token").exists()
        assert (am.home / "host.lock").read_text() != "1"
        assert not (tmp_path / "outside").exists()
        assert (am.home / "agents-manager.db").stat().st_mode & 0o777 == 0o600


def rewritten(source: Path, target: Path, changes: Mapping[str, bytes]) -> None:
    """The archive again, with other content under some names."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        parts = {name: old.read(name) for name in old.namelist()}
        for name, content in (parts | dict(changes)).items():
            new.writestr(name, content)
