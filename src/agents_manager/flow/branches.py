"""The task's branch: what it is called, and that it is on record once."""

from agents_manager.domain import event
from agents_manager.domain.names import task_branch
from agents_manager.domain.task import SYSTEM, ArtifactType, Project, Task
from agents_manager.flow import artifacts
from agents_manager.flow.ports import Services, Tx


async def name(s: Services, task: Task, project: Project) -> str:
    """The branch the task has, else the name it will have."""
    known = await s.store.read(lambda tx: tx.tasks.artifacts(task.id, ArtifactType.BRANCH))
    if known:
        return known[-1].label
    return task_branch(s.configs.of(project).branch_prefix, task.title, task.id)


def keep(tx: Tx, s: Services, task: Task, project: Project, branch: str) -> None:
    known = tx.tasks.artifacts(task.id, ArtifactType.BRANCH)
    if any(a.label == branch for a in known):
        return
    data = {"base": project.base_branch}
    artifacts.keep(tx, s, task, ArtifactType.BRANCH, branch, branch, data)
    created = event.BranchCreated(branch=branch, base=project.base_branch)
    tx.events.add(task.id, created, SYSTEM, s.clock.now())
