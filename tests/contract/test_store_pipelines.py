"""Versions of pipelines and the tasks on them, the same on both databases."""

from datetime import timedelta
from typing import Any

from agents_manager.domain import pipeline as pipelines
from agents_manager.flow.ports import PipelineVersion, Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, PIPELINE, a_task, furnish


async def test_versions_and_documents_are_given_back_as_they_were_saved(
    any_store: Database,
) -> None:
    later = NOW + timedelta(days=1)
    changed: dict[str, Any] = {**PIPELINE, "name": "Changed"}

    def save(tx: Tx) -> None:
        tx.pipelines.save(pipelines.parse(PIPELINE), PIPELINE, NOW)
        tx.pipelines.save(pipelines.parse(changed), changed, later)

    await any_store.write(save)
    versions, first, second, none = await any_store.read(
        lambda tx: (
            tx.pipelines.versions("simple"),
            tx.pipelines.document("simple", 1),
            tx.pipelines.document("simple", 2),
            tx.pipelines.versions("other"),
        )
    )
    assert versions == [PipelineVersion(1, NOW), PipelineVersion(2, later)]
    kept = {key: value for key, value in PIPELINE.items() if key != "version"}
    assert (first, second, none) == (kept, {**kept, "name": "Changed"}, [])


async def test_one_document_may_be_the_pipeline_of_several_owners(any_store: Database) -> None:
    own = pipelines.parse(PIPELINE).model_copy(update={"id": "simple@project-1"})

    def save(tx: Tx) -> None:
        furnish(tx, "task-1", "task-2")
        tx.pipelines.save(own, PIPELINE, NOW)
        tx.tasks.add(a_task("task-3", pipeline_id=own.id))

    await any_store.write(save)
    for id in ("simple", own.id, "simple"):
        found = await any_store.read(lambda tx, id=id: tx.pipelines.get(id))
        assert (found.id, found.name) == (id, "Simple")
    shared, of_owner = await any_store.read(
        lambda tx: (tx.tasks.of_pipeline("simple"), tx.tasks.of_pipeline(own.id))
    )
    assert [t.id for t in shared] == ["task-1", "task-2"]
    assert [t.id for t in of_owner] == ["task-3"]
