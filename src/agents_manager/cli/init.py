"""`am init`: the folder `.agents-manager` of a repository, to begin with. Asks at a terminal;
without one it takes its options, and what is not given stays as it is by default."""

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from agents_manager.cli import session
from agents_manager.cli.init_interview import Asker, Wishes, guessed_test
from agents_manager.cli.render import Line, title
from agents_manager.cli.session import Desk
from agents_manager.errors import Conflict, NoSandbox, NotConsented, NotTrusted

if TYPE_CHECKING:
    from agents_manager.domain.task import Project

AGENT = "defaultAgentType"
INSTRUCTIONS = """\
# For agents

What every agent should know about this project: how it is built and tested, what it looks like,
what not to touch.
"""
TASK = 'am task create "Say hello in the README" --pipeline simple --start'


@click.command()
@click.argument("path", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--agent", help="Who works at its tasks; as your own settings say unless given.")
@click.option(
    "--test", metavar="COMMAND", help='How it is tested; guessed unless given, "" if not.'
)
@click.option("--register/--no-register", default=None, help="Also: am project add.")
@click.option("--base-branch", help="Where work is merged to; the current branch unless given.")
@click.option("--name", help="What to call it; the folder's name unless given.")
@click.option("--yes", is_flag=True, help="Take what would be offered, without being asked.")
@session.command
async def init(desk: Desk, path: Path, yes: bool, **said: Any) -> None:
    """Make .agents-manager with a configuration and instructions to begin with.

    At a terminal it asks for what is not given: the agent, the command that tests the project, and
    whether to register it, which allows that command to run. Without a terminal it never asks.
    What is there already is left alone.
    """
    from agents_manager.cli import interview

    top, branch = await desk.services.workspaces.validate(Path.cwd() / path)
    known = await desk.read(lambda tx: tx.projects.by_path(str(top)))
    written = _written(top)
    wishes = Wishes(**said)
    _refuse_other(top, written, wishes)
    if wishes.agent and written is None:
        desk.services.agents.get(wishes.agent, None)
    if yes or (interview.possible() and not desk.output.as_json):
        asker = Asker(desk, top, branch, ask=not yes)
        wishes = await asker.complete(wishes, written=written is not None, known=known is not None)
    made = _make(top, wishes)
    if wishes.register and known is None:
        known = await _register(desk, top, wishes)
    steps = await asyncio.to_thread(_next, desk, top, known, made)
    document = {
        "repository": top,
        "base_branch": known.base_branch if known else wishes.base_branch or branch,
        "made": made,
        "project": known.name if known else None,
        "next": steps,
    }
    desk.output.show(document, lambda: [*_done(top, made, known), *_shown(steps)])


def _config_file(top: Path) -> Path:
    from agents_manager import settings

    return top / settings.PROJECT_FOLDER / settings.CONFIG


def _written(top: Path) -> Mapping[str, Any] | None:
    """What the project's file says; nothing that can be compared, if it is broken."""
    try:
        found = json.loads(_config_file(top).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _refuse_other(top: Path, written: Mapping[str, Any] | None, wishes: Wishes) -> None:
    """What is there is left alone; who asks for something else is told how to change it."""
    if written is None:
        return
    test = written.get("checks", {}).get("test", {}).get("command")
    for key, wanted, stands in (
        (AGENT, wishes.agent, written.get(AGENT)),
        ("checks.test.command", wishes.test, test or ""),
    ):
        if wanted is not None and wanted != stands:
            raise Conflict(
                f"{_config_file(top)} is there already, and is left alone. In the project: am"
                f" config set {key} {shlex.quote(wanted)}"
            )


def _make(top: Path, wishes: Wishes) -> list[Path]:
    config = _config_file(top)
    wanted = {
        config: json.dumps(_config(top, wishes), indent=2) + "\n",
        config.with_name("instructions.md"): INSTRUCTIONS,
    }
    made = [file for file in wanted if not file.exists()]
    for file in made:
        file.parent.mkdir(exist_ok=True)
        file.write_text(wanted[file], encoding="utf-8")
    return made


def _config(top: Path, wishes: Wishes) -> dict[str, Any]:
    command = guessed_test(top) if wishes.test is None else wishes.test
    checks = {"test": {"command": command}} if command else {}
    agent = {AGENT: wishes.agent} if wishes.agent else {}
    return {**agent, "defaultPipeline": "feature", "pipelineByType": {}, "checks": checks}


async def _register(desk: Desk, top: Path, wishes: Wishes) -> "Project":
    from agents_manager.flow import tasks

    return await tasks.add_project(
        desk.services, top, wishes.name, wishes.base_branch, by=desk.actor
    )


def _next(desk: Desk, top: Path, known: "Project | None", made: Sequence[Path]) -> list[str]:
    """The commands to type, the first of them now."""
    from agents_manager.engine import host

    at = shlex.quote(str(top))
    steps = [f"git -C {at} add .agents-manager", f"git -C {at} commit -m 'Settings for agents'"]
    steps = steps if made else []
    if known is None:
        return [*steps, f"am project add {at}"]
    steps += _lacking(desk, known)
    if not host.is_live(desk.program.settings.home):
        steps.append("am serve")
    return [*steps, TASK]


def _lacking(desk: Desk, project: "Project") -> list[str]:
    """What the agent needs before it can work."""
    from agents_manager.flow import agents

    name, called = desk.services.configs.of(project).default_agent, shlex.quote(project.name)
    try:
        agent = agents.trusted_agent(desk.services, name, project)
    except NotTrusted:
        return [f"am project trust {called}"]
    steps: list[str] = []
    try:
        agents.check_consent(name, project, agents.keeping(desk.services, agent))
    except NotConsented:
        steps.append(f"am project consent {called}")
    except NoSandbox:
        steps.append("am doctor")
    return [*steps, f"am agent doctor {name}"] if agent.diagnose().missing else steps


def _done(top: Path, made: Sequence[Path], known: "Project | None") -> list[Line]:
    lines = [Line(f"Made {file}") for file in made]
    if not made:
        lines = [Line(f"{_config_file(top).parent} is there already, and was left alone.")]
    if known is not None:
        text = f'Registered as "{known.name}"; work is merged to {known.base_branch}.'
        lines.append(Line(text))
    return lines


def _shown(steps: Sequence[str]) -> list[Line]:
    return [Line(), title("Next:"), *(Line(f"  {step}") for step in steps)]
