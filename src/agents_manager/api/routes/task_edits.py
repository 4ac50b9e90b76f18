"""Tasks: taking them in, changing their words, removing them, explaining them, mending them."""

from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Admin, Caller, Services
from agents_manager.domain import issue
from agents_manager.errors import InvalidInput
from agents_manager.flow import (
    bulk_starts,
    check_decisions,
    edits,
    importing,
    later,
    remedies,
    removal,
    views,
)

router = APIRouter(prefix="/tasks", tags=["tasks"])


@router.post("/import")
async def import_tasks(s: Services, actor: Caller, form: forms.TaskImport) -> pages.ImportedTasks:
    """Makes the tasks of a list, all of them or none, and none twice. They are started only on
    request."""
    project = await s.store.read(lambda tx: tx.projects.find(form.project))
    kind, starting = importing.Format(form.format), _starting(form)
    done = await importing.import_(
        *(s, project, form.text, actor),
        format=kind,
        source=form.source,
        dry_run=form.dry_run,
        starting=starting,
    )
    return pages.ImportedTasks.of(done)


@router.post("/import/github")
async def import_issues(s: Services, actor: Caller, form: forms.IssueImport) -> pages.ImportedTasks:
    """Makes tasks of issues on GitHub, all of them or none, and none twice. They are started only
    on request, and nothing is written there."""
    project = await s.store.read(lambda tx: tx.projects.find(form.project))
    wanted = issue.wanted(form.repository, form.issues, form.labels, form.state)
    starting = _starting(form)
    done = await importing.import_issues(
        s, project, wanted, actor, dry_run=form.dry_run, starting=starting
    )
    return pages.ImportedTasks.of(done)


def _starting(form: forms.TaskImport | forms.IssueImport) -> importing.Starting | None:
    return importing.Starting(form.starts_at) if form.start or form.starts_at else None


@router.post("/start")
async def start_tasks(s: Services, actor: Caller, form: forms.StartMany) -> pages.StartResults:
    """Starts the named tasks, or all tasks of a project that nobody has started. Each is started
    separately: one that is refused does not stop the others."""
    if bool(form.tasks) == (form.project is not None):
        raise InvalidInput("Name either tasks or a project.", ["tasks", "project"])
    if form.project is None:
        done = await bulk_starts.start_many(s, form.tasks, actor, at=form.at)
    else:
        name = form.project
        project = await s.store.read(lambda tx: tx.projects.find(name))
        done = await bulk_starts.start_all(s, project, actor, at=form.at)
    return pages.StartResults(items=[pages.StartResult.of(one) for one in done])


@router.patch("/{task_id}")
async def edit_task(s: Services, actor: Caller, task_id: str, form: forms.TaskEdit) -> pages.Edited:
    """Changes the words of a task, also while an agent works at it; lists are replaced as a whole.
    The task gets a new version and keeps its pipeline."""
    changes = form.model_dump(exclude_unset=True, exclude={"expect_version"})
    edited = await edits.edit(s, task_id, changes, actor, expect_version=form.expect_version)
    return pages.Edited(
        task=schemas.Task.of(edited.task),
        fields=list(edited.fields),
        run=edited.run.id if edited.run else None,
    )


@router.put("/{task_id}/start-time")
async def set_start_time(
    s: Services, actor: Caller, task_id: str, form: forms.StartTime
) -> schemas.Task:
    """Has the engine start a task at a time, at another than before, or not at all."""
    return schemas.Task.of(
        await later.set_time(s, task_id, form.at, actor, expect_version=form.expect_version)
    )


@router.delete("/{task_id}")
async def delete_task(
    s: Services, actor: Admin, task_id: str, query: Annotated[forms.DeleteQuery, Query()]
) -> pages.Deleted:
    """Deletes a task and its record for ever; branches, commits and snapshots stay. Refused while
    a run goes on, unless it is to be stopped first, and, unless forced, while other tasks depend
    on it."""
    deleted = await removal.delete(s, task_id, actor, force=query.force, stop=query.stop)
    return pages.Deleted.of(deleted)


@router.get("/{task_id}/why")
async def explain_task(s: Services, actor: Caller, task_id: str) -> pages.Why:
    """Why the task is where it is and what it waits for, in one paragraph."""
    return pages.Why.of(await s.store.read(lambda tx: views.task(tx, s, task_id, actor)))


@router.post("/{task_id}/runs", status_code=201)
async def start_run(
    s: Services, actor: Caller, task_id: str, form: forms.RunForm | None = None
) -> schemas.Run:
    """Starts the agent of a task again where it stands, for instance in another mode. Refused
    while a run goes on, and where no agent works."""
    form = form or forms.RunForm()
    model = {} if form.model is None else {"model": form.model}
    order = remedies.Order(mode=form.mode, agent=form.agent, settings={**form.settings, **model})
    return schemas.Run.of(
        await s.store.write(lambda tx: remedies.start_run(tx, s, task_id, actor, order))
    )


@router.post("/{task_id}/retry-hook")
async def retry_hook(
    s: Services, actor: Caller, task_id: str, form: forms.RetryForm | None = None
) -> pages.Retried:
    """Performs a failed effect of the task once more; refused when the task went on since."""
    wanted = form.effect if form else None
    return pages.Retried.of(await edits.retry_hook(s, task_id, wanted, actor))


@router.delete("/{task_id}/skipped-checks/{check}")
async def restore_check(
    s: Services, actor: Caller, task_id: str, check: str
) -> pages.SkippedChecks:
    """Has a check that is skipped for the task run again, from its next run on."""
    decided = await check_decisions.restore(s, task_id, check, actor)
    return pages.SkippedChecks(items=list(decided.skipped))
