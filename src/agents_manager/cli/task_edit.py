"""The commands of `am task` that change its words, remove it, explain it or mend it."""

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from agents_manager.cli import arguments, completing, files, session
from agents_manager.cli.render import Line, Tone, one_line, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.flow.removal import Deleted

OPTIONAL = ("agent", "model")
LISTS = {"tags": "tags", "criteria": "acceptance_criteria", "dependencies": "dependencies"}
KEPT = "The run that is going on keeps the words it was given."


@click.command()
@arguments.task
@click.option("--title")
@click.option("--description", metavar="TEXT")
@click.option("--description-file", type=click.File("rb"), metavar="FILE|-")
@click.option("--objective", metavar="TEXT", help="What it is good for; empty for none.")
@click.option("--type", "type_", metavar="TEXT")
@click.option("--priority")
@click.option("--size")
@click.option("--complexity")
@click.option("--tag", "tags", multiple=True, help="These instead of those it has.")
@click.option("--criterion", "criteria", multiple=True, help="These instead of those it has.")
@click.option(
    "--depends-on",
    multiple=True,
    metavar="TASK",
    shell_complete=completing.tasks,
    help="These instead of those it has.",
)
@arguments.agent_option
@arguments.model_option
@click.option("--clear", multiple=True, type=click.Choice([*LISTS, *OPTIONAL]), help="Leave none.")
@click.option("--expect-version", type=int, help="Refuse if it was changed since.")
@session.command
async def edit(
    desk: Desk,
    task: str,
    description_file: BinaryIO | None,
    clear: tuple[str, ...],
    expect_version: int | None,
    **given: Any,
) -> None:
    """Change the words of a task, also while an agent works at it."""
    from agents_manager.flow import edits

    lists = {"tags": given["tags"], "criteria": given["criteria"]}
    lists["dependencies"] = given["depends_on"]
    values = {**lists, **{name: given[name] for name in OPTIONAL}}
    if both := [name for name in clear if values[name]]:
        raise click.UsageError(f"Give --clear {both[0]} or what it shall hold, not both.")
    words = ("title", "objective", "priority", "size", "complexity", *OPTIONAL)
    changes = {name: given[name] for name in words}
    changes["type"] = given["type_"]
    changes["description"] = files.one_of(given["description"], description_file)
    changes |= {LISTS[name]: value for name, value in lists.items() if value or name in clear}
    changes = {name: value for name, value in changes.items() if value is not None}
    changes |= {name: None for name in clear if name in OPTIONAL}
    if not changes:
        raise click.UsageError("Say what to change, for instance --title or --priority.")
    edited = await edits.edit(
        desk.services, task, changes, desk.actor, expect_version=expect_version
    )
    name = f'{short(edited.task.id)} "{one_line(edited.task.title)}"'
    what = ", ".join(edited.fields).replace("_", " ") or "nothing; it was so before"
    desk.output.show(edited, lambda: [Line(f"Changed {name}: {what}.")])
    if edited.run is not None and edited.fields:
        desk.output.say(KEPT)


@click.command()
@arguments.task
@click.option("--force", is_flag=True, help="Also if others depend on it; they do so no more.")
@click.option("--stop", is_flag=True, help="Stop the agent that is running first.")
@session.command
async def delete(desk: Desk, task: str, force: bool, stop: bool) -> None:
    """Delete a task and its record for ever; its branches and commits stay."""
    from agents_manager.flow import removal

    if stop:
        found = await desk.read(lambda tx: tx.tasks.find(task))
        await desk.need_engine_to_stop([found.id])
    deleted = await removal.delete(desk.services, task, desk.actor, force=force, stop=stop)
    name = f'{short(deleted.task.id)} "{one_line(deleted.task.title)}"'
    desk.output.show(deleted, lambda: [Line(f"Deleted {name} ({deleted.task.status}).")])
    for line in _what_stays(deleted):
        desk.output.say(line)


def _what_stays(deleted: "Deleted") -> list[str]:
    said: list[str] = []
    if deleted.branches:
        said.append(f"Its branches and snapshots stay: {', '.join(deleted.branches)}.")
    if deleted.released:
        names = ", ".join(short(one) for one in deleted.released)
        said.append(f"These depend on it no more: {names}.")
    if deleted.left is not None:
        said.append(f"Its workspace could not be removed: {deleted.left}")
    return said


@click.command()
@arguments.task
@session.command
async def why(desk: Desk, task: str) -> None:
    """Say why a task is where it is, and what it waits for."""
    from agents_manager.flow import views

    view = await desk.read(lambda tx: views.task(tx, desk.services, task, desk.actor))
    document = {"task": view.task, "next_mover": view.next_mover, "why": view.why}
    tone = Tone.URGENT if view.next_mover.kind == "nobody" else Tone.PLAIN
    desk.output.show(document, lambda: [Line(one_line(view.why), tone)])


@click.command("retry-hook")
@arguments.task
@click.argument("effect", required=False)
@session.command
async def retry_hook(desk: Desk, task: str, effect: str | None) -> None:
    """Perform a failed hook of a task once more; name it, or the id of its effect."""
    from agents_manager.flow import edits

    row = await edits.retry_hook(desk.services, task, effect, desk.actor)
    text = f"{row.kind} will be performed again (attempt {row.attempt})."
    desk.output.show(row, lambda: [Line(text)])
    await desk.say_if_idle(row.task_id)


@click.command("restore-check")
@arguments.task
@click.argument("check")
@session.command
async def restore_check(desk: Desk, task: str, check: str) -> None:
    """Run a skipped check of a task again."""
    from agents_manager.flow import check_decisions

    decided = await check_decisions.restore(desk.services, task, check, desk.actor)
    text = f'Check "{check}" runs again, from the next run of the task on.'
    desk.output.show(decided, lambda: [Line(text)])
