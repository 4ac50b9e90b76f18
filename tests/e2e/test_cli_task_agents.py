"""The agent of a task is chosen, shown, changed and cleared on the command line."""

from pathlib import Path

import pytest

from tests.e2e.am_program import Am

pytestmark = pytest.mark.slow


def test_an_agent_is_chosen_changed_and_cleared(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    with am.quickly():
        made = am.json("task", "create", "Search", "--agent", "codex", "--model", "gpt-5.5")
        one: str = made["task"]["id"]
        assert (made["task"]["agent"], made["task"]["model"]) == ("codex", "gpt-5.5")
        assert "Agent   codex, model gpt-5.5" in am.text("task", "show", one)
        exported = am.text("task", "export", one, "--format", "md")
        assert "- Agent: codex\n- Model: gpt-5.5\n" in exported
        am.text("task", "edit", one, "--agent", "claude-code")
        assert "Agent   claude-code\n" in am.text("task", "show", one)
        am.text("task", "edit", one, "--clear", "agent")
        assert am.json("task", "show", one)["task"]["agent"] is None
        (am.repo / "task.md").write_text(exported.replace("Search", "Find"))
        am.text("task", "import", "task.md")
        found = am.json("task", "list", "--find", "Find")
        assert [(row["task"]["agent"], row["task"]["model"]) for row in found] == [
            ("codex", "gpt-5.5")
        ]
        added = am.json(
            *("schedule", "add", "deps", "--rule", "every day at 09:00", "--title", "Update"),
            *("--agent", "codex"),
        )
        assert added["template"]["agent"] == "codex"


def test_what_cannot_be_chosen_is_refused(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    with am.quickly():
        unknown = am("task", "create", "Search", "--agent", "codecs")
        assert unknown.code == 1
        assert 'There is no agent "codecs". Did you mean "codex"? Known: ' in unknown.err
        fixed = am("task", "create", "Search", "--agent", "scripted", "--model", "big")
        assert 'Agent "scripted" does not accept a model.' in fixed.err
        both = am("task", "create", "Search", "--agent", "codex", "--agents", "codex,claude-code")
        assert both.code == 2
        assert "Give --agent for one agent or --agents for several, not both." in both.err
        assert am.json("task", "list") == []
