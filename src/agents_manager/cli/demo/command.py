"""`am demo`: the whole product on sample data, with an agent that plays scripts."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agents_manager.cli import session
from agents_manager.cli.output import Output
from agents_manager.cli.render import Line, title
from agents_manager.cli.serve import HOST, as_json, log_in, port_option, serving

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program


@click.command()
@port_option
@click.option("--home", type=click.Path(path_type=Path), help="AM_HOME/demo unless given.")
@as_json
def demo(port: int | None, home: Path | None, as_json: bool) -> None:
    """Run the product on sample tasks, with a scripted agent.

    Started again it goes on where it was left; delete its folder to begin anew.
    """
    from agents_manager import settings

    output = Output(as_json=as_json)
    folder = (home or settings.from_environment().home / "demo").absolute()
    begun = folder.exists()

    def ready(address: str, login: str) -> None:
        token = folder / "token"
        document = {"address": address, "login": login, "home": folder, "token_file": token}
        output.show(document, lambda: _welcome(address, login, folder, begun))

    async def beside(program: "Program") -> None:
        from agents_manager.cli.demo import seed

        await seed.seed(program.services, program.settings.home)
        output.say("The sample tasks are in place.")

    place = settings.Settings(folder, None)
    _by_script(folder / settings.CONFIG)
    session.run(output, lambda: serving(place, HOST, port, ready, beside, level="error"))


def _by_script(config: Path) -> None:
    """The agents of the demo need no account."""
    config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not config.exists():
        config.write_text('{"defaultAgentType": "scripted"}\n', encoding="utf-8")


def _welcome(address: str, login: str, home: Path, begun: bool) -> list[Line]:
    how = "It goes on with what is in" if begun else "Its data is made now, in"
    return [
        title(f"The demo is at {address}"),
        *log_in(login, home / "token"),
        Line(f"{how} {home}; delete that folder to begin anew."),
        Line(),
        Line("In another terminal:"),
        Line(f"  export AM_HOME={shlex.quote(str(home))}"),
        Line("  am task list"),
        Line("  am prompt list"),
        Line(),
        Line("Ctrl-C ends it; an agent at work goes on, and is found again at the next start."),
    ]
