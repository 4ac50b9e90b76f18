"""A server that is killed while it has a period of a schedule, at whatever point, has it once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ready
from tests.repos import scripted_home

ROOT = Path(__file__).parents[2]
ONCE = {"titles": ["Tidy 2026-03-03"], "runs": [1], "had": 1}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_any_statement_a_period_is_had_once(tmp_path: Path, repo: Path) -> None:
    home = ready.home(scripted_home(tmp_path / "home"))
    command = [sys.executable, "-m", "tests.schedule_deaths", str(home), str(repo)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    results = json.loads(done.stdout)
    assert len(results) > 20
    assert [one for one in results if one != ONCE] == []
