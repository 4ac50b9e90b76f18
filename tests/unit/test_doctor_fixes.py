"""Whatever the doctor finds amiss comes with a command, and the command is one that exists."""

import ast
import shlex
import sys
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import click
import pytest

from agents_manager.cli import examination, findings, fixes
from agents_manager.cli.main import am

CLI = Path(examination.__file__).parent
PROGRAMS = {
    *("brew", "chmod", "git", "mv", "pg_isready", "sudo", "uv", "xcode-select", "${EDITOR:-vi}"),
    *("export", sys.executable),
}
"""That commands other than ours begin with."""
FUNCTIONS = [
    fixes.install("git"),
    fixes.upgrade(),
    fixes.uninstall("am-house-rules"),
    fixes.edit("/a b/config.json"),
    fixes.clock(),
]


def test_nothing_amiss_is_told_without_a_command() -> None:
    """A finding is made in one place, where a command must be given with what is not in order."""
    for made in (findings.warn, findings.fail):
        fix = signature(made).parameters["fix"]
        assert fix.default is Parameter.empty
        assert made("x", "y", "z").fix == ("z",)
    for file in CLI.rglob("*.py"):
        calls = [n.func for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call)]
        made = [f for f in calls if isinstance(f, ast.Name) and f.id == "Finding"]
        assert (len(made) > 0) == (file.name == "findings.py"), file


def test_the_commands_of_ours_exist() -> None:
    told = {text for name in ("examination.py", "fixes.py") for text in said(CLI / name)}
    assert len(told) > 10
    for text in sorted(told):
        known(text)


def said(file: Path) -> Iterator[str]:
    """The commands in a file, with a word in the place of each value."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    whole = [n.values for n in nodes if isinstance(n, ast.JoinedStr)]
    parts = {id(part) for values in whole for part in values}
    whole += [[n] for n in nodes if isinstance(n, ast.Constant) and id(n) not in parts]
    for values in whole:
        text = "".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in values)
        if text.startswith("am "):
            yield text


def known(text: str) -> None:
    words = shlex.split(text)[1:]
    command: click.Command = am
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None, text
        command = found
    given, _, _ = command.make_parser(click.Context(command)).parse_args(words)
    assert all(given.get(p.name or "") for p in command.params if p.required), text


@pytest.mark.parametrize("command", FUNCTIONS)
def test_others_are_what_one_types(command: str) -> None:
    assert shlex.split(command)[0] in PROGRAMS


@pytest.mark.parametrize("wanted", ["auto", "S3", "none"])
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("closed", [True, False])
def test_a_sandbox_has_always_a_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wanted: str, there: bool, closed: bool
) -> None:
    if closed:
        (tmp_path / "user").mkdir()
        (tmp_path / "user/max_user_namespaces").write_text("0\n")
    monkeypatch.setattr(fixes, "SYSCTL", tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    told = fixes.sandbox(wanted=wanted, there=there)
    assert told
    if wanted != "none":
        assert ("sudo sysctl -w user.max_user_namespaces=10000" in told) is closed
        assert (fixes.install("bubblewrap") in told) is not there


@pytest.mark.parametrize("kind", ["ours", "file"])
def test_a_data_directory_has_a_way(tmp_path: Path, kind: str) -> None:
    home = tmp_path / "a home"
    home.touch() if kind == "file" else home.mkdir()
    first, other = fixes.own(home)
    assert shlex.split(first)[0] == ("mv" if kind == "file" else "chmod")
    assert other == "export AM_HOME=FOLDER"


def test_it_is_brought_up_to_date_as_it_was_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "-m pip install --upgrade agents-manager" in fixes.upgrade()
    monkeypatch.setattr(sys, "prefix", "/home/ada/.local/share/uv/tools/agents-manager")
    assert fixes.upgrade() == "uv tool upgrade agents-manager"
    assert fixes.uninstall("x").startswith("uv pip uninstall --python ")


def test_packages_come_as_this_machine_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def only(program: str) -> Any:
        return lambda name: name if name == program else None

    for program, first in (("dnf", "sudo"), ("brew", "brew"), ("none", "sudo")):
        monkeypatch.setattr(fixes.shutil, "which", only(program))
        assert shlex.split(fixes.install("git"))[0] == first
