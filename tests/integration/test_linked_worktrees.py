"""A repository is one project, by whichever of its worktrees it is registered or used."""

from pathlib import Path

import pytest

from agents_manager import bootstrap
from agents_manager.errors import ProjectExists
from agents_manager.flow import tasks
from agents_manager.settings import Settings
from tests import ready
from tests.e2e.am_program import Am
from tests.repos import make_repo, own_home, run, scripted_home

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")


async def test_a_linked_worktree_registers_the_main_one(tmp_path: Path) -> None:
    repo, tree = make_repo(tmp_path / "shop"), tmp_path / "tree"
    run(repo, "worktree", "add", "-q", "-b", "other", str(tree))
    (tree / "below").mkdir()
    settings = Settings(ready.home(scripted_home(tmp_path / "home")), None)
    async with bootstrap.client(settings) as program:
        project = await tasks.add_project(program.services, tree / "below", None, None)
        assert (project.name, project.path, project.base_branch) == ("shop", str(repo), "main")
        with pytest.raises(ProjectExists, match='already registered as "shop"'):
            await tasks.add_project(program.services, repo, "again", None)


async def test_worktrees_of_a_bare_repository_are_one_project(tmp_path: Path) -> None:
    bare, one, other = tmp_path / "shop.git", tmp_path / "one", tmp_path / "other"
    run(tmp_path, "clone", "-q", "--bare", str(make_repo(tmp_path / "shop")), str(bare))
    run(bare, "worktree", "add", "-q", str(one), "main")
    run(bare, "worktree", "add", "-q", "-b", "other", str(other))
    settings = Settings(ready.home(scripted_home(tmp_path / "home")), None)
    async with bootstrap.client(settings) as program:
        project = await tasks.add_project(program.services, one, None, None)
        assert project.path == str(one)
        with pytest.raises(ProjectExists, match=f'is a worktree of "{one}"'):
            await tasks.add_project(program.services, other, None, None)


@pytest.mark.slow
def test_commands_in_a_linked_worktree_are_about_the_project(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    tree = tmp_path / "tree"
    am.git("worktree", "add", "-q", "-b", "other", str(tree))
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        am.repo = tree
        assert am.json("task", "create", "Greet")["task"]["title"] == "Greet"
        assert "already registered" in am("project", "add", ".").err
