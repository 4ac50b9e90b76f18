"""Projects, pipelines, tasks, artifacts and history, the same on both databases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.ids import HistoryId, ProjectId, PromptId, TaskId
from agents_manager.domain.task import ArtifactType, Result, Task
from agents_manager.errors import (
    InvalidInput,
    PipelineNotFound,
    ProjectExists,
    ProjectNotFound,
    StaleTask,
    TaskNotFound,
)
from agents_manager.flow.ports import Tx
from agents_manager.store.database import Database
from tests.contract.store_values import (
    NOW,
    PIPELINE,
    a_history,
    a_project,
    a_task,
    an_artifact,
    furnish,
    later,
)


async def test_a_project_is_found_by_id_name_and_path(any_store: Database) -> None:
    await any_store.write(lambda tx: tx.projects.add(a_project("one", name="First")))
    await any_store.write(lambda tx: tx.projects.add(a_project("two", created_at=later(1))))

    for wanted in ("one", "First", "/home/ada/one"):
        assert (await any_store.read(lambda tx, w=wanted: tx.projects.find(w))).id == "one"
    found = await any_store.read(lambda tx: tx.projects.by_path("/home/ada/two"))
    assert found == a_project("two", created_at=later(1))
    assert await any_store.read(lambda tx: tx.projects.by_path("/nowhere")) is None
    assert [p.id for p in await any_store.read(lambda tx: tx.projects.all())] == ["one", "two"]


async def test_a_project_that_is_not_there_is_named(any_store: Database) -> None:
    with pytest.raises(ProjectNotFound, match="nothing"):
        await any_store.read(lambda tx: tx.projects.find("nothing"))
    with pytest.raises(ProjectNotFound, match="nothing"):
        await any_store.write(lambda tx: tx.projects.update(ProjectId("nothing"), name="x"))


async def test_a_name_that_two_projects_have_is_ambiguous(any_store: Database) -> None:
    for id in ("one", "two"):
        await any_store.write(lambda tx, id=id: tx.projects.add(a_project(id, name="Same")))
    with pytest.raises(InvalidInput, match="Same") as refused:
        await any_store.read(lambda tx: tx.projects.find("Same"))
    assert len(refused.value.details) == 2


async def test_a_repository_is_registered_once(any_store: Database) -> None:
    await any_store.write(lambda tx: tx.projects.add(a_project("one", path="/same")))
    with pytest.raises(ProjectExists, match="/same"):
        await any_store.write(lambda tx: tx.projects.add(a_project("two", path="/same")))


async def test_a_project_can_be_changed(any_store: Database) -> None:
    await any_store.write(lambda tx: tx.projects.add(a_project("one")))
    await any_store.write(lambda tx: tx.projects.update(ProjectId("one"), trusted_commands="f00"))
    one = await any_store.read(lambda tx: tx.projects.get(ProjectId("one")))
    assert one == a_project("one", trusted_commands="f00")


async def test_a_pipeline_gets_a_version_for_each_new_document(any_store: Database) -> None:
    def save(tx: Tx, document: dict[str, Any]) -> int:
        return tx.pipelines.save(pipelines.parse(document), document, NOW).version

    changed = {**PIPELINE, "name": "Changed"}
    documents = [dict(PIPELINE), {**PIPELINE, "version": 99}, changed, dict(PIPELINE)]
    versions = [await any_store.write(lambda tx, d=d: save(tx, d)) for d in documents]
    assert versions == [1, 1, 2, 3]

    def read(tx: Tx) -> list[tuple[int, str]]:
        wanted = (1, 2, 3, None)
        found = [tx.pipelines.get("simple", version) for version in wanted]
        return [(pipeline.version, pipeline.name) for pipeline in found]

    read_twice = [await any_store.read(read) for _ in range(2)]
    assert read_twice == [[(1, "Simple"), (2, "Changed"), (3, "Simple"), (3, "Simple")]] * 2
    assert [p.version for p in await any_store.read(lambda tx: tx.pipelines.all())] == [3]


async def test_a_pipeline_that_was_rolled_back_is_not_remembered(any_store: Database) -> None:
    def save_and_fail(tx: Tx) -> None:
        changed = {**PIPELINE, "name": "Never"}
        tx.pipelines.save(pipelines.parse(changed), changed, NOW)
        assert tx.pipelines.get("simple").name == "Never"
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await any_store.write(save_and_fail)
    with pytest.raises(PipelineNotFound, match="simple"):
        await any_store.read(lambda tx: tx.pipelines.get("simple"))
    await any_store.write(furnish)
    with pytest.raises(PipelineNotFound, match="version 2"):
        await any_store.read(lambda tx: tx.pipelines.get("simple", 2))
    assert (await any_store.read(lambda tx: tx.pipelines.get("simple", 1))).name == "Simple"


async def test_a_task_comes_back_as_it_was_stored(any_store: Database) -> None:
    await any_store.write(furnish)
    assert await any_store.read(lambda tx: tx.tasks.get(TaskId("task-1"))) == a_task()


async def test_text_that_a_database_cannot_hold_is_replaced(any_store: Database) -> None:
    ugly = "null \x00 half \ud800 whole \U0001f600"
    clean = "null \ufffd half \ufffd whole \U0001f600"

    def write(tx: Tx) -> None:
        furnish(tx)
        tx.tasks.update(TaskId("task-1"), NOW, title=ugly, tags=(ugly,))
        tx.tasks.add_artifact(an_artifact(data={ugly: [ugly, {"deep": ugly}], "\\u0000": 1}))

    await any_store.write(write)
    task = await any_store.read(lambda tx: tx.tasks.get(TaskId("task-1")))
    assert (task.title, task.tags) == (clean, (clean,))
    [artifact] = await any_store.read(lambda tx: tx.tasks.artifacts(TaskId("task-1")))
    assert artifact.data == {clean: [clean, {"deep": clean}], "\\u0000": 1}


async def test_times_are_utc_and_naive_ones_are_refused(any_store: Database) -> None:
    tokyo = datetime(2026, 3, 1, 21, 0, tzinfo=timezone(timedelta(hours=9)))

    def write(tx: Tx) -> None:
        furnish(tx)
        tx.tasks.update(TaskId("task-1"), tokyo, plan="x")

    await any_store.write(write)
    task = await any_store.read(lambda tx: tx.tasks.get(TaskId("task-1")))
    assert task.updated_at == datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    assert task.updated_at.utcoffset() == timedelta(0)
    naive = datetime(2026, 3, 1)  # noqa: DTZ001
    with pytest.raises(ValueError, match="no time zone"):
        await any_store.write(lambda tx: tx.tasks.update(TaskId("task-1"), naive))


async def test_a_task_moves_only_from_the_version_that_was_read(any_store: Database) -> None:
    await any_store.write(furnish)
    moved = await any_store.write(lambda tx: tx.tasks.move(a_task(), "doing", later(1)))
    assert moved == a_task(status="doing", version=2, updated_at=later(1))
    assert await any_store.read(lambda tx: tx.tasks.get(TaskId("task-1"))) == moved
    with pytest.raises(StaleTask, match="task-1"):
        await any_store.write(lambda tx: tx.tasks.move(a_task(), "done", later(2)))


async def test_a_move_returns_what_others_changed_meanwhile(any_store: Database) -> None:
    await any_store.write(furnish)
    await any_store.write(lambda tx: tx.tasks.update(TaskId("task-1"), NOW, plan="The plan"))
    moved = await any_store.write(lambda tx: tx.tasks.move(a_task(), "doing", NOW))
    assert moved.plan == "The plan"


async def test_unknown_fields_are_programming_errors(any_store: Database) -> None:
    await any_store.write(furnish)
    with pytest.raises(KeyError, match="colour"):
        await any_store.write(lambda tx: tx.tasks.update(TaskId("task-1"), NOW, colour="red"))
    with pytest.raises(KeyError, match="colour"):
        await any_store.write(lambda tx: tx.prompts.close(PromptId("prompt-1"), colour="red"))


async def test_a_task_is_found_by_the_beginning_of_its_id(any_store: Database) -> None:
    await any_store.write(lambda tx: furnish(tx, "abcd1", "abcd2", "ABCD3", "abce", "abcd1x"))

    def find(wanted: str) -> Any:
        return any_store.read(lambda tx: tx.tasks.find(wanted))

    assert (await find("abce")).id == "abce"
    assert (await find("abcd2")).id == "abcd2"
    assert (await find("abcd1")).id == "abcd1"
    assert (await find("ABCD")).id == "ABCD3"
    with pytest.raises(InvalidInput, match="abcd") as refused:
        await find("abcd")
    assert refused.value.details == ("abcd1", "abcd1x", "abcd2")
    for unknown in ("abc", "abcz", "%", "abcd%"):
        with pytest.raises(TaskNotFound, match=unknown):
            await find(unknown)


async def test_tasks_are_paged_from_the_newest(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "a")
        tx.projects.add(a_project("project-2"))
        for id, at in (("b", 1), ("c", 1), ("d", 1), ("e", 2)):
            tx.tasks.add(a_task(id, created_at=later(at)))
        tx.tasks.add(a_task("f", project_id=ProjectId("project-2"), created_at=later(3)))
        tx.tasks.add(a_task("g", status="doing", created_at=later(4)))

    await any_store.write(write)

    async def page(
        after: str | None = None, limit: int = 3, project: str | None = None, **more: Any
    ) -> str:
        chosen = ProjectId(project) if project else None
        filters: dict[str, Any] = {"status": None, **more}
        tasks: list[Task] = await any_store.read(
            lambda tx: tx.tasks.page(project=chosen, after=after, limit=limit, **filters)
        )
        return "".join(task.id for task in tasks)

    assert [await page(), await page("e"), await page("b")] == ["gfe", "dcb", "a"]
    assert await page(limit=9, project="project-1", status="open") == "edcba"
    assert await page(after="d", limit=9, project="project-1") == "cba"


async def test_tasks_are_found_by_a_part_of_their_title(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        for id, title in (("a", "Add Search"), ("b", "50% off"), ("c", "a_b/c"), ("d", "axb")):
            tx.tasks.add(a_task(id, title=title))

    await any_store.write(write)

    async def found(part: str) -> str:
        tasks = await any_store.read(
            lambda tx: tx.tasks.page(project=None, status=None, title=part, after=None, limit=9)
        )
        return "".join(sorted(task.id for task in tasks))

    assert [await found("search"), await found("0%"), await found("%")] == ["a", "b", "b"]
    assert [await found("a_b"), await found("b/c"), await found("\\")] == ["c", "c", ""]


async def test_a_cursor_that_is_gone_is_refused(any_store: Database) -> None:
    async def page(after: str) -> list[Task]:
        return await any_store.read(
            lambda tx: tx.tasks.page(project=None, status=None, after=after, limit=9)
        )

    with pytest.raises(TaskNotFound):
        await page("nothing")


async def test_dependents_follow_the_dependencies(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx, "first", "second")
        tx.tasks.add(a_task("third", dependencies=("first", "second", "first")))

    await any_store.write(write)

    async def dependents(of: str) -> list[str]:
        found = await any_store.read(lambda tx: tx.tasks.depending_on(TaskId(of)))
        return [task.id for task in found]

    assert [await dependents("first"), await dependents("second")] == [["third"], ["third"]]
    await any_store.write(
        lambda tx: tx.tasks.update(TaskId("third"), NOW, dependencies=("second",))
    )
    assert [await dependents("first"), await dependents("second")] == [[], ["third"]]
    third = await any_store.read(lambda tx: tx.tasks.get(TaskId("third")))
    assert third.dependencies == ("second",)


async def test_links_are_those_of_the_project(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.projects.add(a_project("project-2"))
        tx.tasks.add(a_task("task-2", project_id=ProjectId("project-2")))
        for task in ("task-1", "task-2"):
            link = an_artifact(f"link-{task}", task, type=ArtifactType.LINK, key="todo.md: Door")
            tx.tasks.add_artifact(link)
            tx.tasks.add_artifact(an_artifact(f"document-{task}", task))

    await any_store.write(write)
    found = await any_store.read(lambda tx: tx.tasks.links(ProjectId("project-2")))
    assert found == {"todo.md: Door": "task-2"}


async def test_an_artifact_collected_again_is_the_same_one(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        tx.tasks.add_artifact(an_artifact("first"))
        tx.tasks.add_artifact(an_artifact("other", type=ArtifactType.BRANCH, created_at=later(1)))
        tx.tasks.add_artifact(
            an_artifact("again", label="New", data={"text": "Second …"}, created_at=later(2))
        )

    await any_store.write(write)
    task = TaskId("task-1")
    everything = await any_store.read(lambda tx: tx.tasks.artifacts(task))
    assert [(a.id, a.label, a.created_at) for a in everything] == [
        ("first", "New", NOW),
        ("other", "The plan", later(1)),
    ]
    [document] = await any_store.read(lambda tx: tx.tasks.artifacts(task, ArtifactType.DOCUMENT))
    assert document.data == {"text": "Second …"}


async def test_history_keeps_the_order_in_which_it_was_written(any_store: Database) -> None:
    entries = [a_history(id, reason=id) for id in ("z", "a", "m")]
    entries[1] = replace(entries[1], result=Result.REFUSED, payload=None, guards=(), hooks=())

    def write(tx: Tx) -> None:
        furnish(tx)
        for entry in entries:
            tx.history.add(entry)

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.history.of_task(TaskId("task-1"))) == entries
    assert await any_store.read(lambda tx: tx.history.get(HistoryId("a"))) == entries[1]


async def test_a_failing_transaction_leaves_nothing(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnish(tx)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await any_store.write(write)
    assert await any_store.read(lambda tx: tx.projects.all()) == []


async def test_a_transaction_is_a_plain_function(any_store: Database) -> None:
    async def not_plain(tx: Tx) -> None: ...

    with pytest.raises(AssertionError):
        await any_store.write(not_plain)
    with pytest.raises(AssertionError):
        await any_store.read(not_plain)
