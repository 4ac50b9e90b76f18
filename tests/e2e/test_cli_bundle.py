"""`am doctor --bundle`: what finds a fault leaves the machine, and what is secret does not."""

import asyncio
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents_manager import environment
from agents_manager.cli import bundle, findings
from agents_manager.domain import event
from agents_manager.domain.task import SYSTEM
from agents_manager.flow.ports import Tx
from agents_manager.store.database import open_database
from tests import fake_launchers
from tests.e2e.am_program import Am

KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
PLANTED = {
    "environment": "env-secret-4711-xyz",
    "service.env": "file-secret-4712-xyz",
    "token": "owner-token-4713-xyzxyz",
    "log": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "events": KEY,
    "config": "https://hooks.example.com/in/T00/B11/s3cr3t-in-a-path-4714",
}
PROSE = ("Paint the door mauve", "Never tell anybody about the cellar")


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    am.env |= fake_launchers.install(tmp_path / "launchers", tmp_path / "bin")
    am.env["AM_WEBHOOK_SECRET"] = PLANTED["environment"]
    return am


def plant(am: Am) -> None:
    """A task with a failed hook, and secrets wherever they can come to lie."""
    (am.home / "service.env").write_text(f"SOMETHING='{PLANTED['service.env']}'\n")
    (am.home / "token").write_text(PLANTED["token"])
    said = json.loads((am.home / "config.json").read_text())
    channel = {"enabled": False, "url": PLANTED["config"]}
    config = {**said, "instructions": PROSE[1], "notifications": {"webhook": channel}}
    (am.home / "config.json").write_text(json.dumps(config))
    log = am.home.parent / "launchers" / "journal-agents-manager.service"
    told = [PLANTED[name] for name in ("log", "token", "service.env", "environment")]
    log.write_text("".join(f'{{"event": "said", "what": "{one}"}}\n' for one in told))
    am.text("project", "add", ".", "--name", "shop")
    task = am.json("task", "create", PROSE[0], "--pipeline", "simple")["task"]["id"]

    def write(tx: Tx) -> None:
        failed = event.HookFailed(effect="e1", hook="merge_pr", error=f"denied for {KEY}")
        tx.events.add(task, failed, SYSTEM, tx.tasks.get(task).created_at)

    database = open_database(am.home / "agents-manager.db")
    asyncio.run(database.write(write))
    database.close()


def held(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_what_is_in_it_is_told_and_nothing_of_it_is_secret(
    am: Am, monkeypatch: pytest.MonkeyPatch
) -> None:
    with am.quickly():
        plant(am)
        made = am.json("doctor", "--bundle", "out.zip")
        again = am("doctor", "--bundle", "out.zip")
        assert (again.code, "name another file" in again.err) == (1, True)
        said = am.text("doctor", "--bundle")
    file = am.repo / "out.zip"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = held(file)
    manifest = json.loads(found["manifest.json"])
    assert {one["name"] for one in manifest["files"]} == found.keys() - {"manifest.json"}
    assert manifest["files"] == made["parts"]
    assert "Nothing was sent anywhere" in said
    assert all(name in said for name in found if name != "manifest.json")
    everything = "\n".join(found.values())
    for where, secret in PLANTED.items():
        assert secret not in everything, where
    assert "4714" not in everything
    for prose in PROSE:
        assert prose not in everything
    documents = {name: json.loads(text) for name, text in found.items() if name != "log.txt"}
    assert [e["error"] for e in documents["events.json"] if "error" in e] == [
        "denied for [redacted]"
    ]
    assert found["log.txt"].count("[redacted]") == 4
    assert documents["counts.json"]["tasks"]["open"] == 1
    assert documents["database.json"]["schema"] == documents["database.json"]["head"]
    settings = {one["key"]: one["value"] for one in documents["settings.json"]}
    assert settings["notifications.webhook.url"] == "https://hooks.example.com/…"
    assert "project shop" in {one["name"] for one in documents["doctor.json"]}
    _without_the_measure(am, monkeypatch)


def _without_the_measure(am: Am, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planted would be found."""
    for name, value in am.env.items():
        monkeypatch.setenv(name, value)

    def nothing(_: object) -> Callable[[str], str]:
        return str

    def as_it_is(one: Any) -> Any:
        return one.value

    monkeypatch.setattr(bundle, "_cleaning", nothing)
    monkeypatch.setattr(bundle, "_value", as_it_is)
    place, open_file = environment.from_environment(), am.repo / "open.zip"
    database = findings.ok("database", "")
    asyncio.run(bundle.make(place, [database], str(open_file)))
    everything = "\n".join(held(open_file).values())
    assert all(secret in everything for secret in PLANTED.values())


@pytest.mark.slow
def test_it_is_made_of_what_there_is(am: Am) -> None:
    (am.home / "config.json").write_text("{")
    (am.home / "agents-manager.db").write_text("This is no database." * 100)
    with am.quickly():
        am.text("doctor", "--bundle", "out.zip")
    found = held(am.repo / "out.zip")
    assert "counts.json" not in found
    assert "is not valid JSON" in found["settings.json"]
    assert "error" in json.loads(found["database.json"])
    assert "There is no log of a service." in found["log.txt"]
