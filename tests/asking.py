"""Questions on either database, without an engine, and a clock that tests turn."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agents_manager import bootstrap
from agents_manager.domain import pipeline
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import EffectRow, Task
from agents_manager.flow import tasks
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from tests import ready
from tests.api.scenes import QUESTION, Scene
from tests.repos import scripted_home

HASTY: Mapping[str, Any] = {
    "questions": [{**q, "default_after_s": 60} for q in QUESTION["questions"]]
}


@dataclass
class Clock:
    time: datetime = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def turn(self, **by: float) -> None:
        self.time += timedelta(**by)


@dataclass
class Table(Scene):
    clock: Clock

    async def prompt(self, prompt_id: str) -> Prompt:
        return await self.s.store.read(lambda tx: tx.prompts.find(prompt_id))

    async def now(self, task_id: TaskId) -> Task:
        return await self.s.store.read(lambda tx: tx.tasks.get(task_id))

    async def open(self, task_id: TaskId) -> list[Prompt]:
        return await self.s.store.read(lambda tx: tx.prompts.pending(task_id))

    async def effects(self, task_id: TaskId) -> list[EffectRow]:
        return await self.s.store.read(lambda tx: tx.effects.open(task_id))

    async def types(self, task_id: TaskId) -> list[str]:
        read = self.s.store.read
        events = await read(lambda tx: tx.events.of_task(task_id, after_seq=0, limit=500))
        return [e.type for e in events]

    async def change_pipeline(self, status: str, **prompt: Any) -> None:
        """From now on, the status of `feature` asks like this."""
        feature = self.s.built_in["feature"]
        statuses = [
            {**x, "prompt": {**x["prompt"], **prompt}} if x["id"] == status else x
            for x in feature["statuses"]
        ]
        document = {**feature, "statuses": statuses}
        parsed, now = pipeline.parse(document), self.clock.now()
        await self.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


@asynccontextmanager
async def seated(
    home: Path, repo: Path, address: str, clock: Clock, **overrides: Any
) -> AsyncIterator[Table]:
    url = address if "://" in address else None
    settings = Settings(scripted_home(home) if url else ready.home(scripted_home(home)), url)
    async with bootstrap.client(settings, clock=clock, **overrides) as program:
        s: Services = program.services
        known = await s.store.read(lambda tx: tx.projects.by_path(str(repo)))
        project = known or await tasks.add_project(s, repo, None, None)
        yield Table(s, project, clock)
