"""Tasks out of a file or of issues, all of them or none, each at most once: where a task comes from
stays with it as a link. None of them is started unless that is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

from agents_manager.domain import (
    fields,
    issue,
    recurrence,
    task_file_reading,
    task_list,
    task_list_csv,
    task_list_markdown,
)
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.ids import TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.task import Actor, ArtifactType, Project
from agents_manager.domain.task_list import MAX_BYTES, MAX_TASKS, Entry, LeftOut, Link, Listed
from agents_manager.errors import (
    ForgeUnavailable,
    HookFailed,
    InvalidInput,
    NotFound,
    PipelineNotFound,
)
from agents_manager.flow import agents, artifacts, bulk_starts, edits, exchange, pipelines, tasks
from agents_manager.flow.bulk_starts import StartState
from agents_manager.flow.ports import Services, Tx

REFUSAL = "Nothing was imported."
MOST_TOLD = 50
MOST_LEFT_OUT = 200
MAX_SOURCE = 100
PASTED = "pasted text"
MAX_ISSUE_BYTES = 16 * 1024 * 1024
"""Of all issues together."""


class Format(StrEnum):
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"


READERS: Mapping[Format, Callable[[str], Listed]] = {
    Format.MARKDOWN: task_list_markdown.read,
    Format.CSV: task_list_csv.read,
    Format.JSON: exchange.read,
}


class ImportState(StrEnum):
    MADE = "made"
    TO_MAKE = "to_make"
    """It would be made."""
    ALREADY_THERE = "already_there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    place: str
    title: str
    state: ImportState
    task_id: TaskId | None
    """None where it would be made."""
    pipeline: str
    dependencies: int
    left_out: tuple[str, ...]
    """What it would wait for, but is not known here."""
    changed: bool
    """Whether the issue says something else since; the task is left as it is."""
    note: bool
    """Whether the file has a handoff in free words, which was kept with it as it is."""
    start: StartState | None = None
    """What starting it led to; None: it was not to be started."""
    start_reason: str = ""
    """What its start waits for, or why it was refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    items: tuple[Item, ...]
    skipped: int
    """Those that are checked off; of issues, those that are pull requests."""
    left_out: tuple[LeftOut, ...] = ()
    """List items that are not tasks, at most `MOST_LEFT_OUT`."""
    left_out_count: int = 0

    def count(self, state: ImportState) -> int:
        return sum(item.state is state for item in self.items)

    def started(self, state: StartState) -> int:
        return sum(item.start is state for item in self.items)


@dataclass(frozen=True, slots=True)
class Starting:
    """That the new tasks are started, too."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    entry: Entry
    link: Link
    words: Mapping[str, Any]
    pipeline_id: str


async def import_(
    s: Services,
    project: Project,
    text: str,
    actor: Actor,
    *,
    format: Format,
    source: str = "",
    dry_run: bool = False,
    starting: Starting | None = None,
) -> Imported:
    """Makes the tasks of a list that are not there yet. `source` is what the list is called: a
    title that came from it before is not made again."""
    listed = _read(text, format)
    name = visible(source, MAX_SOURCE) or PASTED
    return await _taken(s, project, listed, name, actor, dry_run=dry_run, starting=starting)


async def import_issues(
    s: Services,
    project: Project,
    wanted: issue.Wanted,
    actor: Actor,
    *,
    dry_run: bool = False,
    starting: Starting | None = None,
) -> Imported:
    """Makes tasks of issues that have none yet. One that has is left alone."""
    try:
        found = await s.forge.issues(project, wanted)
    except ForgeUnavailable as error:
        wait = error.wait_s
        when = "later" if wait is None else f"in {counted_as(ceil(wait / 60), 'minute')}"
        told = f"{REFUSAL} {error.message.rstrip('.')}; try again {when}."
        raise ForgeUnavailable(told, wait) from None
    except HookFailed as error:
        raise HookFailed(f"{REFUSAL} {error.message}") from None
    size = sum(len(one.title) + len(one.body.encode(errors="replace")) for one in found.issues)
    fewer = "choose fewer, by label or by number"
    if not found.complete or len(found.issues) > MAX_TASKS:
        many = f"{found.repository} has more than can be made tasks at once ({MAX_TASKS})"
        raise InvalidInput(f"{REFUSAL} {many}; {fewer}.")
    if size > MAX_ISSUE_BYTES:
        long = f"The issues have {size} bytes, at most {MAX_ISSUE_BYTES} are taken"
        raise InvalidInput(f"{REFUSAL} {long}; {fewer}.")
    listed = issue.listed(found)
    return await _taken(
        s, project, listed, found.repository, actor, dry_run=dry_run, starting=starting
    )


async def _taken(
    s: Services,
    project: Project,
    listed: Listed,
    source: str,
    actor: Actor,
    *,
    dry_run: bool,
    starting: Starting | None,
) -> Imported:
    faults = [*listed.faults, *_circles(listed.entries)]
    drafts = await _drafts(s, project, listed, source, faults)
    if starting is not None:
        recurrence.to_come(starting.at, s.clock.now())
        if starting.at is None:
            agents.check_startable(s, project)

    def write(tx: Tx) -> Imported:
        done = _write(tx, s, project, listed, drafts, faults, actor, dry_run=dry_run)
        return done if starting is None else _start(tx, s, done, starting, actor)

    return await (s.store.read(write) if dry_run else s.store.write(write))


def _read(text: str, format: Format) -> Listed:
    size = len(text.encode(errors="surrogatepass"))
    one = format is Format.MARKDOWN and task_file_reading.looks(text[: task_file_reading.MAX_BYTES])
    what, most = ("file", task_file_reading.MAX_BYTES) if one else ("list", MAX_BYTES)
    if size > most:
        raise InvalidInput(f"{REFUSAL} The {what} has {size} bytes, at most {most} are read.")
    listed = task_file_reading.listed(text) if one else READERS[format](text)
    if len(listed.entries) > MAX_TASKS:
        many = f"The list has {len(listed.entries)} tasks, at most {MAX_TASKS} are made at once."
        raise InvalidInput(f"{REFUSAL} {many}")
    return listed


def _circles(entries: Sequence[Entry]) -> list[str]:
    circle = task_list.circle(entries)
    if not circle:
        return []
    way = " waits for ".join(f'"{visible(e.title, MAX_SOURCE)}" ({e.place})' for e in circle)
    return [f"{circle[0].place}: a task cannot wait for itself: {way}"]


async def _drafts(
    s: Services, project: Project, listed: Listed, source: str, faults: list[str]
) -> list[_Draft]:
    drafts: list[_Draft] = []
    origins = set[str]()
    chosen: dict[tuple[str | None, str], str] = {}
    for entry in listed.entries:
        try:
            new = tasks.NewTask(**entry.words)
            given = {name: getattr(new, name) for name in fields.EDITABLE}
            given["dependencies"] = [*map(str, entry.needs), *entry.waits_for]
            words = edits.words(s, project, given, REFUSAL)
            wanted = (entry.pipeline, words["type"])
            if wanted not in chosen:
                chosen[wanted] = await tasks.chosen(s, project, *wanted)
        except InvalidInput as error:
            faults += [f"{entry.place}: {detail}" for detail in error.details or (error.message,)]
        except PipelineNotFound as error:
            faults.append(f"{entry.place}: pipeline: {error.message}")
        else:
            link = entry.link or _link(entry, source, words["title"], origins)
            drafts.append(_Draft(entry=entry, link=link, words=words, pipeline_id=chosen[wanted]))
    return drafts


def _link(entry: Entry, source: str, title: str, used: set[str]) -> Link:
    """A title that stands in the list twice means two tasks."""
    plain = origin = f"{entry.source or source}: {title}"
    number = 1
    while origin in used:
        number += 1
        origin = f"{plain} ({number})"
    used.add(origin)
    return Link(key=origin, label=origin, data={"place": entry.place})


def _write(
    tx: Tx,
    s: Services,
    project: Project,
    listed: Listed,
    drafts: Sequence[_Draft],
    faults: Sequence[str],
    actor: Actor,
    *,
    dry_run: bool,
) -> Imported:
    links = tx.tasks.links(project.id)
    outside, unknown = _outside(tx, listed, links)
    if not listed.forgiving:
        faults = [*faults, *unknown.values()]
    if faults:
        raise InvalidInput(REFUSAL, _told(faults))
    ids = [links.get(draft.link.key) or TaskId(s.ids.new()) for draft in drafts]
    now = s.clock.now()
    items: list[Item] = []
    for number, (draft, task_id) in enumerate(zip(drafts, ids, strict=True)):
        entry, link = draft.entry, draft.link
        before = [*(ids[n] for n in entry.needs), *(outside.get(n) for n in entry.waits_for)]
        others = tuple(dict.fromkeys(one for one in before if one))
        state = ImportState.ALREADY_THERE
        if link.key not in links:
            state = ImportState.TO_MAKE if dry_run else ImportState.MADE
        if state is ImportState.MADE:
            words = {**draft.words, "dependencies": others}
            # A list has an order, and the oldest of two tasks is taken first.
            made_at = now + timedelta(microseconds=number)
            task = tasks.add(tx, project, task_id, words, draft.pipeline_id, actor, made_at)
            data = {**link.data, **_told_by_file(entry, outside)}
            artifacts.keep(tx, s, task, ArtifactType.LINK, link.key, link.label, data)
        items.append(
            Item(
                place=entry.place,
                title=draft.words["title"],
                state=state,
                task_id=None if state is ImportState.TO_MAKE else task_id,
                pipeline=pipelines.plain(draft.pipeline_id),
                dependencies=len(others),
                left_out=tuple(n for n in entry.waits_for if (entry.place, n) in unknown),
                changed=state is ImportState.ALREADY_THERE and _changed(tx, task_id, link),
                note=entry.note,
            )
        )
    return Imported(
        items=tuple(items),
        skipped=listed.skipped,
        left_out=tuple(listed.left_out[:MOST_LEFT_OUT]),
        left_out_count=len(listed.left_out),
    )


def _start(tx: Tx, s: Services, done: Imported, starting: Starting, actor: Actor) -> Imported:
    """Starts the tasks that were made, when all of them are there to be waited for."""
    items: list[Item] = []
    for item in done.items:
        if item.state is ImportState.MADE and item.task_id is not None:
            task = tx.tasks.get(item.task_id)
            result = bulk_starts.begin(tx, s, task, actor, starting.at)
            items.append(replace(item, start=result.state, start_reason=result.reason))
        else:
            items.append(item)
    return replace(done, items=tuple(items))


def _told_by_file(entry: Entry, outside: Mapping[str, TaskId]) -> dict[str, Any]:
    """What a later export says again: the file, and which tasks its dependencies are here."""
    if entry.file is None:
        return {}
    return {"file": entry.file, "waits_for": {n: outside.get(n) for n in entry.waits_for}}


def _changed(tx: Tx, task_id: TaskId, link: Link) -> bool:
    known = tx.tasks.artifacts(task_id, ArtifactType.LINK)
    return any(issue.is_new(link.data, one.data) for one in known if one.key == link.key)


def _outside(
    tx: Tx, listed: Listed, links: Mapping[str, TaskId]
) -> tuple[dict[str, TaskId], dict[tuple[str, str], str]]:
    """The tasks that entries wait for, and for each entry and name that means none, why. What was
    imported into the project before is known by the id it has where it comes from."""
    origins = {key.partition(": ")[0]: task_id for key, task_id in links.items()}
    found: dict[str, TaskId] = {}
    unknown: dict[tuple[str, str], str] = {}
    for entry in listed.entries:
        for name in entry.waits_for:
            try:
                known = found.get(name) or origins.get(f"task {name}")
                found[name] = known or tx.tasks.find(name).id
            except (NotFound, InvalidInput) as error:
                why = f"nothing in the list is called so. {error.message}"
                unknown[entry.place, name] = f"{entry.place}: depends_on: {why}"
    return found, unknown


def _told(faults: Sequence[str]) -> list[str]:
    more = len(faults) - MOST_TOLD
    return [*faults[:MOST_TOLD], *([f"and {more} more"] if more > 0 else [])]
