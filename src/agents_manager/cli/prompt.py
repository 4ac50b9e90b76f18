"""`am prompt`: what agents ask, and answering it."""

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from agents_manager.cli import arguments, consenting, session
from agents_manager.cli.output import terminal
from agents_manager.cli.render import Block, Line, Tone, one_line, short
from agents_manager.cli.session import Desk
from agents_manager.errors import GitError, InvalidInput

if TYPE_CHECKING:
    from agents_manager.flow.prompts import Answered
    from agents_manager.flow.unmerged import Consent
    from agents_manager.flow.views import InboxItem

DELAY = click.option(
    "--delay",
    type=float,
    default=0,
    metavar="SECONDS",
    help="Let nothing follow for so long; until then the answer can be taken back.",
)
KEEP = click.option(
    "--keep",
    is_flag=True,
    help="Keep the answer as a decision, too: agents of later tasks are told it.",
)


@click.group()
def prompt() -> None:
    """See and answer what agents ask."""


@prompt.command("list")
@session.command
async def list_prompts(desk: Desk) -> None:
    """List all open questions, those with tasks waiting behind them first."""
    from agents_manager.cli.pages import prompt as pages
    from agents_manager.flow import views

    items = (await desk.read(views.inbox)).items
    desk.output.show(items, lambda: pages.inbox(items))


@prompt.command()
@arguments.prompt
@click.option("--diff", "with_diff", is_flag=True, help="Print the change under review instead.")
@session.command
async def show(desk: Desk, prompt: str, with_diff: bool) -> None:
    """Show a question in full, with the commands that answer it."""
    from agents_manager.cli.pages import prompt as pages
    from agents_manager.flow import views

    item = await desk.read(lambda tx: views.item(tx, prompt))
    if with_diff:
        show_diff(desk, await _diff(desk, item))
        return
    asked = await desk.read(lambda tx: tx.prompts.of_task(item.task.id))
    change = [] if desk.output.as_json else await _statistics(desk, item)
    earlier = pages.sent_back(asked, item.prompt)
    desk.output.show(item, lambda: pages.page(item, change, earlier))


@prompt.command()
@arguments.prompt
@click.option("--accept", is_flag=True, help="Take what is recommended.")
@click.option("--option", metavar="N|LABEL", help="An option by its number or its label.")
@click.option("--text", metavar="TEXT", help="Your own words, alone or beside an option.")
@click.option("--answers", type=click.File("rb"), metavar="FILE|-", help="The answer as JSON.")
@KEEP
@DELAY
@consenting.options
@session.command
async def answer(
    desk: Desk,
    prompt: str,
    accept: bool,
    option: str | None,
    text: str | None,
    answers: BinaryIO | None,
    keep: bool,
    delay: float,
    consent: "Consent",
) -> None:
    """Answer a question. Without an option it is asked here, question by question."""
    from agents_manager.cli import answering, interview
    from agents_manager.flow import prompts, views

    ways = [accept, option is not None or text is not None, answers is not None]
    if sum(ways) > 1:
        raise click.UsageError("Give one of --accept, --option/--text and --answers.")
    if accept:
        done = await prompts.accept(desk.services, prompt, desk.actor, delay_s=delay, keep=keep)
        await show_answered(desk, done)
        return
    if not any(ways) and not interview.possible():
        raise click.UsageError(
            "Say how to answer: --accept, --option N, --text TEXT or --answers FILE."
        )
    item = await desk.read(lambda tx: views.item(tx, prompt))
    raw: dict[str, Any]
    if answers is not None:
        raw = answering.from_file(answers)
    elif any(ways):
        raw = answering.from_options(item.prompt, option, text)
    else:
        raw = interview.ask(item.prompt, await _statistics(desk, item))
    s, actor = desk.services, desk.actor
    done = await consenting.ask(
        lambda agreed: prompts.answer(
            s, item.prompt.id, raw, actor, delay_s=delay, keep=keep, consent=agreed
        ),
        consent,
    )
    await show_answered(desk, done)


@prompt.command()
@arguments.prompt
@session.command
async def undo(desk: Desk, prompt: str) -> None:
    """Take back an answer that was given with --delay, before anything follows from it."""
    from agents_manager.flow import undoing

    done = await undoing.undo(desk.services, prompt, desk.actor)
    task = f'{short(done.task.id)} "{one_line(done.task.title)}"'
    text = f"Taken back. {task} is {done.task.status} again; answer {short(done.prompt.id)}."
    desk.output.show(done, lambda: [Line(text)])


async def show_answered(desk: Desk, done: "Answered") -> None:
    task = done.task
    lines = [Line(f'Answered. {short(task.id)} "{one_line(task.title)}" is now {task.status}.')]
    for kept in done.decisions:
        lines.append(Line(f'Kept as decision {short(kept.id)}: "{one_line(kept.text)}".'))
    if done.prompt.undo_until:
        until = f"{done.prompt.undo_until:%H:%M:%S} UTC"
        lines.append(Line(f"Until {until}: am prompt undo {short(done.prompt.id)}", Tone.QUIET))
    desk.output.show(done, lambda: lines)
    await desk.say_if_idle(task.id)


def show_diff(desk: Desk, diff: str) -> None:
    """Exactly as git made it, so that it can be applied; on a terminal with nothing obeyed."""
    from agents_manager.cli.pages import prompt as pages

    if desk.output.as_json or terminal():
        desk.output.show({"diff": diff}, lambda: pages.diff_lines(diff))
    else:
        click.echo(diff.encode("utf-8", "surrogateescape"), nl=False)


async def _diff(desk: Desk, item: "InboxItem") -> str:
    from pathlib import Path

    from agents_manager.flow import sharing

    payload = item.prompt.payload
    if "head_sha" not in payload:
        raise InvalidInput(f"Prompt {item.prompt.id} ({item.prompt.type}) is about no change.")
    ends = (payload["base_sha"], payload["head_sha"])
    await sharing.visible(desk.services, item.task, item.project, *ends)
    return await desk.services.workspaces.diff(
        Path(item.project.path), payload["base_sha"], payload["head_sha"]
    )


async def _statistics(desk: Desk, item: "InboxItem") -> list[Block]:
    from agents_manager.cli.pages import prompt as pages

    if "head_sha" not in item.prompt.payload:
        return []
    try:
        table = pages.diff_statistics(await _diff(desk, item))
    except GitError as error:
        return [Line(f"The change cannot be shown: {error.message}", Tone.URGENT), Line()]
    return [table, Line()]
