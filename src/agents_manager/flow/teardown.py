"""Teardown: what a project has run in a workspace before it is removed. It never keeps a workspace
from being removed. A crash in between repeats it, as the workspace is still there then."""

from collections.abc import Sequence
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.domain.task import Project, Task
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import agents, surroundings
from agents_manager.flow.ports import Services

LOG = "teardown.log"


async def before_removal(s: Services, task: Task, project: Project, key: str) -> Sequence[Event]:
    """Run the project's teardown commands in the workspace, if it stands; return what happened."""
    try:
        config = s.configs.of(project)
        path = (await s.workspaces.standing(Path(project.path))).get(key)
    except AgentsManagerError:
        return ()  # The removal itself says what is wrong with the project.
    if not config.teardown.commands or path is None:
        return ()
    commands = config.teardown.commands
    try:
        failed = await _torn_down(s, task, project, path)
    except (AgentsManagerError, OSError) as error:
        failed = str(error)
    return (event.WorkspaceTornDown(commands=commands, failed=failed),)


async def _torn_down(s: Services, task: Task, project: Project, path: Path) -> str | None:
    """Return why a command failed, or None."""
    config = s.configs.of(project)
    agents.check_trusted(project, config)
    runs = await s.store.read(lambda tx: tx.runs.of_task(task.id))
    run = next((run for run in reversed(runs) if run.workspace == str(path)), None)
    if run is None:
        return "No run has worked in this workspace."
    around = await surroundings.of_run(s, project, run)
    reach = await s.workspaces.reach(path, run.branch or "") if run.kept else None
    log = s.jobs_dir / run.id / LOG
    done = await s.setup.tear_down(path, config.teardown, log, reach=reach, surroundings=around)
    return done.failed
