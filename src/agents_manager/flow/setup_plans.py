"""Decides which commit set-up runs on, and who shares what it installs."""

from pathlib import Path

from agents_manager.domain import names
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.flow import branches
from agents_manager.flow.ports import Services, SetupPlan, SetupSpec


async def for_run(
    s: Services, run: Run, project: Project, branch: str, head: str
) -> SetupPlan | None:
    """Returns the plan for the commit at the head of a run's branch; None without set-up commands.
    Installed files are shared only if they come from a commit of the project's base branch: set-up
    runs code of its commit, such as post-install scripts."""
    spec = s.configs.of(project, run).setup
    if not spec.commands:
        return None
    repo = Path(project.path)
    base = await s.store.read(
        lambda tx: branches.base_of(tx, s, tx.tasks.get(run.task_id), project)
    )
    start, _ = await s.workspaces.ends(repo, branch, base)
    inputs = await s.workspaces.inputs(repo, head, spec.inputs)
    if inputs == await s.workspaces.inputs(repo, start, spec.inputs):
        return SetupPlan(spec=spec, commit=start, inputs=inputs, task=None)
    private = names.workspace_key(run.task_id, run.part)
    return SetupPlan(spec=spec, commit=head, inputs=inputs, task=private)


async def for_trusted(s: Services, repo: Path, spec: SetupSpec, commit: str) -> SetupPlan | None:
    """Returns the plan for a commit that people approved; None without set-up commands."""
    if not spec.commands:
        return None
    inputs = await s.workspaces.inputs(repo, commit, spec.inputs)
    return SetupPlan(spec=spec, commit=commit, inputs=inputs, task=None)
