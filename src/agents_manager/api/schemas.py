"""What leaves over HTTP. No field has a default, so that generated clients see each as required."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from agents_manager.domain.comment import State
from agents_manager.domain.event.happening import Level
from agents_manager.domain.phase import PhaseStatus
from agents_manager.domain.pipeline import Category, HandoffRule, Policy, PromptType, TriggerType
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import CostBasis, ErrorClass, RunStatus
from agents_manager.domain.task import ActorType, ArtifactType, PullState, Result
from agents_manager.flow.ports import KeyKind

Json = dict[str, Any]


class Out(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)

    @classmethod
    def of(cls, value: object) -> Self:
        """From the value of the same fields that the flow works with."""
        return cls.model_validate(value)


class Error(Out):
    """Every answer that is not a success."""

    error: str
    message: str
    details: list[str]


class Actor(Out):
    type: ActorType
    name: str
    run: str | None
    via: str | None


class Token(Out):
    """What lets somebody in, without the secret itself."""

    id: str
    kind: KeyKind
    name: str
    role: str
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime | None


class ProjectRef(Out):
    id: str
    name: str


class ProjectPlace(Out):
    host: str
    name: str
    path: str


class Project(Out):
    id: str
    name: str
    path: str
    """On the machine of the server."""
    remote: str | None
    """Where machines that lack it clone it from; null: nowhere, or one machine has the database."""
    places: list[ProjectPlace]
    """Where it lies on each machine, where several share the database."""
    away: str | None
    """Why the machine of the server cannot work at it, with the way out; null: it can."""
    base_branch: str
    commands_trusted: bool
    """Whether the project's commands, as they stand now, may run."""
    changed_commands: list[str]
    """What became of its commands since they were trusted."""
    config_errors: list[str]
    """What is wrong with its configuration files."""
    config_kept: bool
    """Whether settings are in force: those of the files or, while these are broken, what they said
    before. Where it is false, nothing is started until they are corrected."""
    consented_at: datetime | None
    """Since when agents may work at it without a sandbox; null: they may not."""
    created_at: datetime


class StatusPrompt(Out):
    type: PromptType
    expires_after: int | None
    roles: list[str]


class Status(Out):
    id: str
    title: str
    color: str | None
    category: Category
    position: int
    stage: float | None
    role: str | None
    prompt: StatusPrompt | None
    handoff: HandoffRule | None
    """Whether its runs must leave one; null: as the pipeline says."""


class Trigger(Out):
    type: TriggerType
    outcome: str | None


class Guard(Out):
    type: str
    params: Json
    negate: bool = Field(serialization_alias="not")


class Hook(Out):
    type: str
    params: Json
    policy: Policy | None


class Transition(Out):
    id: str
    source: str = Field(serialization_alias="from")
    to: str
    title: str
    trigger: Trigger
    guards: list[Guard]
    hooks: list[Hook]


class Pipeline(Out):
    id: str
    name: str
    version: int
    description: str
    handoff: HandoffRule
    statuses: list[Status]
    transitions: list[Transition]


class Task(Out):
    id: str
    project_id: str
    title: str
    description: str
    objective: str
    type: str
    priority: str
    size: str
    complexity: str
    tags: list[str]
    acceptance_criteria: list[str]
    dependencies: list[str]
    pipeline_id: str
    pipeline_version: int
    status: str
    plan: str | None
    version: int
    created_at: datetime
    updated_at: datetime
    starts_at: datetime | None
    """When the engine starts it; null: somebody does."""
    agent: str | None
    """The agent that was chosen for its runs; null: the project's default."""
    model: str | None
    """The model of that agent; null: the agent's own choice."""


class AgentError(Out):
    error: str
    error_class: ErrorClass
    output: str
    resets_at: datetime | None
    """When the provider said that its limit ends."""


class Usage(Out):
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None


class Overrides(Out):
    role: Json
    task: Json
    """The agent that is chosen for the task, and its model where the run is that agent's."""
    hook: Json
    run: Json


class RunSetting(Out):
    key: str
    value: Any
    layer: str


class Run(Out):
    id: str
    task_id: str
    project_id: str
    agent: str | None
    mode: str
    model: str | None
    status: RunStatus
    attempt: int
    session: str | None
    outcome: str | None
    payload: Json | None
    error: AgentError | None
    usage: Usage | None
    """What the agent reported; null: unknown."""
    cost_usd: float | None
    """What it cost; null: unknown."""
    cost_basis: CostBasis | None
    """Whether the agent said so, or its tokens were multiplied by their prices."""
    branch: str | None
    base_sha: str | None
    head_sha: str | None
    workspace: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    phase_id: str | None
    sandbox: str | None
    """The level, `S3` to `S1`; `none` where the agent worked unsandboxed; null where it needed
    none."""
    transcript_removed_at: datetime | None
    """When retention removed its transcript; null: it did not."""
    overrides: Overrides
    """What the hook and who started it set for this run."""
    settings: list[RunSetting] | None
    """What it was started with, each with its layer; null until it begins."""
    part: str
    """The part of the work that it does beside others, as group and place; empty: all of it."""


class ResumePoint(Out):
    status: str
    mode: str | None
    agent: str | None
    session: str | None
    run: str | None


class Prompt(Out):
    id: str
    task_id: str
    run_id: str | None
    type: PromptType
    payload: Json
    note: str | None
    revision: int
    status: PromptStatus
    resume: ResumePoint
    roles: list[str]
    """Who may answer, besides admins; empty: everybody with access."""
    created_at: datetime
    expires_at: datetime | None
    default_at: datetime | None
    """When the recommended answer is taken unless somebody answers; null: never."""
    reminders: int
    reminded_at: datetime | None
    response: Json | None
    responded_by: str | None
    responded_via: str | None
    responded_at: datetime | None
    undo_until: datetime | None
    """Until when the answer can be taken back; null: it cannot be."""
    midway: bool
    """Whether an agent asked it in the middle of its run, which goes on with the answer."""


class Artifact(Out):
    id: str
    run_id: str | None
    type: ArtifactType
    key: str
    label: str
    data: Json
    created_at: datetime


class Document(Out):
    name: str
    version: int
    """Counted from 1 for each name."""
    text: str
    artifact_id: str
    run_id: str | None
    created_at: datetime


class PullRequest(Out):
    id: str
    number: int
    title: str
    body: str
    head_branch: str
    base_branch: str
    head_sha: str
    state: PullState
    merge_sha: str | None
    created_at: datetime
    updated_at: datetime
    forge: str
    """Where it lives: `local`, `github` or the forge of a plugin."""
    url: str | None
    """Its page there; null where it lives here."""
    checks: str | None
    """What the forge's own checks say of its head: `passed`, `failed` or `pending`; null where
    there are none."""


class Phase(Out):
    id: str
    position: int
    number: int
    name: str
    description: str
    complexity: str
    status: PhaseStatus


class CommentAnswer(Out):
    author: str
    text: str
    time: datetime


class Comment(Out):
    number: int | None
    """What it is called by; null: it was made on a forge, and is answered and resolved there."""
    pull: int | None
    """The number of the pull request it is about; null: the task, or its work in a review."""
    review: str | None
    """The prompt or the run whose review it is part of."""
    author: str
    text: str
    severity: str | None
    """Null: nobody said."""
    file: str | None
    line: int | None
    """Where its code is now; for what is outdated, where it was."""
    original_file: str | None
    original_line: int | None
    """Where it was made."""
    head_sha: str | None
    """The commit that it was made on."""
    quote: str
    """The lines it was made on, as they were."""
    outdated: bool
    """Its lines are not in the change any more, or it is not known where."""
    state: State
    """`changed`: its lines were changed or removed since, and nobody has said whether that settled
    it."""
    resolved: bool
    answers: list[CommentAnswer]
    time: datetime


class Snapshot(Out):
    number: int
    ref: str
    sha: str
    head: str | None
    """The commit it was made on."""
    taken_at: datetime
    files: tuple[str, ...]
    """What differs from that commit; none where commits of no branch were saved."""


class GuardCheck(Out):
    name: str
    passed: bool
    reason: str


class HookRecord(Out):
    name: str
    policy: str
    effect: str | None


class History(Out):
    id: str
    version: int
    result: Result
    transition_id: str | None
    source: str = Field(serialization_alias="from")
    to: str
    trigger: str
    outcome: str | None
    actor: Actor
    payload: Json | None
    guards: list[GuardCheck]
    hooks: list[HookRecord]
    reason: str | None
    time: datetime


class Event(Out):
    id: int
    task_id: str
    seq: int
    time: datetime
    category: str
    type: str
    level: Level
    summary: str
    actor: Actor
    data: Json
