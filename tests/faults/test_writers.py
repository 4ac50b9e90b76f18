"""Many processes on one database: what they were told is kept is there, in one line without gaps,
also when they are killed, and of several answers one is taken."""

import asyncio
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.flow.ports import Tx
from agents_manager.store.database import open_database
from tests import figures
from tests.contract.store_values import a_prompt, furnish
from tests.faults.writer import SHARED

ROOT = Path(__file__).parents[2]
WRITERS = 8
PEOPLE = 4
EVERY = 100_000_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "said"
    folder.mkdir()
    return folder


def _written(*arguments: object) -> int:
    command = [sys.executable, "-m", "tests.faults.writer", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def _lines(folder: Path) -> list[str]:
    """A kill may cut the last one, which counts for nothing."""
    files = [file for file in folder.iterdir() if file.is_file()]
    lines = [line for file in files for line in file.read_text().splitlines(keepends=True)]
    return [line[:-1] for line in lines if line.endswith("\n")]


def _kind(address: str) -> str:
    return "Postgres" if "://" in address else "SQLite"


def test_what_killed_writers_were_told_is_kept(database_address: str, folder: Path) -> None:
    store = open_database(database_address)
    asyncio.run(store.write(furnish))
    seconds = figures.size(15, 300)
    killed = _written("append", database_address, folder, WRITERS, seconds)
    said = {(name, number): int(took) for name, number, took in map(str.split, _lines(folder))}
    events = asyncio.run(store.read(lambda tx: tx.events.of_task(SHARED, after_seq=0, limit=EVERY)))
    store.close()
    kept = {tuple(event.summary.split()) for event in events}
    missing = len(said.keys() - kept)
    gaps = [event.seq for event in events] != list(range(1, len(events) + 1))
    p99_ms = statistics.quantiles(said.values(), n=100)[98] / 1000
    counts = {"acked": len(said), "missing": missing, "killed": killed, "p99_ms": round(p99_ms, 1)}
    figures.note("G-4", _kind(database_address), gaps=gaps, seconds=seconds, **counts)
    assert (missing, gaps, killed > WRITERS) == (0, False, True)


def _taken(address: str, folder: Path, prompts: int, *careless: str) -> Counter[str]:
    """How many of those who answered at once were told that theirs is the answer, by prompt."""

    def ask(tx: Tx) -> None:
        furnish(tx)
        for n in range(prompts):
            tx.prompts.add(a_prompt(f"prompt-{n}", type=PromptType.PERMISSION))

    store = open_database(address)
    asyncio.run(store.write(ask))
    store.close()
    assert _written("answer", address, folder, PEOPLE, *careless) == 0
    return Counter(_lines(folder))


def test_of_all_who_answer_at_once_one_is_taken(database_address: str, folder: Path) -> None:
    kind = _kind(database_address)
    races = figures.size(2_500 if kind == "Postgres" else 10_000, 10_000)
    taken = _taken(database_address, folder, races)
    double = sum(n > 1 for n in taken.values())
    figures.note("G-8", kind, races=len(taken), double=double)
    assert (len(taken), double) == (races, 0)


def test_without_the_comparison_several_are(tmp_path: Path, folder: Path) -> None:
    taken = _taken(str(tmp_path / "home" / "agents-manager.db"), folder, 300, "off")
    assert any(n > 1 for n in taken.values())
    figures.note("G-13", "the comparison of answers")
