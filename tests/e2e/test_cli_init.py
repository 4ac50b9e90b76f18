"""`am init`: asks at a terminal, never elsewhere; done again it changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import Am
from tests.e2e.test_cli_output import at_terminal


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    (am.repo / "pyproject.toml").touch()
    return am


def config(am: Am) -> dict[str, Any]:
    return json.loads((am.repo / ".agents-manager/config.json").read_text())


def test_without_a_terminal_options_say_everything(am: Am) -> None:
    with am.quickly():
        made = am.json("init")
        assert (made["project"], made["next"][-1]) == (None, f"am project add {am.repo}")
        assert config(am)["checks"] == {"test": {"command": "python -m pytest"}}
        assert "defaultAgentType" not in config(am)
        assert am.json("project", "list") == []
        given = ("--agent", "scripted", "--test", "make test")
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
        assert config(am)["checks"] == {"test": {"command": "make test"}}
        assert [p["name"] for p in am.json("project", "list")] == ["shop"]
        assert "was left alone" in am.text("init")


@pytest.mark.slow
def test_an_agent_that_nobody_knows_is_refused_before_anything_is_written(am: Am) -> None:
    done = am("init", "--agent", "scriptd")
    assert done.code == 1
    assert 'Did you mean "scripted"?' in done.err
    assert not (am.repo / ".agents-manager").exists()


@pytest.mark.slow
def test_at_a_terminal_it_asks(am: Am) -> None:
    am.git("switch", "-q", "-c", "topic")
    said = at_terminal(am, "init", typed="nobody\nscripted\n\ny\n\n")
    assert "Which agent works at its tasks?" in said
    assert 'There is no option "nobody"' in said
    assert "[python -m pytest]" in said
    assert "Which branch is work merged to? [main]" in said
    assert 'Registered as "repo"; work is merged to main.' in said
    assert config(am)["defaultAgentType"] == "scripted"
    again = at_terminal(am, "init")
    assert "was left alone" in again
    assert "?" not in again


@pytest.mark.slow
def test_yes_takes_what_would_be_offered(am: Am) -> None:
    made = am.json("init", "--yes")
    assert (made["project"], made["base_branch"]) == ("repo", "main")
    assert config(am)["defaultAgentType"] == "claude-code"
    assert "am agent doctor claude-code" in made["next"]
    [entry] = [e for e in am.json("audit") if e["what"] == "project.added"]
    assert entry["who"] == "ada"
