"""The parts that tie the walk together. Adapters fit these protocols without inheriting from them;
contract tests and the type checker say so."""

import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from agents_manager.domain.board import (
    CardCost,
    CardPhases,
    CardPull,
    Move,
    OpenEffect,
    Place,
    PromptRow,
    RunRow,
    Step,
    TaskRow,
)
from agents_manager.domain.budget import Budgets, BudgetScope, Grant
from agents_manager.domain.change import ChangedFile, FileChange
from agents_manager.domain.comment import Comment
from agents_manager.domain.cost import By, CostReport, Prices, Spent, StatsReport
from agents_manager.domain.event import Event, Logged
from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, PromptId, RunId, TaskId
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.performance import Ran, Reviewed
from agents_manager.domain.phase import Phase
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.prompt import Prompt, QueuePlace
from agents_manager.domain.registry import Registry
from agents_manager.domain.reminder import Reminders
from agents_manager.domain.retention import Retention
from agents_manager.domain.retry import Rules
from agents_manager.domain.run import READ_ONLY_MODES, ErrorClass, Limits, Run, Usage
from agents_manager.domain.run_settings import RunSetting
from agents_manager.domain.task import (
    Actor,
    Artifact,
    ArtifactType,
    EffectRow,
    History,
    MergeMethod,
    Project,
    PullRequest,
    PullState,
    Task,
)

T = TypeVar("T")

# ------------------------------------------------------------------------------------ the store


class Projects(Protocol):
    def add(self, project: Project) -> None: ...
    def get(self, project_id: ProjectId) -> Project: ...
    def find(self, name_or_id: str) -> Project: ...
    def by_path(self, path: str) -> Project | None: ...
    def all(self) -> list[Project]: ...
    def update(self, project_id: ProjectId, **fields: Any) -> None: ...
    def delete(self, project_id: ProjectId) -> None:
        """Its tasks must be gone."""
        ...


@dataclass(frozen=True, slots=True)
class PipelineVersion:
    version: int
    created_at: datetime


class Pipelines(Protocol):
    def save(self, pipeline: Pipeline, document: Mapping[str, Any], now: datetime) -> Pipeline:
        """Keeps the document as the next version, unless the newest is the same already."""
        ...

    def get(self, pipeline_id: str, version: int | None = None) -> Pipeline: ...
    def document(self, pipeline_id: str, version: int) -> Mapping[str, Any]: ...
    def versions(self, pipeline_id: str) -> list[PipelineVersion]: ...
    def all(self) -> list[Pipeline]: ...
    def delete(self, pipeline_id: str) -> None:
        """All its versions; no task may be on one."""
        ...


class Tasks(Protocol):
    def add(self, task: Task) -> None: ...
    def get(self, task_id: TaskId) -> Task: ...
    def find(self, id_or_prefix: str) -> Task: ...
    def page(
        self,
        *,
        project: ProjectId | None,
        status: str | None,
        after: str | None,
        limit: int,
        title: str | None = None,
    ) -> list[Task]:
        """`title` is a part of it, in large or small letters."""
        ...

    def of_pipeline(self, pipeline_id: str) -> list[Task]: ...
    def move(self, task: Task, to: str, now: datetime) -> Task:
        """Compare-and-swap on the task's version; StaleTask when it lost."""
        ...

    def update(self, task_id: TaskId, now: datetime, **fields: Any) -> None: ...
    def depending_on(self, task_id: TaskId) -> list[Task]: ...
    def delete(self, task_id: TaskId) -> None:
        """Removes the task with everything that belongs to it."""
        ...

    def idle(
        self, statuses: Collection[str], now: datetime, *, told: str, after: str | None, limit: int
    ) -> list[Task]:
        """Tasks in these statuses that have no live run, no question that can be answered and no
        open effect but notices, by id. Left out are those with an effect `<id><told><version>`."""
        ...

    def add_artifact(self, artifact: Artifact) -> None:
        """Adds, or replaces the one with the same task, type and key."""
        ...

    def artifacts(self, task_id: TaskId, type: ArtifactType | None = None) -> list[Artifact]: ...
    def links(self, project_id: ProjectId) -> Mapping[str, TaskId]:
        """Where tasks of the project come from, by the key of their links."""
        ...


class Histories(Protocol):
    def add(self, entry: History) -> None: ...
    def get(self, history_id: HistoryId) -> History: ...
    def of_task(self, task_id: TaskId) -> list[History]: ...


class Runs(Protocol):
    def add(self, run: Run) -> None: ...
    def get(self, run_id: RunId) -> Run: ...
    def find(self, id_or_prefix: str) -> Run: ...
    def of_task(self, task_id: TaskId) -> list[Run]: ...
    def page(
        self, *, task: TaskId | None, live: bool, after: str | None, limit: int
    ) -> list[Run]: ...
    def live(self, task_id: TaskId) -> Run | None: ...
    def update(self, run_id: RunId, **fields: Any) -> None: ...


class Phases(Protocol):
    def add(self, phase: Phase) -> None: ...
    def of_task(self, task_id: TaskId) -> list[Phase]: ...
    def update(self, phase_id: str, **fields: Any) -> None: ...
    def remove(self, phase_id: str) -> None: ...


class Prompts(Protocol):
    def add(self, prompt: Prompt) -> None: ...
    def get(self, prompt_id: PromptId) -> Prompt: ...
    def find(self, id_or_prefix: str) -> Prompt: ...
    def pending(self, task_id: TaskId | None = None) -> list[Prompt]: ...
    def of_task(self, task_id: TaskId) -> list[Prompt]: ...
    def awaited(self) -> set[TaskId]:
        """Tasks with a pending one that other tasks depend on."""
        ...

    def page(
        self,
        first: Sequence[TaskId],
        project_id: ProjectId | None,
        *,
        after: QueuePlace,
        limit: int | None,
    ) -> list[Prompt]:
        """Pending ones behind a place: those of the tasks that go first, then by age."""
        ...

    def open(self, project_id: ProjectId | None) -> int:
        """How many are pending."""
        ...

    def permissions(self, project_id: ProjectId) -> list[Prompt]:
        """The permissions that people gave or refused in a project, in order."""
        ...

    def due(self, now: datetime) -> list[PromptId]:
        """Pending ones that expire by now, or whose suggested answer is to be taken."""
        ...

    def silent(self, project_id: ProjectId, since: datetime) -> list[PromptId]:
        """Pending ones that people have heard nothing of since then, the oldest first."""
        ...

    def update(self, prompt_id: PromptId, **fields: Any) -> None: ...
    def close(self, prompt_id: PromptId, **fields: Any) -> bool:
        """Leaves the pending state once; False when somebody was faster."""
        ...


class Events(Protocol):
    def add(self, task_id: TaskId, event: Event, actor: Actor, now: datetime) -> Logged: ...
    def after(self, event_id: int, *, task: TaskId | None, limit: int) -> list[Logged]: ...
    def last_id(self) -> int: ...
    def of_task(self, task_id: TaskId, *, after_seq: int, limit: int) -> list[Logged]: ...
    def newest(self, task_id: TaskId, category: str, limit: int) -> list[Logged]:
        """The last events of a category, newest first."""
        ...

    def last(self, task_id: TaskId, type: str) -> Logged | None: ...


class Effects(Protocol):
    def add(self, effect: EffectRow) -> None: ...
    def get(self, effect_id: EffectId) -> EffectRow: ...
    def due(self, now: datetime, limit: int) -> list[EffectRow]:
        """Pending effects whose time has come and whose turn it is within their task; starts of
        agents last, the most urgent tasks first among them, then the oldest."""
        ...

    def open(self, task_id: TaskId | None = None) -> list[EffectRow]: ...
    def failed(self, task_id: TaskId) -> list[EffectRow]: ...
    def next_due(self, after: datetime) -> datetime | None:
        """When the next pending effect falls due, of those that are not due yet."""
        ...

    def started(self) -> list[EffectRow]: ...
    def update(self, effect_id: EffectId, **fields: Any) -> None: ...
    def cancel_rest(self, history_id: HistoryId, after: int, now: datetime) -> None: ...


class Pulls(Protocol):
    def add(self, pull: PullRequest) -> None: ...
    def next_number(self, project_id: ProjectId) -> int:
        """One that no pull request of the project ever had, also none of a deleted task."""
        ...

    def find(self, project_id: ProjectId, head: str, base: str) -> PullRequest | None: ...
    def open_outside(self) -> list[PullRequest]:
        """Those that are open on a forge of others, project by project."""
        ...

    def of_task(self, task_id: TaskId) -> PullRequest | None: ...
    def all_of_task(self, task_id: TaskId) -> list[PullRequest]: ...
    def update(self, pull_id: str, now: datetime, **fields: Any) -> None: ...


class KeyKind(StrEnum):
    OWNER = "owner"
    """The token in the file of a data directory."""
    TOKEN = "token"  # noqa: S105 - a word
    SESSION = "session"
    """What a browser that logged in sends as its cookie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What lets somebody in. Only the digest is known, so that the database tells no secret."""

    digest: str
    kind: KeyKind
    name: str
    role: str
    created_at: datetime
    used_at: datetime | None
    """To the minute or so."""
    expires_at: datetime | None
    parent: str | None
    """The digest of the token that a session was opened with, and ends with."""

    @property
    def id(self) -> str:
        return self.digest[:16]

    def holds(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


class Access(Protocol):
    def add_token(
        self,
        digest: str,
        name: str,
        role: str,
        now: datetime,
        *,
        kind: KeyKind = KeyKind.TOKEN,
        expires: datetime | None = None,
        parent: str | None = None,
    ) -> None: ...
    def find(self, digest: str) -> Key | None: ...
    def all(self) -> list[Key]: ...
    def used(self, digest: str, now: datetime) -> None: ...
    def remove(self, digest: str) -> None:
        """Also the sessions and login codes that were made with it."""
        ...

    def remove_expired(self, now: datetime) -> None: ...
    def add_code(self, digest: str, parent: str, expires: datetime) -> None: ...
    def take_code(self, digest: str, now: datetime) -> str | None:
        """The digest of the token it was made with; the code is used up."""
        ...

    def reply(self, key: str) -> tuple[str, int, str] | None:
        """Fingerprint of the request, status and body of the answer given under this key."""
        ...

    def keep_reply(self, key: str, request: str, status: int, body: str, now: datetime) -> None: ...


class Board(Protocol):
    """What the board shows, of many tasks at a time."""

    def counts(self, project: ProjectId | None) -> list[tuple[Place, int]]:
        """How many tasks stand where."""
        ...

    def tasks(
        self, places: Sequence[Place], project: ProjectId | None, *, most: int | None = None
    ) -> list[TaskRow]:
        """Those that stand there; with a limit, those that changed last."""
        ...

    def named(self, tasks: Sequence[TaskId], project: ProjectId | None) -> list[TaskRow]:
        """Those of them that there are, and that belong to the project."""
        ...

    def prompts(self) -> list[PromptRow]:
        """The pending ones, the oldest first."""
        ...

    def runs(self) -> list[RunRow]:
        """The live ones."""
        ...

    def effects(self) -> list[OpenEffect]:
        """The open ones but notices, those of a task in their order."""
        ...

    def awaited(self, tasks: Sequence[TaskId]) -> list[tuple[TaskId, Place]]:
        """Where the tasks stand that each of these depends on."""
        ...

    def last_answers(self, tasks: Sequence[TaskId]) -> Mapping[TaskId, Mapping[str, Any] | None]:
        """The answer to the last question about each."""
        ...

    def costs(self, tasks: Sequence[TaskId]) -> Mapping[TaskId, CardCost]: ...
    def phases(self, tasks: Sequence[TaskId]) -> Mapping[TaskId, CardPhases]: ...
    def pulls(self, tasks: Sequence[TaskId]) -> Mapping[TaskId, CardPull]: ...
    def steps(self, tasks: Sequence[TaskId], statuses: Sequence[str]) -> list[Step]:
        """The past of those that may have come to one of the statuses more than once."""
        ...

    def moves(
        self,
        project: ProjectId | None,
        *,
        pipeline: str | None = None,
        since: datetime | None = None,
    ) -> list[Move]:
        """What tasks went through, task by task and in order; of one pipeline, or of tasks that
        were touched since a time, where these are given."""
        ...


class Figures(Protocol):
    """Sums over runs, since a time and of one project where these are given."""

    def cost(
        self, by: By, *, project: ProjectId | None, since: datetime | None, limit: int
    ) -> CostReport: ...
    def stats(self, *, project: ProjectId | None, since: datetime | None) -> StatsReport: ...
    def runs(self, *, project: ProjectId | None, since: datetime | None) -> list[Ran]:
        """Those that began."""
        ...

    def reviews(self, *, project: ProjectId | None, since: datetime | None) -> list[Reviewed]:
        """What people said about work."""
        ...

    def worked(self, tasks: Sequence[TaskId]) -> Mapping[TaskId, float]:
        """For how many seconds agents ran at each."""
        ...

    def spent(self, scope: BudgetScope, subject: str) -> Spent:
        """By a run, a task, a project, or on a day; those that go on count with what they have
        told so far."""
        ...


class Grants(Protocol):
    """What people granted beyond budgets."""

    def add(self, grant: Grant) -> None: ...
    def total(self, scope: BudgetScope, subject: str) -> float: ...
    def take_back(self, prompt_id: PromptId) -> None:
        """What was granted in answer to a question."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OldTask:
    """As much of a task as says whether what it left may go."""

    id: TaskId
    project_id: ProjectId
    title: str
    pipeline_id: str
    pipeline_version: int
    status: str
    finished_at: datetime
    """When it was last touched, if its status is final."""


class OldThings(Protocol):
    """Rows that may be removed; nothing here looks whether a task is over."""

    def tasks(self, before: datetime, *, after: str, limit: int) -> list[OldTask]:
        """Tasks that were last touched before a time, by id."""
        ...

    def runs(self, task_id: TaskId) -> list[RunId]:
        """Those that began and are over."""
        ...

    def mark(self, run_ids: Sequence[RunId], now: datetime) -> int:
        """Notes that the transcripts go; how many were not noted before."""
        ...

    def effects(self, task_id: TaskId, before: datetime) -> int:
        """How many were performed or called off, and are older."""
        ...

    def drop_effects(self, task_id: TaskId, before: datetime) -> int: ...
    def replies(self, before: datetime) -> int: ...
    def drop_replies(self, before: datetime, limit: int) -> int: ...


class Hosts(Protocol):
    """The machines that perform effects, where several share a database."""

    def beat(self, host: str, now: datetime) -> None:
        """Notes that a machine is alive."""
        ...

    def seen(self) -> Mapping[str, datetime]:
        """When each was last alive."""
        ...


class Tx(Protocol):
    """A transaction is the store: everything read and written in it stands or falls together."""

    @property
    def projects(self) -> Projects: ...
    @property
    def pipelines(self) -> Pipelines: ...
    @property
    def tasks(self) -> Tasks: ...
    @property
    def history(self) -> Histories: ...
    @property
    def runs(self) -> Runs: ...
    @property
    def phases(self) -> Phases: ...
    @property
    def prompts(self) -> Prompts: ...
    @property
    def events(self) -> Events: ...
    @property
    def effects(self) -> Effects: ...
    @property
    def pulls(self) -> Pulls: ...
    @property
    def access(self) -> Access: ...
    @property
    def board(self) -> Board: ...
    @property
    def figures(self) -> Figures: ...
    @property
    def grants(self) -> Grants: ...
    @property
    def retention(self) -> OldThings: ...
    @property
    def hosts(self) -> Hosts: ...


class Store(Protocol):
    async def write(self, fn: Callable[[Tx], T]) -> T: ...
    async def read(self, fn: Callable[[Tx], T]) -> T: ...
    def after_commit(self, callback: Callable[[], None]) -> None:
        """Called, on any thread, after a commit that wrote events or effects."""
        ...


# ----------------------------------------------------------------------------------- the engine


class Steps(Protocol):
    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        """A small JSON value, kept once done."""
        ...


class EngineRows(Protocol):
    async def ended(self, before: datetime, limit: int) -> list[str]:
        """Workflows that were over before a time, the oldest first."""
        ...

    async def forget(self, workflows: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the detached runner starts. The directory is the job's identity: starting the same
    directory twice never starts a second process."""

    dir: Path
    run_id: RunId
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: str
    files: Mapping[str, str]
    """Further files of the job directory, by name, written before the start."""
    limits: Limits
    folders: Sequence[Path] = ()
    """Folders that must be there before the start."""
    system_prompt: str = ""
    """What is added to the agent's own system prompt, kept beside the prompt."""
    stop_signal: Literal["SIGTERM", "SIGINT"] = "SIGTERM"
    """What asks the agent politely to end."""
    turn_type: str = "assistant"
    """The `type` of the messages on its output that count as a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a job ended."""

    reason: str
    """`exited`, `timeout`, `stalled`, `turns` when it took too many, `cancelled`, `budget`, `lost`
    when the runner itself was killed, or `refused` when it could not read its job."""
    exit_code: int | None
    output_bytes: int
    truncated: bool


StopReason = Literal["cancelled", "timeout", "stalled", "budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """A job that goes on."""

    limits: Limits
    output_bytes: int


class Runners(Protocol):
    async def start_or_adopt(self, job: Job) -> None: ...
    async def wait(self, dir: Path) -> Ended: ...
    async def stop(self, dir: Path, reason: StopReason = "cancelled") -> None:
        """Ends the job and returns when none of its processes is left."""
        ...

    async def pulse(self, dir: Path) -> Pulse | None:
        """None when no runner is at work there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an agent's output amounts to."""

    final_text: str
    usage: Usage | None
    """None: unknown."""
    session: str | None
    session_lost: bool = False
    """Whether the session to go on with was gone, so that another was begun."""
    structured: Any = None
    """The outcome by the agent's native structured output, `{"outcome": …, "payload": …}`, as
    untrusted as its text; None where there is none."""
    error: str | None = None
    error_class: ErrorClass | None = None
    usage_refused: str | None = None
    """Why what it said about its usage is not believed."""
    model: str | None = None
    """The model that it says it asked."""
    resets_at: datetime | None = None
    """With an error that comes from a limit: when that ends, where the provider says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """All that an agent adapter may know about the turn it is to take."""

    run: Run
    task: Task
    project: Project
    prompt: str
    number: int
    """1 for the run itself; more where the agent is asked again."""
    fix: int
    """The how many-th time it is asked to mend what failed checks found; 0: it is not."""
    visit: int
    """How many runs of this mode the task had before."""
    workspace: Path
    dir: Path
    """Of this turn alone: what the job brings along, what the agent said, how it ended."""
    home: Path
    """For what an agent keeps between the runs of a task, sessions above all. A job that wants it
    names it among its `folders`."""
    session: str | None
    """The session to go on with."""
    fresh_prompt: str
    """What is said instead of the prompt where that session is gone: all of it, with what was said
    before."""
    offered: Sequence[str] = ()
    """The outcomes that are possible."""
    report: "Endpoint | None" = None
    """Where the agent can report its outcome while it runs; None where nobody listens."""

    @property
    def read_only(self) -> bool:
        return self.run.mode in READ_ONLY_MODES


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An MCP server (streamable HTTP) for one turn; the token opens nothing else."""

    url: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an adapter's agent can do beyond running and printing."""

    resumes: bool = False
    """Go on with an earlier session."""
    structured_output: bool = False
    """Deliver its outcome as data that fits a schema."""
    mcp: bool = False
    """Call tools of ours while it runs."""
    reports_cost: bool = False
    """Say what a run cost."""
    read_only_modes: bool = False
    """Be kept from changing files in modes that only read."""
    harmless: bool = False
    """Do nothing but play a script of ours, so that nobody has to consent to it."""
    system_prompt: bool = False
    """Take what is added to its own system prompt; others are told it in the prompt."""
    interrupts: bool = False
    """End in order when asked politely, and say how far it got."""
    asks_permission: bool = False
    """Ask a person while it runs whether it may do something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether an agent could work here and now. Holds no secret: only whether there is one."""

    program: str | None = None
    """Where its program lies."""
    version: str | None = None
    missing: Sequence[str] = ()
    """What keeps it from working, each with the way to get it."""
    doubts: Sequence[str] = ()
    """What may keep it from working."""


class Meter(Protocol):
    """Listens to one turn for what it used so far."""

    def take(self, line: bytes) -> None: ...
    @property
    def usage(self) -> Usage | None:
        """None while nothing is known, and when it said what cannot be."""
        ...

    @property
    def model(self) -> str | None: ...


class Agent(Protocol):
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def system_prompt(self) -> str | None: ...
    @property
    def model(self) -> str | None:
        """The model that runs get which name none; None where the agent itself decides."""
        ...

    @property
    def how_to_end(self) -> str:
        """What the agent must know beyond the outcomes to give its final message in its own form;
        it becomes a part of the prompt."""
        ...

    def job(self, turn: Turn) -> Job:
        """What is to be started; InvalidInput when it cannot be."""
        ...

    def read(self, folder: Path) -> Said:
        """What the output in a job's directory amounts to, whatever it holds."""
        ...

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        """One line of output as messages for people: `assistant` and `output` with `text`,
        `tool_use` with `name` and `input`, `usage`, `result` with `text` or `error`."""
        ...

    def meter(self) -> Meter | None:
        """None where it tells only at its end what it used."""
        ...

    def diagnose(self) -> Diagnosis:
        """What is there and what is missing, by looking; nothing is sent anywhere."""
        ...


class Agents(Protocol):
    def get(self, name: str, project: Project | None, settings: Mapping[str, Any] = ...) -> Agent:
        """The agent as the files configure it, but for the settings that are given."""
        ...

    def known(self, project: Project | None) -> Mapping[str, Agent]:
        """Every agent by its name; without a project, those that every project has."""
        ...


# ------------------------------------------------------------------------------- the outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    path: Path
    branch: str
    head_sha: str
    """The branch when the workspace was handed out."""
    created: bool
    state: Path
    """The repository's own folder about this workspace; it goes when the workspace goes."""
    events: tuple[Event, ...] = ()
    """What happened while it was made ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRules:
    """How workspaces of a project are made ready, as configured."""

    root: Path | None = None
    """Where they lie; in the data directory unless given."""
    rebase: bool = False
    """Whether a branch is rebased onto its base before a run."""
    tell_leftovers: bool = True
    """Whether a run is told of the uncommitted work of an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What became of what a removed workspace held."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Work that no branch holds, saved before a reset or a removal."""

    number: int
    key: str
    ref: str
    sha: str
    head: str | None
    """The commit it was made on."""
    taken_at: datetime
    files: tuple[str, ...]
    """What differs from that commit; none where the commit itself was saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRef:
    """A snapshot as its name and its commit tell it."""

    key: str
    number: int
    ref: str
    sha: str
    taken_at: datetime
    commits: bool
    """Whether it holds commits that no branch had."""
    bytes: int
    """What it alone takes in the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a branch holds beyond its base."""

    base_sha: str
    head_sha: str
    commits: tuple[Mapping[str, str], ...]
    """`sha`, `subject`, `author`, oldest first."""
    files: int
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What came of bringing a branch to the remote."""

    remote: str
    sha: str
    """Where the branch stands here."""
    refused: str | None
    """Why the remote does not hold that, with the way out; None when it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledAs:
    """A file that is to be committed."""

    key: str
    """What it is; the same one at the same path is committed once."""
    path: str
    text: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    sha: str
    ours: bool
    """Whether the commit was made for this key, now or before."""


class Workspaces(Protocol):
    async def validate(self, path: Path) -> tuple[Path, str]:
        """The repository's top folder and its current branch; InvalidRepository otherwise."""
        ...

    async def ensure_branch(self, repo: Path, branch: str, base: str) -> bool:
        """Creates the branch from the base unless it exists; True when it was created."""
        ...

    @property
    def agent_env(self) -> Mapping[str, str]:
        """What git must be told wherever an agent calls it."""
        ...

    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = ...
    ) -> Workspace:
        """The task's own worktree on its branch, created, reused or rebuilt, brought up to date
        and locked; left-over work of an earlier run is saved as a snapshot first."""
        ...

    async def release(self, workspace: Path) -> None:
        """Takes back the lock of `prepare`; nothing if there is none."""
        ...

    async def inputs(self, repo: Path, sha: str, patterns: Sequence[str]) -> str:
        """Changes whenever a file of the commit changes whose path fits one of the patterns."""
        ...

    async def commit_all(self, workspace: Path, branch: str, message: str) -> str | None:
        """Commits what the agent left uncommitted; the new commit, or None if there was nothing."""
        ...

    async def save(self, workspace: Path) -> Sequence[Event]:
        """Saves what no commit holds as a snapshot, and leaves it where it is; nothing when the
        last snapshot has it already."""
        ...

    async def ends(self, repo: Path, branch: str, base: str) -> tuple[str, str]:
        """Where a branch left its base, and its newest commit; InvalidRepository if it did not
        grow from the base."""
        ...

    async def between(self, repo: Path, base_sha: str, head_sha: str) -> Change: ...
    async def change(self, repo: Path, branch: str, base: str) -> Change:
        """What lies between the ends of the branch."""
        ...

    async def diff(self, repo: Path, base_sha: str, head_sha: str) -> str: ...
    async def files(self, repo: Path, base_sha: str, head_sha: str) -> list[ChangedFile]:
        """Which differ between two commits, by path."""
        ...

    async def file(self, repo: Path, base_sha: str, head_sha: str, file: ChangedFile) -> FileChange:
        """How one of them differs."""
        ...

    async def file_away(self, repo: Path, branch: str, filed: FiledAs, *, replace: bool) -> Filed:
        """Commits a file to a branch, and its clean checkouts follow. Refused while an agent works
        there, through a link, and, unless told to replace it, over other content."""
        ...

    async def push(self, repo: Path, branch: str) -> Pushed | None:
        """Brings the branch to the remote unless it is there already, never by force; None where
        there is no remote."""
        ...

    async def stands_at(self, repo: Path, branch: str) -> str | None:
        """The newest commit of a branch here; None when there is no such branch."""
        ...

    async def change_there(self, repo: Path, branch: str, base: str) -> Change | None:
        """What a branch holds beyond its base as the remote has it, fetched; None where it has no
        such branch."""
        ...

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        """Takes the worktree away, what no commit holds saved first; with `idle`, WorkspaceInUse
        while it is locked for a run."""
        ...

    async def spare(self, repo: Path, key: str) -> bool:
        """Whether nobody works in a worktree of the data directory, and a branch holds all that is
        in it."""
        ...

    async def snapshots(self, repo: Path, key: str | None, after: int = 0) -> list[Snapshot]:
        """The snapshots of a task, or of all, oldest first."""
        ...

    async def standing(self, repo: Path) -> Mapping[str, Path]:
        """The worktrees of tasks that there are, by key."""
        ...

    async def saved(self, repo: Path) -> list[SavedRef]:
        """Every snapshot, by one look; `snapshots` tells what is in them."""
        ...

    async def forget(self, repo: Path, saved: SavedRef) -> None:
        """Removes a snapshot, unless it is another one by now."""
        ...

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        """Puts the work of a snapshot on top of what a clean workspace holds, uncommitted;
        RestoreRefused where both changed the same."""
        ...

    async def restore_to(self, repo: Path, snapshot: Snapshot, branch: str) -> None:
        """Makes a new branch of the snapshot; RestoreRefused when there is one of that name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicted:
    files: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReview:
    """The last word of a person on a forge."""

    id: str
    author: str
    decision: Literal["approved", "changes_requested"]
    summary: str
    head_sha: str | None
    """The commit that was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """How a pull request stands where it lives."""

    state: PullState
    head_sha: str
    url: str
    by: str | None
    """Who merged it."""
    checks: str | None
    reviews: tuple[OutsideReview, ...]
    """By people with access."""
    strangers: int
    """How many others reviewed, who are not heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReview:
    """A review that was made here."""

    key: str
    """Under the same key it is shown once."""
    author: str
    decision: str
    summary: str | None
    comments: Sequence[Mapping[str, Any]]
    head_sha: str


class Forge(Protocol):
    """Pull requests. Every call looks first, so that doing it again does nothing new."""

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        """Creates the pull request, or brings the existing one to the branch's head."""
        ...

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted: ...
    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        """What people said on the pull request, the oldest first: on its lines and beside them."""
        ...


class OutsideForge(Forge, Protocol):
    """A forge where others can change a pull request, too."""

    async def look(self, project: Project, pull: PullRequest) -> Sighting: ...
    async def mirror(self, project: Project, pull: PullRequest, review: OwnReview) -> None:
        """Shows a review that was made here."""
        ...


class Forges(Forge, Protocol):
    """All of them: which one is meant, the project or the pull request says."""

    def needs_push(self, project: Project) -> bool:
        """Whether branches must be in the remote before there can be a pull request."""
        ...

    def outside(self, pull: PullRequest) -> OutsideForge | None:
        """None where it lives here."""
        ...

    async def trouble(self, project: Project) -> str | None:
        """What keeps its forge from working, with the way out, by looking alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSpec:
    name: str
    command: str | None
    """None: the search for secrets, which needs none."""
    severity: str
    modes: tuple[str, ...]
    """The modes after which it runs; `*` stands for every one."""
    timeout_s: float

    def follows(self, mode: str) -> bool:
        return mode in self.modes or ANY_MODE in self.modes


ANY_MODE = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    name: str
    passed: bool
    severity: str
    how: str
    """How it ended, in a few words."""
    output: str
    seconds: float


class Checks(Protocol):
    async def run(
        self, repo: Path, base_sha: str, sha: str, checks: Sequence[CheckSpec]
    ) -> list[CheckResult]:
        """Runs the checks, in their order, on a clean checkout of the commit and on what was
        written since the base."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What commits hold, as text to be searched."""

    messages: Sequence[tuple[str, str]]
    """Of each commit: its hash and its message."""
    patch: str
    """What each of them changed, one after the other, without context."""
    cut: bool
    """Whether there was more than is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSpec:
    """What makes a fresh workspace fit to work in."""

    commands: tuple[str, ...]
    inputs: tuple[str, ...]
    """Patterns of the files that decide whether it has to be done again."""
    timeout_s: float
    """For each command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupResult:
    failed: str | None
    """The command that failed and how, in a sentence."""
    output: str
    """The end of its output."""


class Setup(Protocol):
    async def run(
        self, workspace: Workspace, spec: SetupSpec, inputs: str, log: Path
    ) -> SetupResult | None:
        """Runs the commands in the workspace and writes what they said into a file; None when
        commands and inputs are those of the last time that they succeeded here."""
        ...


class Channel(Protocol):
    @property
    def name(self) -> str: ...
    async def send(self, title: str, body: str, task: Task, key: str) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime: ...


class Ids(Protocol):
    def new(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """How many runs may go on at a time; None: as many as the machine takes."""

    project: int | None = None
    agent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Who works in a role of a pipeline, where that is not left to the defaults."""

    agent: str | None = None
    model: str | None = None


GITHUB = "https://api.github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeRules:
    """Where the pull requests of a project live, as configured."""

    type: Literal["local", "github"] = "local"
    repository: str | None = None
    """`owner/name`; None: that of the remote."""
    base_url: str = GITHUB
    mirror_reviews: bool = False
    """Whether reviews made here are shown there, too."""
    poll_s: float = 60.0
    """How often what was done there is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """The settings of a project that the flow acts on, already merged and checked."""

    default_agent: str
    default_pipeline: str
    pipeline_by_type: Mapping[str, str]
    branch_prefix: str
    auto_commit: bool
    auto_push: bool
    checks: tuple[CheckSpec, ...]
    fail_on_error: bool
    fail_on_warning: bool
    max_fix_rounds: int
    """How often an agent is asked to mend what failed checks found."""
    review_agent: str | None
    """The agent that reviews work before people do."""
    roles: Mapping[str, Role]
    assume_approved: bool
    """Whether a review by an agent that ends without an outcome is an approval."""
    commands: Mapping[str, str]
    """All commands that would be run, by their places in the configuration."""
    commands_fingerprint: str
    own_agents: Mapping[str, Mapping[str, Any]]
    """What the project's own file says about the programs of agents, by agent: those run only
    while it is trusted."""
    instructions: str
    reminders: Reminders
    base_branch: str | None
    """Where work is merged to, if not to the branch that the project was registered with."""
    workspace: WorkspaceRules
    setup: SetupSpec
    prices: Prices
    """Of models that are not in the product's own table, or cost something else here."""
    retries: Rules
    """Which failed runs are tried again, by the class of their error."""
    limits: RunLimits
    budgets: Budgets
    """What runs may cost."""
    merge_method: MergeMethod
    forge: ForgeRules


Layer = Literal["adapter default", "default", "user", "project"]
"""Of files. What hooks and people set for one run, `hook` and `run`, is on record with it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value in effect, and where it comes from."""

    key: str
    value: Any
    layer: Layer
    file: Path | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the files of a project."""

    message: str
    details: tuple[str, ...]
    kept: bool
    """Whether what they said before holds on; else nothing is started."""

    @property
    def text(self) -> str:
        return " ".join([self.message, *self.details])


@dataclass(frozen=True, slots=True)
class Edit:
    """A configuration file before and after a change."""

    path: Path
    before: str | None
    """None where there is no file yet."""
    after: str

    @property
    def diff(self) -> str:
        before, after = (self.before or "").splitlines(), self.after.splitlines()
        lines = unified_diff(before, after, str(self.path), str(self.path), lineterm="")
        return "\n".join(lines)

    @property
    def fingerprint(self) -> str:
        """Of what is there before."""
        return hashlib.sha256((self.before or "").encode()).hexdigest()


class Configs(Protocol):
    def retention(self) -> Retention:
        """How long things are kept on this machine."""
        ...

    def of(self, project: Project, run: Run | None = None) -> ProjectConfig:
        """As it holds for a run: what is set for it and for its agent wins. Without a run, as it
        holds for the default agent."""
        ...

    def of_run(self, project: Project, run: Run) -> Sequence[RunSetting]:
        """What can be set for a run, as it stands for this one."""
        ...

    def host_limit(self) -> int:
        """How many agents may work at a time on this machine."""
        ...

    def trouble(self, project: Project | None) -> Trouble | None:
        """What is wrong with the files as they stand now."""
        ...

    def explain(self, project: Project | None) -> Sequence[Setting]:
        """Every setting; InvalidConfig when a file is broken and never was sound."""
        ...

    def edited(self, project: Project | None, key: str, raw: str | None) -> Edit:
        """A change to the user's file, or to a project's; InvalidConfig when it would break it."""
        ...

    def changed(
        self, project: Project | None, values: Mapping[str, Any], unset: Sequence[str]
    ) -> Edit:
        """Several changes at once, with values as they are meant."""
        ...

    def write(self, edit: Edit) -> None:
        """Puts it in force, whole; Conflict when the file is not as it was."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineFile:
    """A pipeline that a project brings along, as far as it can be read."""

    name: str
    path: Path
    document: Mapping[str, Any] | None
    errors: tuple[str, ...]
    lines: Callable[[], Mapping[str, int]]
    """The line of each place in it."""


class ProjectFiles(Protocol):
    """What lies in a project's `.agents-manager`, read anew when it changed."""

    def pipelines(self, project: Project) -> list[PipelineFile]: ...
    def outcomes(self, project: Project) -> tuple[Mapping[str, Outcome], tuple[str, ...]]:
        """The project's own outcomes, and what is wrong with their files. A broken file keeps what
        it said before."""
        ...


class Disk(Protocol):
    def shortage(self) -> str | None:
        """Why no agent may be started now, in a sentence; None while there is room."""
        ...


@dataclass(slots=True)
class Reachable:
    """Where this process answers HTTP; None while it does not."""

    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts a program of any size has; a client has no use for the later ones."""

    store: Store
    registry: Registry
    clock: Clock
    ids: Ids
    configs: Configs
    agents: Agents
    workspaces: Workspaces
    forge: Forges
    checks: Checks
    setup: Setup
    runners: Runners
    channels: Sequence[Channel]
    files: ProjectFiles
    templates: Mapping[str, str]
    """Prompt texts by name."""
    built_in: Mapping[str, Mapping[str, Any]]
    """Documents of the pipelines that come with the product, by id."""
    prices: Prices
    """Those that come with the product."""
    home: Path
    """The data directory."""
    jobs_dir: Path
    agent_homes_dir: Path
    reachable: Reachable
    disk: Disk
    engine: EngineRows | None = None
    """What the engine remembers; None where no engine runs."""


Perform = Callable[[EffectId, int, Steps], Awaitable[None]]
