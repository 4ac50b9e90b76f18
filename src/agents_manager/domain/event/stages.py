"""Staged orchestration: stages that are left out, builders and their batches, agents that have each
other run again."""

from collections.abc import Mapping
from typing import Any, Literal

from agents_manager.domain.event.happening import Happening, Level, counted_as

STAGE = "agent"
"""The category of all of these."""
MOST_NAMED = 10
"""Files, in a sentence."""


class StageSkipped(Happening):
    category = STAGE
    type: Literal["stage.skipped"] = "stage.skipped"
    status: str
    stage: float | None
    role: str | None
    reason: str

    def says(self) -> str:
        number = "" if self.stage is None else f"Stage {self.stage:g}, "
        return f"{number}{self.role or self.status}, is left out: {self.reason}"


class StageRetried(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["stage.retried"] = "stage.retried"
    run: str
    stage: float
    agent: str
    attempt: int
    issue: str
    improvement: str

    def says(self) -> str:
        return f"{self.agent} is tried again ({self.attempt}): {self.issue}"


class BatchesSerial(Happening):
    category = STAGE
    type: Literal["plan.serial"] = "plan.serial"
    run: str
    file: str
    batches: tuple[int, ...]

    def says(self) -> str:
        numbers = ", ".join(map(str, self.batches))
        return f"Batches {numbers} share {self.file} and are built one after the other."


class PlaceholdersFound(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["tests.placeholders"] = "tests.placeholders"
    run: str
    tests: tuple[str, ...]

    def says(self) -> str:
        return f"Tests that test nothing: {', '.join(self.tests)}."


class BuilderAssigned(Happening):
    category = STAGE
    type: Literal["builder.assigned"] = "builder.assigned"
    run: str
    agent: str
    batch: Mapping[str, Any] | None
    """Of the plan; None: it has a request, or a person's review, as its batch."""
    files: tuple[str, ...]
    trigger: str | None
    """The request that it is to see to."""

    def says(self) -> str:
        what = f"batch {self.batch['number']}" if self.batch else self.trigger or "the review"
        files = f" ({', '.join(self.files)})" if self.files else ""
        return f"{self.agent} builds {what}{files}."


class BuilderEnded(Happening):
    category = STAGE
    type: Literal["builder.ended"] = "builder.ended"
    run: str
    build_agent: str
    files_targeted: tuple[str, ...]
    pre_check_passed: bool
    build_completed: bool
    post_check_passed: bool
    debug_iterations: int
    final_status: Literal["success", "needs_external_debug"]

    def says(self) -> str:
        rounds = counted_as(self.debug_iterations, "round")
        return f"{self.build_agent}: {self.final_status}, after {rounds} of fixing."


class BuilderStrayed(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["builder.strayed"] = "builder.strayed"
    run: str
    agent: str
    files: tuple[str, ...]

    def says(self) -> str:
        return f"{self.agent} changed files of no batch of its own: {', '.join(self.files)}."


class WorkDiscarded(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["work.discarded"] = "work.discarded"
    run: str
    role: str
    head_sha: str
    """What it had committed."""

    def says(self) -> str:
        return f"{self.role} only reads; its commits ({self.head_sha[:8]}) are taken back."


class ReaderChanged(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["reader.changed"] = "reader.changed"
    run: str
    role: str
    files: tuple[str, ...]
    """Of those that git tracks; in no commit."""

    @property
    def named(self) -> str:
        more = len(self.files) - MOST_NAMED
        return ", ".join([*self.files[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])

    def says(self) -> str:
        return f"{self.role} only reads, and it changed {self.named}; its output does not count."


class LoopBackRequested(Happening):
    category = STAGE
    type: Literal["loop_back.requested"] = "loop_back.requested"
    trigger: str
    run: str
    source_agent: str
    source_stage: float
    source_status: str
    target_agent: str
    target_stage: float
    reason: str
    context: str
    priority: str
    signature: str
    """What failed, without what varies from one time to the next."""
    implied: bool = False
    """Whether the output alone asks for it."""

    def says(self) -> str:
        way = f"{self.source_agent} requests {self.target_agent}"
        return f"{self.trigger} ({self.priority}): {way} - {self.reason}"


class LoopBackDispatched(Happening):
    category = STAGE
    type: Literal["loop_back.dispatched"] = "loop_back.dispatched"
    trigger: str
    run: str
    source_agent: str
    target_agent: str

    def says(self) -> str:
        return f"{self.trigger}: {self.target_agent} runs for {self.source_agent}."


class LoopBackReturned(Happening):
    category = STAGE
    type: Literal["loop_back.returned"] = "loop_back.returned"
    trigger: str
    run: str

    def says(self) -> str:
        return f"{self.trigger}: back to the agent that asked."


class LoopBackCompleted(Happening):
    category = STAGE
    type: Literal["loop_back.completed"] = "loop_back.completed"
    trigger: str
    note: str

    def says(self) -> str:
        return f"{self.trigger} is completed: {self.note}"


class LoopBackStopped(Happening):
    category = STAGE
    level = Level.WARNING
    type: Literal["loop_back.stopped"] = "loop_back.stopped"
    trigger: str
    reason: str

    def says(self) -> str:
        return f"{self.trigger} goes to a person: {self.reason}"
