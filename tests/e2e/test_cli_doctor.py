"""`am doctor`: each thing that can be wrong is told with what mends it, and nothing is made."""

import json
import shutil
import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import pipeline
from agents_manager.engine.host import HostLock
from agents_manager.flow import tasks
from tests.api.scenes import ANN
from tests.asking import Clock, seated
from tests.debian import missing
from tests.e2e.am_program import PROGRAM, Am
from tests.integration.test_liveness import STRANDS


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    return am


def told(am: Am, **env: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and what is said of each thing with the commands that mend it."""
    done = am("doctor", "--json", env=env)
    document = json.loads(done.out)
    assert document["ok"] == (done.code == 0)
    for one in document["checks"]:
        assert bool(one["fix"]) is (one["state"] != "ok"), one
    return done.code, findings(document)


def findings(document: Any) -> dict[str, tuple[str, str]]:
    return {
        c["name"]: (c["state"], " ".join([c["text"], *c["fix"], c["way_out"]]).strip())
        for c in document["checks"]
    }


MACHINE = ("git identity", "sandbox")
"""What hangs on the machine."""


@pytest.mark.slow
def test_where_nothing_is_nothing_is_made(am: Am) -> None:
    shutil.rmtree(am.home)
    code, found = told(am)
    assert code == 0
    assert not am.home.exists()
    assert found["git identity"][0] == "warn"
    assert {state for name, (state, _) in found.items() if name not in MACHINE} == {"ok"}


def test_what_is_in_order_and_what_is_not(am: Am) -> None:
    with am.quickly():
        _healthy(am)
        _broken(am)


def _healthy(am: Am) -> None:
    am.text("project", "add", ".", "--name", "shop")
    code, found = told(am)
    assert code == 0
    assert found["project shop"] == ("ok", str(am.repo))
    assert found["server"] == ("ok", "None runs, and nothing waits for one.")
    am.text("task", "create", "Door", "--pipeline", "simple", "--start")
    assert told(am)[1]["server"] == ("warn", "None runs, and 1 effect waits for one. am serve")
    warnings = [name for name, (state, _) in told(am)[1].items() if state == "warn"]
    assert {"git identity", "server"} <= {*warnings}
    said = am.text("doctor")
    assert said.splitlines()[0].startswith("ok    Python")
    assert f"0 failures, {len(warnings)} warnings" in said
    assert "$ am serve" in said


def _broken(am: Am) -> None:
    (am.home / "token").write_text("secret")
    (am.home / "token").chmod(0o644)
    (am.home / "config.json").write_text('{"limit": {}}')
    (am.home / "engine.db").write_text("This is no database." * 100)
    folder = am.repo / ".agents-manager"
    folder.mkdir()
    (folder / "config.json").write_text('{"checks": {"t": {"command": "true"}}}')
    code, found = told(am)
    assert code == 1
    assert found["token"][0] == "fail"
    assert "chmod 600" in found["token"][1]
    assert "secret" not in str(found)
    assert 'Did you mean "limits"?' in found["user settings"][1]
    assert found["engine database"][0] == "fail"
    (am.home / "config.json").unlink()
    assert "am project trust shop" in told(am)[1]["project shop"][1]
    (folder / "config.json").write_text("{")
    assert "is not valid JSON" in told(am)[1]["project shop"][1]
    am.repo.rename(am.repo.with_name("gone"))
    am.repo.mkdir()
    assert "am project remove shop" in told(am)[1]["project shop"][1]


@pytest.mark.slow
def test_a_database_of_another_version(am: Am) -> None:
    am.text("project", "list")
    path = am.home / "agents-manager.db"
    for revision, state in (("0001", "warn"), ("9999", "fail")):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE am_alembic_version SET version_num = ?", [revision])
        connection.close()
        code, found = told(am)
        assert found["database"][0] == state
        assert code == (1 if state == "fail" else 0)


@pytest.mark.slow
def test_a_database_that_cannot_be_reached(am: Am) -> None:
    code, found = told(am, AM_DATABASE_URL="postgresql://ada:pass-word@127.0.0.1:1/none")
    assert code == 1
    assert found["database"][0] == "fail"
    assert "pass-word" not in str(found)


@pytest.mark.slow
def test_git_must_be_there(am: Am, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.30.1\n")
    old.chmod(0o755)
    code, found = told(am, PATH=str(old.parent))
    assert (code, found["git"][0]) == (1, "fail")
    assert "2.38 or newer" in found["git"][1]
    old.unlink()
    code, found = told(am, PATH=str(old.parent))
    assert (code, found["git"][0]) == (1, "fail")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "state"), [(40, "fail"), (600, "warn")])
def test_a_disk_that_is_nearly_full(am: Am, size: int, state: str) -> None:
    """A small disk of our own, which nobody else sees and which goes with the process."""
    am.home.mkdir(exist_ok=True)
    mounted = f'mount -t tmpfs -o size={size}m,mode=700 none "$AM_HOME" && exec "$@"'
    private = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    if not shutil.which("unshare") or subprocess.run([*private, "true"], check=False).returncode:
        missing("A disk of one's own takes Linux with user namespaces.")
    done = subprocess.run(
        [*private, mounted, "sh", PROGRAM, "doctor", "--json"],
        cwd=am.repo,
        env=am.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if state == "fail" else 0), done
    told, text = findings(json.loads(done.stdout))["disk"]
    assert told == state
    assert text == (
        f"Only {size} MB are free at {am.home}. "
        "am task clean am gc "
        "Workspaces of finished tasks can go, and what is old; the rest is yours to find."
    )


@pytest.mark.slow
async def test_a_clock_that_went_back(am: Am) -> None:
    ahead = Clock(datetime.now(UTC) + timedelta(seconds=30))
    async with seated(am.home, am.repo, "", ahead) as table:
        await table.task()
        assert told(am)[1]["clock"][0] == "ok"
        ahead.turn(days=2)
        await table.task()
    code, found = told(am)
    state, text = found["clock"]
    assert (code, state) == (0, "warn")
    assert f"but the newest task is of {ahead.now():%Y-%m-%d %H:%M}." in text
    assert text.endswith("What is due would wait until then.")


@pytest.mark.slow
async def test_effects_that_the_server_should_have_performed(am: Am) -> None:
    """A process that holds the place of the server, and does nothing."""
    clock = Clock(datetime.now(UTC) - timedelta(minutes=11))
    async with seated(am.home, am.repo, "", clock) as table:
        prompt = await table.asking()
        kinds = [e.kind for e in await table.effects(prompt.task_id)]
        assert sorted(kinds) == ["notify", "start_agent"]
        assert told(am)[1]["effects"] == ("ok", "2 open, none stuck.")
        with HostLock(am.home):
            code, found = told(am)
            assert (code, found["effects"]) == (
                1,
                (
                    "fail",
                    "1 effect should have been performed ten minutes ago or longer: notify. "
                    f"am serve am task why {prompt.task_id} "
                    "First end the server, with Ctrl-C or am service remove; agents go on "
                    "meanwhile.",
                ),
            )
            [notice] = [e for e in await table.effects(prompt.task_id) if e.kind == "notify"]
            checking = {"kind": "run_checks", "status": "started"}
            await table.s.store.write(lambda tx: tx.effects.update(notice.id, **checking))
            code, found = told(am)
            assert (code, found["effects"]) == (0, ("ok", "2 open, none stuck."))


async def test_tasks_that_nobody_can_move_are_named(am: Am) -> None:
    async with seated(am.home, am.repo, "", Clock(datetime.now(UTC))) as table:
        parsed, now = pipeline.parse(STRANDS), table.clock.now()
        await table.s.store.write(lambda tx: tx.pipelines.save(parsed, STRANDS, now))
        task = await table.task(pipeline="strands")
        assert told(am)[1]["tasks"] == ("ok", "None is stuck.")
        await tasks.move(table.s, task.id, ANN, to="adrift")
        id = task.id[:8]
        assert told(am)[1]["tasks"] == (
            "warn",
            f'1 task cannot be moved by anybody: "Add search" ({id}). am task why {id} '
            "It shows the ways to continue.",
        )
