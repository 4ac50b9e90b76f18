"""`am purge`: off the machine goes what is ours, after a word; work in repositories stays."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import fake_launchers
from tests.e2e import working
from tests.e2e.am_program import Am, Done, until

SNAPSHOTS = "refs/agents-manager/snapshots"
WORKS = """```agent-script
implement: [[write: {path: door.txt, text: blue}, commit: Paint, outcome: pr_ready]]
```"""


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    return am


def refused(done: Done, says: str) -> None:
    assert done.code in (1, 2), done
    assert says in done.err
    assert "Traceback" not in done.err


def test_nothing_goes_without_a_word(am: Am) -> None:
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        refused(am("purge"), "--yes")
        shown = am.json("purge", "--dry-run")
        assert not shown["removed"]
        assert (am.home / "agents-manager.db").exists()
        (am.home / "letters.txt").write_text("mine")
        completion = Path(am.env["HOME"], ".zfunc/_am")
        completion.parent.mkdir()
        completion.write_text(am.text("completion", "zsh"))
        (completion.parent / "_other").write_text("mine")
        done = am.json("purge", "--yes")
        assert done["strange"] == [str(am.home / "letters.txt")]
        assert [p.name for p in am.home.iterdir()] == ["letters.txt"]
        assert [p.name for p in completion.parent.iterdir()] == ["_other"]
        (am.home / "letters.txt").unlink()
        am.json("purge", "--yes")
        assert not am.home.exists()


def test_workspaces_and_check_copies_of_the_default_home_are_in_no_hidden_folder(am: Am) -> None:
    am.home = Path(am.env["HOME"], ".agents-manager")
    am.env.pop("AM_HOME")
    visible = 'case "$PWD" in */.*) exit 1;; esac'
    with am.quickly():
        tree = _worked(am, "--test", visible, "--yes")
        [run] = am.json("run", "list")
        assert (run["status"], run["outcome"]) == ("completed", "pr_ready")
        assert not any(part.startswith(".") for part in tree.parts)
        assert tree.is_relative_to(Path(am.env["HOME"], "agents-manager-work"))
        am.json("purge", "--yes")
        assert not am.home.exists()
        assert not Path(am.env["HOME"], "agents-manager-work").exists()


@pytest.mark.slow
def test_work_stays_in_the_repository_with_the_commands_that_remove_it(am: Am) -> None:
    with am.quickly():
        tree = _worked(am)
        (tree / "loose.txt").write_text("not in a commit\n")
        done = am.json("purge", "--yes")
        [repository] = done["repositories"]
        assert not am.home.exists()
        assert not tree.exists()
        assert am.git("worktree", "list").count("\n") == 1
        [ref] = am.git("for-each-ref", "--format=%(refname)", "refs/agents-manager").split()
        assert am.git("show", f"{ref}:loose.txt") == "not in a commit\n"
        traces = {t["what"]: t for t in repository["traces"]}
        assert set(traces) == {"branches", "refs", "files beside git's", "settings"}
        assert traces["branches"]["names"][0].startswith("agent/")
        _by_hand(am, [t["remove"] for t in repository["traces"]])
        assert am.git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
        assert not (am.repo / ".agents-manager").exists()
        assert list((am.repo / ".git").glob("agents-manager*")) == []


def _by_hand(am: Am, commands: Sequence[str]) -> None:
    for command in commands:
        subprocess.run(["sh", "-ec", command], env=am.env, check=True, stdout=subprocess.DEVNULL)


def _worked(am: Am, *options: str) -> Path:
    """Create a task that waits for a review, and return its workspace."""
    am.text("init", "--agent", "scripted", "--register", *options)
    am("project", "trust", "repo", "--yes")
    made = am.json("task", "create", "Door", "--description", WORKS, "--pipeline", "simple")
    task: str = made["task"]["id"]
    am.json("task", "start", task)
    with am.serving("worker"):
        am.open_prompt(task)
        refused(am("purge", "--yes"), "add --stop")
    [run] = am.json("run", "list", "--task", task)
    return Path(run["workspace"])


@pytest.mark.slow
def test_refs_go_once_snapshots_are_given_up(am: Am) -> None:
    with am.quickly():
        (_worked(am) / "loose.txt").write_text("not in a commit\n")
        refused(am("purge", "--yes", "--repositories"), "--without-snapshots")
        assert (am.home / "agents-manager.db").exists()
        [ref] = am.git("for-each-ref", "--format=%(refname)", SNAPSHOTS).split()
        assert am.git("show", f"{ref}:loose.txt") == "not in a commit\n"
        done = am.json("purge", "--yes", "--repositories", "--without-snapshots")
        assert "refs" not in {t["what"] for t in done["repositories"][0]["traces"]}
        assert am.git("for-each-ref", "refs/agents-manager") == ""
        assert am.git("branch", "--list", "agent/*")


@pytest.mark.slow
def test_work_that_cannot_be_saved_is_given_up_by_a_word_alone(am: Am) -> None:
    with am.quickly():
        tree = _worked(am)
        am.repo.rename(am.repo.with_name("elsewhere"))
        am.repo.mkdir()
        refused(am("purge", "--yes"), "cannot be saved")
        assert tree.exists()
        am.json("purge", "--yes", "--without-snapshots")
        assert not am.home.exists()


@pytest.mark.slow
def test_a_server_and_its_agents_are_ended_if_told(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.env |= fake_launchers.install(tmp_path / "launchers", tmp_path / "bin")
    working.prepare(am)
    with am.quickly():
        working.begin(am)
        made = am("service", "install", "--worker", "--yes", "--json")
        assert made.code == 0, made
        unit = Path(json.loads(made.out)["path"])
        until(lambda: working.printed(am) > 0)
        refused(am("purge", "--yes"), "A server works on")
        done = am.json("purge", "--yes", "--stop")
    assert str(unit) in done["files"]
    assert not unit.exists()
    assert not am.home.exists()
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(am.home) not in told.stdout
