"""Step 7 for stages: an output is held to what its agent was given, did and asks for, and a role
that only reads leaves everything as it was."""

import asyncio
from dataclasses import asdict
from pathlib import Path

from agents_manager.domain import event, stage_rules
from agents_manager.domain.course import Course
from agents_manager.domain.event import Event
from agents_manager.domain.outcome import Reported
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.stages import request, table
from agents_manager.domain.task import SYSTEM, Project, Task
from agents_manager.flow import stages
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import reports
from agents_manager.flow.runs.verdict import Again, Verdict, trouble


async def held(
    run: Run,
    task: Task,
    project: Project,
    reading: Reported,
    head: str,
    directory: Path,
    s: Services,
) -> Verdict:
    """What the output adds to the verdict, or what the agent is asked to mend."""
    stage = table.BY_ROLE.get(run.mode)
    known = await s.store.read(lambda tx: stages.of(tx, task))
    if known is None or stage is None or reading.name != stage.outcome:
        return Verdict()
    base = known.base_of(run) if stage.writes else None
    changed = await _changed(project, base, head, s)
    said, unread = request.read(reading.text)
    by_tool = await asyncio.to_thread(reports.requests, directory)
    wanted = [*dict.fromkeys([*(request.Request(**one) for one in by_tool), *said])]
    output = stage.output.model_validate(reading.payload)
    faults = stage_rules.problems(
        stages.agent_of(known, run),
        output,
        _before(known, run).made,
        wanted,
        assignment=known.assignments.get(run.id),
        changed=changed,
        builders=[given.agent for given in known.assignments.values()],
    )
    if unread or faults:
        text = "\n".join(dict.fromkeys([*unread, *faults]))
        return Verdict(again=Again(kind="repair", round=0, text=text))
    return Verdict(requests=[asdict(one) for one in wanted], changed=changed)


def _before(known: Course, run: Run) -> Course:
    return Course(runs=[r for r in known.runs if r.id != run.id], log=known.log)


async def _changed(project: Project, base: str | None, head: str, s: Services) -> list[str]:
    if base is None or base == head:
        return []
    files = await s.workspaces.files(Path(project.path), base, head)
    return [file.path for file in files]


async def meddled(
    run: Run, project: Project, ground: Ground, head: str, s: Services
) -> Verdict | None:
    """Why the output of a role that only reads does not count: it looked at work of its own making.
    None where it left everything as it was."""
    if run.mode not in table.READERS:
        return None
    return await _taken_back(run, project, ground, head, s) or await _altered(run, s)


async def _altered(run: Run, s: Services) -> Verdict | None:
    """It has changed files that git tracks, and committed nothing: it takes that back and looks
    again. What tests and builds leave beside those is nobody's work."""
    assert run.workspace is not None
    assert run.branch is not None
    files = await s.workspaces.altered(Path(run.workspace), run.branch)
    if not files:
        return None
    told = event.ReaderChanged(run=run.id, role=run.mode, files=tuple(files))

    def write(tx: Tx) -> None:
        if not _said(tx, run, told):
            tx.events.add(run.task_id, told, SYSTEM, s.clock.now())

    await s.store.write(write)
    text = (
        f"You only read, and you changed {told.named}. Take that back (git restore), look at the"
        " work as it stands, and report again."
    )
    return Verdict(again=Again(kind="repair", round=0, text=text))


async def _taken_back(
    run: Run, project: Project, ground: Ground, head: str, s: Services
) -> Verdict | None:
    """What it committed is taken back."""
    if run.base_sha is None:
        return None
    told = event.WorkDiscarded(run=run.id, role=run.mode, head_sha=head)

    def write(tx: Tx) -> bool:
        """Whether there is anything to take back; said before it is, as a crash may repeat this."""
        said = _said(tx, run, told)
        if not said and head != run.base_sha:
            tx.events.add(run.task_id, told, SYSTEM, s.clock.now())
        return said or head != run.base_sha

    if not await s.store.write(write):
        return None
    message = f"Take back what {run.mode} committed, which only reads"
    await s.workspaces.take_back(Path(project.path), ground.branch, run.base_sha, message)
    return trouble(
        f"{run.mode} only reads, and it changed the branch. That is taken back, and its output does"
        " not count.",
        ErrorClass.BAD_OUTPUT,
    )


def _said(tx: Tx, run: Run, told: Event) -> bool:
    """Whether it is on record of this run: a crash may repeat the step that says it."""
    log = tx.events.newest(run.task_id, told.category, stages.EVENTS)
    return any(e.type == told.type and e.data["run"] == run.id for e in log)
