"""`am audit`: who decided what."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from agents_manager.cli import arguments, session
from agents_manager.cli.render import Line, Table, ago
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents_manager.domain.audit import Entry


@click.command()
@arguments.since
@click.option("--who", help="Only what this person or program did.")
@click.option("--what", help='Only this deed, such as token.made, or "token" for all of the kind.')
@click.option("--limit", type=click.IntRange(min=1, max=10_000), default=50, show_default=True)
@click.option("--csv", "as_csv", is_flag=True, help="Print all of it as a table for programs.")
@session.command
async def audit(
    desk: Desk, since: datetime | None, who: str | None, what: str | None, limit: int, as_csv: bool
) -> None:
    """Show decisions that are no events of a task, the newest first.

    Log-ins and tokens, trust and consent, settings, projects, pipelines, grants that reach beyond a
    task, deletions and restores. What happened to a task is in "am task events".
    """
    from agents_manager.domain.audit import as_csv as table
    from agents_manager.flow import audit as record

    if as_csv and desk.output.as_json:
        raise click.UsageError("Give --csv or --json, not both.")
    if as_csv:
        text = await desk.read(lambda tx: table(record.every(tx, since=since, who=who, what=what)))
        click.echo(text, nl=False)
        return
    found = await desk.read(
        lambda tx: record.page(tx, since=since, who=who, what=what, limit=limit)
    )
    desk.output.show(found, lambda: _page(found))


def _page(found: "Sequence[Entry]") -> "list[Line | Table]":
    if not found:
        return [Line("Nothing of this was decided.")]
    rows = [[ago(one.time), one.who, _where(one), one.what, one.summary] for one in found]
    return [Table(["WHEN", "WHO", "FROM", "WHAT", "DID"], rows, cut=["DID"])]


def _where(entry: "Entry") -> str:
    return " ".join(part for part in (entry.via, entry.address) if part)
