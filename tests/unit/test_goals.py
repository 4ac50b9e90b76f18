"""The page of what was measured names the goals that are measured."""

import json
import re
from pathlib import Path

from tests import goals
from tests.faults.groups import GROUPS, PROVED
from tests.faults.test_crashes import LEAST


def test_the_page_has_the_goals_of_the_code() -> None:
    table = goals.PAGE.read_text().partition(goals.BEGINS)[2].partition(goals.ENDS)[0]
    rows = re.findall(
        r"^\| (G-\d+) \| (.*?) \| (.*?) \| .* \| (ok|missed|not proven) \|$", table, re.M
    )
    assert [row[:3] for row in rows] == [(g.id, g.title, g.target) for g in goals.GOALS]


def test_what_nobody_measured_is_not_proven(tmp_path: Path) -> None:
    file = tmp_path / "figures"
    races = [{"goal": "G-8", "what": where, "races": 10_000, "double": 0} for where in ("SQLite",)]
    file.write_text("".join(f"{json.dumps(race)}\n" for race in races))
    reached = goals.reached(file)
    assert reached["G-8"][1] == "missed", "only one of the databases"
    assert {status for id, (_, status) in reached.items() if id != "G-8"} == {"not proven"}


def test_every_group_of_faults_is_proved_and_counted() -> None:
    assert set(LEAST) == set(GROUPS)
    assert set(PROVED) == set(GROUPS) - {"controls"}
