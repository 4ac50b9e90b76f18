"""The files of a service: what stands in them, whose they are, and that odd names stay names."""

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents_manager.engine import units
from agents_manager.engine.launchers import Launchd, LauncherFailed
from agents_manager.engine.units import Unit
from agents_manager.errors import InvalidInput
from tests import debian, fake_launchers

GOLDEN = Path(__file__).parents[1] / "golden"
PLAIN = Unit(
    name="agents-manager",
    title="Agents Manager",
    command=("/opt/am/bin/am", "serve", "--port", "4200"),
    environment={"AM_HOME": "/home/ada/.agents-manager", "PATH": "/usr/local/bin:/usr/bin"},
    secrets=Path("/home/ada/.agents-manager/service.env"),
    log=Path("/home/ada/.agents-manager/service.log"),
)
ODD = '/home/ada/50% "of" $HOME\'s \\ <am> & größe'


def odd(program: str = "/bin/true") -> Unit:
    command = (program, "serve", "--public-url", ODD, "--port", "$PORT", "%h", "-- x ")
    return replace(
        PLAIN,
        command=command,
        environment={"AM_HOME": ODD, "PATH": "/usr/bin"},
        secrets=Path(ODD, "service.env"),
    )


@pytest.mark.parametrize(
    ("made", "golden"),
    [(units.systemd, "agents-manager.service"), (units.launchd, "agents-manager.plist")],
)
def test_the_files_are_as_they_were(made: Callable[[Unit], str], golden: str) -> None:
    assert made(PLAIN) == (GOLDEN / golden).read_text()


def test_systemd_reads_odd_names_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = tmp_path / "loaded"
    loaded.mkdir()
    (loaded / "odd.service").write_text(units.systemd(odd()))
    monkeypatch.setattr(fake_launchers, "HERE", tmp_path)
    said = fake_launchers.read("odd.service")
    program, *rest = fake_launchers.words(said["ExecStart"][0])
    assert [program, *(word.replace("$$", "$") for word in rest)] == list(odd().command)
    assert all("$" not in word.replace("$$", "") for word in rest)
    assert fake_launchers.words(said["Environment"][0]) == [f"AM_HOME={ODD}"]
    assert fake_launchers.specifiers(said["EnvironmentFile"][0]) == f"-{ODD}/service.env"


@pytest.mark.parametrize("unit", [replace(PLAIN, command=("/bin/true", "serve")), odd()])
def test_systemd_itself_takes_the_file(tmp_path: Path, unit: Unit) -> None:
    program = debian.have("systemd", lambda: shutil.which("systemd-analyze"))
    path = tmp_path / "agents-manager.service"
    path.write_text(units.systemd(unit))
    assert _told(program, path) == []
    path.write_text(units.systemd(unit).replace("KillMode=process", "KillMode=nobody"))
    assert _told(program, path), "it would have been told"


def _told(program: str, path: Path) -> list[str]:
    ran = subprocess.run(
        [program, "verify", "--user", "--man=no", path],
        env={**os.environ, "XDG_RUNTIME_DIR": str(path.parent), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in ran.stderr.splitlines() if path.name in line]


def test_launchd_gets_odd_names_as_they_are_and_secrets_from_their_file(tmp_path: Path) -> None:
    secrets = tmp_path / 'a "secret" $place'
    show = "import os, sys; print(os.environ.get('AM_TOKEN'), sys.argv[1:])"
    unit = replace(odd(), command=(sys.executable, "-c", show, ODD), secrets=secrets)
    document = plistlib.loads(units.launchd(unit).encode())
    assert document["EnvironmentVariables"]["AM_HOME"] == ODD

    def started() -> str:
        command = document["ProgramArguments"]
        return subprocess.run(command, env={}, capture_output=True, text=True, check=True).stdout

    assert started() == f"None {[ODD]}\n"
    secrets.write_text("AM_TOKEN='it is $secret'\n")
    assert started() == f"it is $secret {[ODD]}\n"


@pytest.mark.parametrize("made", [units.systemd, units.launchd])
def test_a_file_that_somebody_changed_is_told_apart(made: Callable[[Unit], str]) -> None:
    text = made(PLAIN)
    assert units.owner(text) == "ours"
    assert units.owner(text.replace("4200", "4201")) == "edited"
    assert units.owner(text + "\n") == "edited"
    assert units.owner("[Service]\nExecStart=/bin/true\n") == "foreign"
    assert units.owner("") == "foreign"
    other = made(replace(PLAIN, environment={"AM_HOME": "/elsewhere", "PATH": "/bin"}))
    assert units.home(text) == "/home/ada/.agents-manager"
    assert units.home(other) == "/elsewhere"


@pytest.mark.parametrize("bad", ["a\nExecStartPre=/bin/evil", "a\x00", "a\x1b[2J", "a\u2028b"])
def test_what_cannot_stand_in_a_file_is_refused(bad: str) -> None:
    for unit in (
        {"command": ("/bin/am", bad)},
        {"environment": {"AM_HOME": bad}},
        {"secrets": Path(bad)},
    ):
        with pytest.raises(InvalidInput, match="cannot stand in the file of a service"):
            replace(PLAIN, **unit)


def test_launchd_is_asked_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not tried on a Mac: the words are those of launchctl(1)."""
    for name, value in fake_launchers.install(tmp_path / "state", tmp_path / "bin").items():
        monkeypatch.setenv(name, value)
    launchd = Launchd(tmp_path, tmp_path / "log")
    path = launchd.path("agents-manager")
    assert path == tmp_path / "Library/LaunchAgents/agents-manager.plist"
    path.parent.mkdir(parents=True)
    path.write_text(launchd.text(PLAIN))
    launchd.check()
    assert not launchd.state("agents-manager").running
    launchd.stop("agents-manager")
    for _ in range(2):  # Also over one that runs.
        launchd.start("agents-manager")
        state = launchd.state("agents-manager")
        assert (state.enabled, state.running, state.pid) == (True, True, 4321)
    launchd.stop("agents-manager")
    assert not launchd.state("agents-manager").enabled
    (tmp_path / "state" / "down").touch()
    with pytest.raises(LauncherFailed, match="launchctl enable"):
        launchd.start("agents-manager")
