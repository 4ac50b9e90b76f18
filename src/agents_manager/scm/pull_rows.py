"""What is kept here of pull requests that live on a forge."""

from dataclasses import dataclass
from datetime import datetime

from agents_manager.domain import names
from agents_manager.domain.task import Project, PullRequest, PullState, Task
from agents_manager.flow.ports import Tools, Tx
from agents_manager.scm import pull_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A pull request as it stands on its forge."""

    forge: str
    number: int
    url: str
    branch: str
    base: str
    head: str
    title: str
    body: str
    state: PullState = PullState.OPEN
    merge_sha: str | None = None


async def keep(tools: Tools, project: Project, task: Task, there: Opened) -> PullRequest:
    new_id, now = tools.ids.new(), tools.clock.now()
    return await tools.store.write(lambda tx: put(tx, now, new_id, project, task, there))


async def note_merge(tools: Tools, pull: PullRequest, sha: str) -> None:
    fields = {"state": PullState.MERGED, "merge_sha": sha}
    now = tools.clock.now()
    await tools.store.write(lambda tx: tx.pulls.update(pull.id, now, **fields))


def put(
    tx: Tx, now: datetime, new_id: str, project: Project, task: Task, there: Opened
) -> PullRequest:
    """The row, made or brought up to date; one that it takes the place of is closed."""
    title, body = names.one_line(there.title), pull_text.bounded(there.body)
    known = tx.pulls.find(project.id, there.branch, there.base)
    if known and _is(known, there):
        if there.state is PullState.OPEN:
            fields = {"head_sha": there.head, "title": title, "body": body, "url": there.url}
            tx.pulls.update(known.id, now, state=there.state, **fields)
    else:
        if known and known.state is PullState.OPEN:
            tx.pulls.update(known.id, now, state=PullState.CLOSED)
        tx.pulls.add(
            PullRequest(
                id=new_id,
                project_id=project.id,
                task_id=task.id,
                number=there.number,
                title=title,
                body=body,
                head_branch=there.branch,
                base_branch=there.base,
                head_sha=there.head,
                state=there.state,
                merge_sha=there.merge_sha,
                created_at=now,
                updated_at=now,
                forge=there.forge,
                url=there.url,
            )
        )
    return next(p for p in tx.pulls.all_of_task(task.id) if _is(p, there))


def _is(known: PullRequest, there: Opened) -> bool:
    return (known.forge, known.number) == (there.forge, there.number)
