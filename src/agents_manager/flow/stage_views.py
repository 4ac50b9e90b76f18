"""How a staged task stands, for people: each stage with its runs and what came of it, each request
with what ran again for it, each try with its run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from agents_manager.domain.course import Asked, Course, delivered
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.stages import table
from agents_manager.domain.stages.context import LoopBackTrigger, RetryRecord
from agents_manager.flow import stages


class Standing(StrEnum):
    WAITING = "waiting"
    """Nobody has worked at it."""
    LIVE = "live"
    ASKING = "asking"
    """Its agent has a question, or proposes options."""
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    id: str
    agent: str
    """Its name among the stages."""
    status: RunStatus
    delivered: bool
    """Whether it ended with the output of its stage."""
    error: str | None
    trigger: str | None
    """The request that it was for."""
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSeen:
    number: float
    role: str
    title: str
    writes: bool
    standing: Standing
    reason: str | None
    """Why it was left out, or what its last run failed with."""
    again: int
    """How often agents of it delivered once more."""
    output: Any
    """The newest; of builders and debuggers all of them. None: there is none."""
    runs: Sequence[StageRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBackSeen:
    trigger: LoopBackTrigger
    run: str
    """The one that asked."""
    at: datetime
    implied: bool
    """Whether its output alone asked for it."""
    stopped: str | None
    """Why it was put to a person."""
    note: str | None
    """What completed it."""
    ran: Sequence[StageRun]
    """From the agent that was sent for up to the one that asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySeen:
    record: RetryRecord
    run: str


def of_stages(known: Course) -> list[StageSeen]:
    return [_stage(known, stage) for stage in table.STAGES]


def of_loop_backs(known: Course) -> list[LoopBackSeen]:
    notes = {e.data["trigger"]: e.data["note"] for e in known.happened("loop_back.completed")}
    stops = {e.data["trigger"]: e.data["reason"] for e in known.happened("loop_back.stopped")}
    requested = known.happened("loop_back.requested")
    implied = {e.data["trigger"] for e in requested if e.data["implied"]}
    return [
        LoopBackSeen(
            trigger=asked.trigger,
            run=asked.run,
            at=asked.at,
            implied=asked.trigger.trigger_id in implied,
            stopped=stops.get(asked.trigger.trigger_id),
            note=notes.get(asked.trigger.trigger_id),
            ran=[_run(known, run) for run in _ran(known, asked)],
        )
        for asked in known.asked
    ]


def of_retries(known: Course) -> list[RetrySeen]:
    runs = [e.data["run"] for e in known.happened("stage.retried")]
    return [
        RetrySeen(record=record, run=run) for record, run in zip(known.retries(), runs, strict=True)
    ]


def _stage(known: Course, stage: table.Stage) -> StageSeen:
    runs = [run for run in known.runs if run.mode == stage.role]
    standing, reason = _standing(known, stage, runs)
    agents = [stages.agent_of(known, run) for run in runs if delivered(run)]
    return StageSeen(
        number=stage.number,
        role=stage.role,
        title=stage.title,
        writes=stage.writes,
        standing=standing,
        reason=reason,
        again=len(agents) - len(set(agents)),
        output=_output(known, stage, runs),
        runs=[_run(known, run) for run in runs],
    )


def _standing(
    known: Course, stage: table.Stage, runs: Sequence[Run]
) -> tuple[Standing, str | None]:
    skips = [e for e in known.happened("stage.skipped") if e.data["stage"] == stage.number]
    last = runs[-1] if runs else None
    if any(run.status.live for run in runs):
        return Standing.LIVE, None
    if skips and (last is None or skips[-1].time > last.created_at):
        return Standing.SKIPPED, skips[-1].data["reason"]
    if last is None:
        return Standing.WAITING, None
    if delivered(last):
        return Standing.DONE, None
    return (Standing.FAILED, last.error.error) if last.error else (Standing.ASKING, None)


def _output(known: Course, stage: table.Stage, runs: Sequence[Run]) -> Any:
    """The decision is part of no context, and is shown all the same."""
    if stage.field:
        return TypeAdapter(object).dump_python(known.made.of(stage), mode="json") or None
    said = [run.payload for run in runs if delivered(run)]
    return dict(said[-1]) if said and said[-1] else None


def _run(known: Course, run: Run) -> StageRun:
    served = known.served(run.id)
    return StageRun(
        id=run.id,
        agent=stages.agent_of(known, run),
        status=run.status,
        delivered=delivered(run) is not None,
        error=run.error.error if run.error else None,
        trigger=served.trigger.trigger_id if served else None,
        created_at=run.created_at,
        ended_at=run.ended_at,
    )


def _ran(known: Course, asked: Asked) -> list[Run]:
    sent = {e.data["trigger"]: e.data["run"] for e in known.happened("loop_back.dispatched")}
    first = sent.get(asked.trigger.trigger_id)
    found: list[Run] = []
    for run in known.runs:
        if found or run.id == first:
            found.append(run)
        if found and run.mode == asked.edge[0]:
            break
    return found
