"""Situations that tests begin with, made through the flow; and one look at every error."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from agents_manager import bootstrap
from agents_manager.api import auth, server
from agents_manager.api.doors import Public
from agents_manager.bootstrap import Program
from agents_manager.domain import event
from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import Trigger, TriggerType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import SYSTEM, Actor, ActorType, Project, Task
from agents_manager.flow import tasks, transitions
from agents_manager.flow.ports import Services, Tx
from tests.stage_samples import SAMPLES

OWNER = "ann"
PORT = 4100
ANN = Actor(type=ActorType.USER, name=OWNER, via="cli", admin=True)

QUESTION = {
    "questions": [
        {
            "id": "q1",
            "question": "Which colour?",
            "input_type": "choice",
            "options": [{"label": "Red", "recommended": True}, {"label": "Blue"}],
        },
        {"id": "q2", "question": "Why?", "suggested_answer": "Because."},
    ]
}
ANSWER = {
    "answers": [{"question_id": "q1", "option": "Blue"}, {"question_id": "q2", "text": "So."}]
}


@dataclass
class Scene:
    s: Services
    project: Project

    async def task(self, title: str = "Add search", **fields: Any) -> Task:
        return await tasks.create(self.s, self.project, tasks.NewTask(title=title, **fields), ANN)

    async def running(self, title: str = "Add search", **fields: Any) -> tuple[Task, Run]:
        """A task whose agent was ordered; nothing here will start it."""
        task = await self.task(title, **fields)
        await tasks.move(self.s, task.id, ANN)

        def read(tx: Tx) -> tuple[Task, Run]:
            (run,) = tx.runs.live(task.id)
            return tx.tasks.get(task.id), run

        return await self.s.store.read(read)

    async def stage(self, *outcomes: str) -> tuple[Task, Run]:
        """A staged task whose first stages ended so, with the run of the next."""
        task, run = await self.running(pipeline="staged")

        def write(tx: Tx, outcome: str, run: Run) -> Run:
            payload, now = SAMPLES[outcome], self.s.clock.now()
            ended = {"status": RunStatus.COMPLETED, "outcome": outcome, "payload": payload}
            for one in tx.runs.live(task.id):
                tx.runs.update(one.id, ended_at=now, **ended)
            trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)
            transitions.report(tx, self.s, task.id, Fired(trigger=trigger, payload=payload), SYSTEM)
            return next(iter(tx.runs.live(task.id)), run)

        for outcome in outcomes:
            run = await self.s.store.write(lambda tx, o=outcome, r=run: write(tx, o, r))
        return task, run

    async def asking(
        self,
        outcome: str = "needs_info",
        payload: Mapping[str, Any] = QUESTION,
        title: str = "Add search",
        **fields: Any,
    ) -> Prompt:
        """A question that an agent put."""
        task, run = await self.running(title, **fields)
        trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)

        def write(tx: Tx) -> Prompt:
            now = self.s.clock.now()
            if outcome == "plan_complete":
                tx.tasks.update(task.id, now, plan="First this, then that.")
            tx.runs.update(run.id, status=RunStatus.COMPLETED, agent="scripted", ended_at=now)
            transitions.report(tx, self.s, task.id, Fired(trigger=trigger, payload=payload), SYSTEM)
            return tx.prompts.pending(task.id)[0]

        return await self.s.store.write(write)

    async def finish(self, task: Task) -> None:
        """Ends a task that was started, by the decision that nothing is left to do."""
        trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="no_changes")

        def write(tx: Tx) -> None:
            for run in tx.runs.live(task.id):
                tx.runs.update(run.id, status=RunStatus.COMPLETED, ended_at=self.s.clock.now())
            transitions.report(tx, self.s, task.id, Fired(trigger=trigger), SYSTEM)

        await self.s.store.write(write)
        await tasks.move(self.s, task.id, ANN, to="done")

    async def note(self, task: Task, text: str) -> int:
        """One more event; its id."""
        now = self.s.clock.now()
        logged = await self.s.store.write(
            lambda tx: tx.events.add(task.id, event.Noted(text=text), ANN, now)
        )
        return logged.id


def told(response: httpx.Response, status: int, error: str) -> dict[str, Any]:
    """The error of a response, which has one shape whatever went wrong."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error", "message", "details"}
    assert body["error"] == error
    assert body["message"]
    assert "Traceback" not in response.text
    assert all(isinstance(line, str) for line in body["details"])
    return body


@asynccontextmanager
async def serving(
    program: Program, public: Public | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """A real server on a free port, and its owner's client."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        work = group.create_task(
            server.serve(
                program,
                "127.0.0.1",
                0,
                ready.set_result,
                owner=OWNER,
                mounts=bootstrap.mounts(program),
                public=public,
            )
        )
        address = await ready
        token = await auth.ensure_owner_token(program, OWNER)
        headers = {"Authorization": f"Bearer {token}"}
        try:
            async with httpx.AsyncClient(
                base_url=address, headers=headers, trust_env=False, timeout=10
            ) as client:
                yield client
        finally:
            work.cancel()
