"""`am doctor`: what is in order and what is not, each with the way out. Makes nothing: a data
directory that is not there yet stays so."""

import click

from agents_manager.cli import session
from agents_manager.cli.output import Output
from agents_manager.cli.serve import as_json


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """Say what is in order and what is not, with the way out; exit code 1 if something fails."""
    from agents_manager import environment, log
    from agents_manager.cli import examination
    from agents_manager.cli.pages import doctor as pages

    log.configure(json=False, level="critical", redactor=environment.redactor())
    output = Output(as_json=as_json)

    async def look() -> None:
        found = await examination.examine(environment.from_environment())
        healthy = not any(one.state == "fail" for one in found)
        output.show({"ok": healthy, "checks": found}, lambda: pages.page(found))
        if not healthy:
            raise click.exceptions.Exit(1)

    session.run(output, look)
