"""Both kinds of workspaces, for the one suite that each has to pass."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agents_manager.scm.clones import Clones
from agents_manager.scm.worktrees import Worktrees

Kind = Worktrees | Clones
KINDS: dict[str, Callable[[Path], Kind]] = {"worktree": Worktrees, "clone": Clones}


@pytest.fixture(params=KINDS)
def workspaces(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return KINDS[request.param](tmp_path / "work trees")
