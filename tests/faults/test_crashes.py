"""`kill -9` at counted points of the real process tree: nothing is lost and nothing happens twice,
and with a protection off the same look finds it. `make test` tries a fixed sample of the points,
`make prove` some that are drawn anew each time, `make soak` all of them."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import figures
from tests.debian import have
from tests.postgres import find_programs

ROOT = Path(__file__).parents[2]
SEED = os.environ.get("AM_SEED") or str(secrets.randbelow(1_000_000))
MODE = f"prove:{SEED}" if figures.MODE == "prove" else figures.MODE
LEAST = {
    "server": 800,
    "cancelling": 60,
    "timers": 60,
    "reruns": 200,
    "postgres": 200,
    "postgres-cancelling": 40,
    "postgres-timers": 40,
    "postgres-reruns": 200,
    "postgres-beside": 60,
    "unanswered": 40,
    "cuts": 200,
    "restarts": 400,
    "runner": 200,
    "git": 250,
    "machine": 120,
    "retries": 30,
    "beside": 100,
    "clones": 500,
    "clone-gits": 300,
    "clone-machine": 150,
    "histories": 4,
    "postgres-histories": 4,
    "controls": 6,
}
"""How many points must have been found: counting that finds few has gone blind."""
LONG = {
    *("histories", "clones", "clone-gits", "clone-machine", "restarts"),
    *("machine", "retries", "cuts"),
    *(group for group in LEAST if group.startswith("postgres-")),
}
"""Not in the quick sample."""
ON_POSTGRES = {"cuts", *(group for group in LEAST if group.startswith("postgres"))}
GROUPS = os.environ.get("AM_FAULT_GROUPS", "").split() or [
    group for group in LEAST if MODE or group not in LONG
]

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A process of its own: pytest has threads, and a fork would inherit their locks."""
    folder = tmp_path_factory.mktemp("faults") / "cases"
    command = [sys.executable, "-m", "tests.faults.harness", str(folder)]
    with subprocess.Popen(
        [*command, MODE] if MODE else command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout

        def ask(group: str) -> dict[str, Any]:
            assert process.stdin
            assert process.stdout
            process.stdin.write(f"{group}\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, "the harness broke; see above"
            return json.loads(line)

        yield ask
        process.stdin.close()


@pytest.mark.timeout(0 if MODE else 240)
@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_lost_or_doubled(
    harness: Ask, group: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if group == "restarts":
        have("postgresql", find_programs)
    address = request.getfixturevalue("postgres_url") if group in ON_POSTGRES else ""
    report = harness(f"{group} {address}".strip())
    told = "\n{group}: {cases} cases, {points} points, {seconds} s".format(**report)
    with capsys.disabled():
        sys.stdout.write(f"{told}, drawn by AM_SEED={SEED}" if "prove" in MODE else told)
    _note(report)
    assert not report["failures"], "\n\n".join(report["failures"])
    assert report["points"] >= LEAST[group]
    # A point that a walk passes only now and then may be passed over once in a small group.
    assert len(report["missed"]) <= max(1, report["cases"] / 10), report["missed"]


def _note(report: dict[str, Any]) -> None:
    group, wrong = report["group"], len(report["failures"])
    where = "Postgres" if group in {*ON_POSTGRES, "restarts"} else "SQLite"
    tried = report["cases"] - len(report["missed"])
    if group == "controls":
        figures.note("G-13", "protections against crashes", tried=tried, unnoticed=wrong)
        return
    counts = {"tried": tried, "points": report["points"], "wrong": wrong, "where": where}
    figures.note("G-2" if group.endswith("histories") else "G-1", group, **counts)
