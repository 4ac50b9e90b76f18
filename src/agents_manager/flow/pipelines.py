"""Pipelines and their versions: saving, importing, and those that a project brings along.

A saved version never changes. A project's own pipeline is kept under `<name>@<project id>`, so that
only the tasks of that project find it; there it comes before one that all projects share."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from agents_manager.domain import lint
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.audit import Deed
from agents_manager.domain.finding import Finding
from agents_manager.domain.pipeline import Pipeline, located
from agents_manager.domain.registry import Registry
from agents_manager.domain.task import SYSTEM, Actor, Project
from agents_manager.errors import (
    InvalidConfig,
    InvalidInput,
    InvalidPipeline,
    PipelineNotFound,
    closest,
)
from agents_manager.flow import audit, migration
from agents_manager.flow.ports import PipelineFile, Services, Tx
from agents_manager.flow.registries import registry_of

log = structlog.get_logger()

OF = "@"
Lines = Callable[[], Mapping[str, int]]
"""The line of each place in a document, found only when something is wrong."""


@dataclass(frozen=True, slots=True)
class Saved:
    pipeline: Pipeline
    new: bool
    """False when the newest version said the same already."""
    behind: int
    """Unfinished tasks on older versions."""
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Brought:
    """A pipeline file of a project, and what came of it."""

    project: Project
    name: str
    path: str
    pipeline: Pipeline | None
    """The last good version."""
    errors: tuple[str, ...]
    """Why the file, as it is now, is not used."""


@dataclass(frozen=True, slots=True)
class Version:
    version: int
    created_at: datetime
    tasks: int
    """Unfinished tasks on it."""


def has_checks(s: Services, project: Project | None) -> bool:
    """What a simulation takes for given: outside of a project, that there are some."""
    return project is None or any(c.own for c in s.configs.of(project).checks)


def check_outcomes(s: Services, project: Project, pipeline: Pipeline, status: str) -> None:
    """Refuses a run whose outcomes could not be told from each other: a file of the project was
    removed or broken since its pipeline was saved."""
    registry = registry_of(s, project)
    offered = registry.offered(pipeline, status)
    missing = [name for name in offered if name not in registry.outcomes]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        why = f'Nothing in project "{project.name}" defines the outcome {names} any more.'
        raise InvalidConfig(why, s.files.outcomes(project)[1])


async def add(
    s: Services,
    document: Any,
    *,
    where: str = "The pipeline",
    lines: Lines = dict,
    by: Actor = SYSTEM,
) -> Saved:
    """Keeps a pipeline for all projects, as its next version."""
    parsed = _parsed(document, where, lines)
    warnings = _linted(parsed, s.registry, lines)
    if parsed.id in s.built_in:
        plugin = s.registry.source("pipeline", parsed.id)
        whose = f"comes from the plugin {plugin}" if plugin else "is built in"
        raise InvalidPipeline(
            f'"{parsed.id}" {whose}. Give yours another id, or put it into the folder '
            ".agents-manager/pipelines of the project that it is for."
        )
    saved = await s.store.write(lambda tx: _save(tx, s, parsed, document, by))
    return replace(saved, warnings=warnings)


async def install(s: Services) -> None:
    """Built-in pipelines that changed become new versions; tasks keep the one they began with."""
    known = await s.store.read(lambda tx: {p.id: p for p in tx.pipelines.all()})
    for document in s.built_in.values():
        parsed = pipelines.parse(document)
        if _same(parsed, known.get(parsed.id)):
            continue
        _linted(parsed, s.registry, dict)
        await s.store.write(lambda tx, p=parsed, d=document: _save(tx, s, p, d, None))


async def reload(s: Services, project: Project) -> list[Brought]:
    """Reads the project's pipeline files. Those that changed become new versions; of a broken one
    the last good version stays in use."""
    registry = registry_of(s, project)
    # Off the loop: a large file takes a while.
    files = await asyncio.to_thread(s.files.pipelines, project)
    return [await _brought(s, project, file, registry) for file in files]


async def choose(s: Services, project: Project, name: str) -> str:
    """The stored id of the pipeline that a new task of the project follows: the project's own
    before the one for all."""
    base, mark, owner = name.partition(OF)
    if mark and owner not in (project.id, project.name):
        raise InvalidInput(f'Pipeline "{name}" is not of project "{project.name}".')
    for found in await reload(s, project):
        if found.name == base:
            if found.pipeline is None:
                raise InvalidPipeline(f"{found.path} cannot be used.", found.errors)
            return found.pipeline.id
    return name


async def listed(s: Services) -> tuple[list[Pipeline], list[Brought]]:
    """The newest version of every pipeline that new tasks can follow, and what the projects' files
    have come to."""
    projects = await s.store.read(lambda tx: tx.projects.all())
    brought = [found for project in projects for found in await files_of(s, project)]
    in_use = {file.pipeline.id for file in brought if file.pipeline}
    known = await s.store.read(lambda tx: tx.pipelines.all())
    return [p for p in known if OF not in p.id or p.id in in_use], brought


async def files_of(s: Services, project: Project) -> list[Brought]:
    """What the project's files have come to, those of its outcomes too if they are broken."""
    try:
        _, errors = s.files.outcomes(project)
        found = await reload(s, project)
    except InvalidConfig as error:
        return [Brought(project, "", project.path, None, (error.message,))]
    return [*found, *([Brought(project, "", project.path, None, errors)] if errors else [])]


def stored_id(tx: Tx, name: str, project: Project | None) -> str:
    """From what people write: `name`, of this project first, or `name@project`."""
    base, mark, owner = name.partition(OF)
    if mark:
        return f"{base}{OF}{tx.projects.find(owner).id}"
    own = f"{name}{OF}{project.id}" if project else None
    if own and tx.pipelines.versions(own):
        return own
    if not tx.pipelines.versions(name):
        known = [p.id for p in tx.pipelines.all() if OF not in p.id]
        raise PipelineNotFound(f'There is no pipeline "{name}".{closest(name, known)}')
    return name


def plain(pipeline_id: str) -> str:
    """The name that a pipeline has within its project."""
    return pipeline_id.partition(OF)[0]


def versions(tx: Tx, pipeline_id: str) -> list[Version]:
    """Every version of a pipeline, the newest first."""
    unfinished = [
        task.pipeline_version
        for task in tx.tasks.of_pipeline(pipeline_id)
        if not tx.pipelines.get(pipeline_id, task.pipeline_version).is_final(task.status)
    ]
    return [
        Version(v.version, v.created_at, unfinished.count(v.version))
        for v in reversed(tx.pipelines.versions(pipeline_id))
    ]


def document(tx: Tx, pipeline_id: str, version: int | None) -> Mapping[str, Any]:
    """A version as it was saved."""
    return tx.pipelines.document(pipeline_id, tx.pipelines.get(pipeline_id, version).version)


async def _brought(
    s: Services, project: Project, file: PipelineFile, registry: Registry
) -> Brought:
    own = f"{file.name}{OF}{project.id}"
    good = await s.store.read(lambda tx: _newest(tx, own))
    errors = file.errors
    if file.document is not None:
        try:
            good = await _renewed(s, file, file.document, own, good, registry)
        except InvalidPipeline as error:
            errors = (*(error.details or (error.message,)), *s.files.outcomes(project)[1])
    if errors:
        log.warning("pipeline.broken", project=project.name, file=str(file.path), details=errors)
    return Brought(project, file.name, str(file.path), good, errors)


async def _renewed(
    s: Services,
    file: PipelineFile,
    document: Mapping[str, Any],
    own: str,
    good: Pipeline | None,
    registry: Registry,
) -> Pipeline:
    """What the file says now, saved unless it is known; it is linted only then."""
    read = _parsed(document, str(file.path), file.lines).model_copy(update={"id": own})
    if good is not None and _same(read, good):
        return good
    _linted(read, registry, file.lines)
    return (await s.store.write(lambda tx: _save(tx, s, read, document, SYSTEM))).pipeline


def _parsed(document: object, where: str, lines: Lines) -> Pipeline:
    try:
        return pipelines.parse(document, where=where)
    except InvalidPipeline as error:
        raise InvalidPipeline(error.message, located(error.details, lines())) from None


def _linted(parsed: Pipeline, registry: Registry, lines: Lines) -> tuple[Finding, ...]:
    """Its warnings, or InvalidPipeline."""
    try:
        return tuple(lint.refuse_errors(parsed, registry))
    except InvalidPipeline as error:
        raise InvalidPipeline(error.message, located(error.details, lines())) from None


def _save(
    tx: Tx, s: Services, parsed: Pipeline, document: Mapping[str, Any], by: Actor | None
) -> Saved:
    """What comes with the program is nobody's decision."""
    newest = _newest(tx, parsed.id)
    if newest is not None and _same(parsed, newest):
        return Saved(newest, new=False, behind=len(migration.behind(tx, newest)))
    now = s.clock.now()
    saved = tx.pipelines.save(parsed, document, now)
    if by is not None:
        summary = f'saved version {saved.version} of pipeline "{saved.id}"'
        said = {"pipeline": saved.id, "version": saved.version}
        audit.note(tx, now, by, Deed.PIPELINE_SAVED, summary, **said)
    return Saved(saved, new=True, behind=len(migration.behind(tx, saved)))


def _newest(tx: Tx, pipeline_id: str) -> Pipeline | None:
    return tx.pipelines.get(pipeline_id) if tx.pipelines.versions(pipeline_id) else None


def _same(parsed: Pipeline, newest: Pipeline | None) -> bool:
    return newest is not None and parsed.model_copy(update={"version": newest.version}) == newest
