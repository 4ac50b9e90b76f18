"""The tools that people's own programs have: the same functions as HTTP, with the same rights, in
answers that are short enough to be read by a model."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents_manager.domain.pipeline import faults
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import access, later, prompts, tasks, views
from agents_manager.flow.later import Started, Waiting
from agents_manager.flow.memory import lookup
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import mirrors, transcripts
from agents_manager.flow.tasks import NewTask, Stopping
from agents_manager.flow.unmerged import Consent
from agents_manager.flow.views import InboxItem, TaskView
from agents_manager.mcp.protocol import Json, Said, Tool

MOST = 100
MAX_OUTPUT = 64 * 1024
"""Characters of what a run printed, from its end."""


class Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Nothing(Given):
    pass


class OfProject(Given):
    project: str | None = Field(default=None, description="Name or id; all where left out.")
    limit: int = Field(default=20, ge=1, le=MOST)


class Tasks(OfProject):
    status: str | None = None
    title: str | None = Field(default=None, description="A part of it.")


class OneTask(Given):
    task: str = Field(description="Its id, or how that begins.")


class Move(OneTask):
    to: str = Field(description="A status; show_task says which are possible.")
    reason: str | None = None
    leave_unmerged: bool = Field(
        default=False, description="Close the task although commits are not merged."
    )
    release_dependents: bool = Field(
        default=False, description="Let tasks that depend on unmerged work start."
    )


class Created(Given):
    project: str = Field(description="Name or id.")
    title: str
    description: str = ""
    type: str = "feature"
    priority: str = "medium"
    tags: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = Field(default=(), description="Ids of tasks.")
    pipeline: str | None = None
    agent: str | None = Field(
        default=None, description="The agent of its runs; the project's default where left out."
    )
    model: str | None = Field(
        default=None, description="The model of that agent; its own choice where left out."
    )


class Answer(Given):
    prompt: str = Field(description="Its id, or how that begins.")
    answer: dict[str, Any] | None = Field(
        default=None,
        description=(
            'By its type: info_request {"answers": [{"question_id", "option" or "text"}]} or'
            ' {"option_id"}; review and document_review {"decision": "approved" or'
            ' "changes_requested", "summary"}; split_proposal {"decision": "approved" or'
            ' "rejected"}; choice {"choice_id"}; permission {"allow", "scope"}. Left out: what was'
            " recommended is accepted."
        ),
    )


class Runs(Given):
    task: str | None = None
    live: bool = False
    limit: int = Field(default=20, ge=1, le=MOST)


class OneRun(Given):
    run: str = Field(description="Its id, or how that begins.")


class Search(Given):
    project: str = Field(description="Name or id.")
    text: str = Field(default="", max_length=lookup.MAX_TEXT)
    tags: tuple[str, ...] = Field(default=(), max_length=lookup.MAX_TAGS)
    limit: int = Field(default=8, ge=1, le=lookup.MOST)


G = TypeVar("G", bound=Given)


def of(s: Services, actor: Actor) -> list[Tool]:
    """All of them; who may not change anything is told so by those that do."""

    def tool(
        name: str,
        description: str,
        model: type[G],
        call: Callable[[G], Awaitable[Any]],
        *,
        changes: bool = False,
    ) -> Tool:
        async def called(given: Json) -> Said:
            if changes:
                access.check_may_change(actor)
            try:
                wanted = model.model_validate(given)
            except ValidationError as error:
                raise InvalidInput("The arguments do not fit.", faults(error, model)) from None
            said = await call(wanted)
            return Said(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))

        return Tool(name, description, model.model_json_schema(), called, changes=changes)

    desk = _Desk(s, actor)
    return [
        tool("list_projects", "The registered projects.", Nothing, desk.projects),
        tool("list_tasks", "Tasks, the newest first.", Tasks, desk.tasks),
        tool(
            "show_task",
            "A task: where it stands, what it waits for, its runs and moves.",
            OneTask,
            desk.task,
        ),
        tool("why_task", "Why a task is where it is, and who moves it next.", OneTask, desk.why),
        tool(
            "create_task",
            "Makes a task; it stays where its pipeline begins until it is started.",
            Created,
            desk.create,
            changes=True,
        ),
        tool(
            "start_task",
            "Starts a task: now, or automatically when the tasks it depends on are finished.",
            OneTask,
            desk.start,
            changes=True,
        ),
        tool(
            "move_task",
            "Moves a task by hand. Guards hold; nothing is forced.",
            Move,
            desk.move,
            changes=True,
        ),
        tool(
            "list_prompts",
            "Open questions to people, those first that hold up other tasks.",
            OfProject,
            desk.prompts,
        ),
        tool(
            "answer_prompt",
            "Answers a question in the name of whoever this access belongs to.",
            Answer,
            desk.answer,
            changes=True,
        ),
        tool("list_runs", "Runs of agents, the newest first.", Runs, desk.runs),
        tool("run_output", "What the agent of a run said and did, in short.", OneRun, desk.output),
        tool("search_knowledge", "What agents found out in a project.", Search, desk.search),
    ]


class _Desk:
    def __init__(self, s: Services, actor: Actor) -> None:
        self._s = s
        self._actor = actor

    async def projects(self, _given: Nothing) -> Sequence[Json]:
        found = await self._s.store.read(lambda tx: tx.projects.all())
        return [{"id": p.id, "name": p.name, "path": p.path} for p in found]

    async def tasks(self, given: Tasks) -> Sequence[Json]:
        def read(tx: Tx) -> list[Json]:
            project = tx.projects.find(given.project).id if given.project else None
            found = tx.tasks.page(
                project=project,
                status=given.status,
                title=given.title,
                after=None,
                limit=given.limit,
            )
            return [_task(t, tx.projects.get(t.project_id)) for t in found]

        return await self._s.store.read(read)

    async def task(self, given: OneTask) -> Json:
        return _whole(await self._view(given.task))

    async def why(self, given: OneTask) -> Json:
        view = await self._view(given.task)
        return {"task": view.task.id, "why": view.why, "next": view.next_mover.text}

    async def create(self, given: Created) -> Json:
        project = await self._s.store.read(lambda tx: tx.projects.find(given.project))
        new = NewTask(**given.model_dump(exclude={"project"}))
        return _task(await tasks.create(self._s, project, new, self._actor), project)

    async def start(self, given: OneTask) -> Json:
        return _started(await later.start(self._s, given.task, self._actor))

    async def move(self, given: Move) -> Json:
        consent = Consent(
            leave_unmerged=given.leave_unmerged, release_dependents=given.release_dependents
        )
        done = await tasks.move(
            self._s, given.task, self._actor, to=given.to, reason=given.reason, consent=consent
        )
        return _started(done)

    async def prompts(self, given: OfProject) -> Json:
        project, limit = given.project, given.limit
        found = await self._s.store.read(lambda tx: views.inbox(tx, project=project, limit=limit))
        return {"prompts": [_prompt(one) for one in found.items], "total": found.total}

    async def answer(self, given: Answer) -> Json:
        if given.answer is None:
            done = await prompts.accept(self._s, given.prompt, self._actor)
        else:
            done = await prompts.answer(self._s, given.prompt, given.answer, self._actor)
        return {"prompt": done.prompt.id, "answer": done.prompt.response, "task": _short(done.task)}

    async def runs(self, given: Runs) -> Sequence[Json]:
        def read(tx: Tx) -> list[Run]:
            task = tx.tasks.find(given.task).id if given.task else None
            return tx.runs.page(task=task, live=given.live, after=None, limit=given.limit)

        return [_run(run) for run in await self._s.store.read(read)]

    async def output(self, given: OneRun) -> str:
        def read(tx: Tx) -> tuple[Run, Project]:
            run = tx.runs.find(given.run)
            return run, tx.projects.get(run.project_id)

        run, project = await self._s.store.read(read)
        await mirrors.bring(self._s, run)
        told = await asyncio.to_thread(transcripts.of, self._s, project, [run])
        return "\n".join(told)[-MAX_OUTPUT:] or f"Run {run.id} ({run.status}) has printed nothing."

    async def search(self, given: Search) -> str:
        project = await self._s.store.read(lambda tx: tx.projects.find(given.project))
        wanted = given.model_dump(exclude={"project"})
        return await lookup.search(self._s, project.id, wanted)

    async def _view(self, task: str) -> TaskView:
        return await self._s.store.read(lambda tx: views.task(tx, self._s, task, self._actor))


def _started(done: Started) -> Json:
    if isinstance(done, Stopping):
        return {**_short(done.task), "stopping_run": done.run.id}
    if isinstance(done, Waiting):
        return {**_short(done.task), "waits": done.readiness.sentence()}
    return _short(done)


def _short(task: Task) -> Json:
    return {"id": task.id, "title": task.title, "status": task.status}


def _task(task: Task, project: Project) -> Json:
    return {
        **_short(task),
        "project": project.name,
        "type": task.type,
        "priority": task.priority,
        "updated_at": task.updated_at.isoformat(),
    }


def _whole(view: TaskView) -> Json:
    task = view.task
    return {
        **_task(task, view.project),
        "description": task.description,
        "acceptance_criteria": list(task.acceptance_criteria),
        "dependencies": list(task.dependencies),
        "agent": task.agent,
        "model": task.model,
        "plan": task.plan,
        "why": view.why,
        "next": view.next_mover.text,
        "prompts": [{"id": p.id, "type": p.type, "payload": p.payload} for p in view.prompts],
        "runs": [_run(run) for run in view.runs],
        "moves": [
            {"to": m.to, "title": m.label, "allowed": m.allowed, "reasons": m.reasons}
            for m in view.moves
        ],
    }


def _prompt(item: InboxItem) -> Json:
    prompt = item.prompt
    return {
        "id": prompt.id,
        "type": prompt.type,
        "asks": item.summary,
        "task": _short(item.task),
        "project": item.project.name,
        "payload": prompt.payload,
        "recommended": item.acceptable,
        "midway": prompt.midway,
        "asked_at": prompt.created_at.isoformat(),
    }


def _run(run: Run) -> Mapping[str, Any]:
    return {
        "id": run.id,
        "task": run.task_id,
        "agent": run.agent,
        "mode": run.mode,
        "status": run.status,
        "outcome": run.outcome,
        "error": run.error.error if run.error else None,
        "cost_usd": run.cost_usd,
        "started_at": run.started_at and run.started_at.isoformat(),
        "ended_at": run.ended_at and run.ended_at.isoformat(),
    }
