"""Runs: one attempt of one agent at one task, and the ways it can end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_manager.domain.ids import EffectId, ProjectId, RunId, TaskId
from agents_manager.domain.run_settings import NONE, Overrides, RunSetting
from agents_manager.domain.stages.table import READERS, READERS_WITH_COMMANDS
from agents_manager.domain.value import Value


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"

    @property
    def live(self) -> bool:
        return self in LIVE


LIVE = (RunStatus.QUEUED, RunStatus.RUNNING)


class ErrorClass(StrEnum):
    CRASH = "crash"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CANCELLED = "cancelled"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    """The provider is temporarily unable to answer anyone."""
    QUOTA = "quota"
    AUTH = "auth"
    BUDGET = "budget"
    BAD_OUTPUT = "bad_output"
    CONTEXT_TOO_LONG = "context_too_long"
    """The conversation does not fit into the model's context."""
    MAX_TOKENS = "max_tokens"
    """The model reached its limit of output tokens before it had finished."""
    REFUSAL = "refusal"
    """The model declined to work on the task."""
    CHECKS_FAILED = "checks_failed"
    ENVIRONMENT = "environment"
    LIMIT = "limit"
    """It used more of the machine than it may."""
    INTERRUPTED = "interrupted"


LIMITS = frozenset({ErrorClass.RATE_LIMIT, ErrorClass.QUOTA, ErrorClass.OVERLOADED})
"""Errors of a provider that may say when it answers again."""


class AgentError(Value):
    error: str
    error_class: ErrorClass
    output: str = ""
    """What a failed check or the program itself printed last, or the message of an agent that no
    outcome could be taken from."""
    resets_at: datetime | None = None
    """When the provider said that its limit ends; as untrusted as all that an agent says."""


class Usage(Value):
    """What the agent reported. A field nobody reported stays unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Of two turns together. What one of them did not report stays unknown."""
        mine, theirs = self.model_dump(), other.model_dump()
        known = {name: (mine[name], theirs[name]) for name in mine}
        return Usage.model_validate(
            {name: None if None in pair else sum(pair) for name, pair in known.items()}
        )


class CostBasis(StrEnum):
    REPORTED = "reported"
    COMPUTED = "computed"


class Cost(Value):
    """What a run cost, and whether the agent said so or prices did."""

    usd: float
    basis: CostBasis


class Limits(Value):
    timeout_s: float = 600.0
    silence_s: float | None = None
    turns: int | None = None
    output_bytes: int = 200 * 1024 * 1024


UNSANDBOXED = "none"

READ_ONLY_MODES = frozenset({"plan", "review", "investigate", "design", "judge", *READERS})
"""Modes whose result is what the agent says; they have no work to commit."""
RUNS_COMMANDS = frozenset({"investigate", *READERS_WITH_COMMANDS})
"""Those of them that must be able to run the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    id: RunId
    task_id: TaskId
    project_id: ProjectId
    effect_id: EffectId
    agent: str | None
    """None until the run is prepared, when nobody named one."""
    mode: str
    model: str | None
    status: RunStatus
    attempt: int
    session: str | None
    prompt: str | None = None
    outcome: str | None = None
    payload: Mapping[str, Any] | None = None
    error: AgentError | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    """None: unknown."""
    cost_basis: CostBasis | None = None
    branch: str | None = None
    base_sha: str | None = None
    head_sha: str | None = None
    workspace: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    phase_id: str | None
    """The phase it works in, of a task that was split."""
    sandbox: str | None = None
    """What keeps the agent in: `none` where nothing of ours does. None until it begins, and for
    agents that need no keeping."""
    transcript_removed_at: datetime | None = None
    """When retention removed what it printed; None: it did not."""
    overrides: Overrides = NONE
    """What the hook and who started it set for this run."""
    settings: Sequence[RunSetting] | None = None
    """What it was started with; None until it begins."""
    part: str = ""
    """The part of the work that it does beside others; empty: all of it, alone."""
    host: str | None = None
    """The machine that it was given to; None until then, and where there is only one."""

    @property
    def kept(self) -> bool:
        """Whether a sandbox of ours was around the agent."""
        return self.sandbox not in (None, UNSANDBOXED)

    @property
    def unkept(self) -> bool:
        """Whether the agent worked with the rights of its user."""
        return self.sandbox == UNSANDBOXED

    @property
    def seconds(self) -> float | None:
        """How long it took; None until it has ended."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()

    @property
    def never_began(self) -> bool:
        """Called off before anything came of it."""
        return self.status is RunStatus.CANCELLED and self.started_at is None
