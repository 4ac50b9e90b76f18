"""Arguments that many commands take, each with what a shell offers for it."""

import click

from agents_manager.cli import completing

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
