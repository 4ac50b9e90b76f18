"""What comes in over HTTP. Types are taken as they are, and unknown fields are refused."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from agents_manager.domain.issue import MAX_LABEL, MAX_NUMBERS, State
from agents_manager.domain.knowledge import NodeKind, NodeState
from agents_manager.domain.strict_json import MAX_INT
from agents_manager.errors import InvalidInput
from agents_manager.flow.unmerged import Consent

Short = Annotated[str, Field(max_length=100)]
AgentName = Annotated[str, Field(min_length=1, max_length=100)]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[int, Field(ge=0, le=MAX_INT)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
"""Versions and sequence numbers, which databases keep in 32 bits."""
Tags = Annotated[list[Short], Field(max_length=50)]
Criteria = Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=100)]
Dependencies = Annotated[list[Short], Field(max_length=100)]

Moment = Annotated[AwareDatetime, Field(strict=False)]
"""With its offset, such as 2026-12-01T09:00:00+01:00."""

Rule = Annotated[str, Field(max_length=200)]
"""Five fields as cron has them, or words such as `every day at 09:00`."""

FilePath = Annotated[str, Field(min_length=1, max_length=4096)]

Answer = dict[str, Any]
"""Checked by the flow against the prompt it answers."""

ANSWERS: dict[str, Any] = {
    "info_request": {"value": {"answers": [{"question_id": "q1", "option": "Yes"}]}},
    "options": {"value": {"option_id": "a", "instructions": "Keep it small."}},
    "form of a project": {"value": {"value": {"ticket": "SHOP-7"}}},
    "review": {
        "value": {
            "decision": "changes_requested",
            "summary": "Nearly there.",
            "comments": [
                {"file": "a.py", "line": 3, "severity": "must_fix", "comment": "Off by one."}
            ],
        }
    },
    "split_proposal": {"value": {"decision": "rejected", "reason": "One change is enough."}},
    "choice": {"value": {"choice_id": "rerun"}},
    "budget": {"value": {"decision": "grant", "usd": 5.0}},
    "permission": {"value": {"allow": True, "scope": "run"}},
    "held for a moment, to be undone": {"value": {"decision": "approved", "delay_s": 5}},
    "kept as a decision, too": {"value": {"option_id": "a", "keep": True}},
    "close with unmerged commits": {"value": {"choice_id": "finish", "leave_unmerged": True}},
}


class How(NamedTuple):
    """What stands beside an answer."""

    answer: Answer
    delay_s: float
    """For how many seconds nothing is to follow from it."""
    keep: bool
    """Whether it is to be kept as a decision."""
    consent: Consent
    """For an answer that closes the task."""


FLAGS = ("keep", "leave_unmerged", "release_dependents")


def how(form: Answer) -> How:
    delay = form.get("delay_s", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        raise InvalidInput("delay_s is a number of seconds.", [f"delay_s: {delay!r}"])
    flags = {name: form.get(name, False) for name in FLAGS}
    for name, given in flags.items():
        if not isinstance(given, bool):
            raise InvalidInput(f"{name} is true or false.", [f"{name}: {given!r}"])
    answer = {key: value for key, value in form.items() if key not in ("delay_s", *FLAGS)}
    keep = flags.pop("keep")
    return How(answer, delay, keep, Consent(**flags))


class Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Login(Form):
    token: Annotated[str, Field(max_length=500)] | None = None
    code: Short | None = None


class SubscriptionKeys(Form):
    p256dh: Short
    auth: Short


class Subscription(Form):
    """As a browser tells it."""

    endpoint: Annotated[str, Field(max_length=2000)]
    keys: SubscriptionKeys


class NewToken(Form):
    name: Short
    role: Short = "member"


class NewProject(Form):
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """The folder of the repository on the server's machine, absolute."""
    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    base_branch: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class ProjectEdit(Form):
    remote: Annotated[str, Field(min_length=1, max_length=1000)] | None
    """Where machines that lack the project clone it from, without a password; null: nowhere."""


class TaskWords(Form):
    """What is said of a task, whenever it is made."""

    title: str
    description: str = ""
    objective: str = ""
    """What it is good for, in a sentence or two."""
    type: Short = "feature"
    priority: Short = "medium"
    size: Short = "medium"
    complexity: Short = "medium"
    tags: Tags = []
    acceptance_criteria: Criteria = []
    pipeline: Short | None = None
    agent: AgentName | None = None
    """The agent of its runs; null: the project's default."""
    model: ModelName | None = None
    """The model of that agent; null: the agent's own choice."""


class NewTask(TaskWords):
    project: Short
    """Name or id."""
    dependencies: Dependencies = []
    starts_at: Moment | None = None
    """When the engine starts it; null: somebody does."""
    race: "RaceForm | None" = None
    """Who is to implement it side by side; null: one agent."""


class StartTime(Form):
    at: Moment | None
    """Null: the engine does not start it."""
    expect_version: Count | None = None


class NewScheduledTask(TaskWords):
    title: str
    """`{date}` in it becomes the day."""


class NewSchedule(Form):
    project: Short
    """Name or id."""
    name: Short
    rule: Rule
    zone: Short = "UTC"
    """Such as Europe/Berlin: the clock that the rule goes by."""
    task: NewScheduledTask
    start: bool = False
    """Whether tasks are started, which spends money, or only created."""
    when_open: Literal["skip", "queue"] = "skip"
    """Whether a period is skipped while the task of the last one is open."""
    until: Moment | None = None
    most: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many tasks it makes in all; null: no end."""


class ScheduledTaskEdit(Form):
    """What is left out stays as it is."""

    title: str = ""
    description: str = ""
    objective: str = ""
    type: Short = ""
    priority: Short = ""
    size: Short = ""
    complexity: Short = ""
    tags: Tags = []
    acceptance_criteria: Criteria = []
    pipeline: Short | None = None
    agent: AgentName | None = None
    model: ModelName | None = None


class ScheduleEdit(Form):
    """What is left out stays as it is."""

    project: Short = ""
    name: Short = ""
    rule: Rule = ""
    zone: Short = ""
    task: ScheduledTaskEdit = Field(default_factory=ScheduledTaskEdit)
    start: bool = False
    when_open: Literal["skip", "queue"] = "skip"
    until: Moment | None = None
    most: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class ContenderForm(Form):
    agent: AgentName
    model: ModelName | None = None
    """Null: the one that the agent has anyway."""


class RaceForm(Form):
    contenders: Annotated[list[ContenderForm], Field(max_length=20)]
    """Two to five, no two of the same agent and model."""
    judge: ContenderForm | None = None
    """Who picks, none of the contenders; null: a person."""


class PickForm(Form):
    run: Short
    """A contender's run."""


class TaskImport(Form):
    project: Short
    """Name or id."""
    format: Literal["md", "csv", "json"]
    text: str
    """The list: Markdown, CSV, or the document of an exported task or a JSON list of them. The
    Markdown file of a task is known by its title, `# Task ID: Name`."""
    source: Annotated[str, Field(max_length=200)] = ""
    """What the list is called; a title that came from it before is not made again."""
    dry_run: bool = False
    """Only say what would be made."""
    start: bool = False
    """Start the tasks that are made; those with open dependencies start when these are finished."""
    starts_at: Moment | None = None
    """Start them at this time."""


class IssueImport(Form):
    project: Short
    """Name or id."""
    repository: Annotated[str, Field(max_length=200)] | None = None
    """As `owner/name`; that of the project where left out."""
    issues: Annotated[list[Count], Field(max_length=MAX_NUMBERS)] = []
    """Their numbers; those alone where there are any."""
    labels: Annotated[list[Annotated[str, Field(max_length=MAX_LABEL)]], Field(max_length=20)] = []
    """Only those that have all of them."""
    state: State | None = None
    """Open ones where left out."""
    dry_run: bool = False
    """Only say what would be made."""
    start: bool = False
    """Start the tasks that are made; those with open dependencies start when these are finished."""
    starts_at: Moment | None = None
    """Start them at this time."""


class StartForm(Form):
    expect_version: Count | None = None


class StartMany(Form):
    tasks: Annotated[list[Short], Field(max_length=1000)] = []
    """Their ids."""
    project: Short | None = None
    """Name or id: start all of its tasks that nobody has started."""
    at: Moment | None = None
    """Start them at this time; null: now, or when their dependencies are finished."""


class MoveForm(Form):
    to: Short
    force: bool = False
    """Past the guards, for admins."""
    stop: bool = False
    """Stop a running agent first."""
    reason: Annotated[str, Field(max_length=2000)] | None = None
    expect_version: Count | None = None
    leave_unmerged: bool = False
    """Close the task although it has commits that are not merged."""
    release_dependents: bool = False
    """Let the tasks that depend on it start although its work is not merged."""


class TaskEdit(Form):
    """What is left out stays as it is."""

    title: str = ""
    description: str = ""
    objective: str = ""
    type: Short = ""
    priority: Short = ""
    size: Short = ""
    complexity: Short = ""
    tags: Tags = []
    acceptance_criteria: Criteria = []
    dependencies: Dependencies = []
    agent: AgentName | None = None
    """The agent of its next runs; null: the project's default."""
    model: ModelName | None = None
    """The model of that agent; null: the agent's own choice. Another agent does not inherit it."""
    expect_version: Count | None = None


class AcceptForm(Form):
    delay_s: float = 0
    """For how long nothing is to follow from it, so that it can be taken back."""
    keep: bool = False
    """Keep the answer as a decision, too, which agents of later tasks are told."""


class RunForm(Form):
    """What is left out is as in the last run of the task."""

    mode: Short | None = None
    agent: Short | None = None
    model: Short | None = None
    """The same as `model` in the settings."""
    settings: Annotated[dict[Short, Any], Field(max_length=50)] = {}
    """For this run: timeout, maxTurns and the other keys of an agent that say nothing of its
    program."""


class RetryForm(Form):
    effect: Short | None = None
    """The effect, or the hook's name; it may be left out where only one has failed."""


class MigrateForm(Form):
    to: Count | None = None
    """The version; the newest unless given."""
    map: Annotated[dict[Short, Short], Field(max_length=500)] = {}
    """Where statuses go that the version does not have, or no longer means."""
    task: Short | None = None
    """Only this one; all on older versions unless given."""
    apply: bool = False
    """Without it, nothing is changed."""


class PipelineForm(Form):
    """One that is saved, by its id, or a document that is not."""

    pipeline: Short | None = None
    version: Count | None = None
    document: dict[str, Any] | None = None
    project: Short | None = None
    """Name or id; its own outcomes are known, and its own pipelines come first."""


class SimulateForm(PipelineForm):
    script: list[Any]
    """The steps, as in docs/how-to/write-a-pipeline.md."""


class SettingsForm(Form):
    set: Annotated[dict[Annotated[str, Field(max_length=500)], Any], Field(max_length=100)] = {}
    """Values by their keys, with dots between the keys of nested objects."""
    unset: Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=100)] = []
    dry_run: bool = False
    """Only show what would be written."""
    expect: Short | None = None
    """The fingerprint of the text that is to be replaced."""


class Query(BaseModel):
    """Parameters are text on the wire, so numbers are read from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PageQuery(Query):
    cursor: Short | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class AuditExport(Query):
    since: Short | None = None
    """A day such as 2026-03-01, or 30d or 12h."""
    who: Short | None = None
    what: Short | None = None
    """A deed, or the word before its dot."""


class AuditQuery(PageQuery, AuditExport):
    pass


class TaskQuery(PageQuery):
    project: Short | None = None
    status: Short | None = None
    title: Short | None = None
    """A part of it, in large or small letters."""


class Restore(Form):
    to: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A new branch to make of the snapshot; the task's workspace where left out."""


class PhaseOrder(Form):
    numbers: Annotated[list[Count], Field(min_length=1, max_length=50)]
    """Every phase that has not been begun, in its new order."""


class NewComment(Form):
    text: str
    file: str | None = None
    line: Count | None = None
    """In the file."""
    severity: str | None = None
    """`must_fix`, `should_fix` or `suggestion`."""


class NewAnswer(Form):
    text: str


class CommentState(Form):
    resolved: bool


class DeleteQuery(Query):
    force: bool = False
    """Take it out of the dependencies of other tasks."""
    stop: bool = False
    """Stop its agent first; the answer comes when it is proven gone."""


class RemoveQuery(Query):
    force: bool = False
    """Delete its tasks and their record, too."""
    stop: bool = False
    """Stop the agents that work at them first."""


class ChangesQuery(Query):
    since: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The number of a review: only what changed after it."""


class FileQuery(ChangesQuery):
    path: FilePath
    """As the list of files has it."""


class ProjectQuery(Query):
    project: Short | None = None
    """Name or id; all unless given."""


class PreviewQuery(Query):
    rule: Rule
    zone: Short = "UTC"


class InboxQuery(PageQuery):
    project: Short | None = None
    """Name or id; all unless given."""


class BoardQuery(ProjectQuery):
    task: Annotated[list[Short], Field(max_length=200)] | None = None
    """Cards of these only, to keep a board true; the columns are counted all the same."""


class PartQuery(Query):
    project: Short | None = None
    """Name or id; its own outcomes are among them."""


class AgentQuery(Query):
    project: Short | None = None


class RunQuery(PageQuery):
    task: Short | None = None
    live: bool = False


class SearchQuery(Query):
    q: Annotated[str, Field(min_length=1, max_length=200)]
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class KnowledgeQuery(PageQuery):
    q: Annotated[str, Field(max_length=500)] = ""
    """Words; what has the most of them comes first."""
    tag: Annotated[list[Short], Field(max_length=20)] = []
    """All of them."""
    kind: Annotated[list[NodeKind], Field(max_length=20)] = []
    """One of them."""
    file: Annotated[list[FilePath], Field(max_length=20)] = []
    """One of them; a folder stands for all that is below it."""
    state: Annotated[list[NodeState], Field(max_length=20)] = []
    """One of them; all but `retired` unless given."""
    task: Short | None = None
    """What this task told of."""
    project: Short | None = None
    """Name or id; all unless given."""


class NodeEdit(Form):
    """What is left out stays as it is."""

    text: Annotated[str, Field(min_length=1, max_length=2000)] = ""
    tags: Tags = []
    severity: Short | None = None
    detail: Annotated[dict[Short, str | bool], Field(max_length=20)] = {}
    """Of its fields beside the text, those that change."""
    expect_version: Count | None = None


class Retire(Form):
    reason: Annotated[str, Field(min_length=1, max_length=2000)]


class Contradict(Form):
    other: Short
    """The node that says otherwise."""
    reason: Annotated[str, Field(max_length=2000)] = ""


class BlockersQuery(ProjectQuery):
    all: bool = False
    """Those that are resolved, too."""


class Resolve(Form):
    note: Annotated[str, Field(max_length=2000)] = ""
    """What came of it."""


class MapQuery(PageQuery):
    under: Annotated[str, Field(max_length=4096)] = ""
    """A file, or a folder with all that is below it."""


class StatsQuery(Query):
    project: Short | None = None
    """Name or id; all unless given."""
    since: Short | None = None
    """A day such as 2026-03-01, which begins at midnight UTC, or 30d or 12h."""


class CostQuery(StatsQuery):
    by: Literal["project", "task", "agent", "model", "day"] = "project"
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class EventQuery(Query):
    after_seq: Count = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 500


class StreamQuery(Query):
    task: Short | None = None
    after: Number | None = None


class OutputQuery(Query):
    after: Short | None = None
    """The id of the last entry that is known already."""


class PromptQuery(Query):
    turn: Annotated[int, Field(ge=0, le=100)] = 1


class DocumentQuery(Query):
    version: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class AllowPerson(Form):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    """How they are called in the record."""
    role: Annotated[str, Field(max_length=50)] = "admin"
    """`admin` may do everything, `viewer` only look."""


class CommitDocument(Form):
    version: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The newest unless given."""
    path: Annotated[str, Field(max_length=1000)] | None = None
    """From the top of the repository; `docs/plans/<title>.md` and the like unless given."""
    replace: bool = False
    """Also where the branch has other content there."""


class CompareQuery(Query):
    since: int | None = Field(default=None, ge=1, le=1_000_000, alias="from")
    to: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class TranscriptQuery(Query):
    turn: Annotated[int, Field(ge=1, le=100)] = 1
    offset: Number = 0
    limit: Annotated[int, Field(ge=4, le=1024 * 1024)] = 256 * 1024
