"""The agent's side door: while a turn goes on, its agent may report the outcome by a tool. A token
opens it for this turn alone."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain import outcome as outcomes
from agents_manager.domain.handoff_faults import Violation
from agents_manager.domain.ids import ProjectId, RunId
from agents_manager.domain.outcome import Malformed, Outcome, Reading, Reported
from agents_manager.domain.permission import Request
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.run import Run
from agents_manager.domain.stages import request as requests
from agents_manager.domain.stages.table import BY_ROLE, may_ask
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput, RunNotFound, Unauthenticated
from agents_manager.flow import stages
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import handoffs, lifecycle, midway, permissions, reports
from agents_manager.flow.runs.prepare import of

CLOSED = "This token opens nothing here: it is that of another run, or its run is over."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """An agent that has shown the token of its turn."""

    run_id: RunId
    directory: Path
    wait_s: float
    """How long a question of it keeps it waiting."""
    offered: list[str]
    known: Mapping[str, Outcome]
    project_id: ProjectId
    stage: str | None = None
    """The name it has among the stages, of an agent that may have others run again."""
    asks_permission: bool = False
    """Whether its agent asks before it does something."""


async def enter(s: Services, run_id: str, token: str) -> Reporter:
    """Says the same of a run that is over as of one that never was."""
    try:
        run, task, project = await s.store.read(lambda tx: of(tx, RunId(run_id)))
    except RunNotFound:
        raise Unauthenticated(CLOSED) from None
    folders = [lifecycle.job_dir(s, run.id, turn) for turn in lifecycle.TURNS]
    opened = await asyncio.to_thread(lambda: [f for f in folders if reports.opens(f, token)])
    if not opened or not run.status.live:
        raise Unauthenticated(CLOSED)

    def known(tx: Tx) -> tuple[Pipeline, str | None]:
        course = stages.of(tx, task) if may_ask(run.mode) and run.mode in BY_ROLE else None
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        return pipeline, stages.agent_of(course, run) if course else None

    pipeline, stage = await s.store.read(known)
    registry = registry_of(s, project)
    return Reporter(
        run_id=run.id,
        directory=opened[0],
        wait_s=s.configs.of(project).ask_human_s,
        offered=registry.offered(pipeline, task.status, run.mode),
        known=registry.outcomes,
        stage=stage,
        project_id=project.id,
        asks_permission=_asks(s, run, project),
    )


def _asks(s: Services, run: Run, project: Project) -> bool:
    try:
        agent = s.agents.get(run.agent or "", project, run.overrides.together)
    except InvalidInput:  # It is not configured any more, and at work all the same.
        return False
    return agent.capabilities.asks_permission


async def report(reporter: Reporter, value: Any) -> Reading:
    """Keeps an outcome that can be taken; one that cannot leaves what was reported before, and is
    kept with the reason in case the agent reports nothing after it."""
    reading = outcomes.read_value(value, reporter.offered, reporter.known, text="")
    if isinstance(reading, Reported):
        await asyncio.to_thread(reports.keep, reporter.directory, reading.name, reading.payload)
    elif isinstance(reading, Malformed):
        await asyncio.to_thread(reports.keep_refused, reporter.directory, reading.reason, value)
    return reading


async def ask(s: Services, reporter: Reporter, value: Any) -> str:
    return await midway.ask(s, reporter.run_id, reporter.directory, reporter.wait_s, value)


async def permission(s: Services, reporter: Reporter, name: str, wanted: Request) -> bool | None:
    """Whether the run may do it; None: nobody said so in time."""
    turn = f"{reporter.directory.name}.{name}"
    return await permissions.by_tool(s, reporter.run_id, turn, wanted, reporter.wait_s)


async def save_handoff(s: Services, reporter: Reporter, value: Any) -> Sequence[Violation]:
    """Keeps a handoff that holds, as the agent gave it; else what is wrong with it, and what was
    saved before stays."""
    reading = await handoffs.checked(s, reporter.project_id, value)
    if reading.handoff is not None:
        await asyncio.to_thread(reports.keep_handoff, reporter.directory, value)
    return reading.violations


async def request(reporter: Reporter, value: Any) -> str | None:
    """Keeps whom the agent wants to have run again; else the reason why not."""
    assert reporter.stage is not None
    try:
        wanted = requests.given(value)
    except ValueError as error:
        return str(error)
    kept = await asyncio.to_thread(reports.requests, reporter.directory)
    refused = requests.refusal(reporter.stage, wanted)
    if refused is None and len(kept) >= requests.MOST:
        refused = f"A run has at most {requests.MOST} requests."
    if refused is None:
        told = [*kept, asdict(wanted)]
        await asyncio.to_thread(reports.keep_requests, reporter.directory, told)
    return refused
