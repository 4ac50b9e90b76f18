"""Repositories that were registered, and the pipelines their tasks can follow."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Admin, Services
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import Actor, Project
from agents_manager.errors import Conflict, InvalidInput
from agents_manager.flow import agents, audit, paths, pipelines, places, ports, removal, tasks
from agents_manager.flow.places import HostPlace

router = APIRouter()

Lies = list[HostPlace]


@router.get("/projects", tags=["projects"])
async def list_projects(s: Services) -> pages.Projects:
    """Every registered project."""

    def read(tx: ports.Tx) -> list[tuple[Project, Lies]]:
        return [(p, places.of(tx, p)) for p in tx.projects.all()]

    found = await s.store.read(read)
    return pages.Projects(items=[_shown(s, p, lies) for p, lies in found], next=None)


@router.post("/projects", tags=["projects"], status_code=201)
async def add_project(s: Services, actor: Admin, form: forms.NewProject) -> schemas.Project:
    """Registers a git repository; its commands, as they stand now, may run from then on."""
    path = Path(form.path)
    if not path.is_absolute():
        raise InvalidInput("The project cannot be added.", ["path: give the absolute path"])
    return await _project(
        s, await tasks.add_project(s, path, form.name, form.base_branch, by=actor)
    )


@router.get("/projects/{project_id}", tags=["projects"])
async def get_project(s: Services, project_id: str) -> schemas.Project:
    """One project, by its id or name."""
    return await _project(s, await s.store.read(lambda tx: tx.projects.find(project_id)))


@router.patch("/projects/{project_id}", tags=["projects"])
async def change_project(
    s: Services, actor: Admin, project_id: str, form: forms.ProjectEdit
) -> schemas.Project:
    """Says where machines that lack a project clone it from."""
    return await _project(s, await places.set_remote(s, project_id, form.remote, actor))


@router.get("/projects/{project_id}/forge", tags=["projects"])
async def get_forge(s: Services, project_id: str) -> pages.ForgeState:
    """Which forge a project uses, and why this server cannot use it, such as a missing token."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    forge = s.configs.of(project).forge.type
    return pages.ForgeState(type=forge, trouble=await s.forge.trouble(project))


@router.get("/projects/{project_id}/settings", tags=["projects"])
async def list_settings(s: Services, project_id: str) -> pages.Settings:
    """Every setting in effect for a project, and the layer, file and line it comes from."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    found = s.configs.explain(project)
    items = [
        pages.Setting(
            key=one.key,
            value=one.value,
            layer=one.layer,
            file=None if one.file is None else str(one.file),
            line=one.line,
        )
        for one in found
    ]
    trouble = s.configs.trouble(project)
    errors = [trouble.message, *trouble.details] if trouble else []
    return pages.Settings(errors=errors, items=items, next=None)


@router.patch("/projects/{project_id}/settings", tags=["projects"])
async def change_settings(
    s: Services, actor: Admin, project_id: str, form: forms.SettingsForm
) -> pages.SettingsEdit:
    """Changes the project's own file, whole or not at all. Commands that are new or different run
    only once they are trusted."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    return await _edited(s, project, form, actor)


@router.patch("/settings", tags=["projects"])
async def change_user_settings(
    s: Services, actor: Admin, form: forms.SettingsForm
) -> pages.SettingsEdit:
    """Changes the user's file, which holds for all projects, whole or not at all."""
    return await _edited(s, None, form, actor)


async def _edited(
    s: ports.Services, project: Project | None, form: forms.SettingsForm, by: Actor
) -> pages.SettingsEdit:
    if not form.set and not form.unset:
        raise InvalidInput("There is nothing to change.", ["set, unset: give one of them"])
    edit = await asyncio.to_thread(s.configs.changed, project, form.set, form.unset)
    if form.expect is not None and form.expect != edit.fingerprint:
        raise Conflict(f"{edit.path} changed in the meantime; look at it again.")
    written = not form.dry_run and edit.after != edit.before
    if written:
        keys = [*form.set, *form.unset]
        await audit.change_settings(s, edit, keys, by, project.name if project else None)
    return pages.SettingsEdit(
        file=str(edit.path),
        fingerprint=edit.fingerprint,
        old=edit.before,
        new=edit.after,
        diff=edit.diff,
        written=written,
        changed_commands=agents.changes(project, s.configs.of(project)) if project else [],
    )


@router.post("/projects/{project_id}/trust", tags=["projects"])
async def trust_project(s: Services, actor: Admin, project_id: str) -> schemas.Project:
    """Allows the project's commands as they stand now."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    return await _project(s, await tasks.trust_project(s, project, by=actor))


@router.post("/projects/{project_id}/consent", tags=["projects"])
async def give_consent(s: Services, actor: Admin, project_id: str) -> schemas.Project:
    """Allows agents to work at the project without a sandbox, with the rights of the server."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    return await _project(s, await agents.consent(s, project, given=True, by=actor))


@router.delete("/projects/{project_id}/consent", tags=["projects"])
async def withdraw_consent(s: Services, actor: Admin, project_id: str) -> schemas.Project:
    """Allows it no longer; a turn that has begun is not stopped."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    return await _project(s, await agents.consent(s, project, given=False, by=actor))


@router.delete("/projects/{project_id}", tags=["projects"])
async def remove_project(
    s: Services, actor: Admin, project_id: str, query: Annotated[forms.RemoveQuery, Query()]
) -> pages.RemovedProject:
    """Forgets a project; its repository is left as it is. Refused while it has tasks, unless
    forced, and while an agent works at one, unless it is to be stopped first."""
    removed = await removal.remove_project(s, project_id, actor, force=query.force, stop=query.stop)
    return pages.RemovedProject.of(removed)


@router.get("/pipelines", tags=["pipelines"])
async def list_pipelines(s: Services) -> pages.Pipelines:
    """The newest version of every pipeline; a project's own has `@` and the project in its id."""
    found, _ = await pipelines.listed(s)
    return pages.Pipelines(items=[schemas.Pipeline.of(p) for p in found], next=None)


@router.get("/pipelines/{pipeline_id}", tags=["pipelines"])
async def get_pipeline(
    s: Services,
    pipeline_id: str,
    version: Annotated[forms.Count | None, Query()] = None,
) -> schemas.Pipeline:
    """A pipeline in one of its versions, the newest unless one is named."""

    def read(tx: ports.Tx) -> Pipeline:
        return tx.pipelines.get(pipelines.stored_id(tx, pipeline_id, None), version)

    return schemas.Pipeline.of(await s.store.read(read))


@router.get("/pipelines/{pipeline_id}/counts", tags=["pipelines"])
async def get_pipeline_counts(
    s: Services, pipeline_id: str, query: Annotated[forms.ProjectQuery, Query()]
) -> pages.PipelineCounts:
    """How many tasks are in each status now, how long tasks were there, and which transitions they
    took."""
    found = await s.store.read(lambda tx: paths.counts(tx, pipeline_id, query.project))
    return pages.PipelineCounts.of(found)


async def _project(s: ports.Services, project: Project) -> schemas.Project:
    return _shown(s, project, await s.store.read(lambda tx: places.of(tx, project)))


def _shown(s: ports.Services, project: Project, lies: Lies) -> schemas.Project:
    trouble, changed = s.configs.trouble(project), list[str]()
    trusted, base = False, project.base_branch
    if trouble is None or trouble.kept:
        config = s.configs.of(project)
        trusted = agents.trusted(project, config)
        changed = agents.changes(project, config)
        base = config.base_branch or base
    return schemas.Project(
        id=project.id,
        name=project.name,
        path=project.path,
        remote=project.remote,
        places=[schemas.ProjectPlace(host=p.host, name=p.name, path=p.path) for p in lies],
        away=places.away(s, project),
        base_branch=base,
        commands_trusted=trusted,
        changed_commands=changed,
        config_errors=[trouble.message, *trouble.details] if trouble else [],
        config_kept=trouble is None or trouble.kept,
        consented_at=project.consented_at,
        created_at=project.created_at,
    )
