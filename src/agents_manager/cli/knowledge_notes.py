"""`am knowledge migrate`: a handoff in free words, brought into fields."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from agents_manager.cli import arguments, completing, files, session
from agents_manager.cli.render import Line, counted, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.domain.knowledge import Node
    from agents_manager.flow.handoff_notes import Note


@click.command()
@click.argument("source", metavar="FILE|TASK|-", shell_complete=completing.tasks)
@click.option(
    "--for", "whose", metavar="TASK", shell_complete=completing.tasks, help="Whose note it is."
)
@click.option("--keep", is_flag=True, help="Keep what it tells as findings of the task.")
@click.option("--agent", "by_agent", is_flag=True, help="Have an agent bring it into fields.")
@arguments.project_option
@session.command
async def migrate(
    desk: Desk, source: str, whose: str | None, keep: bool, by_agent: bool, project: str | None
) -> None:
    """Show what a handoff in free words says, field by field, and what is ambiguous.

    The note is a file, or that of a task which was imported from a task file. Of a task that
    --agent made, it is what its agent wrote. Nothing is kept and no agent is started unless told.
    """
    from agents_manager.cli.pages import note as pages
    from agents_manager.flow import handoff_notes as notes

    if keep and by_agent:
        raise click.UsageError("Give --keep or --agent: look at what the agent wrote first.")
    note = await _note(desk, source, whose)
    if by_agent:
        of = note.task.project_id if note.task else (await desk.project(project)).id
        where = await desk.read(lambda tx: tx.projects.get(of))
        task = await notes.ask(desk.services, where, note, desk.actor)
        told = f'An agent structures it in task {short(task.id)} "{one_line(task.title)}".'
        then = f'See what it wrote with "am knowledge migrate {short(task.id)}".'
        desk.output.show({"task": task.id}, lambda: [Line(told), Line(then)])
        return
    kept = None
    if keep:
        whom = note.task
        if whom is None:
            raise click.UsageError("Say whose note it is with --for TASK.")
        s, actor = desk.services, desk.actor
        kept = await s.store.write(lambda tx: notes.keep(tx, s, note, whom, actor))
    document = pages.document(note, kept)
    desk.output.show(document, lambda: pages.page(note))
    if not desk.output.as_json:
        desk.output.page([Line(), Line(_sum(note, kept))])


async def _note(desk: Desk, source: str, whose: str | None) -> "Note":
    from dataclasses import replace

    from agents_manager.flow import handoff_notes as notes

    if _is_file(source):
        note = notes.of_text(_text(source))
    else:
        note = await desk.read(lambda tx: notes.of_task(tx, source))
    if whose is None:
        return note
    return replace(note, task=await desk.read(lambda tx: tx.tasks.find(whose)))


def _is_file(source: str) -> bool:
    """By its looks, too: a file that is not there must not be taken for a task."""
    named = Path(source)
    return source == "-" or named.is_file() or bool(named.suffix) or len(named.parts) > 1


def _text(source: str) -> str:
    if source == "-":
        return files.text(sys.stdin.buffer)
    try:
        file: BinaryIO
        with Path(source).open("rb") as file:
            return files.text(file)
    except OSError as error:
        raise click.UsageError(f'"{source}" cannot be read: {error.strerror}.') from None


def _sum(note: "Note", kept: "list[Node] | None") -> str:
    if kept is not None:
        return f"Kept {counted(len(kept), 'finding')}."
    told = "Nothing was kept."
    if note.migrated.handoff is not None:
        told += " --keep keeps it" + ("." if note.task else " for the task that --for names.")
    unclear = len(note.migrated.ambiguous)
    if note.words and (unclear or note.migrated.violations):
        what = f"{counted(unclear, 'sentence')} left out" if unclear else "It breaks the rules"
        told += f" {what}; --agent has an agent bring all of it into fields."
    return told
