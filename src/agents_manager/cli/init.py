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
from agents_manager.cli.init_interview import Asker, Wishes
from agents_manager.cli.render import Line, Tone, one_line, title
from agents_manager.cli.session import Desk
from agents_manager.errors import Conflict, NoSandbox, NotConsented, NotTrusted

if TYPE_CHECKING:
    from agents_manager.cli.init_checks import Decision
    from agents_manager.domain.task import Project

AGENT = "defaultAgentType"
LEFT_OUT = 3
"""The exit code if not everything that was suggested was saved."""
TASK = 'am task create "Say hello in the README" --pipeline simple --start'


@click.command()
@click.argument("path", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--agent", help="Who works at its tasks; as your own settings say unless given.")
@click.option("--test", metavar="COMMAND", help='The only check, saved as it is; "" for none.')
@click.option("--no-try", is_flag=True, help="Save proposals without running them.")
@click.option("--register/--no-register", default=None, help="Also: am project add.")
@click.option("--base-branch", help="Where work is merged to; the current branch unless given.")
@click.option("--name", help="What to call it; the folder's name unless given.")
@click.option("--yes", is_flag=True, help="Take what is suggested and passes, without asking.")
@session.command
async def init(desk: Desk, path: Path, yes: bool, no_try: bool, **said: Any) -> None:
    """Create .agents-manager with a configuration and instructions to begin with.

    Recognises the tools of the repository, proposes set-up and checks, and runs them once on the
    base commit before anything is saved. At a terminal it asks for what is not given. Without a
    terminal it never asks, and runs commands of the repository only with --yes. Existing files are
    left alone, but a configuration without set-up and checks gets them. The exit code is 3 if --yes
    left out a proposal.
    """
    from agents_manager.cli import interview
    from agents_manager.flow import tasks

    top, branch = await desk.services.workspaces.validate(Path.cwd() / path)
    known = await tasks.registered(desk.services, top)
    written = _written(top)
    wishes = Wishes(**said)
    _refuse_other(top, written, wishes)
    if wishes.agent and written is None:
        desk.services.agents.get(wishes.agent, None)
    asks = not yes and interview.possible() and not desk.output.as_json
    asker = Asker(desk, top, branch, ask=asks)
    if yes or asks:
        wishes = await asker.complete(wishes, written=written is not None, known=known is not None)
    base = known.base_branch if known else wishes.base_branch or branch
    decision = None
    if written is None or (_is_unchecked(written) and wishes.test is None and (yes or asks)):
        decision = await _decide(desk, top, base, wishes.test, yes=yes, asks=asks, tries=not no_try)
    if (yes or asks) and known is None:
        wishes = asker.register(wishes)
    made = _make(top, wishes, written, decision)
    if wishes.register and known is None:
        known = await _register(desk, top, wishes)
    steps = await asyncio.to_thread(_next, desk, top, known, made)
    document = {
        "repository": top,
        "base_branch": known.base_branch if known else base,
        "made": made,
        "project": known.name if known else None,
        **(decision.document() if decision else {}),
        "next": steps,
    }
    desk.output.show(document, lambda: [*_done(top, made, known, decision), *_shown(steps)])
    if yes and decision and decision.left_out:
        raise click.exceptions.Exit(LEFT_OUT)


async def _decide(
    desk: Desk, top: Path, base: str, test: str | None, *, yes: bool, asks: bool, tries: bool
) -> "Decision":
    """Returns the set-up and checks to save."""
    from agents_manager.cli import init_checks
    from agents_manager.scm import commits
    from agents_manager.scm.git import Place, common_dir

    if test is not None:
        return init_checks.by_option(test)
    commit = await commits.tip_or_refuse(Place(git_dir=await common_dir(top)), base)
    chooser = init_checks.CheckChooser(desk, top, commit, base, ask=asks, tries=tries)
    return await (chooser.decide() if yes or asks or not tries else chooser.propose())


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


def _is_unchecked(written: Mapping[str, Any]) -> bool:
    """Returns whether a readable configuration has neither set-up nor checks, for example because
    none of the proposals passed when it was made."""
    return bool(written) and not written.get("setup") and not written.get("checks")


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


def _make(
    top: Path, wishes: Wishes, written: Mapping[str, Any] | None, decision: "Decision | None"
) -> list[Path]:
    """Writes the files that are missing, and what was decided into a configuration without checks;
    returns the files that it wrote."""
    from agents_manager.settings import PLACEHOLDER

    config = _config_file(top)
    instructions = config.with_name("instructions.md")
    wanted: dict[Path, str] = {}
    if written is None:
        wanted[config] = _json(_config(wishes, decision))
    elif decision and decision.plans:
        wanted[config] = _json({**written, **decision.config()})
    if not instructions.exists():
        wanted[instructions] = PLACEHOLDER
    for file, text in wanted.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return list(wanted)


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _config(wishes: Wishes, decision: "Decision | None") -> dict[str, Any]:
    agent = {AGENT: wishes.agent} if wishes.agent else {}
    checks: dict[str, Any] = decision.config() if decision else {"checks": {}}
    return {**agent, "defaultPipeline": "feature", "pipelineByType": {}, **checks}


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

    config, called = desk.services.configs.of(project), shlex.quote(project.name)
    if agents.changes(project, config):
        return [f"am project trust {called}"]
    name = config.default_agent
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


def _done(
    top: Path, made: Sequence[Path], known: "Project | None", decision: "Decision | None"
) -> list[Line]:
    lines = [Line(f"Wrote {file}") for file in made]
    if not made:
        lines = [Line(f"{_config_file(top).parent} is there already, and was left alone.")]
    left_out: Mapping[str, str] = decision.left_out if decision else {}
    for why in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name in left_out if left_out[name] == why)
        lines.append(Line(f"Left out: {names} ({one_line(why).rstrip('.')})", Tone.URGENT))
    if decision and decision.has_failures:
        lines.append(Line(_later(decision)))
    if known is not None:
        text = f'Registered as "{known.name}"; work is merged to {known.base_branch}.'
        lines.append(Line(text))
    return lines


def _later(decision: "Decision") -> str:
    """Returns how to add what was left out."""
    if decision.plans:
        return "To add a check later: am config set checks.NAME.command COMMAND"
    return 'When the cause is fixed, run "am init --yes" again.'


def _shown(steps: Sequence[str]) -> list[Line]:
    return [Line(), title("Next:"), *(Line(f"  {step}") for step in steps)]
