"""A project whose runs end and tell what they found out."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager import bootstrap
from agents_manager.domain.ids import EffectId
from agents_manager.domain.knowledge import Node, Query
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Project, Task
from agents_manager.flow import tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict
from agents_manager.settings import Settings
from tests import repos
from tests.contract.store_values import NOW, a_run, an_effect
from tests.worlds import ANN

TOLD: Mapping[str, Any] = {
    "outcome": "partial",
    "files_created": [{"path": "src/auth/jwt.ts", "purpose": "Tokens", "lines": "1-150"}],
    "files_modified": [
        {"path": "src/db.ts", "lines": "4-6", "change_type": "add", "description": "A pool"}
    ],
    "patterns_discovered": [
        {
            "pattern": "Use AuthContext.getCurrentUser() for the user",
            "location": "src/auth/jwt.ts:10-20",
            "applies_to": ["auth"],
        }
    ],
    "gotchas": [
        {
            "issue": "The API takes 100 requests a minute",
            "discovered_in": "the payment API",
            "mitigation": "Wait and try again",
            "severity": "high",
        }
    ],
    "open_questions": [{"question": "Cookies or not?", "recommendation": "Cookies"}],
    "suggested_next_steps": [{"step": "Routes", "priority": "high"}],
}


@dataclass
class Scene:
    s: Services
    project: Project

    async def task(self, title: str = "Tokens", **fields: Any) -> Task:
        new = tasks.NewTask(title=title, pipeline="simple", **fields)
        return await tasks.create(self.s, self.project, new, ANN)

    async def run(self, task: Task, number: int = 1) -> Run:
        """One that works at the task."""
        effect = an_effect(f"{task.id}-{number}", task.id, status="started")
        run = a_run(
            f"run-{number}-{task.id}",
            task.id,
            project_id=self.project.id,
            effect_id=EffectId(effect.id),
            status=RunStatus.RUNNING,
            started_at=NOW,
            base_sha="0" * 40,
        )

        def write(tx: Tx) -> None:
            tx.effects.add(effect)
            tx.runs.add(run)

        await self.s.store.write(write)
        return run

    async def end(self, task: Task, number: int = 1, **told: Any) -> Run:
        run = await self.run(task, number)
        await close.close(run.id, verdict(**told), self.s)
        return run

    async def nodes(self, **query: Any) -> list[Node]:
        asked = Query(project_id=self.project.id, **query)
        return await self.s.store.read(lambda tx: tx.knowledge.search(asked, limit=50))

    async def types(self, task: Task) -> list[str]:
        logged = await self.s.store.read(
            lambda tx: tx.events.of_task(task.id, after_seq=0, limit=100)
        )
        return [e.type for e in logged]


def verdict(**told: Any) -> Verdict:
    document = {**TOLD, **told}
    return Verdict(
        outcome="pr_ready",
        payload=None,
        head_sha="c" * 40,
        handoff={"document": document, "source": "message", "completeness": 0.5},
    )


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Scene]:
    repo = repos.make_repo(tmp_path / "repo", {"README.md": "Hello\n"})
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        yield Scene(program.services, await tasks.add_project(program.services, repo, None, None))
