"""A task as a document: out of one project and into another."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.cli import present
from agents_manager.domain.task import Project, Task
from agents_manager.errors import InvalidInput, TaskInUse
from agents_manager.flow import exchange, importing, removal, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from tests import repos
from tests.repos import make_repo
from tests.worlds import ANN, GREETING, World

WORDS: dict[str, Any] = {
    "title": "Door",
    "description": "Paint it.",
    "objective": "Guests find it.",
    "type": "chore",
    "priority": "high",
    "size": "small",
    "complexity": "low",
    "tags": ("ui",),
    "acceptance_criteria": ("It is blue.",),
}


async def document(s: Services, project: Project, **fields: Any) -> dict[str, Any]:
    task = await tasks.create(s, project, tasks.NewTask(**{**WORDS, **fields}), ANN)
    exported = await s.store.read(lambda tx: exchange.export(tx, task))
    return json.loads(json.dumps(present.value(exported)))


async def test_a_task_goes_from_one_project_to_another(tmp_path: Path, own_home: Path) -> None:
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        s = program.services
        first = await tasks.add_project(s, make_repo(tmp_path / "first"), None, None)
        second = await tasks.add_project(s, make_repo(tmp_path / "second"), None, None)
        other = await tasks.create(s, first, tasks.NewTask(title="Other"), ANN)
        told = await document(s, first, pipeline="simple", dependencies=[other.id])
        assert told["about"]["status"] == "open"
        done = await take(s, second, told)
        [made] = await s.store.read(lambda tx: page(tx, second))
        assert {name: getattr(made, name) for name in WORDS} == WORDS
        assert (made.project_id, made.pipeline_id) == (second.id, "simple")
        assert (made.dependencies, done.items[0].left_out) == ((other.id,), ())
        assert (await take(s, second, told)).items[0].state == "already_there"
        told["task"] |= {"title": "Window", "dependencies": ["ffff00001111"]}
        assert (await take(s, second, told)).items[0].left_out == ("ffff00001111",)

        for change, says in (
            ({"format": "else"}, "is no task"),
            ({"version": 2}, "is no task"),
            ({"tasks": {}}, 'Did you mean "task"?'),
            ({"task": []}, "an object is missing"),
            ({"task": {**told["task"], "titel": "x"}}, 'Did you mean "title"?'),
            ({"task": {"description": "x"}}, "task.title: it is missing"),
            ({"task": {"title": 3}}, "task.title: it must be a text"),
            ({"task": {"title": "x", "tags": "ui"}}, "task.tags: it must be a list of texts"),
            ({"task": {"title": "x", "priority": "hihg"}}, 'Did you mean "high"?'),
        ):
            with pytest.raises(InvalidInput) as refused:
                await take(s, second, {**told, **change})
            assert says in " ".join([refused.value.message, *refused.value.details])
            assert len(await s.store.read(lambda tx: page(tx, second))) == 2


async def take(s: Services, project: Project, document: Any) -> importing.Imported:
    text = json.dumps(document)
    return await importing.import_(s, project, text, ANN, format=importing.Format.JSON)


def page(tx: Tx, project: Project) -> list[Task]:
    return tx.tasks.page(project=project.id, status=None, after=None, limit=99)


@pytest.mark.worktree
async def test_worktrees_of_finished_tasks_are_removed(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    tree = str(view.runs[0].workspace)
    with pytest.raises(TaskInUse, match="is not finished"):
        await removal.clean(world.s, task_id=task.id, project_id=None)
    assert await removal.clean(world.s, task_id=None, project_id=world.project.id) == []
    assert tree in repos.run(world.repo, "worktree", "list")
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.settled(task)
    [cleaned] = await removal.clean(world.s, task_id=None, project_id=world.project.id)
    assert (cleaned.task.id, cleaned.left) == (task.id, None)
    assert tree not in repos.run(world.repo, "worktree", "list")
