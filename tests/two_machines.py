"""Two machines on one Postgres database, each with a data directory of its own, without engines:
what one of them performs is said by the test."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain.ids import ProjectId, RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow, Project, Task
from agents_manager.flow import agents, hooks, tasks
from agents_manager.flow.ports import Services, Tx
from tests.engine_walk import AtOnce
from tests.machines import client, last_heard
from tests.repos import make_repo, run, scripted_home
from tests.worlds import ANN, NO_RETRIES


@dataclass
class Machine:
    program: Program
    project: Project

    @property
    def s(self) -> Services:
        return self.program.services

    @property
    def id(self) -> str:
        assert self.s.here is not None
        return self.s.here.host

    async def start(self, script: Mapping[str, Any], **fields: Any) -> Run:
        """A run that waits to be given to a machine."""
        block = f"```agent-script\n{json.dumps(script)}\n```"
        new = tasks.NewTask(
            **{"title": "Add greeting", "description": block, "pipeline": "simple", **fields}
        )
        task = await tasks.create(self.s, self.project, new, ANN)
        await tasks.move(self.s, task.id, ANN)
        (run,) = await self.s.store.read(lambda tx: tx.runs.live(task.id))
        return run

    async def take(self, run: Run) -> EffectRow:
        """The run is given to this machine."""

        def write(tx: Tx) -> EffectRow:
            tx.runs.update(run.id, host=self.id)
            return self._begin(tx, tx.effects.get(run.effect_id))

        return await self.s.store.write(write)

    def _begin(self, tx: Tx, row: EffectRow) -> EffectRow:
        tx.effects.update(row.id, status="started", host=self.id)
        return tx.effects.get(row.id)

    async def perform(self, row: EffectRow) -> None:
        await hooks.perform(row.id, row.attempt, self.s, AtOnce())

    async def work(self, run: Run) -> Run:
        """Performs a run from its beginning to its end."""
        await self.perform(await self.take(run))
        return await self.run(run.id)

    async def open(self, task_id: str, kind: str) -> EffectRow:
        """Takes an effect of a task that waits to be performed."""

        def write(tx: Tx) -> EffectRow:
            (row,) = [e for e in tx.effects.open(tasks.TaskId(task_id)) if e.kind == kind]
            return self._begin(tx, row)

        return await self.s.store.write(write)

    async def run(self, run_id: RunId) -> Run:
        return await self.s.store.read(lambda tx: tx.runs.get(run_id))

    async def task(self, run: Run) -> Task:
        return await self.s.store.read(lambda tx: tx.tasks.get(run.task_id))

    def heard(self, ago: timedelta = timedelta()) -> None:
        """When this machine was last heard of."""
        last_heard(self.program.database, self.id, ago)


@dataclass
class Pair:
    a: Machine
    b: Machine


def _put(tx: Tx, project_id: ProjectId, path: Path) -> Project:
    tx.projects.put(project_id, str(path))
    return tx.projects.get(project_id)


@asynccontextmanager
async def machines(folder: Path, url: str) -> AsyncIterator[Pair]:
    """Both have the project, each at a place of its own."""
    repo = make_repo(folder / "a repo", {"README.md": "Hello\n", "greeting.txt": "hi\n"})
    run(folder, "clone", "-q", str(repo), str(folder / "b repo"))
    async with (
        client(scripted_home(folder / "a", **NO_RETRIES), url) as a,
        client(scripted_home(folder / "b", **NO_RETRIES), url) as b,
    ):
        project = await tasks.add_project(a.services, repo, None, None)
        project = await agents.consent(a.services, project, given=True)
        theirs = await b.services.store.write(lambda tx: _put(tx, project.id, folder / "b repo"))
        yield Pair(Machine(a, project), Machine(b, theirs))


@pytest.fixture
async def pair(tmp_path: Path, own_home: Path, shared_url: str) -> AsyncIterator[Pair]:
    async with machines(tmp_path, shared_url) as pair:
        yield pair
