"""`am config`: the settings in effect, where each comes from, and changing them."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, completing, session
from agents_manager.cli.session import Desk
from agents_manager.errors import InvalidConfig, InvalidInput

if TYPE_CHECKING:
    from agents_manager.domain.run import Run
    from agents_manager.domain.task import Project
    from agents_manager.flow.ports import Tx


@click.group()
def config() -> None:
    """See the settings in effect and where they come from, and change them."""


@config.command()
@arguments.project_option
@click.option("--run", shell_complete=completing.runs, help="What this run was started with.")
@session.command
async def show(desk: Desk, project: str | None, run: str | None) -> None:
    """Show every setting with the layer, file and line that it comes from."""
    from agents_manager.cli.pages import config as pages

    if run is not None:
        await _show_run(desk, run)
        return
    found = await desk.project(project) if project else await desk.project_here()
    try:
        settings = desk.services.configs.explain(found)
    except InvalidConfig as error:
        kept = "A server that read it before goes on with what it said then."
        raise InvalidConfig(f"{error.message} {kept}", error.details) from None
    database = desk.program.database.engines.where
    document = {
        "home": desk.program.settings.home,
        "database": database,
        "project": found.name if found else None,
        "settings": settings,
    }
    home = str(desk.program.settings.home)
    desk.output.show(document, lambda: pages.page(home, database, found, settings))


async def _show_run(desk: Desk, name: str) -> None:
    """As it was started, or as it would be if it began now."""
    from agents_manager.cli.pages import config as pages

    def read(tx: "Tx") -> "tuple[Run, Project]":
        found = tx.runs.find(name)
        return found, tx.projects.get(found.project_id)

    found, project = await desk.read(read)
    settings = found.settings
    if settings is None:
        settings = desk.services.configs.of_run(project, found)
    document = {"run": found.id, "began": found.settings is not None, "settings": settings}
    desk.output.show(document, lambda: pages.of_run(found, settings))


@config.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--user", is_flag=True, help="In your own file, for all projects.")
@arguments.project_option
@click.option("--yes", is_flag=True, help="Without being asked.")
@session.command
async def set_value(
    desk: Desk, key: str, value: str, user: bool, project: str | None, yes: bool
) -> None:
    """Set a value in the project's file, or in your own.

    KEY is written as in "am config show", such as agents.claude-code.model; VALUE is JSON, or a
    word. What would change is shown first.
    """
    await _change(desk, key, value, user=user, project=project, yes=yes)


@config.command()
@click.argument("key")
@click.option("--user", is_flag=True, help="In your own file, for all projects.")
@arguments.project_option
@click.option("--yes", is_flag=True, help="Without being asked.")
@session.command
async def unset(desk: Desk, key: str, user: bool, project: str | None, yes: bool) -> None:
    """Take a value out of the project's file, or out of your own."""
    await _change(desk, key, None, user=user, project=project, yes=yes)


async def _change(
    desk: Desk, key: str, value: str | None, *, user: bool, project: str | None, yes: bool
) -> None:
    from agents_manager.cli import interview
    from agents_manager.cli.render import Line
    from agents_manager.flow import audit

    if user and project:
        raise click.UsageError("Give either --user or --project.")
    found = None if user else await _project(desk, project)
    edit = desk.services.configs.edited(found, key, value)
    changed = edit.after != edit.before
    if changed and not yes:
        desk.output.say(edit.diff)
        if not interview.possible():
            raise InvalidInput("Nothing was written; give --yes to write it.")
        if not click.confirm("Write it?", err=True):
            raise InvalidInput("Nothing was written.")
    if changed:
        name = found.name if found else None
        await audit.change_settings(desk.services, edit, [key], desk.actor, name)
    text = f"Wrote {edit.path}." if changed else f"Nothing to change: {edit.path} says so already."
    document = {"file": edit.path, "diff": edit.diff, "written": changed}
    desk.output.show(document, lambda: [Line(text)])
    if found is not None:
        _say_trust(desk, found)


async def _project(desk: Desk, name: str | None) -> "Project":
    found = await desk.project(name) if name else await desk.project_here()
    if found is None:
        raise InvalidInput("There is no project here; name it with --project, or give --user.")
    return found


def _say_trust(desk: Desk, project: "Project") -> None:
    from agents_manager.flow import agents

    if agents.changes(project, desk.services.configs.of(project)):
        desk.output.say(f"Its commands changed; allow them with: am project trust {project.name}")
