"""What leaves over HTTP beside the things themselves: things with what belongs to them, and
listings. As there, no field has a default."""

from typing import Literal

from agents_manager.api import schemas


class Health(schemas.Out):
    status: Literal["ok"]


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


class TaskView(schemas.Out):
    task: schemas.Task
    project: schemas.ProjectRef
    status: schemas.Status
    next_mover: Mover
    prompts: list[schemas.Prompt]
    run: schemas.Run | None
    runs: list[schemas.Run]
    moves: list[Move]
    artifacts: list[schemas.Artifact]
    pull: schemas.PullRequest | None


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


class Projects(schemas.Out):
    items: list[schemas.Project]
    next: str | None


class Pipelines(schemas.Out):
    items: list[schemas.Pipeline]
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


class Histories(schemas.Out):
    items: list[schemas.History]
    next: str | None


class Events(schemas.Out):
    items: list[schemas.Event]
    next: int | None
    """What to give as `after_seq` for the rest; null at the end."""
