"""Values for the store's tests: all fields filled, each of them can be given."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.handoff import FileCreated, Handoff, HandoffOutcome
from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, PromptId, RunId, TaskId
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    FileNote,
    KeptHandoff,
    Node,
    NodeKind,
    NodeState,
    Source,
)
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, ResumePoint
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import (
    Actor,
    ActorType,
    Artifact,
    ArtifactType,
    EffectRow,
    GuardCheck,
    History,
    HookRecord,
    Project,
    PullRequest,
    PullState,
    Result,
    Task,
)
from agents_manager.flow.ports import Store, Tx
from agents_manager.store.database import open_database

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
ADA = Actor(type=ActorType.USER, name="ada", via="cli")
PIPELINE: Mapping[str, Any] = {
    "id": "simple",
    "name": "Simple",
    "version": 7,
    "statuses": [
        {"id": "open", "category": "open"},
        {"id": "doing", "category": "active"},
        {"id": "done", "category": "final"},
    ],
    "transitions": [{"from": "open", "to": "doing", "trigger": "manual"}],
}


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def a_project(id: str = "project-1", **fields: Any) -> Project:
    filled: dict[str, Any] = {
        "name": id.title(),
        "path": f"/home/ada/{id}",
        "base_branch": "main",
        "trusted_commands": None,
        "consented_at": None,
        "created_at": NOW,
    }
    return Project(id=ProjectId(id), **{**filled, **fields})


def a_task(id: str = "task-1", **fields: Any) -> Task:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "title": "Add a flag",
        "description": "It must be off at first.",
        "objective": "Nobody is surprised.",
        "type": "feature",
        "priority": "medium",
        "size": "s",
        "complexity": "low",
        "tags": ("cli", "größe"),
        "acceptance_criteria": ("--dry-run prints nothing",),
        "dependencies": (),
        "pipeline_id": "simple",
        "pipeline_version": 1,
        "status": "open",
        "plan": None,
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Task(id=TaskId(id), **{**filled, **fields})


def a_history(id: str = "history-1", task: str = "task-1", **fields: Any) -> History:
    filled: dict[str, Any] = {
        "version": 2,
        "result": Result.DONE,
        "transition_id": "open-manual-doing-0",
        "source": "open",
        "to": "doing",
        "trigger": "manual",
        "outcome": None,
        "actor": ADA,
        "payload": {"why": ["it", {"is": "time"}]},
        "guards": (GuardCheck(name="not no_running_agent", passed=True, reason="none runs"),),
        "hooks": (HookRecord(name="start_agent", policy="required", effect="effect-1"),),
        "reason": None,
        "time": NOW,
    }
    return History(id=HistoryId(id), task_id=TaskId(task), **{**filled, **fields})


def an_effect(id: str = "effect-1", task: str = "task-1", **fields: Any) -> EffectRow:
    filled: dict[str, Any] = {
        "history_id": HistoryId("history-1"),
        "position": 0,
        "kind": "start_agent",
        "payload": {"run_id": "run-1"},
        "policy": "required",
        "status": "pending",
        "attempt": 1,
        "due_at": NOW,
        "error": None,
        "result": None,
        "created_at": NOW,
        "finished_at": None,
    }
    return EffectRow(id=EffectId(id), task_id=TaskId(task), **{**filled, **fields})


def a_run(id: str = "run-1", task: str = "task-1", **fields: Any) -> Run:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "effect_id": EffectId("effect-1"),
        "agent": "scripted",
        "mode": "implement",
        "model": None,
        "status": RunStatus.QUEUED,
        "attempt": 1,
        "session": None,
        "prompt": None,
        "outcome": None,
        "payload": None,
        "error": None,
        "usage": None,
        "cost_usd": None,
        "cost_basis": None,
        "branch": None,
        "base_sha": None,
        "head_sha": None,
        "workspace": None,
        "created_at": NOW,
        "started_at": None,
        "ended_at": None,
        "phase_id": None,
        "sandbox": None,
    }
    return Run(id=RunId(id), task_id=TaskId(task), **{**filled, **fields})


def a_prompt(id: str = "prompt-1", task: str = "task-1", **fields: Any) -> Prompt:
    filled: dict[str, Any] = {
        "run_id": RunId("run-1"),
        "history_id": HistoryId("history-1"),
        "type": PromptType.INFO_REQUEST,
        "payload": {"questions": [{"id": "q1", "question": "Which one?"}]},
        "note": None,
        "revision": 1,
        "status": PromptStatus.PENDING,
        "resume": ResumePoint(status="doing", mode="implement"),
        "roles": ("lead", "größe"),
        "created_at": NOW,
        "expires_at": None,
        "default_at": None,
        "reminders": 0,
        "reminded_at": None,
        "response": None,
        "responded_by": None,
        "responded_via": None,
        "responded_at": None,
        "answer_key": None,
        "undo": None,
    }
    return Prompt(id=PromptId(id), task_id=TaskId(task), **{**filled, **fields})


def an_artifact(id: str = "artifact-1", task: str = "task-1", **fields: Any) -> Artifact:
    filled: dict[str, Any] = {
        "run_id": RunId("run-1"),
        "type": ArtifactType.DOCUMENT,
        "key": "plan",
        "label": "The plan",
        "data": {"text": "First …"},
        "created_at": NOW,
    }
    return Artifact(id=id, task_id=TaskId(task), **{**filled, **fields})


def a_pull(id: str = "pull-1", task: str = "task-1", **fields: Any) -> PullRequest:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "number": 1,
        "title": "Add a flag",
        "body": "",
        "head_branch": "am/task-1",
        "base_branch": "main",
        "head_sha": "a" * 40,
        "state": PullState.OPEN,
        "merge_sha": None,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return PullRequest(id=id, task_id=TaskId(task), **{**filled, **fields})


def furnish(tx: Tx, *tasks: str) -> None:
    """A project, a pipeline, and the tasks."""
    tx.projects.add(a_project())
    tx.pipelines.save(pipelines.parse(PIPELINE), PIPELINE, NOW)
    for id in tasks or ("task-1",):
        tx.tasks.add(a_task(id))


def a_source(task: str | None = "task-1", **fields: Any) -> Source:
    filled: dict[str, Any] = {
        "run_id": RunId("run-1"),
        "by": "scripted",
        "commit": "a" * 40,
        "file": "src/auth/jwt.ts",
        "lines": "10-20",
        "words": "",
        "at": NOW,
    }
    return Source(task_id=TaskId(task) if task else None, **{**filled, **fields})


def a_node(id: str = "node-1", **fields: Any) -> Node:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "kind": NodeKind.PATTERN,
        "text": "Use AuthContext.getCurrentUser() for the user",
        "detail": {"location": "src/auth/jwt.ts"},
        "severity": None,
        "tags": ("auth", "user-state"),
        "state": NodeState.ACTIVE,
        "sources": (a_source(),),
        "used": 0,
        "helpful": 0,
        "created_at": NOW,
        "updated_at": NOW,
        "confirmed_at": None,
        "confirmed_commit": None,
        "version": 1,
    }
    return Node(id=id, **{**filled, **fields})


def a_blocker(id: str = "blocker-1", task: str = "task-1", **fields: Any) -> ActiveBlocker:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "run_id": RunId("run-1"),
        "blocker": "No key for the payment service",
        "impact": "Nothing can be paid",
        "suggested_resolution": "Ask for one",
        "blocking_tasks": (TaskId("task-2"),),
        "created_at": NOW,
        "resolved_at": None,
        "resolved_by": None,
        "note": None,
    }
    return ActiveBlocker(id=id, task_id=TaskId(task), **{**filled, **fields})


def a_handoff(run: str = "run-1", task: str = "task-1", **fields: Any) -> KeptHandoff:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "handoff": Handoff(
            outcome=HandoffOutcome.COMPLETED,
            files_created=(FileCreated(path="src/a.py", purpose="größe", lines="1-9"),),
        ),
        "source": "message",
        "completeness": 0.75,
        "at": NOW,
    }
    return KeptHandoff(run_id=RunId(run), task_id=TaskId(task), **{**filled, **fields})


def a_file_note(id: str, path: str, **fields: Any) -> FileNote:
    filled: dict[str, Any] = {
        "project_id": ProjectId("project-1"),
        "task_id": TaskId("task-1"),
        "run_id": RunId("run-1"),
        "change": "add",
        "description": "What it is for",
        "lines": "all",
        "at": NOW,
    }
    return FileNote(id=id, path=path, **{**filled, **fields})


@asynccontextmanager
async def a_store(folder: Path, repo: Path) -> AsyncIterator[Store]:
    """With a project and a task."""
    store = open_database(folder / "agents-manager.db")

    def furnish(tx: Tx) -> None:
        tx.projects.add(a_project(path=str(repo)))
        tx.pipelines.save(pipelines.parse(PIPELINE), PIPELINE, later(0))
        tx.tasks.add(a_task())

    await store.write(furnish)
    yield store
    store.close()
