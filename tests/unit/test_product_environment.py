"""Agents, set-up and checks find the repository's and the machine's tools, not the product's."""

import os
import sys
from pathlib import Path

import pytest

from agents_manager.agents import login_shell
from agents_manager.environment import Settings, without_product
from tests.unit.test_command_agent import job

BIN = Path(sys.prefix) / "bin"
SOURCE = Path(__file__).parents[2] / "src"


def test_folders_of_the_product_are_removed_from_paths(tmp_path: Path) -> None:
    link = tmp_path / "linked"
    link.symlink_to(BIN)
    cleaned = without_product(
        {
            "PATH": f"{BIN}:{link}:{BIN}/:/usr/bin:{tmp_path}",
            "PYTHONPATH": f"{SOURCE}:{tmp_path}",
            "VIRTUAL_ENV": sys.prefix,
            "PYTHONHOME": sys.prefix,
            "OTHER": sys.prefix,
        }
    )
    assert cleaned == {
        "PATH": f"/usr/bin:{tmp_path}",
        "PYTHONPATH": str(tmp_path),
        "OTHER": sys.prefix,
    }


def test_path_is_never_left_empty_and_empty_pythonpath_is_dropped() -> None:
    assert without_product({"PATH": str(BIN), "PYTHONPATH": str(SOURCE)}) == {"PATH": os.defpath}


def test_variables_of_other_environments_stay(tmp_path: Path) -> None:
    other = {
        "PATH": f"{tmp_path}/bin:/usr/bin",
        "VIRTUAL_ENV": str(tmp_path),
        "PYTHONPATH": f"{tmp_path}:",
    }
    assert without_product(other) == other
    assert without_product({}) == {}


def test_agent_does_not_get_the_products_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{BIN}:{os.environ['PATH']}"
    monkeypatch.setattr(login_shell, "path", lambda: path)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    made = job(tmp_path, "am", env=["VIRTUAL_ENV"])
    assert made.argv[0] == str(BIN / "am")
    assert str(BIN) not in made.env["PATH"].split(":")
    assert "VIRTUAL_ENV" not in made.env


@pytest.mark.parametrize(
    ("home", "folder"),
    [
        ("/home/ada/.agents-manager", "/home/ada/agents-manager-work"),
        ("/home/ada/.agents-manager/demo", "/home/ada/agents-manager-work/demo"),
        ("/home/ada/.local/share/am", "/home/ada/local-work/share/am"),
        ("/srv/.data/.am", "/srv/data-work/_am"),
        ("/var/lib/agents-manager", "/var/lib/agents-manager"),
    ],
)
def test_no_part_of_the_working_folder_is_hidden(home: str, folder: str) -> None:
    assert Settings(Path(home), None).working_folder == Path(folder)
