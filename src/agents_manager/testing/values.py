"""Values for tests of adapters: a project, a task, a run, each with all its fields."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, RunId, TaskId
from agents_manager.domain.plugin import HookCall
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Actor, ActorType, History, Project, Result, Task
from agents_manager.flow.ports import Turn

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run_id(folder: Path, name: str) -> RunId:
    """Processes are found by it, so that no two tests may have the same, at no time."""
    return RunId(f"{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}-{name}")


def project(path: Path, **fields: Any) -> Project:
    filled: dict[str, Any] = {
        "id": ProjectId("project-1"),
        "name": "shop",
        "path": str(path),
        "base_branch": "main",
        "trusted_commands": None,
        "consented_at": None,
        "created_at": NOW,
    }
    return Project(**{**filled, **fields})


def task(**fields: Any) -> Task:
    filled: dict[str, Any] = {
        "id": TaskId("task-1"),
        "project_id": ProjectId("project-1"),
        "title": "Add a search box",
        "description": "",
        "objective": "",
        "type": "feature",
        "priority": "medium",
        "size": "m",
        "complexity": "medium",
        "tags": (),
        "acceptance_criteria": (),
        "dependencies": (),
        "pipeline_id": "simple",
        "pipeline_version": 1,
        "status": "in_progress",
        "plan": None,
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Task(**{**filled, **fields})


def turn(
    folder: Path,
    *,
    mode: str = "implement",
    title: str = "Add a search box",
    description: str = "",
    session: str | None = None,
    name: str = "run-1",
    **fields: Any,
) -> Turn:
    """A turn in `folder`/work, with `folder`/project as the project and `folder`/<name> as its
    job directory."""
    at, about = project(folder / "project"), task(title=title, description=description)
    run = Run(
        id=run_id(folder, name),
        task_id=about.id,
        project_id=at.id,
        effect_id=EffectId("effect-1"),
        agent="scripted",
        mode=mode,
        model=None,
        status=RunStatus.RUNNING,
        attempt=1,
        session=session,
        created_at=NOW,
        started_at=NOW,
        phase_id=None,
    )
    first = Turn(
        run=run,
        task=about,
        project=at,
        prompt="Do it.",
        number=1,
        fix=0,
        visit=0,
        workspace=folder / "work",
        dir=folder / name,
        home=folder / "home",
        session=session,
        fresh_prompt="",
    )
    return replace(first, **fields)


def hook_call(path: Path, *, key: str = "effect-1", **params: Any) -> HookCall:
    """Of a task that moved from `open` to `done`, in the project at the path."""
    about = task()
    move = History(
        id=HistoryId("history-1"),
        task_id=about.id,
        version=2,
        result=Result.DONE,
        transition_id="finish",
        source="open",
        to="done",
        trigger="manual",
        outcome=None,
        actor=Actor(type=ActorType.USER, name="ann", via="cli"),
        payload=None,
        guards=(),
        hooks=(),
        reason=None,
        time=NOW,
    )
    return HookCall(key=key, attempt=1, params=params, task=about, project=project(path), move=move)
