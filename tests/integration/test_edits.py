"""Changing the words of a task, whatever goes on at it."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.effects import CreateTaskBranch
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Policy
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput, PipelineNotFound, StaleTask, TaskNotFound
from agents_manager.flow import edits, hooks, planning, tasks
from agents_manager.flow.ports import Tx
from agents_manager.settings import Settings
from tests.repos import make_repo
from tests.worlds import ANN, GREETING, World

HANG = {"implement": [[{"hang": True}]]}


async def edit(world: World, task: Task, **changes: Any) -> edits.Edited:
    return await edits.edit(world.s, task.id, changes, ANN)


async def idle(world: World, title: str, *after: Task) -> Task:
    needed = [other.id for other in after]
    return await world.create({}, title=title, pipeline="simple", dependencies=needed)


async def test_every_field_can_be_changed_and_the_log_says_which(world: World) -> None:
    other = await idle(world, "Other")
    task = await idle(world, "First words")
    changes: dict[str, Any] = {
        "title": "Better  words",
        "description": "More.",
        "objective": "Fewer questions.",
        "type": "bug",
        "priority": "urgent",
        "size": "large",
        "complexity": "high",
        "tags": ["UI", "ui"],
        "acceptance_criteria": ["It works."],
        "dependencies": [other.id[:8], other.id],
    }
    edited = await edit(world, task, **changes)
    assert set(edited.fields) == set(changes)
    assert edited.task.title == "Better words"
    assert edited.task.tags == ("ui",)
    assert edited.task.dependencies == (other.id,)
    assert (edited.task.version, edited.task.pipeline_id) == (task.version + 1, "simple")
    [logged] = [e for e in await world.events(task) if e.type == "task.edited"]
    assert (logged.category, logged.actor.name) == ("edit", "ann")
    assert set(logged.data["fields"]) == set(changes)
    again = await edit(world, task, **changes)
    assert (again.fields, again.task.version) == ((), edited.task.version)
    assert (await world.types(task)).count("task.edited") == 1


async def test_a_running_agent_keeps_its_words(world: World) -> None:
    task = await world.start(HANG, pipeline="simple")
    view = await world.wait(
        task, lambda v: v.run is not None and v.run.prompt is not None, "told what to do"
    )
    assert "edited" not in view.why
    edited = await edit(world, task, acceptance_criteria=["It must be blue."])
    assert edited.run is not None
    assert edited.run.status is RunStatus.RUNNING
    view = await world.view(task)
    assert view.run is not None
    assert "blue" not in str(view.run.prompt)
    assert "the run keeps the words it was given" in view.why
    [logged] = [e for e in await world.events(task) if e.type == "task.edited"]
    assert "told the old words" in logged.summary
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.until(task, "cancelled")


async def test_a_finished_task_may_be_edited(world: World) -> None:
    task = await idle(world, "Done with")
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    assert (await edit(world, task, tags=["given-up"])).task.tags == ("given-up",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": " "}, "title: a task needs a title"),
        ({"title": "x" * 201}, "title: at most 200"),
        ({"description": "x" * 200_001}, "description: at most"),
        ({"objective": "x" * 2_001}, "objective: at most"),
        ({"type": "bgu"}, 'type: there is no "bgu". Did you mean "bug"?'),
        ({"priority": "hihg"}, 'priority: there is no "hihg". Did you mean "high"?'),
        ({"size": "xl"}, 'size: there is no "xl"'),
        ({"complexity": "hard"}, 'complexity: there is no "hard"'),
        ({"tags": [" "]}, "tags:"),
        ({"acceptance_criteria": [""]}, "acceptance_criteria: one of them is empty"),
        ({"status": "done"}, "status: there is no such field."),
        ({"titel": "x"}, 'titel: there is no such field. Did you mean "title"?'),
        ({}, "title, description"),
    ],
)
async def test_bad_words_change_nothing(world: World, changes: Any, said: str) -> None:
    task = await idle(world, "Fine")
    with pytest.raises(InvalidInput) as refused:
        await edits.edit(world.s, task.id, changes, ANN)
    assert said in refused.value.details[0]
    assert (await world.view(task)).task == task


async def test_unknown_tasks_and_old_versions_are_refused(world: World) -> None:
    task = await idle(world, "Fine")
    with pytest.raises(TaskNotFound, match="ffff0000"):
        await edits.edit(world.s, "ffff0000", {"title": "x"}, ANN)
    with pytest.raises(TaskNotFound, match="ffff0000"):
        await edit(world, task, dependencies=["ffff0000"])
    with pytest.raises(StaleTask, match="version 1, not 2"):
        await edits.edit(world.s, task.id, {"title": "x"}, ANN, expect_version=2)
    await edits.edit(world.s, task.id, {"title": "Ours"}, ANN, expect_version=1)
    with pytest.raises(StaleTask, match="version 2, not 1"):
        await edits.edit(world.s, task.id, {"title": "Theirs"}, ANN, expect_version=1)
    assert (await world.view(task)).task.title == "Ours"


async def test_no_task_waits_for_itself(world: World) -> None:
    """Circles of one, two and three tasks, each named from end to end."""
    one = await idle(world, "One")
    two = await idle(world, "Two", one)
    three = await idle(world, "Three", two)
    for end, names in (
        (one, ("One", "One")),
        (two, ("One", "Two", "One")),
        (three, ("One", "Three", "Two", "One")),
    ):
        with pytest.raises(InvalidInput, match="cannot wait for itself") as refused:
            await edit(world, one, dependencies=[end.id])
        [said] = refused.value.details
        assert [part.split('"')[1] for part in said.split(" waits for ")] == list(names)
    assert (await world.view(one)).task.dependencies == ()
    four = await idle(world, "Four")
    await edit(world, three, dependencies=[two.id, one.id, four.id])


async def test_a_task_may_wait_for_one_of_another_project(world: World, tmp_path: Path) -> None:
    other = await tasks.add_project(world.s, make_repo(tmp_path / "other"), None, None)
    first = await tasks.create(world.s, other, tasks.NewTask(title="First"), ANN)
    task = await idle(world, "Second")
    await edit(world, task, dependencies=[first.id])
    assert (await world.view(task)).next_mover.kind == "dependency"
    await edit(world, task, dependencies=[])
    assert (await world.view(task)).next_mover.kind == "person"


async def test_the_type_of_a_new_task_chooses_its_pipeline(world: World) -> None:
    world.configure({"pipelineByType": {"bug": "simple", "spike": "nowhere"}})
    assert (await world.create({}, type="bug")).pipeline_id == "simple"
    assert (await world.create({}, type="bug", pipeline="feature")).pipeline_id == "feature"
    assert (await world.create({}, type="chore")).pipeline_id == "feature"
    with pytest.raises(PipelineNotFound, match='pipelineByType names it for tasks of type "spike"'):
        await world.create({}, type="spike")
    assert (await world.create({}, type="spike", pipeline="simple")).type == "spike"
    with pytest.raises(InvalidInput) as refused:
        await world.create({}, type="spkie")
    assert 'Did you mean "spike"?' in refused.value.details[0]


async def test_an_edited_dependency_lets_the_task_go_on(world: World) -> None:
    first = await world.start(HANG, pipeline="simple", title="First")
    second = await world.create(GREETING, pipeline="simple", dependencies=[first.id])
    await edit(world, second, dependencies=[])
    await tasks.move(world.s, second.id, ANN)
    await world.until(second, "review")
    await tasks.move(world.s, first.id, ANN, to="cancelled")
    await world.until(first, "cancelled")


async def test_an_edit_does_not_keep_a_failed_hook_from_taking_the_task_back(
    tmp_path: Path, repo: Path
) -> None:
    """The task has another version by then, but it did not move."""
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        s = program.services
        project = await tasks.add_project(s, repo, None, None)
        task = await tasks.create(s, project, tasks.NewTask(title="T", pipeline="simple"), ANN)
        await tasks.move(s, task.id, ANN)
        name = EffectId("branch")

        def plan(tx: Tx) -> None:
            found, entry = tx.tasks.get(task.id), tx.history.of_task(task.id)[-1]
            effect = CreateTaskBranch()
            planning.add(tx, s, found, effect, name, entry.id, 9, Policy.REQUIRED)

        await s.store.write(plan)
        edited = await edits.edit(s, task.id, {"title": "Other"}, ANN)
        assert edited.task.version == 3
        await hooks.failed(s, name, 1, "The disk is full.", retryable=False)
        back = await s.store.read(lambda tx: tx.tasks.get(task.id))
        assert (back.status, back.version, back.title) == ("open", 4, "Other")
