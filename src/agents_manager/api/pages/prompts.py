"""What waits for people."""

from agents_manager.api import schemas
from agents_manager.api.pages.knowledge import KnowledgeNode


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
    decisions: list[KnowledgeNode]
    """As what the answer is kept, where that was wanted."""


class Undone(schemas.Out):
    prompt: schemas.Prompt
    """The question, open again under a new id."""
    task: schemas.Task


class Inbox(schemas.Out):
    items: list[InboxItem]
    next: str | None
    total: int
    """Open questions, on all pages."""
