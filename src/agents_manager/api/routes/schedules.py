"""Schedules: tasks that are made again and again."""

from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.domain.schedule import Schedule, WhenOpen
from agents_manager.flow import schedules
from agents_manager.flow.ports import Tx
from agents_manager.flow.tasks import NewTask

router = APIRouter(prefix="/schedules", tags=["schedules"])


@router.get("")
async def list_schedules(
    s: Services, query: Annotated[forms.ProjectQuery, Query()]
) -> pages.Schedules:
    """All schedules, or those of a project; also those that are paused, halted or over."""

    def read(tx: Tx) -> list[Schedule]:
        return tx.schedules.all(tx.projects.find(query.project).id if query.project else None)

    found = await s.store.read(read)
    return pages.Schedules(items=[pages.Schedule.of(one) for one in found])


@router.post("", status_code=201)
async def add_schedule(s: Services, actor: Caller, form: forms.NewSchedule) -> pages.Schedule:
    """A schedule that begins with the next time of its rule. Its tasks are only created unless
    `start` is said."""
    project = await s.store.read(lambda tx: tx.projects.find(form.project))
    given = form.model_dump(exclude={"project", "task", "when_open"})
    new = schedules.NewSchedule(
        **given, when_open=WhenOpen(form.when_open), task=NewTask(**form.task.model_dump())
    )
    return pages.Schedule.of(await schedules.add(s, project, new, actor))


@router.get("/preview")
async def preview_rule(s: Services, query: Annotated[forms.PreviewQuery, Query()]) -> pages.Preview:
    """When a rule would fire; what is wrong with it where it is none."""
    return pages.Preview(next=schedules.preview(query.rule, query.zone, s.clock.now()))


@router.get("/{schedule_id}")
async def get_schedule(s: Services, schedule_id: str) -> pages.ScheduleView:
    """A schedule by its id or name, with the times that come and what came of the last ones."""
    return pages.ScheduleView.of(await s.store.read(lambda tx: schedules.view(tx, s, schedule_id)))


@router.patch("/{schedule_id}")
async def edit_schedule(
    s: Services, actor: Caller, schedule_id: str, form: forms.ScheduleEdit
) -> pages.Schedule:
    """Changes what is given. Periods that it had already, it does not have again."""
    changes = form.model_dump(exclude_unset=True)
    if "when_open" in changes:
        changes["when_open"] = WhenOpen(changes["when_open"])
    return pages.Schedule.of(await schedules.edit(s, schedule_id, changes, actor))


@router.delete("/{schedule_id}")
async def remove_schedule(s: Services, actor: Caller, schedule_id: str) -> pages.Schedule:
    """Removes a schedule; the tasks that it made stay."""
    return pages.Schedule.of(await schedules.remove(s, schedule_id, actor))


@router.post("/{schedule_id}/pause")
async def pause_schedule(s: Services, actor: Caller, schedule_id: str) -> pages.Schedule:
    """Makes no task until it is resumed."""
    return pages.Schedule.of(await schedules.pause(s, schedule_id, actor))


@router.post("/{schedule_id}/resume")
async def resume_schedule(s: Services, actor: Caller, schedule_id: str) -> pages.Schedule:
    """Goes on with the next time of its rule; what was missed is not made up for."""
    return pages.Schedule.of(await schedules.resume(s, schedule_id, actor))


@router.post("/{schedule_id}/run", status_code=201)
async def run_schedule(s: Services, actor: Caller, schedule_id: str) -> schemas.Task:
    """Makes a task out of turn."""
    return schemas.Task.of(await schedules.run_now(s, schedule_id, actor))
