"""Comments on tasks and their changes: made, answered, resolved, and gathered for people and
agents, each where its code is now."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents_manager.domain import comment, event
from agents_manager.domain.comment import Comment
from agents_manager.domain.event import Event, Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.lines import Became
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.task import (
    Actor,
    ArtifactType,
    Project,
    PullRequest,
    PullState,
    Task,
)
from agents_manager.errors import AgentsManagerError, CommentNotFound, InvalidInput
from agents_manager.flow import branches
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Services, Tx

Quotes = Mapping[tuple[str, int], str]
"""Lines that comments are about, by file and line."""


async def add(
    s: Services,
    task_id: str,
    text: str,
    file: str | None,
    line: int | None,
    actor: Actor,
    severity: str | None = None,
) -> Comment:
    """On the open pull request of the task, else on the task itself."""
    faults = comment.faults(text, file, line, severity)
    if faults:
        raise InvalidInput("The comment cannot be taken.", faults)
    head, quote = await _seen(s, task_id, file, line) if file else (None, "")

    at = {"file": file, "line": line, "severity": severity, "head_sha": head, "quote": quote}
    return await s.store.write(
        lambda tx: say(tx, s, tx.tasks.find(task_id), text.strip(), actor, at)
    )


ANYWHERE: Mapping[str, Any] = {"file": None, "line": None}


def say(
    tx: Tx, s: Services, task: Task, text: str, actor: Actor, at: Mapping[str, Any] = ANYWHERE
) -> Comment:
    pull = tx.pulls.of_task(task.id)
    made = event.CommentAdded(
        number=comment.last_number(_log(tx, task.id)) + 1,
        by=actor.name,
        text=text,
        pull=pull.number if pull and pull.state is PullState.OPEN else None,
        **at,
    )
    tx.events.add(task.id, made, actor, s.clock.now())
    return _numbered(tx, task, made.number)


async def answer(s: Services, task_id: str, number: int, text: str, actor: Actor) -> Comment:
    """Adds to what was said under a comment; whether it is open stays as it is."""
    faults = comment.faults(text, None, None)
    if faults:
        raise InvalidInput("The answer cannot be taken.", faults)

    said = event.CommentAnswered(number=number, by=actor.name, text=text.strip())
    return await _noted(s, task_id, number, actor, lambda _: said)


async def resolve(
    s: Services, task_id: str, number: int, actor: Actor, *, resolved: bool = True
) -> Comment:
    """Says that a comment is dealt with, or that it is not after all."""

    done = event.CommentResolved(number=number, by=actor.name, resolved=resolved)
    return await _noted(
        s, task_id, number, actor, lambda said: None if said.resolved == resolved else done
    )


async def _noted(
    s: Services,
    task_id: str,
    number: int,
    actor: Actor,
    happened: Callable[[Comment], Event | None],
) -> Comment:
    def write(tx: Tx) -> tuple[Comment, Project, str | None]:
        task = tx.tasks.find(task_id)
        new = happened(_numbered(tx, task, number))
        if new is not None:
            tx.events.add(task.id, new, actor, s.clock.now())
        project = tx.projects.get(task.project_id)
        return _numbered(tx, task, number), project, _shown(tx, task.id)

    said, project, head = await s.store.write(write)
    return (await _placed(s, project, [said], head))[0] if head else said


async def of_task(s: Services, task_id: str) -> list[Comment]:
    """All that was said, on any pull request of the task too, where it is in the change as it is
    shown."""

    def read(tx: Tx) -> tuple[Task, Project, list[PullRequest], str | None]:
        task = tx.tasks.find(task_id)
        pulls = tx.pulls.all_of_task(task.id)
        return task, tx.projects.get(task.project_id), pulls, _shown(tx, task.id)

    task, project, pulls, head = await s.store.read(read)
    return await gathered(s, project, task.id, pulls, head)


async def gathered(
    s: Services,
    project: Project,
    task_id: TaskId,
    pulls: Sequence[PullRequest],
    head: str | None,
) -> list[Comment]:
    """What was said on these pull requests, there or here, on the task, and in reviews; each where
    it is at this commit."""
    there = [said for pull in pulls for said in await s.forge.comments(project, pull)]
    numbers = {None, *(pull.number for pull in pulls)}
    here, heard = await s.store.read(
        lambda tx: (_made_here(tx, task_id), _heard(tx, task_id, pulls))
    )
    there = [said for said in there if (said.author, said.text.strip()) not in heard]
    mine = [said for said in here if said.pull in numbers and said not in there]
    found = sorted([*there, *mine], key=lambda said: said.time)
    return await _placed(s, project, found, head) if head else found


# ------------------------------------------------------------------------------------ in reviews


async def quotes(
    s: Services, project: Project, sha: str | None, said: Iterable[Mapping[str, Any]]
) -> Quotes:
    """The lines that comments of a review are about, as far as they can be read."""
    places = {(c["file"], c["line"]) for c in said if c["file"] and c["line"]}
    if sha is None or not places:
        return {}
    try:
        texts = await s.workspaces.texts(Path(project.path), sha, {file for file, _ in places})
    except AgentsManagerError:  # Nobody's review is lost for that.
        return {}
    return {(file, n): comment.quote(texts[file], n) for file, n in places if file in texts}


def kept(
    tx: Tx, task_id: TaskId, said: Iterable[Mapping[str, Any]], lines: Quotes
) -> tuple[Mapping[str, Any], ...]:
    """Comments of a review of work as they are put on record: each can be answered and resolved."""
    first = comment.last_number(_log(tx, task_id)) + 1
    return tuple(
        {**one, "number": number, "quote": lines.get((one["file"], one["line"]), "")}
        for number, one in enumerate(said, first)
    )


# --------------------------------------------------------------------------- where they are now


async def _placed(
    s: Services, project: Project, found: Sequence[Comment], head: str
) -> list[Comment]:
    paths: dict[str, set[str]] = {}
    for said in found:
        if said.head_sha and said.original_file:
            paths.setdefault(said.head_sha, set()).add(said.original_file)
    since = {sha: await _since(s, project, sha, head, paths[sha]) for sha in paths}
    return [_at(said, since) for said in found]


async def _since(
    s: Services, project: Project, sha: str, head: str, paths: set[str]
) -> Mapping[str, Became] | None:
    if sha == head:
        return {}
    try:
        return await s.workspaces.became(Path(project.path), sha, head, paths)
    except AgentsManagerError:  # A folder that is gone: nothing is known then.
        return None


def _at(said: Comment, since: Mapping[str, Mapping[str, Became] | None]) -> Comment:
    if said.head_sha is None or said.head_sha not in since:
        return said
    changes = since[said.head_sha]
    if changes is not None:
        return comment.placed(said, changes)
    # A forge has commits that were never here.
    return said if said.outside else comment.lost(said)


async def _seen(s: Services, task_ref: str, file: str, line: int | None) -> tuple[str | None, str]:
    """The commit that a comment on a file is made on, and the lines that it is about."""

    def read(tx: Tx) -> tuple[Project, Ground, str | None]:
        task = tx.tasks.find(task_ref)
        project = tx.projects.get(task.project_id)
        return project, branches.at_work(tx, s, task, project), _shown(tx, task.id)

    project, ground, head = await s.store.read(read)
    repo = Path(project.path)
    with suppress(AgentsManagerError):  # A folder that is gone keeps nobody from saying something.
        for branch in (ground.branch, ground.base):
            head = head or await s.workspaces.stands_at(repo, branch)
    found = await quotes(s, project, head, [{"file": file, "line": line}])
    return head, next(iter(found.values()), "")


def _shown(tx: Tx, task_id: TaskId) -> str | None:
    """The commit whose change people look at."""
    found = tx.tasks.artifacts(task_id, ArtifactType.DIFF)
    return found[-1].data["head_sha"] if found else None


# ---------------------------------------------------------------------------------- on record


def _log(tx: Tx, task_id: TaskId) -> list[Logged]:
    return tx.events.newest(task_id, comment.CATEGORY, comment.MAX_HAPPENINGS)


def _made_here(tx: Tx, task_id: TaskId) -> list[Comment]:
    prompts = tx.prompts.of_task(task_id)
    taken_back = {p.id for p in prompts if p.status is not PromptStatus.RESPONDED}
    return comment.of_log(_log(tx, task_id), taken_back)


def _heard(tx: Tx, task_id: TaskId, pulls: Sequence[PullRequest]) -> set[tuple[str, str]]:
    """By whom and in which words reviews on a forge answered a question: these are told as such."""
    said = [entry.data for entry in _log(tx, task_id) if entry.type == "review_submitted"]
    there = {pull.forge for pull in pulls}
    return {(data["by"], data["summary"] or "") for data in said if data["via"] in there}


def _numbered(tx: Tx, task: Task, number: int) -> Comment:
    known = _made_here(tx, task.id)
    for said in known:
        if said.number == number:
            return said
    last = max((said.number or 0 for said in known), default=0)
    there = f"the last is {last}" if last else "it has none"
    raise CommentNotFound(f'Task "{task.title}" has no comment {number}; {there}.')
