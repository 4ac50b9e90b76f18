"""What is kept, and how it is read and written."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from agents_manager.domain.audit import Entry
from agents_manager.domain.board import (
    Awaited,
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
from agents_manager.domain.budget import BudgetScope, Grant
from agents_manager.domain.cost import By, CostReport, Spent, StatsReport
from agents_manager.domain.delivery import Delivery, Stranger
from agents_manager.domain.event import Event, Logged
from agents_manager.domain.host import Host, HostState, Joining, Term
from agents_manager.domain.ids import EffectId, HistoryId, ProjectId, PromptId, RunId, TaskId
from agents_manager.domain.performance import Ran, Reviewed
from agents_manager.domain.phase import Phase
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.prompt import Prompt, QueuePlace
from agents_manager.domain.run import Run
from agents_manager.domain.schedule import Firing, Schedule
from agents_manager.domain.task import (
    Actor,
    Artifact,
    ArtifactType,
    EffectRow,
    History,
    Project,
    PullRequest,
    Task,
)
from agents_manager.flow.ports.channels import Subscription
from agents_manager.flow.ports.knowledge import Knowledge
from agents_manager.flow.ports.outputs import Outputs
from agents_manager.meters import Times

T = TypeVar("T")


class Projects(Protocol):
    def add(self, project: Project) -> None: ...
    def get(self, project_id: ProjectId) -> Project: ...
    def find(self, name_or_id: str) -> Project: ...
    def by_path(self, path: str) -> Project | None: ...
    def all(self) -> list[Project]: ...
    def update(self, project_id: ProjectId, **fields: Any) -> None: ...
    def places(self) -> Mapping[ProjectId, Mapping[str, str]]:
        """Where projects lie, by machine; none of those that only one machine ever had."""
        ...

    def put(self, project_id: ProjectId, path: str) -> None:
        """Notes where a project lies on this machine; several must share the database."""
        ...

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
        """Compare-and-swap on the task's version; StaleTask when it lost. What moves has no time
        to start any more."""
        ...

    def update(self, task_id: TaskId, now: datetime, **fields: Any) -> None: ...
    def due(self, now: datetime) -> list[Task]:
        """Those whose time to start has come."""
        ...

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
    def live(self, task_id: TaskId) -> list[Run]:
        """In the order in which they were started: one, or several that work side by side."""
        ...

    def update(self, run_id: RunId, **fields: Any) -> None: ...


class Phases(Protocol):
    def add(self, phase: Phase) -> None: ...
    def of_task(self, task_id: TaskId) -> list[Phase]: ...
    def update(self, phase_id: str, **fields: Any) -> None: ...
    def remove(self, phase_id: str) -> None: ...


class Schedules(Protocol):
    def add(self, schedule: Schedule) -> None: ...
    def get(self, schedule_id: str) -> Schedule: ...
    def find(self, id_or_name: str) -> Schedule:
        """By its id, the beginning of it, or a name that only one has."""
        ...

    def all(self, project_id: ProjectId | None = None) -> list[Schedule]: ...
    def due(self, now: datetime) -> list[Schedule]: ...
    def update(self, schedule_id: str, now: datetime, **fields: Any) -> None: ...
    def remove(self, schedule_id: str) -> None: ...
    def note(self, firing: Firing) -> None:
        """That it had a period; refused by the table when it had it already."""
        ...

    def firings(self, schedule_id: str, limit: int) -> list[Firing]:
        """The newest first."""
        ...

    def had(self, schedule_id: str, since: datetime) -> set[datetime]:
        """The periods that it had from an instant on."""
        ...


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
    def last_of_run(self, task_id: TaskId, category: str, run_id: RunId) -> Logged | None:
        """The last event of a category that is about a run of the task."""
        ...


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

    def subscribe(self, digest: str, to: Subscription | None) -> None:
        """Where the browser of a session takes notices; None: it takes none."""
        ...

    def subscriptions(self, now: datetime) -> dict[str, Subscription]:
        """Those of the sessions that hold, by their digests."""
        ...

    def reply(self, key: str) -> tuple[str, int, str] | None:
        """Fingerprint of the request, status and body of the answer given under this key."""
        ...

    def keep_reply(self, key: str, request: str, status: int, body: str, now: datetime) -> None: ...


class Audit(Protocol):
    """Decisions beside tasks; what is in it stays, as it is."""

    def add(self, **fields: Any) -> None: ...
    def count(self, what: str, since: datetime) -> int: ...
    def page(
        self,
        *,
        since: datetime | None,
        who: str | None,
        what: str | None,
        before: int | None,
        limit: int,
    ) -> list[Entry]:
        """The newest first, behind an id; `what` is a whole deed or the word before its dot."""
        ...


class Board(Protocol):
    """What the board shows, of many tasks at a time."""

    def counts(self, project: ProjectId | None) -> list[tuple[Place, int]]:
        """How many tasks stand where."""
        ...

    def tasks(
        self,
        places: Sequence[Place],
        project: ProjectId | None,
        *,
        most: int | None = None,
        since: datetime | None = None,
    ) -> list[TaskRow]:
        """Those that stand there; with a limit, those that changed last; with a time, those that
        changed since."""
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

    def awaited(self, tasks: Sequence[TaskId]) -> list[Awaited]:
        """The tasks that each of these depends on."""
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

    def tasks(self, ids: Sequence[TaskId], before: datetime) -> list[OldTask]:
        """Those of them that were last touched before a time, by id."""
        ...

    def of_runs(self, run_ids: Sequence[str]) -> list[TaskId]:
        """The tasks that those of them belong to that there are."""
        ...

    def with_effects(self, before: datetime, *, after: str, limit: int) -> list[TaskId]:
        """Tasks with effects that were performed or called off and are older, by id."""
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

    def now(self) -> datetime:
        """By the clock of the database, as all times of machines are."""
        ...

    def all(self) -> list[Host]:
        """By name."""
        ...

    def alive(self) -> Mapping[str, Host]:
        """By id: those that keep what they have."""
        ...

    def find(self, name_or_id: str) -> Host: ...
    def join(self, joining: Joining, state: HostState = HostState.UP) -> Host:
        """Begins a new time at work; HostNameTaken where another machine has the name."""
        ...

    def beat(self, term: Term, capacity: int, free_disk_mb: int | None) -> Host | None:
        """Tells that the machine is alive; None if this time at work is over."""
        ...

    def holds(self, term: Term) -> bool:
        """Whether this time at work goes on."""
        ...

    def bury(self, host: Host) -> bool:
        """Ends the time at work of a machine that is dead or has left; False if it is neither."""
        ...

    def give_up(self, term: Term) -> bool:
        """Ends one's own; False if it was over."""
        ...

    def set_state(self, host_id: str, state: HostState) -> Host: ...


class Deliveries(Protocol):
    """What is told by channels."""

    def add(self, delivery: Delivery) -> bool:
        """False when the same was to be told there already."""
        ...

    def find(self, delivery_id: str) -> Delivery | None: ...
    def by_message(self, channel: str, place: str, message: str) -> Delivery | None: ...
    def due(self, channel: str, now: datetime, limit: int) -> list[Delivery]:
        """Those whose turn it is, the oldest first."""
        ...

    def sending(self, channel: str) -> list[Delivery]: ...
    def spent(self, channel: str, now: datetime, limit: int) -> list[Delivery]:
        """Questions that are shown with buttons, and are not open any more."""
        ...

    def latest(self, channel: str, limit: int) -> list[Delivery]:
        """The newest first."""
        ...

    def counts(self, channel: str) -> Mapping[str, int]:
        """By their state."""
        ...

    def update(self, delivery_id: str, **fields: Any) -> None: ...
    def over(self, before: datetime) -> int:
        """How many are over and older."""
        ...

    def remove(self, before: datetime, limit: int) -> int: ...

    def position(self, name: str) -> int | None:
        """How far somebody has read."""
        ...

    def move_to(self, name: str, position: int) -> None: ...
    def lease(self, name: str, host: str, now: datetime, until: datetime) -> bool:
        """Whether the host has it from now on; another has it until its own time is over."""
        ...

    def ask_words(
        self, channel: str, place: str, person: str, button: str, now: datetime
    ) -> None: ...
    def words_asked(self, channel: str, place: str, person: str) -> tuple[str, datetime] | None:
        """The button that words were asked for with, and when."""
        ...

    def words_given(self, channel: str, place: str, person: str) -> None: ...
    def stranger(self, channel: str, person: str, called: str, now: datetime) -> None:
        """Counts somebody who is not known."""
        ...

    def strangers(self, channel: str) -> list[Stranger]: ...
    def forget_stranger(self, channel: str, person: str) -> None: ...


class Standing(Protocol):
    """How much there is of everything, and since when something waits."""

    def tasks(self) -> Mapping[tuple[str, int, str], int]:
        """By pipeline, its version and status."""
        ...

    def runs(self) -> Mapping[tuple[str], int]:
        """By status."""
        ...

    def cost(self) -> tuple[int, int, float]:
        """Runs that ended, those of them whose cost is not known, and what the others cost."""
        ...

    def effects(self) -> Mapping[tuple[str, str], int]:
        """Those that are not done, by kind and status."""
        ...

    def due_since(self, now: datetime) -> datetime | None: ...
    def prompts(self) -> Mapping[tuple[str], int]:
        """Open ones, by type."""
        ...

    def asked_since(self) -> datetime | None: ...
    def deliveries(self) -> Mapping[tuple[str, str], int]:
        """By channel and state."""
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
    def audit(self) -> Audit: ...
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
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def schedules(self) -> Schedules: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def standing(self) -> Standing: ...
    @property
    def outputs(self) -> Outputs: ...


class Store(Protocol):
    @property
    def times(self) -> Times:
        """How long transactions took, by `read` and `write`."""
        ...

    async def write(self, fn: Callable[[Tx], T]) -> T: ...
    async def read(self, fn: Callable[[Tx], T]) -> T: ...
    def after_commit(self, callback: Callable[[], None]) -> None:
        """Called, on any thread, after a commit that wrote events or effects."""
        ...
