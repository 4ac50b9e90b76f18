"""`kill -9` at every point between a question and the end of its message: it is told at least once,
again only as a repeat, and it loses its buttons."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents_manager.store.database import open_database
from tests.repos import make_repo, own_home

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")
ROOT = Path(__file__).parents[2]


def live(folder: Path, point: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.channel_deaths", str(folder / "home")]
    where = [str(folder / "repo"), str(folder), str(point)]
    return subprocess.run(
        [*command, *where], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def begin(folder: Path) -> Path:
    folder.mkdir()
    make_repo(folder / "repo", {"README.md": "Hello\n"})
    return folder


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "told").read_text().splitlines()]


async def judge(folder: Path) -> None:
    sent = [one for one in told(folder) if "message" in one]
    updated = {one["update"] for one in told(folder) if "update" in one}
    store = open_database(folder / "home" / "agents-manager.db")
    try:
        rows = await store.read(lambda tx: tx.deliveries.latest("telegram", 100))
    finally:
        store.close()
    [row] = [row for row in rows if row.prompt_id]
    assert row.state == "sent"
    assert row.closed_at is not None
    assert [one["repeat"] for one in sent] in ([False], [True], [False, True])
    assert row.message == sent[-1]["message"]
    assert row.message in updated


def points(folder: Path) -> list[str]:
    whole = live(begin(folder), 0)
    assert whole.returncode == 0, whole.stderr
    return json.loads(whole.stdout.splitlines()[-1])


async def killed_at(folder: Path, point: int) -> None:
    died = live(begin(folder), point)
    assert died.returncode == -9, (point, died.stderr)
    mended = live(folder, 0)
    assert mended.returncode == 0, (point, mended.stderr)
    await judge(folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_postman_who_is_killed_anywhere_loses_nothing(tmp_path: Path) -> None:
    passed = points(tmp_path / "whole")
    assert len(passed) >= 20
    for point, label in enumerate(passed, 1):
        folder = tmp_path / str(point)
        await killed_at(folder, point)
        repeats = [one["repeat"] for one in told(folder) if "message" in one]
        # Whoever died around sending cannot know whether anything was sent: told again, it says so.
        again = [False, True]
        assert repeats in ([again] if label == "after sending" else [[False], [True], again]), label
