"""A task as a Markdown file: out of one installation and into another, where it says the same."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain import task_file, task_file_reading
from agents_manager.domain.handoff import Handoff
from agents_manager.domain.knowledge import KeptHandoff
from agents_manager.domain.task import Project, Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import importing, task_files, tasks
from agents_manager.flow.importing import Format, Imported, ImportState
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from tests.repos import make_repo
from tests.unit.test_task_file import HOSTILE, TEXT
from tests.worlds import ANN, GREETING, World

ALL = "\r\n".join(HOSTILE)


@asynccontextmanager
async def installed(home: Path) -> AsyncIterator[tuple[Services, Project]]:
    async with bootstrap.client(Settings(home / "home", None)) as program:
        s = program.services
        yield s, await tasks.add_project(s, make_repo(home / "shop"), None, None)


@pytest.fixture
async def client(tmp_path: Path, own_home: Path) -> AsyncIterator[tuple[Services, Project]]:
    async with installed(tmp_path) as found:
        yield found


async def exported(s: Services, task: str) -> str:
    return await s.store.read(lambda tx: task_files.export(tx, tx.tasks.find(task)))


async def take(s: Services, project: Project, text: str, **more: Any) -> Imported:
    given = {"format": Format.MARKDOWN, "source": "task.md", **more}
    return await importing.import_(s, project, text, ANN, **given)


async def made(s: Services, project: Project, text: str) -> Task:
    done = await take(s, project, text)
    assert done.count(ImportState.MADE) == 1
    return await s.store.read(lambda tx: tx.tasks.get(done.items[0].task_id or ""))  # pyright: ignore


async def test_a_task_goes_to_another_installation_and_says_the_same(
    tmp_path: Path, own_home: Path
) -> None:
    async with installed(tmp_path / "first") as (s, shop):
        new = tasks.NewTask(
            title=f"Door {ALL[:150]}",
            description=ALL,
            objective=f" {ALL}",
            type="chore",
            priority="high",
            tags=("ui", "a,b", "#c"),
            acceptance_criteria=(ALL, "It is blue."),
            pipeline="simple",
        )
        paint = await tasks.create(s, shop, tasks.NewTask(title="Paint"), ANN)
        brush = await tasks.create(s, shop, tasks.NewTask(title="Brush"), ANN)
        before = sorted([paint.id, brush.id], reverse=True)
        door = await tasks.create(s, shop, replace(new, dependencies=before), ANN)
        told = {one.id: await exported(s, one.id) for one in (paint, door)}
    async with installed(tmp_path / "second") as (s, shop):
        # Without what it depends on, which is told again all the same.
        alone = await made(s, shop, told[door.id])
        assert alone.dependencies == ()
        assert (alone.description, alone.acceptance_criteria) == (
            door.description,
            door.acceptance_criteria,
        )
        assert (alone.tags, alone.objective) == (door.tags, door.objective)
        assert (alone.status, alone.version) == ("open", 1)
        assert await exported(s, alone.id) == told[door.id]
    async with installed(tmp_path / "third") as (s, shop):
        # One of them is known here, and the other told again all the same.
        first = await made(s, shop, told[paint.id])
        second = await made(s, shop, told[door.id])
        assert second.dependencies == (first.id,)
        assert await exported(s, first.id) == told[paint.id]
        assert await exported(s, second.id) == told[door.id]
        [again] = (await take(s, shop, told[door.id])).items
        assert (again.state, again.task_id) == (ImportState.ALREADY_THERE, second.id)


async def test_its_history_is_told_again_and_changes_nothing(
    client: tuple[Services, Project],
) -> None:
    s, shop = client
    task = await made(s, shop, TEXT)
    assert (task.status, task.plan, task.title) == ("open", None, "Search by tag")
    about = await s.store.read(
        lambda tx: (tx.history.of_task(task.id), tx.knowledge.handoffs(task.id))
    )
    assert about == ([], [])
    file, _ = task_file_reading.read(await exported(s, task.id))
    assert file is not None
    read, _ = task_file_reading.read(TEXT)
    assert read is not None
    metadata = {**read.metadata, "Size": "medium", "Complexity": "medium", "Pipeline": "feature"}
    assert replace(file, metadata={}) == replace(read, metadata={})
    assert file.metadata.items() >= metadata.items()

    # What happens here comes behind what happened there.
    await tasks.move(s, task.id, ANN, to="cancelled")
    later, _ = task_file_reading.read(await exported(s, task.id))
    assert later is not None
    assert later.log.startswith(f"{read.log}\n- ")
    assert "was created in pipeline" in later.log
    assert later.completed is not None
    assert later.completed.endswith("(cancelled)")


async def test_a_file_with_a_fault_makes_nothing(client: tuple[Services, Project]) -> None:
    s, shop = client
    for text, says in (
        (TEXT.replace("- Priority: high", "- Priority: hihg"), 'Did you mean "high"?'),
        (TEXT.replace("- Priority", "- Prioritee"), 'Did you mean "Priority"?'),
        (TEXT.replace("## Objective\n", ""), "sections are missing: Objective"),
        (TEXT + "\n" + "x" * task_file_reading.MAX_BYTES, "bytes, at most"),
    ):
        for dry_run in (True, False):
            with pytest.raises(InvalidInput, match="Nothing was imported") as refused:
                await take(s, shop, text, dry_run=dry_run)
            assert says in " ".join([refused.value.message, *refused.value.details])
    assert await s.store.read(lambda tx: _count(tx, shop)) == 0


def _count(tx: Tx, project: Project) -> int:
    return len(tx.tasks.page(project=project.id, status=None, after=None, limit=9))


async def test_the_longest_words_are_read_again(client: tuple[Services, Project]) -> None:
    s, shop = client
    longest = "🦀" * 199_999 + "\n"
    criteria = [f"{n}{'🦀' * 1_990}" for n in range(100)]
    new = tasks.NewTask(title="Long", description=longest, acceptance_criteria=criteria)
    task = await tasks.create(s, shop, new, ANN)
    text = await exported(s, task.id)
    again = await made(s, shop, text)
    assert (again.description, list(again.acceptance_criteria)) == (longest, criteria)


async def test_what_runs_did_is_told(world: World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    handoff = Handoff.model_validate(
        {"outcome": "completed", "open_questions": [{"question": "Q"}]}
    )
    kept = KeptHandoff(
        run_id=view.runs[0].id,
        task_id=task.id,
        project_id=world.project.id,
        handoff=handoff,
        source="message",
        completeness=1.0,
        at=world.s.clock.now(),
    )
    await world.s.store.write(lambda tx: tx.knowledge.keep_handoff(kept))
    text = await exported(world.s, task.id)
    file, faults = task_file_reading.read(text)
    assert (faults, file and file.completed) == ([], None)
    assert file is not None
    assert "question: Q" in file.handoff
    assert "tool_use" not in file.log
    assert text == task_file.write(file)
