"""`am gc`: what is old enough to go."""

import click

from agents_manager.cli import session
from agents_manager.cli.session import Desk


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@session.command
async def gc(desk: Desk, dry_run: bool, yes: bool) -> None:
    """Remove what is old enough by the settings under "retention"; asks first.

    A server does the same once a day. Tasks in work, branches, and work that was not merged are
    never touched.
    """
    from agents_manager.cli import interview
    from agents_manager.cli.pages import gc as pages
    from agents_manager.flow.retention import sweep

    if not (dry_run or yes):
        if desk.output.as_json or not interview.possible():
            raise click.UsageError("Say --yes to remove, or --dry-run to see what would go.")
        found = await sweep.sweep(desk.services, dry_run=True)
        desk.output.page(pages.page(found))
        if not found.items or not click.confirm("Remove all of this?"):
            return
    report = await sweep.sweep(desk.services, dry_run=dry_run, by=desk.actor)
    desk.output.show(report, lambda: pages.page(report))
