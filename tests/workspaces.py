"""Both kinds of workspaces, for the one suite that each has to pass; clones also with the real
sandbox around every git that looks at them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agents_manager.scm.clones import Clones
from agents_manager.scm.sandboxed import StartHelper
from agents_manager.scm.worktrees import Worktrees
from tests import sandboxes

Kind = Worktrees | Clones


def kept_git(folder: Path) -> StartHelper:
    """The way into the real sandbox, beside a data directory in the folder."""
    sandboxes.installed()
    return sandboxes.keeper(folder / "data").start_git_helper


def kept_clones(root: Path) -> Clones:
    return Clones(root, start=kept_git(root.parent))


KINDS: dict[str, Callable[[Path], Kind]] = {"worktree": Worktrees, "clone": Clones}
MORE = {**KINDS, "kept": kept_clones}


@pytest.fixture(params=[*KINDS, pytest.param("kept", marks=pytest.mark.slow)])
def workspaces(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return MORE[request.param](tmp_path / "work trees")
