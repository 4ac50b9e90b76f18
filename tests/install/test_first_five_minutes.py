"""The first five minutes are as the documentation shows them: uv installs the wheel into an empty
home, two agents work, a question is answered, and both tasks are merged."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WALK = ROOT / "examples" / "first_five_minutes" / "walk.py"
PAGE = ROOT / "docs" / "first-five-minutes.md"


def spaced(text: str) -> list[str]:
    """Columns are as wide as what stood in them that time."""
    return [" ".join(line.split()) for line in text.strip().splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_they_are_as_they_are_shown(wheel: Path) -> None:
    walked = subprocess.run(
        [sys.executable, WALK, wheel], capture_output=True, text=True, check=False
    )
    assert walked.returncode == 0, walked.stderr
    assert spaced(walked.stdout) == spaced(PAGE.read_text())
    pictures = [line for line in PAGE.read_text().splitlines() if line.startswith("![")]
    assert len(pictures) == 6
    assert all((PAGE.parent / p.partition("(")[2].rstrip(")")).exists() for p in pictures)
