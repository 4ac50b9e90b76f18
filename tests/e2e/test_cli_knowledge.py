"""`am knowledge`: what is known at a terminal, and on its way into files and out of them."""

import asyncio
import json
from pathlib import Path

import pytest

from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.knowledge import NodeKind
from agents_manager.flow.ports import Tx
from agents_manager.store.database import open_database
from tests.contract.store_values import a_blocker, a_file_note, a_node, a_source
from tests.e2e.am_program import Am
from tests.e2e.test_cli_completion import offered

GOTCHA = "The limit is 100/min \x1b[2J, not 1000"


def furnish(am: Am) -> list[str]:
    """Two tasks, and what they found out."""
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    ids = [am.json("task", "create", title)["task"]["id"] for title in ("Add login", "Add pay")]
    login, pay = map(TaskId, ids)

    def write(tx: Tx) -> None:
        of: ProjectId = tx.tasks.get(login).project_id
        mine, theirs = (a_source(login),), (a_source(pay, words="Said otherwise"),)
        gotcha = {"kind": NodeKind.GOTCHA, "severity": Level.HIGH, "text": GOTCHA}
        tx.knowledge.add(a_node("aaaa1111", project_id=of, sources=(*mine, *theirs)))
        tx.knowledge.add(
            a_node("bbbb2222", project_id=of, sources=theirs, tags=("payments",), **gotcha)
        )
        tx.knowledge.add_file(a_file_note("note-1", "src/auth/jwt.ts", project_id=of, task_id=pay))
        held = {"project_id": of, "blocking_tasks": (pay,)}
        tx.knowledge.add_blocker(a_blocker("cccc3333", login, **held))

    store = open_database(am.home / "agents-manager.db")
    asyncio.run(store.write(write))
    store.close()
    return ids


def test_what_is_known_is_found_and_read(tmp_path: Path) -> None:
    am = Am(tmp_path)
    with am.quickly():
        login, pay = furnish(am)
        told = am.text("knowledge", "search", "--kind", "pattern", "--tag", "auth", "--tasks")
        rows = [line.split()[0] for line in told.splitlines()[1:]]
        assert rows == [login[:8], pay[:8]]
        assert [t["task"]["id"] for t in am.json(*SEARCH, "--tasks")] == [login, pay]
        assert "limit is 100/min \\x1b[2J" in am.text("knowledge", "search", "limit")
        assert am.text("knowledge", "search", "--tag", "auht") == (
            'Nothing is known that fits. Nothing is tagged "auht". Did you mean "auth"?\n'
        )
        page = am.text("knowledge", "show", "aaaa")
        assert '"Said otherwise"' in page
        assert f'{login[:8]} "Add login"' in page
        assert "src/auth/jwt.ts" in am.text("knowledge", "map", "src/auth/")
        assert am.json("knowledge", "map", "docs") == []
        assert f'Holds up  {pay[:8]} "Add pay"' in am.text("knowledge", "blockers")
        assert "cccc3333  No key for the payment service" in am.text("task", "show", pay)
        assert am.json("knowledge", "why", pay)["task"]["id"] == pay
        _refused(am)
        _offered(am)


SEARCH = ("knowledge", "search", "--kind", "pattern", "--tag", "auth")


def _refused(am: Am) -> None:
    wrong = am("knowledge", "search", "--kind", "patern")
    assert (wrong.code, wrong.out) == (2, "")
    nobody = am("knowledge", "show", "dddd")
    assert (nobody.code, nobody.err) == (1, 'Error: There is no such node: "dddd".\n')
    assert am("knowledge", "edit", "aaaa").code == 2
    assert am("knowledge", "edit", "aaaa", "--set", "nothing").code == 2
    assert am("knowledge", "retire", "aaaa").code == 2


def _offered(am: Am) -> None:
    assert offered(am, "knowledge", "show", "aa") == ["aaaa1111"]
    assert offered(am, "knowledge", "search", "--tag", "pay") == ["payments"]
    assert offered(am, "knowledge", "resolve", "") == ["cccc3333"]


@pytest.mark.slow
def test_out_into_files_and_in_again(tmp_path: Path) -> None:
    am = Am(tmp_path)
    with am.quickly():
        furnish(am)
        am.text("knowledge", "export", "kept.json")
        kept = json.loads((am.repo / "kept.json").read_text())
        assert kept["nodes"] == json.loads(am.text("knowledge", "export"))["nodes"]
        again = am("knowledge", "export", "kept.json")
        assert (again.code, again.err) == (
            1,
            "Error: kept.json is there already; name another file.\n",
        )
        am.git("clone", "-q", ".", "../other")
        am.json("project", "add", "../other")
        into = ("knowledge", "import", "kept.json", "--project", "other")
        assert am.text(*into) == "Added 2 findings to other.\n"
        assert am.text(*into) == "Added 0 findings to other; 2 already there.\n"
        (am.repo / "bad.json").write_text(json.dumps({**kept, "nodes": [{"id": "x"}]}))
        bad = am("knowledge", "import", "bad.json")
        assert bad.code == 1
        assert "Nothing was imported." in bad.err
        assert "nodes.0.id" in bad.err
        (am.repo / "latin").write_bytes(b"{\n\xe4}")
        assert "not UTF-8 text (line 2" in am("knowledge", "import", "latin").err
        _section(am)


def _section(am: Am) -> None:
    section = am.text("knowledge", "export", "--format", "agents-md")
    file = am.repo / "AGENTS.md"
    assert not file.exists()
    file.write_text("# Rules\n")
    file.chmod(0o640)
    write = ("knowledge", "export", "--format", "agents-md", "AGENTS.md")
    am.text(*write)
    assert file.read_text() == f"# Rules\n\n{section}"
    assert file.stat().st_mode & 0o777 == 0o640
    assert am.text(*write) == "AGENTS.md says the same already.\n"
    file.write_text("# Rules\n<!-- agents-manager:knowledge -->\nmine\n")
    broken = am(*write)
    assert broken.code == 1
    assert broken.err.startswith("Error: AGENTS.md is left as it is. The marks of the section")
    assert file.read_text().endswith("mine\n")
    file.unlink()
    (am.repo / "README.md").write_text("# Shop\n")
    file.symlink_to("README.md")
    link = am(*write)
    assert (link.code, link.err) == (
        1,
        "Error: AGENTS.md is a symbolic link; name the file itself.\n",
    )
    assert (am.repo / "README.md").read_text() == "# Shop\n"
    assert sorted(path.name for path in am.repo.glob(".AGENTS*")) == []
