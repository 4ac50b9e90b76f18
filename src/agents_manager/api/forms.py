"""What comes in over HTTP. Types are taken as they are, and unknown fields are refused."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from agents_manager.domain.strict_json import MAX_INT

Short = Annotated[str, Field(max_length=100)]
Number = Annotated[int, Field(ge=0, le=MAX_INT)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
"""Versions and sequence numbers, which databases keep in 32 bits."""

Answer = dict[str, Any]
"""Checked by the flow against the prompt it answers."""

ANSWERS: dict[str, Any] = {
    "info_request": {"value": {"answers": [{"question_id": "q1", "option": "Yes"}]}},
    "options": {"value": {"option_id": "a", "instructions": "Keep it small."}},
    "review": {
        "value": {
            "decision": "changes_requested",
            "summary": "Nearly there.",
            "comments": [
                {"file": "a.py", "line": 3, "severity": "must_fix", "comment": "Off by one."}
            ],
        }
    },
    "choice": {"value": {"choice_id": "rerun"}},
}


class Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NewProject(Form):
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """The folder of the repository on the server's machine, absolute."""
    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    base_branch: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class NewTask(Form):
    project: Short
    """Name or id."""
    title: str
    description: str = ""
    type: Short = "feature"
    priority: Short = "medium"
    size: Short = "medium"
    complexity: Short = "medium"
    tags: Annotated[list[Short], Field(max_length=50)] = []
    acceptance_criteria: Annotated[
        list[Annotated[str, Field(max_length=2000)]], Field(max_length=100)
    ] = []
    dependencies: Annotated[list[Short], Field(max_length=100)] = []
    pipeline: Short | None = None


class StartForm(Form):
    expect_version: Count | None = None


class MoveForm(Form):
    to: Short
    force: bool = False
    """Past the guards, for admins."""
    stop: bool = False
    """Stop a running agent first."""
    reason: Annotated[str, Field(max_length=2000)] | None = None
    expect_version: Count | None = None


class Query(BaseModel):
    """Parameters are text on the wire, so numbers are read from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskQuery(Query):
    project: Short | None = None
    status: Short | None = None
    cursor: Short | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class RunQuery(Query):
    task: Short | None = None
    live: bool = False
    cursor: Short | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class EventQuery(Query):
    after_seq: Count = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 500


class StreamQuery(Query):
    task: Short | None = None
    after: Number | None = None


class TranscriptQuery(Query):
    turn: Annotated[int, Field(ge=1, le=100)] = 1
    offset: Number = 0
    limit: Annotated[int, Field(ge=4, le=1024 * 1024)] = 256 * 1024
