"""`am knowledge`: what runs found out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from agents_manager.cli import arguments, completing, files, session
from agents_manager.cli.knowledge_notes import migrate
from agents_manager.cli.render import Line, Tone, counted, lines, one_line, short
from agents_manager.cli.session import Desk
from agents_manager.errors import InvalidInput

if TYPE_CHECKING:
    from agents_manager.domain.knowledge import Node
    from agents_manager.domain.task import Project
    from agents_manager.flow.memory.looking import Blocked
    from agents_manager.flow.ports import Tx

KINDS = ("task", "pattern", "gotcha", "decision", "question")
STATES = ("active", "stale", "contradicted", "retired")
LEVELS = ("high", "medium", "low")

node_argument = click.argument("node", shell_complete=completing.nodes)
limit_option = click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many at most."
)


@click.group()
def knowledge() -> None:
    """Find, care for and share what runs found out."""


knowledge.add_command(migrate)


@knowledge.command()
@click.argument("words", nargs=-1)
@click.option(
    "--tag", "tags", multiple=True, shell_complete=completing.tags, help="Has it; may be repeated."
)
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Is of one of these."
)
@click.option(
    "--file", "files", metavar="PATH", multiple=True, help="Is about one of these, or a folder."
)
@click.option("--task", shell_complete=completing.tasks, help="What this task told of.")
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    help="All but retired unless given.",
)
@click.option("--tasks", "by_task", is_flag=True, help="List the tasks that told of it.")
@arguments.project_option
@limit_option
@session.command
async def search(
    desk: Desk,
    words: tuple[str, ...],
    by_task: bool,
    project: str | None,
    limit: int,
    **given: Any,
) -> None:
    """Search what is known: by words the best first, else the newest first.

    A finding fits that has all of what is given. Outside of a project, all projects are searched.

    \b
    All tasks that discovered patterns about auth:
      am knowledge search --kind pattern --tag auth --tasks
    """
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import looking

    of = await _project_or_all(desk, project)
    wanted = looking.Wanted(text=" ".join(words), project=of, **given)
    found = await desk.read(lambda tx: looking.search(tx, wanted, limit=limit))
    hints = await desk.read(lambda tx: looking.unknown_tags(tx, wanted))
    more = f"There are more; --limit {min(limit * 2, 500)} shows them." if found.next else ""
    if not found.items:
        desk.output.show([], lambda: pages.nothing(hints))
    elif by_task:
        told = looking.by_task(found.items)
        desk.output.show(told, lambda: pages.by_task(told, more))
    else:
        desk.output.show(found.items, lambda: pages.listing(found.items, more))


@knowledge.command()
@node_argument
@session.command
async def show(desk: Desk, node: str) -> None:
    """Show a finding: its words, where it comes from, what it hangs together with."""
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import looking

    view = await desk.read(lambda tx: looking.node(tx, node))
    desk.output.show(view, lambda: pages.page(view))


@knowledge.command()
@arguments.task
@session.command
async def why(desk: Desk, task: str) -> None:
    """Show what agents of a task were told of what is known, what the next is told, and why."""
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import looking

    found = await looking.why(desk.services, task)
    desk.output.show(found, lambda: pages.recalled(found))


@knowledge.command("map")
@click.argument("path", default="")
@arguments.project_option
@limit_option
@session.command
async def context_map(desk: Desk, path: str, project: str | None, limit: int) -> None:
    """Show what was done to which file, by which task.

    PATH is a file or a folder, from the top of the repository.
    """
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import looking

    of = (await desk.project(project)).id
    found, after = await desk.read(lambda tx: looking.mapped(tx, of, under=path, limit=limit))
    more = f"There are more; --limit {min(limit * 2, 500)} shows them." if after else ""
    desk.output.show(found, lambda: pages.mapped(found, path, more))


@knowledge.command()
@click.option("--all", "resolved", is_flag=True, help="Those that are resolved, too.")
@arguments.project_option
@session.command
async def blockers(desk: Desk, resolved: bool, project: str | None) -> None:
    """List what runs said to be in the way, with the tasks that it holds up."""
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import looking

    of = await _project_or_all(desk, project)
    found = await desk.read(lambda tx: looking.blockers(tx, of, resolved=resolved))
    desk.output.show(found, lambda: pages.blockers(found))


@knowledge.command()
@click.argument("blocker", shell_complete=completing.blockers)
@click.option("--note", metavar="TEXT", default="", help="What came of it.")
@session.command
async def resolve(desk: Desk, blocker: str, note: str) -> None:
    """Say that a blocker is out of the way; the tasks that it held up can go on."""
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow import blockers as flow
    from agents_manager.flow.memory import looking

    def write(tx: "Tx") -> "Blocked":
        done = flow.resolve(tx, desk.services, blocker, desk.actor, note)
        return looking.blocker(tx, done.id)

    done = await desk.services.store.write(write)
    told = [Line(f'Resolved {short(done.blocker.id)} "{one_line(done.blocker.blocker)}".')]
    told += [Line(f"It held up {pages.named(task)}.", Tone.QUIET) for task in done.tasks]
    desk.output.show(done, lambda: told)


@knowledge.command()
@node_argument
@session.command
async def confirm(desk: Desk, node: str) -> None:
    """Say that a finding holds now, also where its file has changed since."""
    from agents_manager.flow.memory import care

    done = await desk.services.store.write(
        lambda tx: care.confirm(tx, desk.services, node, desk.actor)
    )
    _show(desk, done, "holds")


@knowledge.command()
@node_argument
@click.option("--text", metavar="TEXT", help="The finding in one sentence.")
@click.option("--tag", "tags", multiple=True, shell_complete=completing.tags, help="Replace all.")
@click.option("--severity", type=click.Choice(LEVELS), help="Of a gotcha.")
@click.option(
    "--set",
    "details",
    metavar="FIELD=TEXT",
    multiple=True,
    help='Another field, such as mitigation="Retry later"; may be repeated.',
)
@click.option("--clear", type=click.Choice(["tags"]), help="Leave none.")
@click.option("--expect-version", type=int, metavar="N", help="Refuse if it was changed since.")
@session.command
async def edit(
    desk: Desk,
    node: str,
    text: str | None,
    tags: tuple[str, ...],
    severity: str | None,
    details: tuple[str, ...],
    clear: str | None,
    expect_version: int | None,
) -> None:
    """Change a finding. What was said before stays with those who said it."""
    from agents_manager.flow.memory import care

    given: dict[str, object] = {}
    if text is not None:
        given["text"] = text
    if tags or clear:
        given["tags"] = list(tags)
    if severity is not None:
        given["severity"] = severity
    if details:
        given["detail"] = dict(_detail(one) for one in details)
    if not given:
        raise click.UsageError("Say what to change: --text, --tag, --severity or --set.")
    done = await desk.services.store.write(
        lambda tx: care.edit(
            tx, desk.services, node, desk.actor, expect_version=expect_version, **given
        )
    )
    _show(desk, done, "is changed")


@knowledge.command()
@node_argument
@click.option("--reason", metavar="TEXT", required=True, help="Why it holds no longer.")
@session.command
async def retire(desk: Desk, node: str, reason: str) -> None:
    """Say that a finding holds no longer. Agents are not told it any more; it stays on record."""
    from agents_manager.flow.memory import care

    done = await desk.services.store.write(
        lambda tx: care.retire(tx, desk.services, node, desk.actor, reason)
    )
    _show(desk, done, "is retired")


@knowledge.command()
@node_argument
@click.argument("other", shell_complete=completing.nodes)
@click.option("--reason", metavar="TEXT", default="", help="Why both cannot be right.")
@session.command
async def contradict(desk: Desk, node: str, other: str, reason: str) -> None:
    """Say that OTHER says otherwise, until somebody says which of the two holds."""
    from agents_manager.flow.memory import care

    done = await desk.services.store.write(
        lambda tx: care.contradict(tx, desk.services, node, desk.actor, other, reason)
    )
    _show(desk, done, "is contradicted")


@knowledge.command()
@arguments.project_option
@session.command
async def queue(desk: Desk, project: str | None) -> None:
    """List what somebody should look at: stale, contradicted, twice there, or never of help."""
    from agents_manager.cli.pages import knowledge as pages
    from agents_manager.flow.memory import care

    of = await desk.project(project)
    found = await desk.read(lambda tx: care.queue(tx, of))
    desk.output.show(found, lambda: pages.queue(found))


@knowledge.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "agents-md"]),
    default="json",
    show_default=True,
    help="All as a document, or what holds as a section of AGENTS.md.",
)
@arguments.project_option
@session.command
async def export(desk: Desk, file: Path | None, form: str, project: str | None) -> None:
    """Print what is known of a project, or write it into FILE.

    json: a new file that "am knowledge import" takes. agents-md: only the section between our two
    marks is replaced; a file without one gets it at its end. What seems to hold a secret is left
    out of the section.
    """
    of = await desk.project(project)
    await (_export_section if form == "agents-md" else _export_document)(desk, of, file)


@knowledge.command("import")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@arguments.project_option
@session.command
async def import_(desk: Desk, file: BinaryIO, project: str | None) -> None:
    """Add what an exported document holds and is not there yet, all of it or nothing.

    Ids are kept unless another project has them. Each source says who brought it in.
    """
    from agents_manager.domain.knowledge_document import MAX_BYTES
    from agents_manager.flow.memory import exchange

    of = await desk.project(project)
    text = files.text(file, MAX_BYTES)
    done = await exchange.import_(desk.services, of, text, desk.actor)
    told = f"Added {counted(done.added, 'finding')} to {of.name}"
    there = f"; {done.already_there} already there" if done.already_there else ""
    desk.output.show(done, lambda: [Line(f"{told}{there}.")])


async def _export_document(desk: Desk, of: "Project", file: Path | None) -> None:
    from agents_manager.flow.memory import exchange

    document = await desk.read(lambda tx: exchange.export(tx, desk.services, of))
    if file is None:
        click.echo(json.dumps(document, indent=2))
        return
    _write_new(file, f"{json.dumps(document, indent=2)}\n")
    found = counted(len(document["nodes"]), "finding")
    done = {"file": file, "nodes": len(document["nodes"]), "edges": len(document["edges"])}
    desk.output.show(done, lambda: [Line(f"Wrote {found} of {of.name} into {file}.")])


def _write_new(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise InvalidInput(f"{file} is there already; name another file.") from None


async def _export_section(desk: Desk, of: "Project", file: Path | None) -> None:
    from agents_manager.cli import agents_file
    from agents_manager.flow.memory import exchange

    section = await exchange.section(desk.services, of)
    for node in section.left_out:
        desk.output.say(f"Left out {node}: it seems to hold a secret.")
    if file is None:
        desk.output.show(section, lambda: lines(section.text))
        return
    changed = agents_file.write(file, section.text)
    done = {"file": file, "changed": changed, "left_out": section.left_out}
    told = f"Wrote the section into {file}." if changed else f"{file} says the same already."
    desk.output.show(done, lambda: [Line(told)])


async def _project_or_all(desk: Desk, name: str | None) -> str | None:
    found = await desk.project(name) if name else await desk.project_here()
    return found.id if found else None


def _detail(given: str) -> tuple[str, str]:
    field, sign, text = given.partition("=")
    if not sign or not field:
        raise click.UsageError(f'--set is FIELD=TEXT, not "{given}".')
    return field.strip(), text.strip()


def _show(desk: Desk, done: "Node", what: str) -> None:
    told = f'{short(done.id)} "{one_line(done.text)}" {what}.'
    desk.output.show(done, lambda: [Line(told)])
