"""`am project`: registering repositories."""

from pathlib import Path

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.render import Line, counted
from agents_manager.cli.session import Desk
from agents_manager.errors import InvalidInput

NO_REMOTE = "It has no remote; machines that lack it leave its work to others."


@click.group()
def project() -> None:
    """Register repositories."""


@project.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="What to call it; the folder's name unless given.")
@click.option("--base-branch", help="Where work is merged to; the current branch unless given.")
@session.command
async def add(desk: Desk, path: Path, name: str | None, base_branch: str | None) -> None:
    """Register a git repository.

    Registering it allows the commands in its .agents-manager/config.json to run as they stand
    now; when they change, allow them again with "am project trust".
    """
    from agents_manager.flow import tasks

    added = await tasks.add_project(desk.services, path, name, base_branch, by=desk.actor)
    text = f'Registered "{added.name}" at {added.path}; work is merged to {added.base_branch}.'
    desk.output.show(added, lambda: [Line(text)])


@project.command("list")
@session.command
async def list_projects(desk: Desk) -> None:
    """List the registered projects."""
    from agents_manager.cli.pages import catalog

    found = await desk.read(lambda tx: tx.projects.all())
    desk.output.show(found, lambda: catalog.projects(found))


@project.command()
@arguments.project_here
@session.command
async def show(desk: Desk, project: str | None) -> None:
    """Show a project and its settings; without a name, that of the current folder."""
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import places

    found = await desk.project(project)
    lies = await desk.read(lambda tx: places.of(tx, found))
    if why := places.away(desk.services, found):
        document = {"project": found, "places": lies, "away": why}
        desk.output.show(document, lambda: [Line(why), *catalog.places(found, lies)])
        return
    config = desk.services.configs.of(found)
    trouble = await desk.services.forge.trouble(found)
    document = {"project": found, "config": config, "places": lies, "forge_trouble": trouble}
    desk.output.show(
        document, lambda: [*catalog.project(found, config, trouble), *catalog.places(found, lies)]
    )


@project.command()
@arguments.project
@click.argument("url", required=False)
@click.option("--none", is_flag=True, help="Machines that lack the project leave it to others.")
@session.command
async def remote(desk: Desk, project: str, url: str | None, none: bool) -> None:
    """Show, or set, where machines that lack a project clone it from.

    Machines that share a database also pass the work of tasks on to each other there. Leave
    passwords out: each machine uses what its git knows, or AM_GITHUB_TOKEN.
    """
    from agents_manager.flow import places

    if url is not None and none:
        raise InvalidInput("Give an address or --none, not both.")
    if url is None and not none:
        found = await desk.project(project)
    else:
        found = await places.set_remote(desk.services, project, url, desk.actor)
    text = f"{found.name} is cloned from {found.remote}." if found.remote else NO_REMOTE
    desk.output.show(found, lambda: [Line(text)])


@project.command()
@arguments.project
@click.option("--force", is_flag=True, help="Delete its tasks and their record, too.")
@click.option("--stop", is_flag=True, help="Stop the agents that are running first.")
@session.command
async def remove(desk: Desk, project: str, force: bool, stop: bool) -> None:
    """Forget a project; its repository with all branches is left as it is."""
    from agents_manager.flow import removal

    if stop:
        found = await desk.read(lambda tx: tx.projects.find(project))
        live = await desk.read(lambda tx: tx.runs.page(task=None, live=True, after=None, limit=500))
        await desk.need_engine_to_stop(r.task_id for r in live if r.project_id == found.id)
    removed = await removal.remove_project(
        desk.services, project, desk.actor, force=force, stop=stop
    )
    stands = "" if removed.cleared else f"; {removed.project.path} is left as it is"
    text = f'Removed "{removed.project.name}"{stands}.'
    desk.output.show(removed, lambda: [Line(text)])
    if removed.tasks:
        gone = counted(removed.tasks, "task")
        desk.output.say(f"Deleted with it: {gone}. Their branches and snapshots stay.")
    for why in removed.left:
        desk.output.say(f"This could not be removed: {why}")


@project.command()
@arguments.project_here
@click.option("--yes", is_flag=True, help="Without being asked.")
@session.command
async def trust(desk: Desk, project: str | None, yes: bool) -> None:
    """Allow the commands of a project's configuration to run as they stand now.

    Says first what changed since they were trusted.
    """
    from agents_manager.cli import interview
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import agents, tasks

    found = await desk.project(project)
    config = desk.services.configs.of(found)
    changed = agents.changes(found, config)
    for change in changed:
        desk.output.say(change)
    if changed and not yes and interview.possible() and not click.confirm("Trust them?", err=True):
        raise InvalidInput("Nothing is trusted that was not before.")
    trusted = await tasks.trust_project(
        desk.services, found, config.commands_fingerprint, by=desk.actor
    )
    document = {"project": trusted, "config": config}
    desk.output.show(document, lambda: catalog.project(trusted, config))


@project.command()
@arguments.project_here
@click.option("--withdraw", is_flag=True, help="Allow it no longer.")
@session.command
async def consent(desk: Desk, project: str | None, withdraw: bool) -> None:
    """Allow agents to work at a project without a sandbox, where there is none.

    Their programs then run as you: they can read and write what you can, and send it to whom they
    are configured to talk to. Scripted agents need no consent. Asked once per project.
    """
    from agents_manager.cli.pages import catalog
    from agents_manager.flow import agents

    found = await desk.project(project)
    changed = await agents.consent(desk.services, found, given=not withdraw, by=desk.actor)
    desk.output.show(changed, lambda: [catalog.consent(changed)])
