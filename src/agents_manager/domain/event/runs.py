"""Agents at work: their runs, checks and costs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from agents_manager.domain.budget import BudgetScope, dollars
from agents_manager.domain.event.happening import Happening, Level, counted_as
from agents_manager.domain.run import UNSANDBOXED

SHOWN_PLACES = 5
"""How many blocked connections a sentence names."""


class AgentQueued(Happening):
    category = "agent"
    type: Literal["agent.queued"] = "agent.queued"
    run: str
    agent: str
    mode: str

    def says(self) -> str:
        return f"{self.agent} will start ({self.mode})."


class AgentStarted(Happening):
    category = "agent"
    type: Literal["agent.started"] = "agent.started"
    run: str
    agent: str
    mode: str
    attempt: int
    sandbox: str | None = None

    def says(self) -> str:
        how = ", unsandboxed" if self.sandbox == UNSANDBOXED else f", sandbox {self.sandbox}"
        return f"{self.agent} started ({self.mode}{how if self.sandbox else ''})."


class AgentProgram(Happening):
    category = "agent"
    type: Literal["agent.program"] = "agent.program"
    run: str
    program: str
    version: str | None

    def says(self) -> str:
        version = f", version {self.version}" if self.version else ""
        return f"The agent runs {self.program}{version}."


class AgentCompleted(Happening):
    category = "agent"
    type: Literal["agent.completed"] = "agent.completed"
    run: str
    outcome: str
    inferred: bool
    cost_usd: float | None

    def says(self) -> str:
        cost = "cost unknown" if self.cost_usd is None else f"${self.cost_usd:.2f}"
        how = "was taken to have ended with" if self.inferred else "ended with"
        return f"The agent {how} {self.outcome} ({cost})."


class AgentInterrupted(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.interrupted"] = "agent.interrupted"
    run: str
    error: str
    """The error's class and message."""

    def says(self) -> str:
        return f"The agent's response broke off after it had reported its outcome: {self.error}"


class AgentPaused(Happening):
    category = "agent"
    type: Literal["agent.paused"] = "agent.paused"
    run: str
    prompt: str

    def says(self) -> str:
        return "The agent waits for an answer; its run paused and goes on with it."


class AgentFailed(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.failed"] = "agent.failed"
    run: str
    error_class: str
    error: str

    def says(self) -> str:
        return f"The agent failed ({self.error_class}): {self.error}"


class RetryScheduled(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.retry_scheduled"] = "agent.retry_scheduled"
    run: str
    """The run that failed."""
    retry: str
    """The run that waits."""
    error_class: str
    number: int
    tries: int
    due_at: datetime

    def says(self) -> str:
        which = f"retry {self.number} of {self.tries}, after {self.error_class}"
        return f"The agent is tried again at {self.due_at:%Y-%m-%d %H:%M:%S} UTC ({which})."


class RetryHastened(Happening):
    category = "agent"
    type: Literal["agent.retry_hastened"] = "agent.retry_hastened"
    run: str
    by: str

    def says(self) -> str:
        return f"{self.by} had the agent tried again without waiting any longer."


class SessionLost(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.session_lost"] = "agent.session_lost"
    run: str

    def says(self) -> str:
        gone = "The session that the agent was to go on with is gone"
        return f"{gone}; it began a new one and was told what was said in the old."


class NoProgress(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.no_progress"] = "agent.no_progress"
    run: str
    mode: str
    times: int
    ended_with: str

    def says(self) -> str:
        runs = f"{self.times} runs ({self.mode})"
        return f"Halted: {runs} in a row left the same work and ended with {self.ended_with}"


class AgentCancelled(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.cancelled"] = "agent.cancelled"
    run: str

    def says(self) -> str:
        return "The agent was stopped."


class ToolUsed(Happening):
    category = "tool"
    level = Level.DEBUG
    type: Literal["agent.tool_use"] = "agent.tool_use"
    run: str
    name: str
    """The name of the tool."""
    summary: str
    """What it was called for: the beginning of a command, a path, or the like."""
    ok: bool | None
    """Whether the result was ok; None: no result was reported."""
    number: int
    """Which of the recorded calls of the run it is, from 1 on."""
    at: str
    """The place in the output of the run, as `turn:offset.number`."""

    def says(self) -> str:
        how = " (failed)" if self.ok is False else ""
        return f"{self.name}{how}: {self.summary}" if self.summary else f"{self.name}{how}"


class ToolUsesLeftOut(Happening):
    category = "tool"
    level = Level.DEBUG
    type: Literal["agent.tool_uses_left_out"] = "agent.tool_uses_left_out"
    run: str
    count: int
    """How many calls of a turn have no event of their own."""
    number: int
    at: str

    def says(self) -> str:
        return f"{counted_as(self.count, 'more tool call')}: see the transcript."


class OutputRefused(Happening):
    category = "payload"
    level = Level.WARNING
    type: Literal["agent.output_refused"] = "agent.output_refused"
    run: str
    reason: str

    def says(self) -> str:
        return f"The agent's outcome could not be taken and it was asked again: {self.reason}"


class ChecksFailed(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.checks_failed"] = "agent.checks_failed"
    run: str
    outcome: str
    checks: tuple[str, ...]
    output: str = ""

    def says(self) -> str:
        return f"Checks failed after {self.outcome}: {', '.join(self.checks)}."


class ChecksUndecided(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.checks_undecided"] = "agent.checks_undecided"
    run: str
    checks: tuple[str, ...]
    ran: bool
    """Whether the checks ran and failed; False if their environment failed."""
    verdict: Mapping[str, Any]
    """What the agent reported, which the task continues with once the checks pass."""

    def says(self) -> str:
        return f"The agent may not be the cause that checks fail: {', '.join(self.checks)}."


class FixRequested(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.fix_requested"] = "agent.fix_requested"
    run: str
    outcome: str
    round: int
    rounds: int
    checks: tuple[str, ...]
    output: str = ""

    def says(self) -> str:
        return (
            f"Checks failed after {self.outcome}: {', '.join(self.checks)}. The agent is asked to"
            f" mend it (round {self.round} of {self.rounds})."
        )


class ChecksPassed(Happening):
    category = "agent"
    type: Literal["agent.checks_passed"] = "agent.checks_passed"
    run: str
    checks: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    passed: bool | None = None
    """Whether those of the project passed; None: none of them was run."""

    def says(self) -> str:
        told = f"; failed, which is only told: {', '.join(self.warnings)}" if self.warnings else ""
        return f"Checks passed: {', '.join(self.checks) or 'none'}{told}."


class CollectionFailed(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.artifact_collection_failed"] = "agent.artifact_collection_failed"
    run: str
    error: str

    def says(self) -> str:
        again = "am artifact collect TASK tries again."
        return f"Not everything the agent made could be collected ({again}): {self.error}"


def blocked_connections(places: Sequence[str], more: int, allow: str) -> str:
    """Returns a sentence about connections that the sandbox refused, with the command that allows
    them."""
    others = more + len(places[SHOWN_PLACES:])
    shown = ", ".join(places[:SHOWN_PLACES]) + (f" and {others} more" if others else "")
    them = "it" if len(places) + more == 1 else "them"
    command = f" Allow {them} with: {allow}" if allow else ""
    return f"The sandbox blocked {shown}.{command}"


class ConnectionsBlocked(Happening):
    category = "agent"
    level = Level.DEBUG
    type: Literal["agent.connections_blocked"] = "agent.connections_blocked"
    run: str
    places: tuple[str, ...]
    """Where they led to, as `host:port`."""
    reasons: tuple[str, ...]
    """Why each of them was blocked, in the same order."""
    more: int = 0
    """How many others there were."""
    allow: str = ""
    """The command that allows them."""

    def says(self) -> str:
        return blocked_connections(self.places, self.more, self.allow)


class TranscriptsRemoved(Happening):
    category = "agent"
    type: Literal["agent.transcripts_removed"] = "agent.transcripts_removed"
    runs: int
    bytes: int

    def says(self) -> str:
        what = counted_as(self.runs, "run")
        return f"Retention removed the transcripts of {what} ({self.bytes / 1e6:.1f} MB)."


class UsageRefused(Happening):
    category = "cost"
    level = Level.WARNING
    type: Literal["cost.usage_refused"] = "cost.usage_refused"
    run: str
    reason: str

    def says(self) -> str:
        return f"What the agent said it used is not believed and counts as unknown: {self.reason}"


class BudgetNear(Happening):
    category = "cost"
    level = Level.WARNING
    type: Literal["cost.budget_near"] = "cost.budget_near"
    run: str
    scope: BudgetScope
    subject: str
    limit_usd: float
    spent_usd: float
    unknown: int
    """Runs whose cost is unknown, and not in the sum."""
    text: str

    def says(self) -> str:
        return self.text


class BudgetGranted(Happening):
    category = "cost"
    type: Literal["cost.budget_granted"] = "cost.budget_granted"
    scope: BudgetScope
    subject: str
    usd: float
    by: str
    prompt: str

    def says(self) -> str:
        return f"{self.by} granted {dollars(self.usd)} more for the {self.scope}."
