"""`am run`: the work of agents."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents_manager.cli import arguments, completing, session
from agents_manager.cli.prompt import show_diff
from agents_manager.cli.render import Line, one_line, short
from agents_manager.cli.session import Desk
from agents_manager.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents_manager.domain.ids import RunId
    from agents_manager.domain.run import Run
    from agents_manager.domain.task import Project, Task
    from agents_manager.flow.ports import Tx

MAX_COMPLAINTS = 16 * 1024
STOP_PATIENCE_S = 60.0


class RunStillStops(Conflict):
    """A run was told to stop, and has not yet."""


@click.group()
def run() -> None:
    """Look at the work of agents, and stop it."""


@run.command("list")
@click.option("--task", shell_complete=completing.tasks, help="Only of this task.")
@click.option("--live", is_flag=True, help="Only those that are not over.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@session.command
async def list_runs(desk: Desk, task: str | None, live: bool, limit: int) -> None:
    """List runs, the newest first."""
    from agents_manager.cli.pages import run as pages

    def read(tx: "Tx") -> "list[Run]":
        of = tx.tasks.find(task).id if task else None
        return tx.runs.page(task=of, live=live, after=None, limit=limit)

    runs = await desk.read(read)
    desk.output.show(runs, lambda: pages.listing(runs))


@run.command()
@arguments.run
@click.option("--prompt", "with_prompt", is_flag=True, help="Print what the agent was told.")
@session.command
async def show(desk: Desk, run: str, with_prompt: bool) -> None:
    """Show a run: how it ended, what it cost, where it worked."""
    from agents_manager.cli.pages import run as pages

    found, task, _ = await _found(desk, run)
    if with_prompt:
        from agents_manager.flow.runs import mirrors, places

        await mirrors.bring(desk.services, found)
        told = places.told(desk.services, found)
        if not told:
            raise InvalidInput(f"Run {found.id} ({found.status}) has not been told anything yet.")
        first, *later = told
        system = places.system_prompt(desk.services, found)
        shown = {"run": found.id, "system_prompt": system, "prompt": first, "repairs": later}
        desk.output.show(shown, lambda: pages.told(system, first, later))
    else:
        from agents_manager.flow.runs import checking, handoffs, left_out, mirrors, refusals

        await mirrors.bring(desk.services, found)
        rounds = checking.of_run(desk.services, found.id)
        note = await desk.read(lambda tx: handoffs.of_run(tx, found))
        products = await desk.read(lambda tx: left_out.find(tx, found))
        blocked = await desk.read(lambda tx: refusals.find(tx, found))
        desk.output.show(
            found, lambda: pages.page(found, task.title, rounds, note, products, blocked)
        )


@run.command()
@arguments.run
@session.command
async def handoff(desk: Desk, run: str) -> None:
    """Print the note that a run left for the next, or what was wrong with it."""
    from agents_manager.cli.pages import handoff as pages
    from agents_manager.flow.runs import handoffs

    found, _, _ = await _found(desk, run)
    note = await desk.read(lambda tx: handoffs.of_run(tx, found))
    desk.output.show(note, lambda: pages.page(note))


@run.command()
@arguments.run
@session.command
async def checks(desk: Desk, run: str) -> None:
    """Print what the project's checks said about the work of a run, round by round."""
    from agents_manager.cli.pages import run as pages
    from agents_manager.flow.runs import checking, mirrors

    found, _, _ = await _found(desk, run)
    await mirrors.bring(desk.services, found)
    rounds = checking.of_run(desk.services, found.id)
    document = {"run": found.id, "rounds": rounds}
    desk.output.show(document, lambda: pages.checks(rounds))


@run.command()
@arguments.run
@session.command
async def stop(desk: Desk, run: str) -> None:
    """Stop a run and wait until it has stopped.

    Its task stays where it is, and a person is asked how to continue. Without a running server, the
    run is stopped when one is started.
    """
    from agents_manager.flow import tasks

    stopping = await tasks.stop_run(desk.services, run, desk.actor)
    ended = await _ended(desk, stopping.run.id) if desk.has_engine() else None
    shown = replace(stopping, run=ended) if ended else stopping
    name = f'"{one_line(stopping.task.title)}"'
    text = f"{'Stopped' if ended else 'Stopping'} run {short(stopping.run.id)} of {name}."
    desk.output.show(shown, lambda: [Line(text)])
    await desk.say_if_idle(stopping.task.id)


async def _ended(desk: Desk, run_id: "RunId") -> "Run":
    """The run, once none of its processes is left."""
    deadline = time.monotonic() + STOP_PATIENCE_S
    while time.monotonic() < deadline:
        found = await desk.read(lambda tx: tx.runs.get(run_id))
        if not found.status.live:
            return found
        await asyncio.sleep(0.1)
    raise RunStillStops(
        f"Run {run_id} has not stopped within {STOP_PATIENCE_S:.0f} s. The order stands; see what"
        f" holds it up: am doctor, and am run show {short(run_id)}"
    )


@run.command()
@arguments.run
@session.command
async def retry(desk: Desk, run: str) -> None:
    """Try a run again now that would be tried again later; `stop` calls it off."""
    from agents_manager.flow import retries

    found = await desk.write(lambda tx: retries.now(tx, desk.services, run, desk.actor))
    text = f"Run {short(found.id)} ({found.mode}) is tried again now."
    desk.output.show(found, lambda: [Line(text)])
    await desk.say_if_idle(found.task_id)


@run.command()
@arguments.task
@click.option("--mode", help="plan, implement, review, …; as in the last run unless given.")
@click.option("--agent", help="As in the last run unless given.")
@click.option("--model", help="For this run; the same as --set model=NAME.")
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE", help="For this run: timeout, maxTurns, …"
)
@session.command
async def start(
    desk: Desk,
    task: str,
    mode: str | None,
    agent: str | None,
    model: str | None,
    pairs: tuple[str, ...],
) -> None:
    """Start the agent of a task again where it stands, for instance in another mode."""
    from agents_manager.flow import remedies

    wanted = {**_overrides(pairs), **({"model": model} if model else {})}
    order = remedies.Order(mode=mode, agent=agent, settings=wanted)
    started = await desk.write(
        lambda tx: remedies.start_run(tx, desk.services, task, desk.actor, order)
    )
    text = f"Started run {short(started.id)} ({started.mode})."
    desk.output.show(started, lambda: [Line(text)])
    await desk.say_if_idle(started.task_id)


@run.command()
@arguments.run
@session.command
async def transcript(desk: Desk, run: str) -> None:
    """Print what the agent said and did."""
    from agents_manager.cli.pages import run as pages
    from agents_manager.flow.runs import lifecycle, mirrors, places, watch

    found, _, project = await _found(desk, run)
    await mirrors.bring(desk.services, found, at_once=True)
    folders = [lifecycle.job_dir(desk.services, found.id, turn) for turn in lifecycle.TURNS]
    parse = watch.parser(desk.services, found, project)
    messages = [m for piece in watch.past(desk.services, found.id) for m in parse(piece)]
    complaints = "".join(_tail(folder / places.STDERR) for folder in folders)
    gone = places.removed_at(desk.services, found)
    missing = await mirrors.missing(desk.services, found)
    document: dict[str, Any] = {"run": found.id, "messages": messages, "stderr": complaints}
    document |= {"removed_at": gone, "missing": missing}
    desk.output.show(document, lambda: pages.transcript(messages, complaints, gone))
    if missing:
        desk.output.say(missing)


@run.command()
@arguments.run
@session.command
async def watch(desk: Desk, run: str) -> None:
    """Print what the agent said until now, then what it says, until the run is over."""
    from agents_manager.cli.pages import run as pages
    from agents_manager.flow.runs import mirrors, places
    from agents_manager.flow.runs import watch as watching

    found, task, project = await _found(desk, run)
    if found.status.live:
        await desk.say_if_idle(task.id)
    services, messages = desk.services, list["Mapping[str, Any]"]()
    parse = watching.parser(services, found, project)
    async for batch in watching.follow(services, found.id, watching.Position()):
        said = [message for piece in batch for message in parse(piece)]
        if desk.output.as_json:
            messages += said
        elif said:
            desk.output.page(pages.transcript(said))
    ended = await desk.read(lambda tx: tx.runs.get(found.id))
    gone = places.removed_at(services, ended)
    if gone is not None and not desk.output.as_json:
        desk.output.page(pages.transcript([], removed_at=gone))
    missing = await mirrors.missing(services, ended)
    if missing:
        desk.output.say(missing)
    document = {"run": ended, "messages": messages}
    desk.output.show(document, lambda: pages.ending(ended, task.title))


@run.command()
@arguments.run
@session.command
async def diff(desk: Desk, run: str) -> None:
    """Print what a run changed, as a diff that git can apply."""
    from agents_manager.flow import branches, sharing

    found, task, project = await _found(desk, run)
    repo, workspaces = Path(project.path), desk.services.workspaces
    if found.branch is None or found.base_sha is None:
        raise InvalidInput(f"Run {found.id} ({found.status}) has no branch yet.")
    head = found.head_sha
    if head is None:
        base = await desk.read(lambda tx: branches.base_of(tx, desk.services, task, project))
        head = (await workspaces.change(repo, found.branch, base)).head_sha
    await sharing.visible(desk.services, task, project, found.base_sha, head)
    show_diff(desk, await workspaces.diff(repo, found.base_sha, head))


def _overrides(pairs: tuple[str, ...]) -> "dict[str, Any]":
    from agents_manager.domain import run_settings

    found: dict[str, Any] = {}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not (key and mark and value):
            raise click.UsageError(f'--set takes KEY=VALUE, not "{pair}".')
        found[key] = value
    return run_settings.checked(found)


async def _found(desk: Desk, run: str) -> "tuple[Run, Task, Project]":
    def read(tx: "Tx") -> "tuple[Run, Task, Project]":
        found = tx.runs.find(run)
        return found, tx.tasks.get(found.task_id), tx.projects.get(found.project_id)

    return await desk.read(read)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_COMPLAINTS))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
