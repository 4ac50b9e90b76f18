"""A task with what belongs to it."""

from datetime import datetime

from agents_manager.api import schemas
from agents_manager.api.pages.knowledge import OfTask
from agents_manager.domain.pipeline import Category
from agents_manager.flow.bulk_starts import StartState
from agents_manager.flow.importing import ImportState


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
    when_ready: bool
    """Whether starting the task has the engine make this move when its dependencies are done."""


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
    memory: OfTask
    raced: bool
    """Whether several agents did the same work at it, or are to."""
    skipped_checks: list[str]
    """Checks that do not run for it, as people decided."""


class Phases(schemas.Out):
    items: list[schemas.Phase]


class Comments(schemas.Out):
    items: list[schemas.Comment]


class Artifacts(schemas.Out):
    items: list[schemas.Artifact]


class Documents(schemas.Out):
    items: list[schemas.Document]


class Snapshots(schemas.Out):
    items: list[schemas.Snapshot]


class Restored(schemas.Out):
    task: schemas.Task
    snapshot: schemas.Snapshot
    branch: str
    """Where the work is now."""
    workspace: str | None
    """The workspace in which it lies uncommitted; none for a new branch."""


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
    changed: bool
    """Whether its issue says something else since; the task is left as it is."""
    note: bool
    """Whether its file has a handoff in free words, which was kept with it as it is."""
    start: StartState | None
    """What starting it led to; null: it was not to be started."""
    start_reason: str
    """What its start waits for, or why it was refused."""


class LeftOutItem(schemas.Out):
    place: str
    """Where it is in the list, such as `line 3`."""
    text: str


class ImportedTasks(schemas.Out):
    items: list[ImportedTask]
    skipped: int
    """Those that are checked off; of issues, those that are pull requests."""
    left_out: list[LeftOutItem]
    """List items that are not tasks, such as bullets without a box; the first 200."""
    left_out_count: int
    """How many list items are not tasks."""


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
    """Why its workspace is still there; null when it is gone."""


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


class Retried(schemas.Out):
    id: str
    task_id: str
    kind: str
    attempt: int


class SkippedChecks(schemas.Out):
    items: list[str]
    """The checks that still do not run for the task."""


class Moved(schemas.Out):
    task: schemas.Task
    stopping_run: str | None
    """The run that is being stopped first; the move follows when it is proven gone."""
    waits: str | None
    """What the task waits for if the engine starts it later; null: it was moved."""


class StartResult(schemas.Out):
    task: schemas.Task
    state: StartState
    reason: str
    """What it waits for, or why it was refused; empty if it was started."""


class StartResults(schemas.Out):
    items: list[StartResult]


class Tasks(schemas.Out):
    items: list[schemas.Task]
    next: str | None


class Histories(schemas.Out):
    items: list[schemas.History]
    next: str | None


class Events(schemas.Out):
    items: list[schemas.Event]
    next: int | None
    """What to give as `after_seq` for the rest; null at the end."""
