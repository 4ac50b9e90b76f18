"""`am doctor`: what is in order and what is not, each with the command that mends it. Makes
nothing: a data directory that is not there yet stays so."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from agents_manager.cli import session
from agents_manager.cli.output import Output
from agents_manager.cli.serve import as_json

if TYPE_CHECKING:
    from agents_manager.cli.findings import Finding
    from agents_manager.environment import Settings


@click.command()
@click.option(
    "--bundle",
    metavar="[FILE]",
    is_flag=False,
    flag_value="",
    help="Put what finds a fault into a zip file, without secrets, prompts and code.",
)
@as_json
def doctor(bundle: str | None, as_json: bool) -> None:
    """Say what is in order and what is not, with the commands that mend it; exit code 1 if
    something fails.

    With --bundle this and more is put into a file that can be passed on: versions, settings, the
    schema, counts, kinds of events, errors and the last lines of the log. Nothing is sent anywhere.
    """
    from agents_manager import environment, log
    from agents_manager.cli import examination
    from agents_manager.cli.pages import doctor as pages

    log.configure(json=False, level="critical", redactor=environment.redactor())
    output = Output(as_json=as_json)

    async def look() -> None:
        place = environment.from_environment()
        found = await examination.examine(place)
        if bundle is not None:
            await _bundle(output, place, found, bundle)
            return
        healthy = not any(one.state == "fail" for one in found)
        output.show({"ok": healthy, "checks": found}, lambda: pages.page(found))
        if not healthy:
            raise click.exceptions.Exit(1)

    session.run(output, look)


async def _bundle(output: Output, place: "Settings", found: "Sequence[Finding]", file: str) -> None:
    from agents_manager.cli import bundle
    from agents_manager.cli.pages import doctor as pages

    made = await bundle.make(place, found, file)
    output.show(made, lambda: pages.bundle(made.file, made.parts, bundle.LEFT_OUT))
