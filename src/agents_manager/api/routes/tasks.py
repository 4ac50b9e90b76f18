"""Tasks: creating, looking, moving, and what became of them."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Body, Query
from fastapi.responses import PlainTextResponse

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Admin, AnswerKey, Caller, Services
from agents_manager.api.routes import races
from agents_manager.domain.task import Artifact, ArtifactType, Project, Task
from agents_manager.errors import InvalidInput, NotFound, TaskNotFound
from agents_manager.flow import (
    changes,
    later,
    paths,
    prompts,
    racing,
    remedies,
    sharing,
    task_files,
    tasks,
    views,
)
from agents_manager.flow.ports import Tx
from agents_manager.flow.unmerged import Consent

router = APIRouter(prefix="/tasks", tags=["tasks"])


@router.get("")
async def list_tasks(s: Services, query: Annotated[forms.TaskQuery, Query()]) -> pages.Tasks:
    """Tasks, newest first; `next` is the cursor of the page that follows."""

    def read(tx: Tx) -> list[Task]:
        project = tx.projects.find(query.project).id if query.project else None
        try:
            return tx.tasks.page(
                project=project,
                status=query.status,
                title=query.title,
                after=query.cursor,
                limit=query.limit + 1,
            )
        except TaskNotFound:
            raise InvalidInput("The cursor is not one of this listing.", ["cursor"]) from None

    found = await s.store.read(read)
    page = found[: query.limit]
    more = len(found) > query.limit
    return pages.Tasks(items=[schemas.Task.of(t) for t in page], next=page[-1].id if more else None)


@router.post("", status_code=201)
async def create_task(
    s: Services, actor: Caller, key: AnswerKey, form: forms.NewTask
) -> schemas.Task:
    """A new task, at the first status of its pipeline."""
    project = await s.store.read(lambda tx: tx.projects.find(form.project))
    new = tasks.NewTask(**form.model_dump(exclude={"project", "race"}))
    if form.race is None:
        return schemas.Task.of(await tasks.create(s, project, new, actor, key=key))
    several = [races.contender(one) for one in form.race.contenders]
    judge = races.contender(form.race.judge) if form.race.judge else None
    return schemas.Task.of(await racing.create(s, project, new, several, judge, actor, key=key))


@router.get("/{task_id}")
async def get_task(s: Services, actor: Caller, task_id: str) -> pages.TaskView:
    """A task with all that is to be seen of it: who moves next, prompts, runs, possible moves."""
    return pages.TaskView.of(await s.store.read(lambda tx: views.task(tx, s, task_id, actor)))


@router.post("/{task_id}/start")
async def start_task(
    s: Services, actor: Caller, task_id: str, form: forms.StartForm | None = None
) -> pages.Moved:
    """Makes the only move by hand that does not end the task. If its dependencies are open, the
    engine makes it when they are finished; `PUT /tasks/{task_id}/start-time` cancels that."""
    expected = form.expect_version if form else None
    return _moved(await later.start(s, task_id, actor, expect_version=expected))


@router.post("/{task_id}/move")
async def move_task(s: Services, actor: Caller, task_id: str, form: forms.MoveForm) -> pages.Moved:
    """A move by hand. One that closes a task with unmerged commits is answered with 409 and the
    list of them, unless `leave_unmerged` is true; the tasks that depend on it then keep waiting,
    unless `release_dependents` is true too."""
    given = form.model_dump()
    consent = Consent(
        **{name: given.pop(name) for name in ("leave_unmerged", "release_dependents")}
    )
    return _moved(await tasks.move(s, task_id, actor, consent=consent, **given))


@router.get("/{task_id}/targets")
async def list_targets(s: Services, actor: Caller, task_id: str) -> pages.Targets:
    """Every status of the task's pipeline: whether it can be moved there by hand now, and why
    not."""
    found = await s.store.read(lambda tx: views.targets(tx, s, task_id, actor))
    return pages.Targets(items=[pages.Target.of(one) for one in found])


@router.get("/{task_id}/changes")
async def get_changes(
    s: Services, task_id: str, query: Annotated[forms.ChangesQuery, Query()]
) -> pages.Changes:
    """The files that the task's work changes, in all or since a review, with the reviews; what was
    said about them is among the task's comments."""
    return pages.Changes.of(await changes.of_task(s, task_id, query.since))


@router.get("/{task_id}/changes/file")
async def get_changed_file(
    s: Services, task_id: str, query: Annotated[forms.FileQuery, Query()]
) -> pages.FileChange:
    """What became of one file, and its text before and after."""
    return pages.FileChange.of(await changes.of_file(s, task_id, query.path, query.since))


@router.post("/{task_id}/grant")
async def grant_rounds(s: Services, actor: Admin, task_id: str) -> schemas.Task:
    """Lets the capped rounds of a task begin anew."""

    def write(tx: Tx) -> Task:
        task = tx.tasks.find(task_id)
        remedies.grant(tx, s, task.id, actor)
        return tx.tasks.get(task.id)

    return schemas.Task.of(await s.store.write(write))


@router.post("/{task_id}/review")
async def review_task(
    s: Services,
    actor: Caller,
    key: AnswerKey,
    task_id: str,
    form: Annotated[forms.Answer, Body(openapi_examples={"review": forms.ANSWERS["review"]})],
) -> pages.Answered:
    """Answers the review that the task waits for."""
    answer, delay_s, keep, _ = forms.how(form)
    done = await prompts.review(s, task_id, answer, actor, key=key, delay_s=delay_s, keep=keep)
    return pages.Answered.of(done)


@router.get("/{task_id}/history")
async def list_history(s: Services, task_id: str) -> pages.Histories:
    """Every attempt to move the task, done or refused."""
    found = await s.store.read(lambda tx: tx.history.of_task(tx.tasks.find(task_id).id))
    return pages.Histories(items=[schemas.History.of(h) for h in found], next=None)


@router.get("/{task_id}/path")
async def get_path(s: Services, task_id: str) -> pages.TaskPath:
    """The statuses that the task went through, how long it was in each, and by whom it left."""
    return pages.TaskPath.of(await s.store.read(lambda tx: paths.of_task(tx, task_id)))


@router.get("/{task_id}/events")
async def list_events(
    s: Services, task_id: str, query: Annotated[forms.EventQuery, Query()]
) -> pages.Events:
    """The task's log after a sequence number."""
    found = await s.store.read(
        lambda tx: tx.events.of_task(
            tx.tasks.find(task_id).id, after_seq=query.after_seq, limit=query.limit + 1
        )
    )
    page = found[: query.limit]
    more = len(found) > query.limit
    return pages.Events(
        items=[schemas.Event.of(e) for e in page], next=page[-1].seq if more else None
    )


@router.get("/{task_id}/diff", response_class=PlainTextResponse)
async def get_diff(s: Services, task_id: str) -> PlainTextResponse:
    """What the task's branch changes, as a unified diff."""

    def read(tx: Tx) -> tuple[Task, Project, list[Artifact]]:
        task = tx.tasks.find(task_id)
        found = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
        return task, tx.projects.get(task.project_id), found

    task, project, found = await s.store.read(read)
    if not found:
        raise NotFound(f'Task "{task.title}" ({task.id}) has no diff; no agent committed anything.')
    ends = found[-1].data
    await sharing.visible(s, task, project, ends["base_sha"], ends["head_sha"])
    return PlainTextResponse(
        await s.workspaces.diff(Path(project.path), ends["base_sha"], ends["head_sha"])
    )


@router.get("/{task_id}/file", response_class=PlainTextResponse)
async def get_file(s: Services, task_id: str) -> PlainTextResponse:
    """The task as a Markdown file that the import takes: its words, its log and its last
    handoff."""
    text = await s.store.read(lambda tx: task_files.export(tx, tx.tasks.find(task_id)))
    return PlainTextResponse(text, media_type="text/markdown; charset=utf-8")


def _moved(result: later.Started) -> pages.Moved:
    if isinstance(result, tasks.Stopping):
        task = schemas.Task.of(result.task)
        return pages.Moved(task=task, stopping_run=result.run.id, waits=None)
    if isinstance(result, later.Waiting):
        waits = result.readiness.sentence()
        return pages.Moved(task=schemas.Task.of(result.task), stopping_run=None, waits=waits)
    return pages.Moved(task=schemas.Task.of(result), stopping_run=None, waits=None)
