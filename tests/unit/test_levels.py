"""Which level of sandbox there is: by trying, as configured, and as the doctor tells it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.cli import examination
from agents_manager.sandbox import bubblewrap, cgroup, launch, levels, seccomp, supervision
from agents_manager.sandbox.bubblewrap import Bounds, Cage
from agents_manager.sandbox.keeper import Keeper, Rules, programs
from agents_manager.sandbox.levels import AGAIN_S, Found, Level, Levels
from agents_manager.settings import ConfigFiles
from tests import sandboxes

HOLDS = Found(Level.S3, "It holds.")
LESS = Found(Level.S2, "Landlock holds. Not S3: it is not installed.", "Install it.")
MISSING = Found(Level.NONE, "Bubblewrap is not installed.", "Install it.")


def fixed(found: Found) -> Levels:
    return Levels(lambda: found)


def test_it_is_tried_for_real() -> None:
    sandboxes.installed()
    found = levels.probe()
    assert found.level is Level.S3, found
    assert "three ways out were tried in vain" in found.why


@pytest.mark.parametrize(
    ("measure", "open_way"),
    [
        ("network", "the machine's own network can be reached"),
        ("system calls", "user namespaces can be made"),
    ],
)
def test_a_sandbox_that_does_not_hold_is_none(
    monkeypatch: pytest.MonkeyPatch, measure: str, open_way: str
) -> None:
    sandboxes.installed()
    without = Path(__file__).parents[1] / "hostile/without.py"
    program = (*bubblewrap.PROGRAM[:3], str(without), bubblewrap.PROGRAM[-1], measure)
    monkeypatch.setattr(bubblewrap, "PROGRAM", program)
    found = levels.by_bubblewrap()
    assert (found.level, found.why) == (Level.NONE, f"The sandbox does not hold: {open_way}.")


def test_one_that_shows_what_is_hidden_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sandboxes.installed()

    def shows(**fields: Any) -> Cage:
        return Cage(**fields, reads=fields["hides"])

    monkeypatch.setattr(levels, "Cage", shows)
    assert levels.by_bubblewrap().why == "The sandbox does not hold: files of the user can be read."


def test_that_the_program_is_there_does_not_suffice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    patch = f"bubblewrap.found = lambda: {str(fake)!r}; from agents_manager.sandbox import launch"
    start = bubblewrap.START.replace(
        "; from", f"; from agents_manager.sandbox import bubblewrap; {patch}; from", 1
    )
    monkeypatch.setattr(bubblewrap, "found", lambda: str(fake))
    monkeypatch.setattr(
        bubblewrap, "PROGRAM", (*bubblewrap.PROGRAM[:4], start, bubblewrap.PROGRAM[-1])
    )
    found = levels.by_bubblewrap()
    assert found.level is Level.NONE
    assert "No permissions to create new namespace" in found.why
    assert "Allow user namespaces" in found.way_out


def test_without_the_program_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "found", lambda: None)
    assert "apt install bubblewrap" in levels.by_bubblewrap().way_out


def test_what_holds_is_tried_once_and_what_does_not_again_later() -> None:
    now, answers = [0.0], [MISSING, HOLDS]
    tried = Levels(lambda: answers.pop(0), lambda: now[0])
    assert tried.found() is MISSING
    now[0] += AGAIN_S
    assert tried.found() is MISSING
    now[0] += 1
    assert tried.found() is HOLDS
    now[0] += 100 * AGAIN_S
    assert tried.found() is HOLDS


@pytest.mark.parametrize(
    ("wanted", "found", "level", "required"),
    [
        ("auto", HOLDS, "S3", False),
        ("auto", MISSING, "none", False),
        ("S3", HOLDS, "S3", False),
        ("S3", MISSING, "none", True),
        ("S3", LESS, "S2", True),
        ("S2", LESS, "S2", False),
        ("S2", HOLDS, "S3", False),
        ("S1", LESS, "S2", False),
        ("auto", LESS, "S2", False),
        ("none", HOLDS, "none", False),
    ],
)
def test_as_configured(wanted: str, found: Found, level: str, required: bool) -> None:
    keeping = Keeper(Path("/x"), lambda: Rules(level=wanted), fixed(found)).keeping()
    assert (keeping.level, keeping.required) == (level, required)


def test_commands_are_kept_at_the_level_that_was_found(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, Rules, fixed(LESS))
    argv = keeper.command(("make",), {}, tmp_path, writes=(tmp_path,))
    assert json.loads(argv[-1])["level"] == "S2"


@pytest.mark.parametrize(
    ("wanted", "found", "state", "said"),
    [
        ("auto", HOLDS, "ok", "S3. It holds."),
        ("auto", MISSING, "warn", "once you consent"),
        ("auto", LESS, "ok", "S2. Landlock holds. Not S3: it is not installed."),
        ("S3", MISSING, "fail", "No agent is started"),
        ("S3", LESS, "fail", "sandbox.level asks for more"),
        ("none", HOLDS, "warn", "switched off"),
    ],
)
def test_the_doctor_tells(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
    found: Found,
    state: str,
    said: str,
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"sandbox": {"level": wanted}}))
    monkeypatch.setattr(bootstrap, "LEVELS", fixed(found))
    finding = examination._sandbox(ConfigFiles(tmp_path), tmp_path)
    assert finding.state == state
    assert said in finding.text
    assert (finding.way_out == "Install it.") is (found is not HOLDS)
    assert bool(finding.fix) is (state != "ok")


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (None, "held by control groups"),
        ("there are none", "Memory is looked at once a second: there are none."),
    ],
)
def test_the_doctor_tells_what_holds_the_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str | None, said: str
) -> None:
    monkeypatch.setattr(cgroup, "probe", lambda: why)
    monkeypatch.setattr(examination, "SYSTEMD", tmp_path)
    finding = examination._limits()
    assert finding.state == "ok"
    assert said in finding.text
    assert ("systemd-run" in finding.way_out) is (why is not None)


def test_programs_in_a_home_are_shown_without_what_lies_beside_them(tmp_path: Path) -> None:
    """An installation is shown whole; a folder that programs share with other things is not."""
    for name in (".nvm/v22/bin/node", ".cargo/bin/cargo", ".local/bin/tool", "agent.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n")
    (tmp_path / ".cargo/credentials.toml").write_text("secret")
    for name in (".nvm/v22/lib/node_modules/codex/bin", ".local/lib", ".local/share"):
        (tmp_path / name).mkdir(parents=True)
    script = tmp_path / ".nvm/v22/lib/node_modules/codex/bin/codex.js"
    script.write_text("")
    (tmp_path / ".nvm/v22/bin/codex").symlink_to(script)
    path = ":".join(str(tmp_path / name) for name in (".nvm/v22/bin", ".cargo/bin", ".local/bin"))
    named = [str(tmp_path / ".nvm/v22/bin/codex"), str(tmp_path / "agent.sh")]
    shown = [p for p in programs(named, {"PATH": path}) if p.is_relative_to(tmp_path)]
    assert [str(p.relative_to(tmp_path)) for p in shown] == [
        ".nvm/v22",
        ".nvm/v22/lib/node_modules",
        "agent.sh",
        ".cargo/bin",
        ".local/bin",
    ]


def test_a_program_is_shown_where_it_is_named_below_a_linked_folder(tmp_path: Path) -> None:
    real, linked = tmp_path / "disk/tools", tmp_path / "tools"
    (real / "node_modules/codex").mkdir(parents=True)
    (real / "node_modules/.bin").mkdir()
    (real / "node_modules/codex/codex.js").write_text("")
    (real / "node_modules/.bin/codex").symlink_to("../codex/codex.js")
    linked.symlink_to(real)
    shown = programs([str(linked / "node_modules/.bin/codex")], {"PATH": ""})
    assert {linked / "node_modules", real / "node_modules"} <= set(shown)


def test_a_link_in_a_granted_folder_leads_where_it_leads_outside(tmp_path: Path) -> None:
    """Without the rights of root, bubblewrap cannot bind over it: `tests/hostile` runs this test as
    a plain user, too."""
    sandboxes.installed()
    folder, target = tmp_path / "venv", tmp_path / "python"
    folder.mkdir()
    target.write_text("found")
    (folder / "python").symlink_to(target)
    cage = Cage(
        argv=("cat", str(folder / "python")),
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        hides=(tmp_path,),
        reads=(folder, folder / "python", target),
    )
    done = subprocess.run(bubblewrap.wrapped(cage), capture_output=True, text=True, check=False)
    assert done.stdout == "found", done.stderr


@pytest.mark.parametrize("kind", ["writes", "reads", "logins"])
def test_what_an_earlier_command_led_elsewhere_is_not_granted(tmp_path: Path, kind: str) -> None:
    sandboxes.installed()
    home, secret = tmp_path / "home", tmp_path / "secret"
    home.mkdir()
    secret.mkdir()
    (secret / "file").touch()
    (home / "codex").symlink_to(secret)
    grants: dict[str, dict[str, Any]] = {
        "writes": {"writes": (home, home / "codex")},
        "reads": {"writes": (home,), "reads": (home / "codex/file",)},
        "logins": {"writes": (home,), "logins": {f"{home}/codex/file": f"{secret}/file"}},
    }
    cage = Cage(argv=("touch", "ran"), cwd=home, env={"PATH": "/usr/bin:/bin"}, **grants[kind])
    done = subprocess.run(bubblewrap.wrapped(cage), capture_output=True, text=True, check=False)
    assert done.returncode == supervision.FAILED
    assert "leads elsewhere" in done.stderr
    assert not (home / "ran").exists()


def test_there_is_a_filter_for_the_processors_it_is_known_for() -> None:
    filters = {machine: seccomp.program(machine) for machine in ("x86_64", "aarch64", "riscv64")}
    assert filters["riscv64"] is None
    for code in (filters["x86_64"], filters["aarch64"]):
        assert code is not None
        assert len(code) % 8 == 0
    assert filters["x86_64"] != filters["aarch64"]


@pytest.mark.parametrize("log", [True, False])
def test_a_sandbox_that_bubblewrap_cannot_make_is_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: bool
) -> None:
    """As trouble of the machine, for which no agent is blamed."""
    failing = tmp_path / "bwrap"
    failing.write_text("#!/bin/sh\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "found", lambda: str(failing))
    folder = tmp_path if log else None
    bounds = Bounds(disk_mb=100)
    cage = Cage(argv=("true",), cwd=tmp_path, writes=(tmp_path,), log=folder, bounds=bounds)
    raw = json.loads(cage.dumped())
    supervised = supervision.Supervision(raw)
    child = os.fork()
    if child == 0:
        launch.become(raw, 0o022, supervised, os.getppid())
    assert supervision.ended(child, supervised) == 1
    assert (tmp_path / supervision.TROUBLE).exists() is log
