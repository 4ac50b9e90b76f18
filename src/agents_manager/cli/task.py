"""`am task`: creating tasks and looking at them. Moving them is in `moves`."""

from typing import TYPE_CHECKING, Any, BinaryIO

import click

from agents_manager.cli import (
    arguments,
    completing,
    files,
    moves,
    race,
    session,
    task_edit,
    task_files,
    times,
)
from agents_manager.cli.session import Desk
from agents_manager.errors import InvalidInput, TransitionRefused, closest

if TYPE_CHECKING:
    from datetime import datetime

    from agents_manager.cli.pages.task import Listed
    from agents_manager.domain.event import Logged
    from agents_manager.domain.ids import ProjectId, TaskId
    from agents_manager.flow.ports import Tx
    from agents_manager.flow.views import TaskView

PAGE = 200
LATEST_EVENTS = 8
LISTED = ("task", "project", "status", "next_mover")


@click.group()
def task() -> None:
    """Create, start, move and look at tasks."""


for command in (moves.start, moves.move, moves.cancel, moves.grant):
    task.add_command(command)
for command in (task_edit.edit, task_edit.delete, task_edit.why, task_edit.retry_hook):
    task.add_command(command)
task.add_command(task_edit.restore_check)
for command in (race.race, race.compare, race.pick):
    task.add_command(command)
for command in (task_files.export, task_files.import_, task_files.clean):
    task.add_command(command)


@task.command()
@click.argument("title")
@arguments.project_option
@click.option("--description", metavar="TEXT")
@click.option("--description-file", type=click.File("rb"), metavar="FILE|-")
@click.option("--objective", metavar="TEXT", default="", help="What it is good for.")
@click.option(
    "--pipeline", shell_complete=completing.pipelines, help="The project's default unless given."
)
@click.option("--type", "kind", default="feature", show_default=True)
@click.option("--priority", default="medium", show_default=True)
@click.option("--size", default="medium", show_default=True)
@click.option("--complexity", default="medium", show_default=True)
@click.option("--tag", "tags", multiple=True, help="May be given several times.")
@click.option("--criterion", "criteria", multiple=True, help="When it is done; several times.")
@click.option(
    "--depends-on",
    multiple=True,
    metavar="TASK",
    shell_complete=completing.tasks,
    help="Several times.",
)
@arguments.agent_option
@arguments.model_option
@race.agents_option
@race.judge_option
@click.option("--start", is_flag=True, help="Start it at once.")
@click.option(
    "--at",
    type=times.Moment(),
    metavar="TIME",
    help="Have the engine start it then, such as 2026-12-01T09:00, in the zone of this machine.",
)
@session.command
async def create(
    desk: Desk,
    title: str,
    project: str | None,
    description: str | None,
    description_file: BinaryIO | None,
    agents: str | None,
    judge: str | None,
    start: bool,
    **fields: Any,
) -> None:
    """Create a task."""
    from agents_manager.flow import agents as agents_
    from agents_manager.flow import later, racing, tasks

    if start and fields["at"]:
        raise click.UsageError("Give --start or --at, not both.")
    if judge is not None and agents is None:
        raise click.UsageError("A --judge picks among --agents; give these, too.")
    if agents is not None and (fields["agent"] or fields["model"]):
        raise click.UsageError("Give --agent for one agent or --agents for several, not both.")
    new = tasks.NewTask(
        title=title,
        description=files.one_of(description, description_file) or "",
        starts_at=fields["at"],
        objective=fields["objective"],
        type=fields["kind"],
        priority=fields["priority"],
        size=fields["size"],
        complexity=fields["complexity"],
        tags=fields["tags"],
        acceptance_criteria=fields["criteria"],
        dependencies=fields["depends_on"],
        pipeline=fields["pipeline"],
        agent=fields["agent"],
        model=fields["model"],
    )
    s, chosen, actor = desk.services, await desk.project(project), desk.actor
    several = () if agents is None else race.several(agents)
    if start:
        named = [fields["agent"]] if fields["agent"] else []
        names = named + [one.agent for one in several]
        agents_.check_startable(s, chosen, names)
    if agents is None:
        made = await tasks.create(s, chosen, new, actor)
    else:
        judging = race.judging(judge)
        made = await racing.create(s, chosen, new, several, judging, actor)
    if start:
        try:
            started = await later.start(desk.services, made.id, desk.actor)
        except TransitionRefused as error:
            why = f"Task {made.id} was created, but not started: {error.message}"
            raise TransitionRefused(why, error.details) from None
        await moves.show_started(desk, started, "Created")
        return
    await moves.show_result(desk, made.id, "Created")


@task.command("list")
@click.option(
    "--project",
    shell_complete=completing.projects,
    help="Only of this one; that of the current folder unless given.",
)
@click.option("--all", "everywhere", is_flag=True, help="Of all projects.")
@click.option("--status", shell_complete=completing.statuses, help="Only those in this status.")
@click.option("--find", "title", metavar="TEXT", help="Only those with this in their title.")
@click.option("--limit", type=click.IntRange(min=1), default=PAGE, show_default=True)
@session.command
async def list_tasks(
    desk: Desk,
    project: str | None,
    everywhere: bool,
    status: str | None,
    title: str | None,
    limit: int,
) -> None:
    """List tasks, the newest first."""
    from agents_manager.cli.pages import task as pages

    if everywhere and project:
        raise click.UsageError("Give --all or --project, not both.")
    if project is not None:
        chosen = (await desk.project(project)).id
    else:
        here = None if everywhere else await desk.project_here()
        chosen = here.id if here else None
    now = desk.services.clock.now()
    found = await desk.read(lambda tx: _listed(tx, chosen, status, title, limit + 1, now))
    rows = found[:limit]
    document = [dict(zip(LISTED, row, strict=True)) for row in rows]
    more = f"There are more; --limit {limit * 2} shows them." if len(found) > limit else ""
    desk.output.show(document, lambda: pages.listing(rows, more))


def _listed(
    tx: "Tx",
    project: "ProjectId | None",
    status: str | None,
    title: str | None,
    limit: int,
    now: "datetime",
) -> "list[Listed]":
    from agents_manager.flow import liveness

    rows: list[Listed] = []
    for one in tx.tasks.page(project=project, status=status, title=title, after=None, limit=limit):
        pipeline = tx.pipelines.get(one.pipeline_id, one.pipeline_version)
        mover = liveness.next_mover(tx, one, pipeline, now)
        rows.append((one, tx.projects.get(one.project_id), pipeline.status(one.status), mover))
    if status is not None and not rows:
        _check_status(tx, status)
    return rows


def _check_status(tx: "Tx", status: str) -> None:
    known = sorted({s.id for p in tx.pipelines.all() for s in p.statuses})
    if status not in known:
        hint = closest(status, known)
        raise InvalidInput(f'No pipeline has a status "{status}".{hint}', [", ".join(known)])


@task.command()
@arguments.task
@session.command
async def show(desk: Desk, task: str) -> None:
    """Show a task: where it stands, what it waits for, and what can be done."""
    from agents_manager.cli.pages import task as pages
    from agents_manager.flow import views

    def read(tx: "Tx") -> "tuple[TaskView, list[Logged]]":
        view = views.task(tx, desk.services, task, desk.actor)
        events = [e for e in _all_events(tx, view.task.id, 0) if e.category != pages.TOOL]
        return view, events[-LATEST_EVENTS:]

    view, latest = await desk.read(read)
    desk.output.show(view, lambda: pages.page(view, latest))


@task.command()
@arguments.task
@session.command
async def history(desk: Desk, task: str) -> None:
    """Show every attempt to move a task, with who tried and what came of it."""
    from agents_manager.cli.pages import task as pages

    entries = await desk.read(lambda tx: tx.history.of_task(tx.tasks.find(task).id))
    desk.output.show(entries, lambda: pages.history(entries))


@task.command()
@arguments.task
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="SEQ")
@click.option("--follow", "-f", is_flag=True, help="Go on as things happen, until Ctrl-C.")
@click.option("--tools", is_flag=True, help="Show each call of a tool on its own line.")
@session.command
async def events(desk: Desk, task: str, after: int, follow: bool, tools: bool) -> None:
    """Show what happened to a task."""
    from agents_manager.cli.pages import task as pages

    if follow and desk.output.as_json:
        raise click.UsageError("--follow never ends, so it has no JSON document; use --after SEQ.")
    found = await desk.read(lambda tx: tx.tasks.find(task))
    entries = await desk.read(lambda tx: _all_events(tx, found.id, after))
    desk.output.show(entries, lambda: list(pages.event_lines(entries, tools=tools)))
    if not follow:
        return
    last = entries[-1].seq if entries else after
    async for _ in desk.program.database.watch():
        news = await desk.read(lambda tx, last=last: _all_events(tx, found.id, last))
        if news:
            last = news[-1].seq
            desk.output.page(pages.event_lines(news, tools=tools))


def _all_events(tx: "Tx", task_id: "TaskId", after: int) -> "list[Logged]":
    found: list[Logged] = []
    while page := tx.events.of_task(task_id, after_seq=after, limit=PAGE):
        found += page
        after = page[-1].seq
    return found
