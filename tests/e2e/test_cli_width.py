"""Output in a pipe fits its width."""

from pathlib import Path

import pytest

from agents_manager.cli.render import PIPE_WIDTH
from tests.e2e.am_program import Am

WORDS = "Let people find things by their names and by what is written about them. " * 6
DESCRIPTION = f"{WORDS}\n\n```agent-script\nimplement: [[{{ask: {{question: {WORDS}}}}}]]\n```\n"


@pytest.mark.slow
def test_pages_in_a_pipe_are_at_most_as_wide_as_they_may_be(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        args = ("--description-file", "-", "--pipeline", "simple", "--start", "--json")
        assert am("task", "create", "Find things", *args, input=DESCRIPTION).code == 0
        [row] = am.json("task", "list")
        task = row["task"]["id"]
        with am.serving("serve", "--port", "0"):
            prompt = am.open_prompt(task)["prompt"]["id"]
            for columns, width in (("", PIPE_WIDTH), ("90", 90)):
                for command in (
                    ("task", "show", task),
                    ("task", "why", task),
                    ("task", "list"),
                    ("prompt", "show", prompt),
                    ("prompt", "list"),
                ):
                    shown = am(*command, env={"COLUMNS": columns}).out
                    long = [line for line in shown.splitlines() if len(line) > width]
                    long = [line for line in long if not line.lstrip().startswith(("am ", "─"))]
                    assert long == [], command
