"""Versions of pipelines: added, given out, migrated to; and those that a project brings along."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Admin, Services
from agents_manager.flow import migration, pipelines
from agents_manager.flow.ports import Tx

router = APIRouter(tags=["pipelines"])


@router.post("/pipelines")
async def add_pipeline(
    s: Services, actor: Admin, document: Annotated[dict[str, Any], Body()]
) -> pages.SavedPipeline:
    """Saves a pipeline for all projects, as the next version of its id."""
    saved = await pipelines.add(s, document, by=actor)
    return pages.SavedPipeline(
        pipeline=schemas.Pipeline.of(saved.pipeline),
        new=saved.new,
        behind=saved.behind,
        warnings=[pages.Finding.of(w) for w in saved.warnings],
    )


@router.get("/pipelines/{pipeline_id}/document")
async def get_pipeline_document(
    s: Services, pipeline_id: str, version: Annotated[forms.Count | None, Query()] = None
) -> dict[str, Any]:
    """A version as it was saved, the newest unless one is named."""

    def read(tx: Tx) -> Mapping[str, Any]:
        return pipelines.document(tx, pipelines.stored_id(tx, pipeline_id, None), version)

    return dict(await s.store.read(read))


@router.get("/pipelines/{pipeline_id}/versions")
async def list_pipeline_versions(s: Services, pipeline_id: str) -> pages.PipelineVersions:
    """Every version of a pipeline, the newest first."""
    found = await s.store.read(
        lambda tx: pipelines.versions(tx, pipelines.stored_id(tx, pipeline_id, None))
    )
    return pages.PipelineVersions(items=[pages.PipelineVersion.of(v) for v in found], next=None)


@router.post("/pipelines/{pipeline_id}/migrate")
async def migrate_tasks(
    s: Services, actor: Admin, pipeline_id: str, form: forms.MigrateForm
) -> pages.Migration:
    """Where tasks on older versions would stand; with `apply` they are taken there, all or none."""
    stored = await s.store.read(lambda tx: pipelines.stored_id(tx, pipeline_id, None))
    moved = await migration.migrate(
        s,
        stored,
        actor,
        version=form.to,
        statuses=form.map,
        task_id=form.task,
        apply=form.apply,
    )
    steps = [
        pages.MigrationStep(
            task_id=step.task.id,
            title=step.task.title,
            version=step.task.pipeline_version,
            source=step.task.status,
            to=step.to,
            problem=step.problem,
        )
        for step in moved.steps
    ]
    pipeline = moved.pipeline
    return pages.Migration(
        pipeline_id=pipeline.id, version=pipeline.version, applied=moved.applied, tasks=steps
    )


@router.get("/projects/{project_id}/pipelines")
async def list_project_pipelines(s: Services, project_id: str) -> pages.PipelineFiles:
    """The pipeline files of a project, read now, and what came of each."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    items = [
        pages.PipelineFile(
            name=file.name,
            path=file.path,
            pipeline_id=file.pipeline.id if file.pipeline else None,
            version=file.pipeline.version if file.pipeline else None,
            errors=list(file.errors),
        )
        for file in await pipelines.reload(s, project)
    ]
    return pages.PipelineFiles(items=items, next=None)
