"""Projects, and the versions of pipelines."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import Project
from agents_manager.errors import (
    InvalidInput,
    InvalidPipeline,
    PipelineNotFound,
    ProjectExists,
    ProjectNotFound,
)
from agents_manager.flow.ports import Here, PipelineVersion
from agents_manager.store import knowledge_gone, schema
from agents_manager.store.columns import Unreadable
from agents_manager.store.rows import Rows, corrupt, violates
from agents_manager.store.statements import Session

PROJECTS = Rows(schema.project, Project, ProjectNotFound)
_PROJECT = schema.project.c
_NAMED = PROJECTS.select.where(
    or_(
        _PROJECT.id == bindparam("wanted"),
        _PROJECT.name == bindparam("wanted"),
        _PROJECT.path == bindparam("wanted"),
    )
)
_BY_PATH = PROJECTS.select.where(_PROJECT.path == bindparam("wanted"))
_PLACES = select(schema.place.c.project_id, schema.place.c.host, schema.place.c.path)
_PUT = insert(schema.place)
_MOVE = update(schema.place).where(
    schema.place.c.host == bindparam("b_host"),
    schema.place.c.project_id == bindparam("b_project"),
)
_DELETE_PROJECT = delete(schema.project).where(_PROJECT.id == bindparam("b_id"))
_ALL_PROJECTS = PROJECTS.select.order_by(_PROJECT.created_at, _PROJECT.id)

_PIPELINE = schema.pipeline.c
_ONE = select(_PIPELINE.version, _PIPELINE.hash).where(
    _PIPELINE.id == bindparam("wanted"), _PIPELINE.version == bindparam("number")
)
_NEWEST = (
    select(_PIPELINE.version, _PIPELINE.hash)
    .where(_PIPELINE.id == bindparam("wanted"))
    .order_by(_PIPELINE.version.desc())
    .limit(1)
)
_DOCUMENT = select(_PIPELINE.document).where(
    _PIPELINE.id == bindparam("wanted"), _PIPELINE.version == bindparam("number")
)
_VERSIONS = (
    select(_PIPELINE.version, _PIPELINE.created_at)
    .where(_PIPELINE.id == bindparam("wanted"))
    .order_by(_PIPELINE.version)
)
_EACH_NEWEST = (
    select(_PIPELINE.id, func.max(_PIPELINE.version)).group_by(_PIPELINE.id).order_by(_PIPELINE.id)
)
_ADD_PIPELINE = insert(schema.pipeline)
_DELETE_PIPELINE = delete(schema.pipeline).where(_PIPELINE.id == bindparam("b_id"))


@dataclass(frozen=True, slots=True)
class Parsed:
    """Pipelines that were read before: parsing one takes longer than a whole transition."""

    by_hash: dict[str, Pipeline] = field(default_factory=dict[str, Pipeline])
    by_version: dict[tuple[str, int], Pipeline] = field(
        default_factory=dict[tuple[str, int], Pipeline]
    )
    """A version never changes; one that a transaction has just saved may be taken back with it."""


class Projects:
    def __init__(self, session: Session, here: Here | None, wrote: Callable[[], None]) -> None:
        self._session = session
        self._here = here
        self._wrote = wrote

    def add(self, project: Project) -> None:
        try:
            PROJECTS.add(self._session, project)
            if self._here is not None:
                self.put(project.id, project.path)
                self._wrote()  # Other machines clone it.
        except IntegrityError as error:
            if not violates(error, "uq_am_project_path", "am_project.path"):
                raise
            raise ProjectExists(f'"{project.path}" is already registered.') from error

    def get(self, project_id: ProjectId) -> Project:
        return self._local([PROJECTS.get(self._session, project_id)])[0]

    def find(self, name_or_id: str) -> Project:
        found = self._local(PROJECTS.all(self._session, _NAMED, {"wanted": name_or_id}))
        if not found and (lies := self.by_path(name_or_id)) is not None:
            return lies
        exact = [project for project in found if project.id == name_or_id] or found
        if not exact:
            raise PROJECTS.not_found(name_or_id)
        if len(exact) > 1:
            raise InvalidInput(
                f'Several projects are called "{name_or_id}"; use the id or the path.',
                [f"{project.id} {project.path}" for project in exact],
            )
        return exact[0]

    def by_path(self, path: str) -> Project | None:
        if self._here is None:
            return PROJECTS.first(self._session, _BY_PATH, {"wanted": path})
        return next((project for project in self.all() if project.path == path), None)

    def all(self) -> list[Project]:
        return self._local(PROJECTS.all(self._session, _ALL_PROJECTS))

    def update(self, project_id: ProjectId, **fields: Any) -> None:
        PROJECTS.update(self._session, project_id, fields)
        if "remote" in fields:
            self._wrote()

    def places(self) -> Mapping[ProjectId, Mapping[str, str]]:
        found: dict[ProjectId, dict[str, str]] = {}
        for project_id, host, path in self._session.all(_PLACES, {}):
            found.setdefault(project_id, {})[host] = path
        return found

    def put(self, project_id: ProjectId, path: str) -> None:
        assert self._here is not None, "one machine alone needs no places"
        place = {"b_host": self._here.host, "b_project": project_id}
        if self._session.run(_MOVE, {**place, "path": path}) == 0:
            row = {"host": self._here.host, "project_id": project_id, "path": path}
            self._session.run(_PUT, row)

    def _local(self, projects: list[Project]) -> list[Project]:
        """With the paths of this machine."""
        if self._here is None or not projects:
            return projects
        known, here = self.places(), self._here

        def path(project: Project) -> str:
            places = known.get(project.id)
            if places is None:
                return project.path
            return places.get(here.host) or str(here.projects / project.id)

        return [replace(project, path=path(project)) for project in projects]

    def delete(self, project_id: ProjectId) -> None:
        knowledge_gone.of_project(self._session, project_id)
        self._session.run(_DELETE_PROJECT, {"b_id": project_id})
        self._wrote()


class Pipelines:
    def __init__(self, session: Session, parsed: Parsed) -> None:
        self._session = session
        self._parsed = parsed
        self._saved = False

    def save(self, pipeline: Pipeline, document: Mapping[str, Any], now: datetime) -> Pipeline:
        kept = {name: value for name, value in document.items() if name != "version"}
        canonical = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        hash = hashlib.sha256(canonical.encode()).hexdigest()
        newest = self._session.one(_NEWEST, {"wanted": pipeline.id})
        if newest is not None and newest[1] == hash:
            return pipeline.model_copy(update={"version": newest[0]})
        version = 1 if newest is None else newest[0] + 1
        row = {"id": pipeline.id, "version": version, "document": kept, "hash": hash}
        self._session.run(_ADD_PIPELINE, {**row, "created_at": now})
        self._saved = True
        return pipeline.model_copy(update={"version": version})

    def get(self, pipeline_id: str, version: int | None = None) -> Pipeline:
        known = self._parsed.by_version.get((pipeline_id, version or 0))
        if known is not None and not self._saved:
            return known
        if version is None:
            row = self._session.one(_NEWEST, {"wanted": pipeline_id})
        else:
            row = self._session.one(_ONE, {"wanted": pipeline_id, "number": version})
        if row is None:
            numbered = "" if version is None else f" in version {version}"
            raise PipelineNotFound(f'There is no pipeline "{pipeline_id}"{numbered}.')
        number, hash = row
        pipeline = self._parsed.by_hash.get(hash)
        if pipeline is None:
            pipeline = self._parsed.by_hash[hash] = self._read(pipeline_id, number)
        if (pipeline.id, pipeline.version) != (pipeline_id, number):
            # The same document may be another version, or belong to another project.
            pipeline = pipeline.model_copy(update={"id": pipeline_id, "version": number})
        if not self._saved:
            self._parsed.by_version[pipeline_id, number] = pipeline
        return pipeline

    def versions(self, pipeline_id: str) -> list[PipelineVersion]:
        rows = self._session.all(_VERSIONS, {"wanted": pipeline_id})
        return [PipelineVersion(version, created_at) for version, created_at in rows]

    def document(self, pipeline_id: str, version: int) -> Mapping[str, Any]:
        key = {"wanted": pipeline_id, "number": version}
        document = self._session.scalar(_DOCUMENT, key)
        if isinstance(document, Unreadable):
            raise corrupt("am_pipeline", f"{pipeline_id} {version}", "document", document.reason)
        return document

    def all(self) -> list[Pipeline]:
        newest = self._session.all(_EACH_NEWEST)
        return [self.get(id, version) for id, version in newest]

    def delete(self, pipeline_id: str) -> None:
        self._session.run(_DELETE_PIPELINE, {"b_id": pipeline_id})

    def _read(self, pipeline_id: str, version: int) -> Pipeline:
        document = self.document(pipeline_id, version)
        try:
            pipeline = pipelines.parse(document, where=f"version {version}")
        except InvalidPipeline as error:
            reason = "; ".join((error.message, *error.details))
            name = f"{pipeline_id} {version}"
            raise corrupt("am_pipeline", name, "document", reason) from error
        return pipeline.model_copy(update={"version": version})
