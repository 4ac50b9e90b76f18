"""Arguments that many commands take, each with what a shell offers for it."""

from datetime import UTC, datetime

import click

from agents_manager.cli import completing
from agents_manager.errors import InvalidInput


def _since(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    if value is None:
        return None
    from agents_manager.flow import figures

    try:
        return figures.since(value, datetime.now(UTC))
    except InvalidInput as error:
        raise click.BadParameter(error.message, ctx, param) from None


task = click.argument("task", shell_complete=completing.tasks)
task_or_all = click.argument("task", required=False, shell_complete=completing.tasks)
run = click.argument("run", shell_complete=completing.runs)
prompt = click.argument("prompt", shell_complete=completing.prompts)
pipeline = click.argument("pipeline", shell_complete=completing.pipelines)
project = click.argument("project", shell_complete=completing.projects)
project_here = click.argument("project", required=False, shell_complete=completing.projects)
project_option = click.option(
    "--project",
    shell_complete=completing.projects,
    help="Name or id; the project of the current folder unless given.",
)
agent_option = click.option(
    "--agent", metavar="NAME", help="Agent of its runs; the project's default unless given."
)
model_option = click.option(
    "--model", metavar="NAME", help="Model of that agent; its own choice unless given."
)
since = click.option(
    "--since", callback=_since, metavar="WHEN", help="A day such as 2026-03-01, or 30d or 12h."
)
