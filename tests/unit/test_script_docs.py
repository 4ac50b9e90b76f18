"""The page about the scripted agent says what the code does."""

import re
from pathlib import Path

from agents_manager.agents import script

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "scripted-agent.md"


def test_table_has_every_step() -> None:
    rows = re.findall(r"^\| `(\w+)", PAGE.read_text(), re.MULTILINE)
    assert set(rows) == set(script.STEPS)
