"""`am backup` and `am restore`: all of it or nothing, and never under a server."""

import json
import zipfile
from pathlib import Path

import pytest

from tests.e2e.am_program import Am, Done, until


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
    (am.home / "config.json").write_text('{"limits": {"host": 2}}')
    with am.quickly():
        task = am.json("task", "create", "Door", "--pipeline", "simple", "--start")["task"]["id"]
        with am.serving("worker"):
            am.open_prompt(task)
            am.text("backup", str(kept))
            refused(am("restore", str(kept), "--force"), "A server works on")
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


def test_what_is_no_backup_changes_nothing(am: Am, tmp_path: Path) -> None:
    elsewhere = {"AM_HOME": str(tmp_path / "new")}
    text, other, empty = tmp_path / "a.zip", tmp_path / "b.zip", tmp_path / "c.zip"
    text.write_text("no archive")
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": "else"}))
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr(
            "manifest.json", json.dumps({"format": "agents-manager/backup", "created_at": "x"})
        )
        archive.writestr("agents-manager.db", b"no database" * 1000)
        archive.writestr("../outside", "x")
    with am.quickly():
        for file, says in (
            (text, "no backup"),
            (other, "no backup"),
            (empty, "is not a database"),
        ):
            refused(am("restore", str(file), env=elsewhere), says)
            refused(am("restore", str(file), "--force"), says)
        assert not (tmp_path / "new" / "agents-manager.db").exists()
        assert not (tmp_path / "outside").exists()
        assert [p["name"] for p in am.json("project", "list")] == ["shop"]
        postgres = {"AM_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
        refused(am("backup", env=postgres), "pg_dump")
        refused(am("restore", str(text), env=postgres), "pg_restore")
        refused(am("backup", env=elsewhere), "no database")
