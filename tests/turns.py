"""Turns for the tests of agent adapters."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agents_manager.domain.ids import EffectId, ProjectId, RunId, TaskId
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Project, Task
from agents_manager.flow.ports import Turn

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run_id(folder: Path, name: str) -> RunId:
    """Processes are found by it, so that no two tests may have the same, at no time."""
    return RunId(f"{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}-{name}")


def turn(
    folder: Path,
    *,
    mode: str = "implement",
    visit: int = 0,
    number: int = 1,
    title: str = "Add a search box",
    description: str = "",
    session: str | None = None,
    prompt: str = "Do it.",
    fresh_prompt: str = "",
    name: str = "run-1",
    offered: Sequence[str] = (),
) -> Turn:
    """A turn in `folder`/work, with `folder`/project as the project and `folder`/<name> as its
    job directory."""
    project = Project(
        id=ProjectId("project-1"),
        name="shop",
        path=str(folder / "project"),
        base_branch="main",
        trusted_commands=None,
        consented_at=None,
        created_at=NOW,
    )
    task = Task(
        id=TaskId("task-1"),
        project_id=project.id,
        title=title,
        description=description,
        objective="",
        type="feature",
        priority="medium",
        size="m",
        complexity="medium",
        tags=(),
        acceptance_criteria=(),
        dependencies=(),
        pipeline_id="feature",
        pipeline_version=1,
        status="in_progress",
        plan=None,
        version=1,
        created_at=NOW,
        updated_at=NOW,
    )
    run = Run(
        id=run_id(folder, name),
        task_id=task.id,
        project_id=project.id,
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
    return Turn(
        run=run,
        task=task,
        project=project,
        prompt=prompt,
        number=number,
        fix=0,
        visit=visit,
        workspace=folder / "work",
        dir=folder / name,
        home=folder / "home",
        session=session,
        fresh_prompt=fresh_prompt,
        offered=offered,
    )
