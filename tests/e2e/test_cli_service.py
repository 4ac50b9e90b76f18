"""`am service`: a server that the system keeps going, with programs in the place of systemd's that
check what they are told and really start it."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_manager import webbuild
from tests import fake_launchers
from tests.debian import missing
from tests.e2e.am_program import Am, Done
from tests.repos import scripted_home

ODD = 'am\'s "50%" $HOME'
SECRET = "hunter2-hunter2"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "launchers"


@pytest.fixture
def am(tmp_path: Path, state: Path) -> Iterator[Am]:
    am = Am(tmp_path)
    am.home = tmp_path / ODD
    am.repo.mkdir()
    am.env |= {"AM_HOME": str(am.home), **fake_launchers.install(state, tmp_path / "bin")}
    scripted_home(am.home)
    yield am
    am("service", "remove", "--force")


def unit_of(am: Am, name: str = "agents-manager") -> Path:
    return Path(am.env["HOME"], ".config", "systemd", "user", f"{name}.service")


@pytest.mark.slow
def test_a_service_from_its_first_day_to_its_last(am: Am, state: Path) -> None:
    if not (webbuild.UI / "index.html").exists():
        missing("the web app is not built: make web")
    with am.quickly():
        _live(am, state)


def _live(am: Am, state: Path) -> None:
    secrets = am.home / "service.env"
    secrets.write_text(f"AM_WEBHOOK_SECRET={SECRET}\n")
    secrets.chmod(0o600)
    made = am("service", "install", "--port", "0", "--yes", "--json")
    assert made.code == 0, made
    document = json.loads(made.out)
    assert (document["written"], document["health"]["ready"]) == (True, True)
    unit = unit_of(am)
    assert SECRET not in unit.read_text() + made.out + made.err
    assert "loginctl enable-linger" in " ".join(document["notes"])
    pid = document["state"]["pid"]
    told = Path("/proc", str(pid), "environ").read_bytes().decode().split("\0")
    assert {f"AM_HOME={am.home}", f"AM_WEBHOOK_SECRET={SECRET}"} <= {*told}
    journal = (state / "journal-agents-manager.service").read_text()
    assert "/auth/login" not in journal
    assert "#code" not in journal

    said = am("service", "status")
    assert said.code == 0, said
    assert f"process {pid}; it starts with your session" in said.out
    assert "It is ready at http://127.0.0.1:" in said.out

    (state / "linger").touch()
    again = json.loads(am.text("service", "install", "--port", "0", "--yes", "--json"))
    assert (again["written"], again["state"]["pid"], again["notes"]) == (False, pid, [])
    unit.write_text(unit.read_text().replace("RestartSec=2", "RestartSec=3"))
    for command in (["install", "--port", "0", "--yes"], ["remove"]):
        refused = am("service", *command)
        assert refused.code == 1
        assert "was changed by hand, and is left as it is" in refused.err
    assert "changed by hand" in am("service", "status").out

    taken = am.json("service", "remove", "--force")
    assert taken["removed"]
    assert not unit.exists()
    ended = am("service", "status", "--json")
    assert ended.code == 1
    after = json.loads(ended.out)
    assert (after["installed"], after["state"]["running"]) == (False, False)
    assert f"Nothing works on {am.home}." in after["health"]["says"]
    assert not am.json("service", "remove")["removed"]


def refused(done: Done, *words: str) -> None:
    assert done.code == 1, done
    assert done.out == ""
    for word in words:
        assert word in done.err, done
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_what_is_in_the_way_is_said_before_anything_is_written(am: Am, state: Path) -> None:
    unit = unit_of(am)
    with am.quickly():
        shown = am("service", "install", "--dry-run")
        assert shown.code == 0
        assert "KillMode=process" in shown.out
        refused(am("service", "install"), "KillMode=process", "give --yes")
        for option in (["--worker", "--port", "4200"], ["--key", am.home / "config.json"]):
            assert am("service", "install", *map(str, option)).code == 2
        (state / "down").touch()
        refused(am("service", "install", "--yes"), "cannot be reached (Failed to connect to bus")
        (state / "down").unlink()
        nothing = am("service", "install", "--yes", env={"PATH": "/nowhere"})
        refused(nothing, "This machine has no systemd")
        secrets = am.home / "service.env"
        secrets.write_text("A=b\n")
        secrets.chmod(0o644)
        refused(am("service", "install", "--yes"), "chmod 600")
        secrets.chmod(0o600)
        url = {"AM_DATABASE_URL": f"postgresql://ada:{SECRET}@127.0.0.1/am"}
        hidden = am("service", "install", "--yes", env=url)
        refused(hidden, "AM_DATABASE_URL holds a password", str(secrets))
        assert SECRET not in hidden.err
        broken = am("service", "install", "--yes", env={"AM_HOME": f"{am.home}\nExecStart=/bin/sh"})
        refused(broken, "cannot stand in the file of a service")
        (state / "full").touch()
        refused(am("service", "install", "--yes"), "No space left on device")
        assert not unit.exists(), "what cannot be started is not left behind"
        (state / "full").unlink()
        unit.parent.mkdir(parents=True, exist_ok=True)
        unit.write_text("[Service]\nExecStart=/bin/true\n")
        refused(am("service", "install", "--yes"), 'was not made by "am service"')
        refused(am("service", "remove"), 'was not made by "am service"')
        assert unit.read_text() == "[Service]\nExecStart=/bin/true\n"
        unit.unlink()
        _of_another_home(am, unit)


def _of_another_home(am: Am, unit: Path) -> None:
    other = json.loads(
        am("service", "install", "--dry-run", "--json", env={"AM_HOME": "/elsewhere"}).out
    )
    unit.write_text(other["text"])
    refused(am("service", "install", "--yes"), "works on another data directory; --force")
    mine = json.loads(am("service", "install", "--dry-run", "--json").out)
    unit.write_text(mine["text"])
    refused(am("service", "install", "--worker", "--yes"), "First: am service remove")
    unit.unlink()


def test_secrets_of_this_shell_are_named_and_not_written(am: Am) -> None:
    shell = {"AM_TELEGRAM_TOKEN": SECRET, "AM_LOG": "info"}
    with am.quickly():
        done = am("service", "install", "--dry-run", "--json", env=shell)
    document = json.loads(done.out)
    assert "AM_TELEGRAM_TOKEN" in " ".join(document["notes"])
    assert SECRET not in done.out
    assert 'Environment="AM_LOG=info"' in document["text"]


@pytest.mark.slow
def test_a_worker_is_a_service_too(am: Am) -> None:
    made = am("service", "install", "--worker", "--yes", "--json")
    assert made.code == 0, made
    assert json.loads(made.out)["health"]["says"] == f"It works on {am.home}."
    unit = unit_of(am, "agents-manager-worker")
    assert stat.S_IMODE(unit.stat().st_mode) & 0o022 == 0
    refused(am("service", "install", "--yes"), "First: am service remove --worker")
    assert am.json("service", "remove", "--worker")["removed"]


def test_wrong_words_for_the_log_are_refused(am: Am) -> None:
    with am.quickly():
        refused(am("serve", env={"AM_LOG": "loud"}), 'AM_LOG is "loud"; it can be debug, info')
        refused(am("worker", env={"AM_LOG_FORMAT": "xml"}), "it can be text, json")
