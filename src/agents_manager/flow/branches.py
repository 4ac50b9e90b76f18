"""Branches: what a task's and a phase's are called, where they go, each on record once."""

from dataclasses import dataclass
from typing import Any

from agents_manager.domain import event, names
from agents_manager.domain.phase import Phase, active
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, ArtifactType, Project, PullRequest, Task
from agents_manager.flow import artifacts
from agents_manager.flow.ports import ProjectConfig, Pushed, Services, Tx


@dataclass(frozen=True, slots=True)
class Ground:
    """Where work is done and where it goes."""

    branch: str
    base: str
    title: str


def of_task(tx: Tx, s: Services, task: Task, project: Project) -> Ground:
    """The task's own branch, which goes to the base."""
    base = base_of(tx, s, task, project)
    known = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    if known:
        return Ground(known[0].label, base, task.title)
    prefix = _config(tx, s, task, project).branch_prefix
    return Ground(names.task_branch(prefix, task.title, task.id), base, task.title)


def base_of(tx: Tx, s: Services, task: Task, project: Project) -> str:
    """Where the task's work is merged to."""
    return _config(tx, s, task, project).base_branch or project.base_branch


def _config(tx: Tx, s: Services, task: Task, project: Project) -> ProjectConfig:
    """As the first agent that works at a task has it, so that its branch and base stay the same."""
    runs = tx.runs.of_task(task.id)
    return s.configs.of(project, runs[0] if runs else None)


def of_phase(tx: Tx, s: Services, task: Task, project: Project, phase: Phase | None) -> Ground:
    """A phase works on its own branch, which goes to the task's."""
    own = of_task(tx, s, task, project)
    if phase is None:
        return own
    branch = names.phase_branch(own.branch, phase.number, phase.name)
    return Ground(branch, own.branch, f"{task.title}: {phase.name}")


def at_work(tx: Tx, s: Services, task: Task, project: Project) -> Ground:
    return of_phase(tx, s, task, project, active(tx.phases.of_task(task.id)))


def of_run(tx: Tx, s: Services, run: Run, task: Task, project: Project) -> Ground:
    """A part of the work has its own branch, which goes to the one of the whole."""
    whole = whole_of(tx, s, run, task, project)
    if not run.part:
        return whole
    return Ground(names.part_branch(whole.branch, run.part), whole.branch, whole.title)


def whole_of(tx: Tx, s: Services, run: Run, task: Task, project: Project) -> Ground:
    """Of the task or the phase that a run works for."""
    phases = tx.phases.of_task(task.id)
    return of_phase(tx, s, task, project, next((p for p in phases if p.id == run.phase_id), None))


def pull_from(tx: Tx, task: Task, branch: str) -> PullRequest | None:
    """The newest pull request from a branch of the task."""
    found = [p for p in tx.pulls.all_of_task(task.id) if p.head_branch == branch]
    return found[-1] if found else None


def keep(tx: Tx, s: Services, task: Task, ground: Ground) -> None:
    known = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    if any(a.label == ground.branch for a in known):
        return
    data = {"base": ground.base}
    artifacts.keep(tx, s, task, ArtifactType.BRANCH, ground.branch, ground.branch, data)
    created = event.BranchCreated(branch=ground.branch, base=ground.base)
    tx.events.add(task.id, created, SYSTEM, s.clock.now())


def keep_push(tx: Tx, s: Services, task: Task, ground: Ground, pushed: Pushed) -> None:
    """Told by our own record: an attempt that was cut short may have pushed it already."""
    name, now = ground.branch, s.clock.now()
    if pushed.refused is not None:
        refused = event.PushRefused(branch=name, remote=pushed.remote, reason=pushed.refused)
        tx.events.add(task.id, refused, SYSTEM, now)
        return
    known = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    before = next((dict(a.data) for a in known if a.label == name), dict[str, Any]())
    data = {**before, "base": ground.base, "remote": pushed.remote, "pushed": pushed.sha}
    if s.here is not None:
        data["by"] = s.here.host
    if before == data:
        return
    artifacts.keep(tx, s, task, ArtifactType.BRANCH, name, name, data)
    told = event.BranchPushed(branch=name, remote=pushed.remote, sha=pushed.sha)
    tx.events.add(task.id, told, SYSTEM, now)
