"""Completion: what a shell is offered, quickly, and without a word when there is nothing."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents_manager.cli.main import am as root
from agents_manager.store import glimpse
from agents_manager.store.database import open_database
from tests.contract.store_values import furnish
from tests.e2e.am_program import Am
from tests.e2e.test_cli_output import leaves

IDENTIFIERS = {
    *("task", "run", "prompt", "project", "pipeline", "depends_on", "status"),
    *("node", "blocker"),
}


def offered(am: Am, *words: str, env: Mapping[str, str] | None = None) -> list[str]:
    """As bash asks: all words, and the number of the one at the cursor."""
    asks = {
        "_AM_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["am", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = am(env={**asks, **(env or {})})
    assert (done.code, done.err) == (0, "")
    return [line.partition(",")[2] for line in done.out.split()]


def test_commands_and_identifiers_are_offered(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop@home")
    with am.quickly():
        ids = [am.json("task", "create", title)["task"]["id"] for title in ("One", "Two")]
        _complete(am, ids)


def _complete(am: Am, ids: list[str]) -> None:
    assert offered(am, "ta") == ["task"]
    assert offered(am, "task", "exp") == ["export"]
    assert offered(am, "task", "show", "") == [id[:8] for id in reversed(ids)]
    assert offered(am, "task", "show", ids[0][:5]) == [ids[0][:8]]
    assert offered(am, "task", "show", ids[0][:9]) == [ids[0]]
    assert "pr_review" in offered(am, "task", "move", ids[0], "pr")
    assert offered(am, "project", "show", "") == ["shop@home"]
    assert offered(am, "pipeline", "show", "fe") == ["feature"]
    assert offered(am, "prompt", "show", "") == []
    assert offered(am, "task", "edit", ids[0], "--pri") == ["--priority"]


def test_nothing_is_offered_and_nothing_made_without_a_database(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.repo.mkdir()
    assert offered(am, "task", "show", "") == []
    assert not am.home.exists()
    am.home.mkdir()
    (am.home / "agents-manager.db").write_text("This is no database.")
    assert offered(am, "task", "show", "") == []
    env = {"AM_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    assert offered(am, "run", "show", "", env=env) == []


def test_names_are_read_from_both_databases(ready_address: str) -> None:
    store = open_database(ready_address)
    asyncio.run(store.write(furnish))
    store.close()
    place = ready_address if "://" in ready_address else Path(ready_address)
    assert [tuple(row) for row in glimpse.rows(place, glimpse.TASKS)] == [("task-1", "Add a flag")]
    for query in (
        "PROMPTS",
        "RUNS",
        "PROJECTS",
        "PIPELINES",
        "DOCUMENTS",
        "NODES",
        "TAGS",
        "HOSTS",
        "BLOCKERS",
    ):
        glimpse.rows(place, getattr(glimpse, query))


def test_completing_imports_nothing_heavy(tmp_path: Path) -> None:
    look = (
        "import sys; from agents_manager.cli import completing;"
        "completing.tasks(None, None, ''); heavy = {'pydantic', 'sqlalchemy', 'rich', 'structlog'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    home = {"AM_HOME": str(tmp_path), "HOME": str(tmp_path)}
    open_database(tmp_path / "agents-manager.db").close()
    done = subprocess.run(
        [sys.executable, "-c", look], env=home, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(tmp_path: Path, shell: str) -> None:
    am = Am(tmp_path)
    am.repo.mkdir()
    script = am.text("completion", shell)
    assert f"_AM_COMPLETE={shell}_complete" in script
    assert am.json("completion", shell)["script"].rstrip() == script.rstrip()
    assert am("completion", "tcsh").code == 2


def test_every_identifier_of_every_command_is_completed() -> None:
    missing = [
        f"am {name}: {parameter.name}"
        for name, command in leaves(root).items()
        for parameter in command.params
        if parameter.name in IDENTIFIERS
        and getattr(parameter, "_custom_shell_complete", None) is None
    ]
    assert missing == [], "take them from cli/arguments.py, or give shell_complete"
