"""`am init`: asks at a terminal, never elsewhere; runs what it proposes before it saves; done again
it changes nothing."""

import json
import os
import signal
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agents_manager.checks.trial import WITHOUT_PROXY
from tests import sandboxes
from tests.e2e.am_program import PATIENCE_S, PROGRAM, Am, until
from tests.e2e.test_cli_output import at_terminal
from tests.plain_user import run_tests

MAKEFILE = "test:\n\ttest -f README.md && touch done\nlint:\n\techo Bad style; exit 4\n"
TEST = {"test": {"command": "make test"}}
SLEEPER = "sleep 613"


@pytest.fixture
def am(tmp_path: Path) -> Am:
    """With the sandbox that this machine has, as set-up and checks run by default."""
    am = Am(tmp_path)
    am.make_repo()
    settings = am.home / "config.json"
    said = json.loads(settings.read_text())
    del said["sandbox"]
    settings.write_text(json.dumps(said))
    return am


def commit(am: Am, **files: str) -> None:
    for name, text in files.items():
        (am.repo / name).write_text(text)
    am.git("add", "-A")
    am.git("-c", "user.name=Ada", "-c", "user.email=ada@x", "commit", "-q", "-m", "More")


def config(am: Am) -> dict[str, Any]:
    return json.loads((am.repo / ".agents-manager/config.json").read_text())


def test_without_a_terminal_options_say_everything(am: Am) -> None:
    with am.quickly():
        commit(am, Makefile=MAKEFILE)
        made = am.json("init")
        assert (made["project"], made["next"][-1]) == (None, f"am project add {am.repo}")
        assert config(am)["checks"] == {}
        assert {check["status"] for check in made["checks"]} == {"not_tried"}
        assert set(made["left_out"]) == {"test", "lint"}
        assert "defaultAgentType" not in config(am)
        assert am.json("project", "list") == []
        given = ("--agent", "scripted", "--test", "make fast")
        other = am("init", *given)
        assert other.code == 1
        assert "am config set defaultAgentType scripted" in other.err

        (am.repo / ".agents-manager/config.json").unlink()
        given = (*given, "--register", "--base-branch", "main", "--name", "shop")
        for again in (False, True):
            done = am.json("init", *given)
            assert len(done["made"]) == (0 if again else 1)
            assert (done["project"], done["base_branch"]) == ("shop", "main")
            assert done["next"][-2:] == [
                "am serve",
                'am task create "Say hello in the README" --pipeline simple --start',
            ]
        assert config(am)["defaultAgentType"] == "scripted"
        assert config(am)["checks"] == {"test": {"command": "make fast"}}
        assert [p["name"] for p in am.json("project", "list")] == ["shop"]
        assert "was left alone" in am.text("init")


def test_yes_saves_only_what_passes_on_the_base_commit(am: Am) -> None:
    commit(am, Makefile=MAKEFILE)
    (am.repo / "Makefile").write_text("test:\n\tfalse\n")  # Not committed, so that it is not tried.
    done = am("init", "--yes", "--json")
    assert done.code == 3, done.err
    made = json.loads(done.out)
    ended = {check["name"]: (check["status"], check["saved"]) for check in made["checks"]}
    assert ended == {"test": ("passed", True), "lint": ("failed", False)}
    assert list(made["left_out"]) == ["lint"]
    assert "Bad style" in next(c["output"] for c in made["checks"] if c["name"] == "lint")
    assert config(am)["checks"] == TEST
    assert (made["project"], made["base_branch"]) == ("repo", "main")
    assert config(am)["defaultAgentType"] == "claude-code"
    [entry] = [e for e in am.json("audit") if e["what"] == "project.added"]
    assert entry["who"] == "ada"
    assert not (am.repo / "done").exists()


def test_a_configuration_without_checks_gets_them_when_they_pass(am: Am) -> None:
    commit(am, Makefile="test:\n\tfalse\n")
    done = am("init", "--yes")
    assert done.code == 3, done.err
    assert 'When the cause is fixed, run "am init --yes" again.' in done.out
    am("config", "set", "branchPrefix", "robots/", "--yes")
    commit(am, Makefile="test:\n\ttest -f README.md\n")
    again = am.json("init", "--yes")
    assert again["made"] == [str(am.repo / ".agents-manager/config.json")]
    assert "am project trust repo" in again["next"]
    assert (config(am)["checks"], config(am)["branchPrefix"]) == (TEST, "robots/")
    assert "was left alone" in am.text("init", "--yes")


def test_without_a_terminal_it_shows_what_it_recognises_and_runs_nothing(am: Am) -> None:
    placeholder = json.dumps({"scripts": {"test": 'echo "no test specified" && exit 1'}})
    commit(am, **{"package.json": placeholder})
    said = am("init").err
    assert "is only a placeholder" in said
    assert "No tests were recognised." in said
    (am.repo / ".agents-manager/config.json").unlink()
    commit(am, Makefile="test:\n\ttouch done\n")
    said = am("init").err
    assert "make test   Makefile:1" in said
    assert "No tests were recognised." not in said
    assert not (am.repo / "done").exists()


@pytest.mark.slow
def test_an_agent_that_nobody_knows_is_refused_before_anything_is_written(am: Am) -> None:
    done = am("init", "--agent", "scriptd")
    assert done.code == 1
    assert 'Did you mean "scripted"?' in done.err
    assert not (am.repo / ".agents-manager").exists()


@pytest.mark.slow
def test_at_a_terminal_it_asks(am: Am) -> None:
    commit(am, Makefile=MAKEFILE)
    am.git("switch", "-q", "-c", "topic")
    said = at_terminal(am, "init", typed="nobody\nscripted\n\n1\n1\ny\n")
    assert "Which agent works at its tasks?" in said
    assert 'There is no option "nobody"' in said
    assert "Which branch is work merged to? [main]" in said
    assert "make (Makefile)" in said
    assert "Makefile:1 (test -f README.md" in said
    assert "lint         failed: exit code 2" in said
    assert "| Bad style" in said
    assert "Left out: lint (exit code 2)" in said
    assert 'Registered as "repo"; work is merged to main.' in said
    assert config(am)["defaultAgentType"] == "scripted"
    assert config(am)["checks"] == TEST
    again = at_terminal(am, "init")
    assert "was left alone" in again
    assert "?" not in again


@pytest.mark.slow
def test_proposals_are_edited_until_they_pass(am: Am) -> None:
    commit(am, Makefile=MAKEFILE)
    # Run; edit: no set-up, test as it is, lint another, one further check; then all of them pass.
    edits = "edit\n\n\nmake -n lint\nreadme\ntest -f README.md\n\n"
    at_terminal(am, "init", "--agent", "scripted", typed=f"1\n{edits}n\n")
    assert config(am)["checks"] == {
        **TEST,
        "lint": {"command": "make -n lint"},
        "readme": {"command": "test -f README.md"},
    }
    assert am.json("project", "list") == []


@pytest.mark.slow
def test_stopping_after_a_failure_saves_nothing(am: Am) -> None:
    commit(am, Makefile=MAKEFILE)
    said = at_terminal(am, "init", "--agent", "scripted", typed="1\nstop\n", code=130)
    assert "Nothing was saved." in said
    assert not (am.repo / ".agents-manager").exists()


@pytest.mark.slow
def test_command_is_asked_for_where_nothing_is_recognised_and_is_run_too(am: Am) -> None:
    said = at_terminal(am, "init", "--agent", "scripted", typed="test -f README.md\ny\n")
    assert '("none" for none) [none]' in said
    assert "test         passed" in said
    assert config(am)["checks"] == {"test": {"command": "test -f README.md"}}


@pytest.mark.slow
def test_program_that_is_missing_is_named_and_nothing_is_run(am: Am) -> None:
    commit(am, **{"build.gradle": ""})
    done = am("init", "--yes", "--json")
    made = json.loads(done.out)
    [check] = made["checks"]
    assert (done.code, check["status"], check["saved"]) == (3, "not_tried", False)
    assert "gradle is missing. Install Gradle" in check["how"]
    assert config(am)["checks"] == {}


@pytest.mark.slow
def test_checks_find_the_ignored_files_that_tasks_get(am: Am) -> None:
    ignored = {".gitignore": ".env\n", ".env": "KEY=1\n"}
    commit(am, Makefile="test:\n\tgrep KEY .env\n", **ignored)
    assert am("init", "--yes", "--json").code == 3
    (am.repo / ".agents-manager/config.json").unlink()
    commit(am, **{".worktreeinclude": ".env\n"})
    am.json("init", "--yes")
    assert config(am)["checks"] == TEST


@pytest.mark.slow
def test_proposals_are_saved_untried_if_told_to(am: Am) -> None:
    commit(am, Makefile=MAKEFILE)
    made = am.json("init", "--yes", "--no-try")
    assert {check["status"] for check in made["checks"]} == {"not_tried"}
    assert set(config(am)["checks"]) == {"test", "lint"}


@pytest.mark.slow
def test_interrupted_while_checks_run_it_leaves_nothing(am: Am) -> None:
    commit(am, Makefile=f"test:\n\t{SLEEPER} & {SLEEPER}\n")
    command = [PROGRAM, "init", "--yes"]
    with subprocess.Popen(
        command, cwd=am.repo, env=am.env, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        until(_sleepers)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert not (am.repo / ".agents-manager").exists()
    assert not list((am.home / "checks").glob("check-*"))
    end = time.monotonic() + 10
    while _sleepers() and time.monotonic() < end:
        time.sleep(0.1)
    assert not _sleepers()
    assert am.json("project", "list") == []


def _sleepers() -> list[str]:
    """Returns the processes of this test."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [folder.name] if words[:2] == SLEEPER.encode().split() else []
    return found


@pytest.mark.slow
def test_check_that_fails_because_of_the_proxy_is_tried_without_it(am: Am) -> None:
    sandboxes.installed()
    commit(am, Makefile='test:\n\t@echo "$$http_proxy"; test -z "$$http_proxy$$no_proxy"\n')
    made = am.json("init", "--yes")
    command = f"{WITHOUT_PROXY}make test"
    assert config(am)["checks"] == {"test": {"command": command}}
    [check] = made["checks"]
    assert (check["command"], check["status"], check["saved"]) == (command, "passed", True)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="these tests themselves run as a plain user")
def test_proposals_are_run_for_a_plain_user_too() -> None:
    done = run_tests(__file__, "-k", "yes_saves or python_project")
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.slow
def test_python_project_with_a_dependency_passes_with_what_is_saved(am: Am) -> None:
    """In an environment of its own, although the product's is first on PATH."""
    am.env["PATH"] = f"{PROGRAM.parent}{os.pathsep}{am.env['PATH']}"
    am.env["VIRTUAL_ENV"] = str(PROGRAM.parent.parent)
    _wheel(am.repo / "greeter-1.0-py3-none-any.whl")
    (am.repo / "tests").mkdir()
    (am.repo / ".gitignore").write_text(".venv\n__pycache__\n")
    commit(
        am,
        **{
            "requirements.txt": "./greeter-1.0-py3-none-any.whl\n",
            "tests/test_greeting.py": (
                "import importlib.util, sys, unittest\nimport greeter\n\n\n"
                "class Greeting(unittest.TestCase):\n"
                "    def test_it(self):\n"
                "        self.assertEqual(greeter.greeting(), 'Hello')\n"
                "        self.assertIsNone(importlib.util.find_spec('agents_manager'))\n"
                "        self.assertTrue(sys.prefix.endswith('.venv'), sys.prefix)\n"
            ),
        },
    )
    done = am("init", "--yes", "--json")
    assert done.code == 0, done.err
    made = json.loads(done.out)
    assert [(check["name"], check["status"]) for check in made["checks"]] == [
        ("set-up", "passed"),
        ("test", "passed"),
    ]
    saved = config(am)
    assert saved["setup"] == [
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install -r requirements.txt",
    ]
    assert saved["setupInputs"] == ["requirements.txt"]
    assert saved["checks"] == {
        "test": {"command": ".venv/bin/python -m unittest discover -s tests"}
    }
    assert am.git("status", "--porcelain") == "?? .agents-manager/\n"


def _wheel(path: Path) -> None:
    info = "greeter-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("greeter.py", "def greeting():\n    return 'Hello'\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
