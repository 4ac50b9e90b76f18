"""How a staged task stands: its stages, who had whom run again, and what agents were given."""

from datetime import datetime
from typing import Any, Literal

from agents_manager.api import schemas
from agents_manager.domain.run import RunStatus
from agents_manager.domain.stages.request import Priority
from agents_manager.flow.stage_views import Standing


class StageRun(schemas.Out):
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


class StageSeen(schemas.Out):
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
    """The newest; of builders and debuggers all of them; null: there is none."""
    runs: list[StageRun]


class LoopBackTrigger(schemas.Out):
    trigger_id: str
    source_agent: str
    source_stage: float
    target_agent: str
    target_stage: float
    reason: str
    context: str | None
    priority: Priority
    status: Literal["pending", "dispatched", "completed"]


class LoopBackSeen(schemas.Out):
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
    ran: list[StageRun]
    """From the agent that was sent for up to the one that asked."""


class RetryRecord(schemas.Out):
    stage: float
    agent: str
    attempt: int
    issue: str
    improvement: str
    timestamp: datetime


class RetrySeen(schemas.Out):
    record: RetryRecord
    run: str


class StageContext(schemas.Out):
    context: schemas.Json
    """A PipelineContext."""
    agent: str
    """Whose turn it is, or was last."""
    markdown: str
    stages: list[StageSeen]
    """All of them, in their order."""
    loop_backs: list[LoopBackSeen]
    retries: list[RetrySeen]


class StageGiven(schemas.Out):
    run: str
    agent: str
    stage: float
    outputs: dict[str, str]
    """As they stand in its prompt, by the heading of their stage."""
    characters: int
    everything: int
    """How many it would have been with every output there was, uncut."""
