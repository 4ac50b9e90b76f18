"""Pipelines for tests: the shipped one, changed ones, and those that a project brings along."""

import json
import os
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain.task import Project, Task
from agents_manager.flow import tasks
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from tests.worlds import ANN

Document = dict[str, Any]


def shipped(name: str = "simple") -> Document:
    return json.loads(files("agents_manager").joinpath(f"pipelines/{name}.json").read_text())


def mine(**changed: Any) -> Document:
    return {**shipped(), "id": "mine", **changed}


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        yield program


@pytest.fixture
def s(program: Program) -> Services:
    return program.services


@pytest.fixture
async def project(s: Services, repo: Path) -> Project:
    return await tasks.add_project(s, repo, "shop", None)


async def create(s: Services, project: Project, pipeline: str | None = None) -> Task:
    return await tasks.create(s, project, tasks.NewTask(title="A task", pipeline=pipeline), ANN)


def define(repo: Path, name: str, schema: object) -> Path:
    """A file of the project's outcomes, newer than what was there."""
    folder = repo / ".agents-manager" / "outcomes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema, indent=1))
    os.utime(path, ns=(before + 10**9, before + 10**9))
    return path


def bring(repo: Path, name: str, content: object) -> Path:
    """A file of the project's pipelines, as one who edits it would leave it."""
    folder = repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    stamp = path.stat().st_mtime_ns + len(list(folder.iterdir())) * 10**9
    os.utime(path, ns=(stamp, stamp))
    return path
