"""What leaves over HTTP beside the things themselves: things with what belongs to them, and
listings. As there, no field has a default."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from agents_manager.api import schemas
from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.change import FileStatus
from agents_manager.domain.cost import By
from agents_manager.domain.finding import Severity
from agents_manager.domain.pipeline import Category, Policy, PromptType
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import PullState, Result
from agents_manager.flow.importing import ImportState
from agents_manager.flow.ports import Layer
from agents_manager.flow.search import Kind


class Noticed(schemas.Out):
    pulls: int
    """How many open pull requests are looked at because of it."""


class Health(schemas.Out):
    status: Literal["ok"]


class Me(schemas.Out):
    name: str
    role: str
    via: str
    admin: bool
    version: str
    """Of the program."""
    expires_at: datetime | None
    last_event: int
    """The newest event there is; a stream after it tells all that happens from now on."""


class Tokens(schemas.Out):
    items: list[schemas.Token]


class TokenMade(schemas.Out):
    token: str
    about: schemas.Token


class LoginLink(schemas.Out):
    url: str
    code: str
    expires_at: datetime
    svg: str
    """The link as a QR code."""


class Mover(schemas.Out):
    kind: str
    text: str
    id: str | None


class Move(schemas.Out):
    id: str
    to: str
    label: str
    allowed: bool
    reasons: list[str]


class Target(schemas.Out):
    status: str
    title: str
    category: Category
    current: bool
    allowed: bool
    """Whether it can be moved there by hand now."""
    stops_run: bool
    """Whether it can be once the live run is stopped: where it is allowed, that is done first; else
    the move must say `stop`."""
    reasons: list[str]
    """Why it is not allowed."""


class Targets(schemas.Out):
    items: list[Target]


class ChangedFile(schemas.Out):
    path: str
    old_path: str | None
    """Where it was before it was renamed or copied."""
    status: FileStatus
    additions: int | None
    deletions: int | None
    """Null: it is not text."""
    binary: bool
    generated: bool
    """By its name: written by a program, such as a lock file."""


class ReviewComment(schemas.Out):
    round: int
    author: str
    file: str | None
    line: int | None
    severity: str
    text: str


class ReviewRound(schemas.Out):
    number: int
    at: datetime
    by: str
    agent: bool
    verdict: str
    summary: str | None
    head_sha: str | None
    """The commit that it was about."""
    prompt_id: str | None
    run_id: str | None


class Changes(schemas.Out):
    base_sha: str | None
    head_sha: str | None
    """Null: nothing was committed yet."""
    since: int | None
    rounds: list[ReviewRound]
    """The reviews of the work, oldest first."""
    comments: list[ReviewComment]
    files: list[ChangedFile]


class FileChange(schemas.Out):
    file: ChangedFile
    diff: str
    """In the unified form."""
    cut: bool
    """Whether there was more of it than is sent."""
    old_text: str | None
    new_text: str | None
    """Null: it was not there, is not text, or is larger than 1 MiB."""


class TaskView(schemas.Out):
    task: schemas.Task
    project: schemas.ProjectRef
    status: schemas.Status
    next_mover: Mover
    why: str
    prompts: list[schemas.Prompt]
    run: schemas.Run | None
    runs: list[schemas.Run]
    moves: list[Move]
    artifacts: list[schemas.Artifact]
    phases: list[schemas.Phase]
    pull: schemas.PullRequest | None


class Column(schemas.Out):
    id: str
    title: str
    color: str | None
    category: Category
    count: int
    """Of all tasks there, also of finished ones that have no card."""


class Lane(schemas.Out):
    id: str
    name: str
    version: int
    """The newest."""
    columns: list[Column]
    """By their positions; statuses that only older versions have come last."""


class CardPrompt(schemas.Out):
    id: str
    type: PromptType
    since: datetime


class CardRun(schemas.Out):
    id: str
    agent: str | None
    mode: str
    status: RunStatus
    started_at: datetime | None
    printed_at: datetime | None
    """The last sign of life: when the agent last printed something; null: it has not yet."""


class CardRound(schemas.Out):
    number: int
    """How often the task came to the status again."""
    max: int
    status: str


class CardCost(schemas.Out):
    usd: float | None
    """Of the runs whose cost is known; null when there are none."""
    unknown: int
    """Runs whose cost is unknown."""


class CardPhases(schemas.Out):
    done: int
    """Those that were left out among them."""
    total: int


class CardPull(schemas.Out):
    number: int
    state: PullState


class Card(schemas.Out):
    id: str
    title: str
    project_id: str
    pipeline_id: str
    status: str
    category: Category
    type: str
    priority: str
    tags: list[str]
    version: int
    updated_at: datetime
    mover: str
    """The kind of who moves it next, as in `next_mover`."""
    prompt: CardPrompt | None
    run: CardRun | None
    """The live one."""
    round: CardRound | None
    """Of the status that was entered again most often, among those for which that is limited."""
    cost: CardCost | None
    """Null: nothing has run."""
    phases: CardPhases | None
    pull: CardPull | None


class Finished(schemas.Out):
    total: int
    shown: int
    """Those that changed last."""


class Board(schemas.Out):
    lanes: list[Lane]
    """The pipelines that tasks are on."""
    cards: list[Card]
    """All tasks that are not finished, and the last that are; the newest change first."""
    finished: Finished


class Phases(schemas.Out):
    items: list[schemas.Phase]


class Comments(schemas.Out):
    items: list[schemas.Comment]


class Artifacts(schemas.Out):
    items: list[schemas.Artifact]


class Documents(schemas.Out):
    items: list[schemas.Document]


class RetentionTotal(schemas.Out):
    count: int
    bytes: int | None
    """Null: unknown."""


class RetentionItem(schemas.Out):
    kind: str
    what: str
    why: str
    count: int
    bytes: int | None
    task_id: str | None


class Retention(schemas.Out):
    at: datetime
    dry_run: bool
    totals: dict[str, RetentionTotal]
    items: list[RetentionItem]
    """At most 1,000 of them; all are in the totals."""
    left: list[str]
    """What could not be looked at or removed, and why."""
    last: str | None
    """When the pass before this one was."""


class Snapshots(schemas.Out):
    items: list[schemas.Snapshot]


class Restored(schemas.Out):
    task: schemas.Task
    snapshot: schemas.Snapshot
    branch: str
    """Where the work is now."""
    workspace: str | None
    """The worktree in which it lies uncommitted; none for a new branch."""


class Why(schemas.Out):
    task: schemas.Task
    next_mover: Mover
    why: str
    """Why the task is where it is, in one paragraph."""


class CommittedDocument(schemas.Out):
    document: str
    version: int
    path: str
    branch: str
    sha: str
    new: bool
    """False where the branch said the same there already."""


class ImportedTask(schemas.Out):
    place: str
    """Where it stands in the list, such as `line 3`."""
    title: str
    state: ImportState
    task_id: str | None
    """The task, unless it would only be made."""
    pipeline: str
    dependencies: int
    left_out: list[str]
    """What it would wait for, but is not known here."""


class ImportedTasks(schemas.Out):
    items: list[ImportedTask]
    skipped: int
    """Those that are checked off."""


class Edited(schemas.Out):
    task: schemas.Task
    fields: list[str]
    """What is different now."""
    run: str | None
    """A run that is going on; it keeps the words it was given."""


class Deleted(schemas.Out):
    task: schemas.Task
    branches: list[str]
    """They stay, with their commits and the snapshots of the task."""
    released: list[str]
    """Tasks that depended on it, and do so no more."""
    left: str | None
    """Why its worktree is still there; null when it is gone."""


class Setting(schemas.Out):
    key: str
    """As in the file, with dots between the keys of nested objects."""
    value: Any
    layer: Layer
    file: str | None
    line: int | None


class Settings(schemas.Out):
    errors: list[str]
    """What is wrong with the files; the items are then what they said before."""
    items: list[Setting]
    next: str | None


class SettingsEdit(schemas.Out):
    file: str
    fingerprint: str
    """Of the old text; give it back as `expect` to write just what was shown."""
    old: str | None
    """Null: there was no file."""
    new: str
    diff: str
    written: bool
    changed_commands: list[str]
    """What has to be trusted before it is run."""


class Visit(schemas.Out):
    status: str
    entered: datetime
    left: datetime | None
    seconds: float | None
    transition_id: str | None
    """By which the task left; null: by none of the graph, or it did not."""
    trigger: str | None


class PathStep(schemas.Out):
    visit: Visit
    by: schemas.Actor | None
    """Who ended it."""


class Stay(schemas.Out):
    status: str
    visits: int
    again: int
    seconds: float
    """Of the visits that are over."""


class TaskPath(schemas.Out):
    steps: list[PathStep]
    totals: list[Stay]


class StatusCount(schemas.Out):
    status: str
    tasks: int
    """That are there now."""
    visits: int
    """That are over."""
    median_s: float | None
    mean_s: float | None
    """Of those; null when there are none."""


class TransitionCount(schemas.Out):
    transition_id: str
    times: int


class PipelineCounts(schemas.Out):
    pipeline_id: str
    version: int
    statuses: list[StatusCount]
    transitions: list[TransitionCount]


class RemovedProject(schemas.Out):
    project: schemas.ProjectRef
    tasks: int
    """How many were deleted with it."""
    left: list[str]
    """Why worktrees are still there."""


class Retried(schemas.Out):
    id: str
    task_id: str
    kind: str
    attempt: int


class Moved(schemas.Out):
    task: schemas.Task
    stopping_run: str | None
    """The run that is being stopped first; the move follows when it is proven gone."""


class InboxItem(schemas.Out):
    prompt: schemas.Prompt
    task: schemas.Task
    project: schemas.ProjectRef
    summary: str
    acceptable: schemas.Json | None
    """What accepting the recommendation would answer; null when there is none."""
    waiting_behind: list[str]


class Answered(schemas.Out):
    prompt: schemas.Prompt
    task: schemas.Task
    repeated: bool
    """The same answer had been taken before under the same key."""


class Undone(schemas.Out):
    prompt: schemas.Prompt
    """The question, open again under a new id."""
    task: schemas.Task


class Output(schemas.Out):
    """A line that the agent printed, as messages for people: `assistant` and `output` with `text`,
    `tool_use` with `name` and `input`, `usage`, `result` with `text` or `error`."""

    turn: int
    offset: int
    messages: list[dict[str, Any]]


class Check(schemas.Out):
    """What one check said about the work of a run."""

    name: str
    passed: bool
    severity: str
    how: str
    """How it ended, in a few words."""
    output: str
    """The end of what it printed."""
    seconds: float


class Checks(schemas.Out):
    run_id: str
    rounds: list[list[Check]]
    """Each time that the checks were run: after the run's work, and after each round of fixing."""


class Transcript(schemas.Out):
    """A part of what the agent wrote. Offsets count bytes; `next_offset` is where to go on."""

    run_id: str
    turn: int
    turns: int
    """How many turns the run has had so far; each has a transcript of its own."""
    offset: int
    next_offset: int
    size: int
    live: bool
    """Whether more may still come."""
    text: str
    removed_at: datetime | None
    """When retention removed it; null while it can be read."""


class Projects(schemas.Out):
    items: list[schemas.Project]
    next: str | None


class Pipelines(schemas.Out):
    items: list[schemas.Pipeline]
    next: str | None


class Finding(schemas.Out):
    severity: Severity
    code: str
    position: str
    message: str
    fix: str


class SavedPipeline(schemas.Out):
    pipeline: schemas.Pipeline
    new: bool
    """False when the newest version said the same already."""
    behind: int
    """Unfinished tasks on older versions."""
    warnings: list[Finding]


class Borrowed(schemas.Out):
    kind: str
    """`guard`, `hook` or `outcome`."""
    name: str
    plugin: str


class LintReport(schemas.Out):
    ok: bool
    """Whether it can be saved; warnings do not matter for that."""
    findings: list[Finding]
    plugins: list[Borrowed]
    """What it has from plugins."""


class Asked(schemas.Out):
    type: PromptType
    summary: str
    choices: list[str]


class Decided(schemas.Out):
    step: int
    by: str
    result: Result
    source: str = Field(serialization_alias="from")
    to: str
    transition: str | None
    guards: list[schemas.GuardCheck]
    reasons: list[str]
    effects: list[schemas.HookRecord]
    asks: Asked | None


class Simulation(schemas.Out):
    decisions: list[Decided]
    status: str
    finished: bool
    waits_for: str
    visited: list[str]
    not_visited: list[str]
    plugins: list[Borrowed]
    """What it has from plugins."""


class Plugin(schemas.Out):
    package: str
    version: str
    entry_point: str
    guards: list[str]
    hooks: list[str]
    outcomes: list[str]
    error: str | None
    """Why nothing of it is registered."""


class Plugins(schemas.Out):
    items: list[Plugin]
    next: str | None


class GuardPart(schemas.Out):
    name: str
    meaning: str
    params: schemas.Json | None
    """JSON Schema of what it can be told; null: nothing that is checked."""


class HookPart(schemas.Out):
    name: str
    meaning: str
    policy: Policy
    """Where the pipeline gives none."""
    params: schemas.Json | None
    """JSON Schema of what it can be told; null: nothing that is checked."""


class OutcomePart(schemas.Out):
    name: str
    meaning: str
    payload: schemas.Json | None
    """JSON Schema; null: it has none."""
    payload_required: bool
    prompt: PromptType | None
    """The question that it can open."""
    answer: schemas.Json | None
    """JSON Schema of the form that it asks to fill in; null: it asks otherwise, or nothing."""


class Parts(schemas.Out):
    guards: list[GuardPart]
    hooks: list[HookPart]
    outcomes: list[OutcomePart]
    built_in: list[str]
    """Ids of pipelines that come with the product; yours are saved under others."""


class PipelineVersion(schemas.Out):
    version: int
    created_at: datetime
    tasks: int
    """Unfinished tasks on it."""


class PipelineVersions(schemas.Out):
    items: list[PipelineVersion]
    next: str | None


class PipelineFile(schemas.Out):
    name: str
    path: str
    pipeline_id: str | None
    version: int | None
    """The last good one, which new tasks follow; null when there is none."""
    errors: list[str]
    """Why the file, as it is now, is not used."""


class PipelineFiles(schemas.Out):
    items: list[PipelineFile]
    next: str | None


class MigrationStep(schemas.Out):
    task_id: str
    title: str
    version: int
    source: str = Field(serialization_alias="from")
    to: str | None
    """Null when the status is in the version neither by name nor by the map."""
    problem: str | None
    """Why this task cannot be migrated now; while one cannot be, none is."""


class Migration(schemas.Out):
    pipeline_id: str
    version: int
    applied: bool
    tasks: list[MigrationStep]


class Capabilities(schemas.Out):
    resumes: bool
    structured_output: bool
    mcp: bool
    reports_cost: bool
    read_only_modes: bool
    system_prompt: bool
    harmless: bool
    """It plays a script and needs no consent."""
    interrupts: bool
    asks_permission: bool


class Agent(schemas.Out):
    name: str
    usable: bool
    """Whether nothing is missing."""
    model: str | None
    program: str | None
    version: str | None
    missing: list[str]
    doubts: list[str]
    capabilities: Capabilities


class Agents(schemas.Out):
    items: list[Agent]
    next: str | None


class Tasks(schemas.Out):
    items: list[schemas.Task]
    next: str | None


class Runs(schemas.Out):
    items: list[schemas.Run]
    next: str | None


class Inbox(schemas.Out):
    items: list[InboxItem]
    next: str | None
    total: int
    """Open questions, on all pages."""


class Histories(schemas.Out):
    items: list[schemas.History]
    next: str | None


class Events(schemas.Out):
    items: list[schemas.Event]
    next: int | None
    """What to give as `after_seq` for the rest; null at the end."""


class Spent(schemas.Out):
    runs: int
    unknown: int
    """Runs whose cost is unknown; they are not in the sum."""
    cost_usd: float | None
    """Of the others; null when there are none."""


class Share(schemas.Out):
    key: str | None
    """Null: the runs say no agent or model."""
    name: str | None
    """That of the project, the title of the task; else the key."""
    spent: Spent


class Budget(schemas.Out):
    scope: BudgetScope
    subject: str
    """The id of the run, task or project, or the day."""
    name: str
    limit_usd: float
    """With what was granted."""
    granted_usd: float
    spent_usd: float
    """Of the runs whose cost is known, those that go on among them."""
    unknown: int
    """Runs whose cost is unknown; they are not in the sum."""
    left_usd: float
    """At most, where there are runs of unknown cost."""


class CostReport(schemas.Out):
    by: By
    since: datetime | None
    total: Spent
    shares: list[Share]
    """The dearest first; days, the latest first."""
    left_out: int
    """How many more there are."""
    budgets: list[Budget]
    """Those of the projects, of today and, by task, of the tasks listed."""


class Work(schemas.Out):
    completed: int
    failed: int
    """Timeouts among them."""
    cancelled: int
    live: int
    success_rate: float | None
    """Of the runs that ended by themselves, from 0 to 1."""
    mean_duration_s: float | None
    spent: Spent


class Merges(schemas.Out):
    tasks: int
    review_rounds: float | None
    """Reviews of a task by people and agents, on average."""
    unknown: int
    """Tasks with a run whose cost is unknown; they are not in the average."""
    cost_per_task_usd: float | None


class Performance(schemas.Out):
    agent: str | None
    work: Work
    merges: Merges
    """Of the tasks that the agent changed files for; the cost is that of its own runs."""


class StatsReport(schemas.Out):
    since: datetime | None
    work: Work
    merges: Merges
    agents: list[Performance]


class Spread(schemas.Out):
    number: int
    mean: float | None
    median: float | None
    """Null when there are none."""


class FirstPass(schemas.Out):
    reviewed: int
    """Tasks whose work people reviewed."""
    approved: int
    """Those that were approved at once."""
    rate: float | None


class Failure(schemas.Out):
    reason: str
    """The class of the error."""
    runs: int


class AgentShare(schemas.Out):
    agent: str | None
    model: str | None
    """Null: the agent's own default."""
    completed: int
    failed: int
    took_s: Spread
    first_pass: FirstPass
    failures: list[Failure]


class DayShare(schemas.Out):
    day: str
    finished: int
    """Tasks."""
    lead_s: Spread
    completed: int
    failed: int
    """Runs."""


class PerformanceReport(schemas.Out):
    since: datetime | None
    lead_s: Spread
    """Of finished tasks: from their creation to their end."""
    waiting_s: Spread
    """In statuses in which a person has to do something."""
    working_s: Spread
    """In which agents ran."""
    review_rounds: Spread
    """Reviews by people, of the finished tasks that they reviewed."""
    first_pass: FirstPass
    failures: list[Failure]
    agents: list[AgentShare]
    days: list[DayShare]
    """The latest first."""


class Hit(schemas.Out):
    kind: Kind
    id: str
    title: str
    detail: str
    task_id: str | None


class Hits(schemas.Out):
    items: list[Hit]
