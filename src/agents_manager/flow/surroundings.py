"""The variables that set-up, checks, teardown and agents of a task get from Agents Manager."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import AgentsManagerError, InvalidConfig, MissingVariable, NotFound
from agents_manager.flow import agents
from agents_manager.flow.ports import ProjectConfig, Services, Surroundings, Tx, Workspace

log = structlog.get_logger()

MOST_TOLD = 200
"""The largest number of files that an event names."""
KEYRING_S = 30.0
"""How long a keyring may take, which may ask a person to unlock it."""


async def of_task(
    s: Services, project: Project, config: ProjectConfig, task: Task, branch: str
) -> Surroundings:
    """Return the variables of a task; raise NotTrusted while nobody has trusted what the project
    asks for, and MissingVariable when the server lacks one that is required."""
    own = {
        "AM_PROJECT_DIR": project.path,
        "AM_TASK_ID": task.id,
        "AM_BRANCH": branch,
    }
    port = await _port(s, task)
    if port is not None:
        own["AM_PORT"] = str(port)
    env = {**await of_project(s, project, config), **own}
    return Surroundings(env=env, place_files=_placing(s, project, config))


def _placing(
    s: Services, project: Project, config: ProjectConfig
) -> Callable[[Path], Awaitable[Sequence[str]]] | None:
    if not config.copy_files:
        return None
    agents.check_trusted(project, config)

    async def place(tree: Path) -> Sequence[str]:
        files = await s.workspaces.included(Path(project.path), config.copy_files)
        return await s.workspaces.place(files, tree)

    return place


async def include_files(
    s: Services, project: Project, config: ProjectConfig, workspace: Workspace
) -> Sequence[Event]:
    """Copy the ignored files that the project asks for into a workspace."""
    if not config.copy_files:
        return ()
    files = await s.workspaces.included(Path(project.path), config.copy_files)
    written = await s.workspaces.place(files, workspace.path, workspace.state)
    if not written and not files.refused:
        return ()
    told = event.FilesCopied(paths=tuple(written[:MOST_TOLD]), refused=files.refused[:MOST_TOLD])
    return (told,)


async def of_run(s: Services, project: Project, run: Run) -> Surroundings:
    task = await s.store.read(lambda tx: tx.tasks.get(run.task_id))
    return await of_task(s, project, s.configs.of(project, run), task, run.branch or "")


async def learn(s: Services, project: Project) -> None:
    """Have the values of the project's variables and the secrets in the env files that its runs
    get redacted, also by a server that was restarted while runs of the project were under way."""
    try:
        config = s.configs.of(project)
    except InvalidConfig:
        return
    if config.variables:
        with suppress(TimeoutError):
            async with asyncio.timeout(KEYRING_S):
                await asyncio.to_thread(s.variables.read, config.variables)
    if config.copy_files:
        # A repository that is gone has no files to learn from.
        with suppress(AgentsManagerError, OSError):
            files = await s.workspaces.included(Path(project.path), config.copy_files)
            paths = [files.repo / path for path in files.paths]
            await asyncio.to_thread(s.variables.learn_env_files, paths)


async def learn_all(s: Services) -> None:
    for project in await s.store.read(lambda tx: tx.projects.all()):
        await learn(s, project)


async def of_project(s: Services, project: Project, config: ProjectConfig) -> Mapping[str, str]:
    """Return the variables that the project's settings name."""
    if not config.variables:
        return {}
    agents.check_trusted(project, config, "env.")
    try:
        async with asyncio.timeout(KEYRING_S):
            found = await asyncio.to_thread(s.variables.read, config.variables)
    except TimeoutError:
        raise MissingVariable(
            f"The keyring did not answer within {KEYRING_S:g} s. Unlock it, then try again."
        ) from None
    if found.missing:
        raise MissingVariable(
            f'Runs of project "{project.name}" lack a variable (setting env).', list(found.missing)
        )
    return found.values


async def _port(s: Services, task: Task) -> int | None:
    owners = await asyncio.to_thread(s.ports.owners)
    if task.id not in owners.values():
        over = await s.store.read(lambda tx: [one for one in owners.values() if _is_over(tx, one)])
        for one in over:
            await asyncio.to_thread(s.ports.release, one)
    port = await asyncio.to_thread(s.ports.assign, task.id)
    if port is None:
        log.warning("ports.exhausted", task=task.id)
    return port


def _is_over(tx: Tx, task_id: str) -> bool:
    try:
        task = tx.tasks.get(TaskId(task_id))
    except NotFound:
        return True
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    at_rest = pipeline.is_final(task.status)
    return at_rest and not (tx.runs.live(task.id) or tx.effects.open(task.id))
