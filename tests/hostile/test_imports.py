"""The rows of `threats.md` about what is taken over from an agent, and the 28 attacks by each way
of taking it over: nothing gets through, and without what we do about it something does."""

from pathlib import Path

import pytest

from tests.hostile.git_attacks import ATTACKS, Attack
from tests.hostile.imports import ROWS, WAYS, attacked
from tests.repos import own_home
from tests.workspaces import kept_git

__all__ = ["own_home"]
pytestmark = [pytest.mark.usefixtures("own_home"), pytest.mark.slow]


@pytest.mark.parametrize("row", ROWS)
async def test_nothing_gets_through(row: str, tmp_path: Path) -> None:
    found = await ROWS[row](tmp_path)
    assert found.through == 0, found
    assert found.without > 0, found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
async def test_no_program_of_an_attack_runs(way: str, attack: Attack, tmp_path: Path) -> None:
    assert not await attacked(tmp_path, attack, way, kept_git(tmp_path))
