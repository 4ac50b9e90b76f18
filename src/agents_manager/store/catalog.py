"""Projects, and the versions of pipelines."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select
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
from agents_manager.flow.ports import PipelineVersion
from agents_manager.store import schema
from agents_manager.store.columns import Unreadable
from agents_manager.store.rows import Rows, corrupt, violates

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

Parsed = dict[str, Pipeline]
"""Pipelines by the hash of their document: parsing takes longer than a whole transition, and a
hash, unlike a version, cannot be taken back by a rollback."""


class Projects:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, project: Project) -> None:
        try:
            PROJECTS.add(self._connection, project)
        except IntegrityError as error:
            if not violates(error, "uq_am_project_path", "am_project.path"):
                raise
            raise ProjectExists(f'"{project.path}" is already registered.') from error

    def get(self, project_id: ProjectId) -> Project:
        return PROJECTS.get(self._connection, project_id)

    def find(self, name_or_id: str) -> Project:
        found = PROJECTS.all(self._connection, _NAMED, {"wanted": name_or_id})
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
        return PROJECTS.first(self._connection, _BY_PATH, {"wanted": path})

    def all(self) -> list[Project]:
        return PROJECTS.all(self._connection, _ALL_PROJECTS)

    def update(self, project_id: ProjectId, **fields: Any) -> None:
        PROJECTS.update(self._connection, project_id, fields)


class Pipelines:
    def __init__(self, connection: Connection, parsed: Parsed) -> None:
        self._connection = connection
        self._parsed = parsed

    def save(self, pipeline: Pipeline, document: Mapping[str, Any], now: datetime) -> Pipeline:
        kept = {name: value for name, value in document.items() if name != "version"}
        canonical = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        hash = hashlib.sha256(canonical.encode()).hexdigest()
        newest = self._connection.execute(_NEWEST, {"wanted": pipeline.id}).first()
        if newest is not None and newest.hash == hash:
            return pipeline.model_copy(update={"version": newest.version})
        version = 1 if newest is None else newest.version + 1
        row = {"id": pipeline.id, "version": version, "document": kept, "hash": hash}
        self._connection.execute(_ADD_PIPELINE, {**row, "created_at": now})
        return pipeline.model_copy(update={"version": version})

    def get(self, pipeline_id: str, version: int | None = None) -> Pipeline:
        if version is None:
            row = self._connection.execute(_NEWEST, {"wanted": pipeline_id}).first()
        else:
            row = self._connection.execute(_ONE, {"wanted": pipeline_id, "number": version}).first()
        if row is None:
            numbered = "" if version is None else f" in version {version}"
            raise PipelineNotFound(f'There is no pipeline "{pipeline_id}"{numbered}.')
        pipeline = self._parsed.get(row.hash)
        if pipeline is None:
            pipeline = self._parsed[row.hash] = self._read(pipeline_id, row.version)
        if (pipeline.id, pipeline.version) == (pipeline_id, row.version):
            return pipeline
        # The same document may be another version, or belong to another project.
        return pipeline.model_copy(update={"id": pipeline_id, "version": row.version})

    def versions(self, pipeline_id: str) -> list[PipelineVersion]:
        rows = self._connection.execute(_VERSIONS, {"wanted": pipeline_id})
        return [PipelineVersion(version, created_at) for version, created_at in rows]

    def document(self, pipeline_id: str, version: int) -> Mapping[str, Any]:
        key = {"wanted": pipeline_id, "number": version}
        document = self._connection.execute(_DOCUMENT, key).scalar_one()
        if isinstance(document, Unreadable):
            raise corrupt("am_pipeline", f"{pipeline_id} {version}", "document", document.reason)
        return document

    def all(self) -> list[Pipeline]:
        newest = self._connection.execute(_EACH_NEWEST).all()
        return [self.get(id, version) for id, version in newest]

    def _read(self, pipeline_id: str, version: int) -> Pipeline:
        document = self.document(pipeline_id, version)
        try:
            pipeline = pipelines.parse(document, where=f"version {version}")
        except InvalidPipeline as error:
            reason = "; ".join((error.message, *error.details))
            name = f"{pipeline_id} {version}"
            raise corrupt("am_pipeline", name, "document", reason) from error
        return pipeline.model_copy(update={"version": version})
