"""`am review`: the decision about a plan or a change, with comments on lines."""

from typing import BinaryIO

import click

from agents_manager.cli import arguments, files, session
from agents_manager.cli.prompt import DELAY, KEEP, show_answered
from agents_manager.cli.session import Desk


@click.command()
@arguments.task
@click.option("--approve", is_flag=True, help="Go on with it.")
@click.option("--request-changes", metavar="TEXT", help="Send it back, and say why.")
@click.option("--send-back", is_flag=True, help="Send it back, with what the agent's review says.")
@click.option("--comments", type=click.File("rb"), metavar="FILE|-", help="Comments on lines.")
@KEEP
@DELAY
@session.command
async def review(
    desk: Desk,
    task: str,
    approve: bool,
    request_changes: str | None,
    send_back: bool,
    comments: BinaryIO | None,
    keep: bool,
    delay: float,
) -> None:
    """Approve the plan or the work of a task, or send it back.

    Where an agent reviewed first and asked for changes, --approve approves it anyway, and its
    comments go back with yours.

    The comments are a JSON list, or lines like "src/app.py:12: [must_fix] Say why it failed.";
    severities are must_fix (unless given), should_fix and suggestion. On a plan or another
    document it is "12: Which model?", by the line that "am prompt show" prints beside it.
    """
    from agents_manager.domain.prompt import Decision
    from agents_manager.flow import prompts

    if [approve, request_changes is not None, send_back].count(True) != 1:
        raise click.UsageError("Give --approve, --request-changes TEXT or --send-back.")
    raw = {
        "decision": Decision.APPROVED if approve else Decision.CHANGES_REQUESTED,
        "summary": request_changes or None,
        "comments": files.comments(comments) if comments else [],
    }
    done = await prompts.review(desk.services, task, raw, desk.actor, delay_s=delay, keep=keep)
    await show_answered(desk, done)
