"""What people are asked, and what they say."""

from collections.abc import Mapping
from typing import Any, Literal

from agents_manager.domain.event.happening import Happening, counted_as


class PromptCreated(Happening):
    category = "prompt"
    type: Literal["prompt_created"] = "prompt_created"
    prompt: str
    prompt_type: str
    revision: int
    summary: str

    def says(self) -> str:
        return f"Waiting for a person ({self.prompt_type}): {self.summary}"


class PromptAnswered(Happening):
    category = "prompt"
    type: Literal["prompt_response"] = "prompt_response"
    prompt: str
    by: str
    via: str
    response: Mapping[str, Any]

    def says(self) -> str:
        return f"{self.by} answered via {self.via}."


class PromptEnded(Happening):
    category = "prompt"
    type: Literal["prompt_closed"] = "prompt_closed"
    prompt: str
    status: str

    def says(self) -> str:
        match self.status:
            case "expired":
                return "Nobody answered the question in time; it is closed."
            case "superseded":
                return "A newer question took the place of this one."
            case _:
                return f"The question was {self.status}; nobody has to answer it any more."


class PromptReminded(Happening):
    category = "prompt"
    type: Literal["prompt_reminded"] = "prompt_reminded"
    prompt: str
    number: int

    def says(self) -> str:
        return f"People were reminded that the question is open (reminder {self.number})."


class AnswerUndone(Happening):
    category = "prompt"
    type: Literal["prompt_undone"] = "prompt_undone"
    prompt: str
    by: str
    again: str
    """The question, asked again."""

    def says(self) -> str:
        return f"{self.by} took the answer back before it had any effect; the question is open."


class ReviewSubmitted(Happening):
    category = "review"
    type: Literal["review_submitted"] = "review_submitted"
    prompt: str | None
    """None: an agent reviewed, which nobody was asked to."""
    decision: str
    by: str
    via: str
    summary: str | None
    comments: tuple[Mapping[str, Any], ...]
    """Those on work have a `number` in the task, and as `quote` the lines that they are about."""
    head_sha: str | None
    run: str | None = None
    """The run of the agent that reviewed."""

    def says(self) -> str:
        what = "approved" if self.decision == "approved" else "asked for changes"
        counted = f" with {counted_as(len(self.comments), 'comment')}" if self.comments else ""
        said = f": {self.summary}" if self.summary else ""
        end = "" if said.endswith((".", "!", "?")) else "."
        return f"{self.by} {what}{counted}{said}{end}"


class CommentAdded(Happening):
    category = "review"
    type: Literal["comment.added"] = "comment.added"
    number: int
    by: str
    text: str
    pull: int | None
    """The pull request it is about; None: the task."""
    file: str | None
    line: int | None
    severity: str | None = None
    head_sha: str | None = None
    """The commit that it was made on."""
    quote: str = ""
    """The lines that it is about, as they were."""

    def says(self) -> str:
        line = f":{self.line}" if self.line else ""
        place = f" on {self.file}{line}" if self.file else ""
        return f"{self.by} commented{place}: {self.text}"


class CommentAnswered(Happening):
    category = "review"
    type: Literal["comment.answered"] = "comment.answered"
    number: int
    """The comment's."""
    by: str
    text: str

    def says(self) -> str:
        return f"{self.by} answered comment {self.number}: {self.text}"


class CommentResolved(Happening):
    category = "review"
    type: Literal["comment.resolved"] = "comment.resolved"
    number: int
    by: str
    resolved: bool

    def says(self) -> str:
        how = "resolved" if self.resolved else "opened again"
        return f"{self.by} {how} comment {self.number}."
