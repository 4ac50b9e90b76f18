"""What the adapter hands to the runner."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager import built_in
from agents_manager.agents.catalog import AgentCatalog
from agents_manager.agents.claude_code import ACCOUNTS
from agents_manager.errors import AgentNotInstalled
from agents_manager.flow.ports import Agent, Turn
from tests.turns import turn


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "AWS_PROFILE", *ACCOUNTS):
        monkeypatch.delenv(name, raising=False)


def agent() -> Agent:
    return AgentCatalog(built_in.adapters(), lambda _project: {}).get(
        "claude-code", turn(Path("/nowhere")).project
    )


def told(taken: Turn) -> dict[str, Any]:
    return json.loads(agent().job(taken).files["claude.json"])


def test_a_login_of_the_user_is_left_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "CLAUDE_CONFIG_DIR" not in agent().job(turn(tmp_path)).env
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/somewhere")
    assert agent().job(turn(tmp_path)).env["CLAUDE_CONFIG_DIR"] == "/somewhere"


def test_with_an_account_of_its_own_it_keeps_to_the_home_of_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/somewhere")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("AWS_PROFILE", "work")
    job = agent().job(turn(tmp_path))
    assert job.env["CLAUDE_CONFIG_DIR"] == str(tmp_path / "home")
    assert job.folders == (tmp_path / "home",)
    assert (job.env["ANTHROPIC_API_KEY"], job.env.get("AWS_PROFILE")) == ("key", None)
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    assert agent().job(turn(tmp_path)).env["AWS_PROFILE"] == "work"


def test_modes_that_read_have_no_tools_that_write(tmp_path: Path) -> None:
    works = told(turn(tmp_path, mode="implement"))
    assert set(works["tools"]) == set(works["allowed"]) >= {"Write", "Edit", "Bash", "Read"}
    for mode in ("plan", "review", "design"):
        reads = told(turn(tmp_path, mode=mode))
        assert not {"Write", "Edit", "NotebookEdit"} & set(reads["tools"])
        assert "Bash" not in reads["allowed"]
    looks = told(turn(tmp_path, mode="investigate"))
    assert "Bash" in looks["allowed"]
    assert "Write" not in looks["tools"]


def test_the_outcomes_that_are_possible_are_asked_for_in_a_form(tmp_path: Path) -> None:
    asked = told(turn(tmp_path, offered=("pr_ready", "needs_info")))
    assert asked["schema"]["properties"]["outcome"]["enum"] == ["pr_ready", "needs_info"]
    assert "by the tool StructuredOutput" in agent().how_to_end
    assert told(turn(tmp_path))["schema"] is None


@pytest.mark.parametrize("offered", [(), ("pr_ready",)])
def test_it_is_sent_the_prompt_and_nothing_more(tmp_path: Path, offered: Sequence[str]) -> None:
    asked = told(turn(tmp_path, offered=offered, fresh_prompt="All of it."))
    assert (asked["prompt"], asked["fresh_prompt"]) == ("Do it.", "All of it.")


def test_without_the_sdk_the_way_to_get_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(AgentNotInstalled, match=r'pip install "agents-manager\[claude\]"'):
        agent().job(turn(tmp_path))
