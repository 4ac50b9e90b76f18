"""`am context`: what the stages of a task said, asked of each other and were given."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, completing, session
from agents_manager.cli.render import Block, Line, Tone, lines
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.flow.contexts import Given


@click.command()
@arguments.task
@click.option(
    "--run",
    metavar="RUN",
    shell_complete=completing.runs,
    help="What the agent of this run was given of it.",
)
@session.command
async def context(desk: Desk, task: str, run: str | None) -> None:
    """Show the context of a staged task: request, outputs, loop-backs and retries.

    It is computed from what happened. People read it as Markdown; --json gives the document. With
    --run, what one agent was given, and how much that is of all there was.
    """
    from agents_manager.flow import contexts

    if run is not None:
        found = await desk.read(lambda tx: contexts.given(tx, desk.services, task, run))
        desk.output.show(found, lambda: _given(found))
        return
    view = await desk.read(lambda tx: contexts.of_task(tx, desk.services, task))
    # By its names in the schema, not as agents may write them.
    document = view.context.model_dump(mode="json")
    desk.output.show(document, lambda: lines(view.markdown))


def _given(found: "Given") -> list[Block]:
    share = f" of {found.everything:,}" if found.everything else ""
    told = f"{found.agent} (stage {found.stage:g}) was given {found.characters:,}{share} characters"
    blocks: list[Block] = [Line(f"{told} of what the others said.")]
    for heading, text in found.outputs.items():
        blocks += [Line(""), Line(heading, Tone.TITLE), *lines(text, indent=2)]
    return blocks
