"""Comments on tasks and their changes: made, resolved, and gathered for people and agents."""

from collections.abc import Sequence

from agents_manager.domain import comment, event
from agents_manager.domain.comment import Comment
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Actor, Project, PullRequest, PullState, Task
from agents_manager.errors import CommentNotFound, InvalidInput
from agents_manager.flow.ports import Services, Tx


async def add(
    s: Services, task_id: str, text: str, file: str | None, line: int | None, actor: Actor
) -> Comment:
    """On the open pull request of the task, else on the task itself."""
    faults = comment.faults(text, file, line)
    if faults:
        raise InvalidInput("The comment cannot be taken.", faults)

    def write(tx: Tx) -> Comment:
        task = tx.tasks.find(task_id)
        pull = tx.pulls.of_task(task.id)
        made = event.CommentAdded(
            number=_last(_made_here(tx, task.id)) + 1,
            by=actor.name,
            text=text.strip(),
            pull=pull.number if pull and pull.state is PullState.OPEN else None,
            file=file,
            line=line,
        )
        tx.events.add(task.id, made, actor, s.clock.now())
        return _numbered(tx, task, made.number)

    return await s.store.write(write)


async def resolve(
    s: Services, task_id: str, number: int, actor: Actor, *, resolved: bool = True
) -> Comment:
    """Says that a comment is dealt with, or that it is not after all."""

    def write(tx: Tx) -> Comment:
        task = tx.tasks.find(task_id)
        if _numbered(tx, task, number).resolved != resolved:
            done = event.CommentResolved(number=number, by=actor.name, resolved=resolved)
            tx.events.add(task.id, done, actor, s.clock.now())
        return _numbered(tx, task, number)

    return await s.store.write(write)


async def of_task(s: Services, task_id: str) -> list[Comment]:
    """All that people said, on any pull request of the task too."""

    def read(tx: Tx) -> tuple[Task, Project, list[PullRequest]]:
        task = tx.tasks.find(task_id)
        return task, tx.projects.get(task.project_id), tx.pulls.all_of_task(task.id)

    task, project, pulls = await s.store.read(read)
    return await gathered(s, project, task.id, pulls)


async def gathered(
    s: Services, project: Project, task_id: TaskId, pulls: Sequence[PullRequest]
) -> list[Comment]:
    """What was said on these pull requests, there or here, and on the task."""
    there = [said for pull in pulls for said in await s.forge.comments(project, pull)]
    numbers = {None, *(pull.number for pull in pulls)}
    here, heard = await s.store.read(
        lambda tx: (_made_here(tx, task_id), _heard(tx, task_id, pulls))
    )
    there = [said for said in there if (said.author, said.text.strip()) not in heard]
    mine = [said for said in here if said.pull in numbers and said not in there]
    return sorted([*there, *mine], key=lambda said: said.time)


def _made_here(tx: Tx, task_id: TaskId) -> list[Comment]:
    return comment.of_log(tx.events.newest(task_id, comment.CATEGORY, comment.MAX_HAPPENINGS))


def _heard(tx: Tx, task_id: TaskId, pulls: Sequence[PullRequest]) -> set[tuple[str, str]]:
    """By whom and in which words reviews on a forge answered a question: these are told as such."""
    log = tx.events.newest(task_id, comment.CATEGORY, comment.MAX_HAPPENINGS)
    said = [entry.data for entry in log if entry.type == "review_submitted"]
    there = {pull.forge for pull in pulls}
    return {(data["by"], data["summary"] or "") for data in said if data["via"] in there}


def _last(known: Sequence[Comment]) -> int:
    return max((said.number or 0 for said in known), default=0)


def _numbered(tx: Tx, task: Task, number: int) -> Comment:
    known = _made_here(tx, task.id)
    for said in known:
        if said.number == number:
            return said
    there = f"it has 1 to {_last(known)}" if known else "it has none"
    raise CommentNotFound(f'Task "{task.title}" has no comment {number}; {there}.')
