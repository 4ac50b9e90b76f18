"""What GitHub answers, as far as it is looked at."""

from datetime import datetime
from typing import Literal

from pydantic import AliasPath, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

WITH_ACCESS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(Answer):
    login: str


class Ref(Answer):
    ref: str
    sha: str = Field(pattern=r"^[0-9a-f]{40,64}$")


class Failure(Answer):
    """What an answer says when something went wrong."""

    message: str = ""
    errors: list[object] = Field(default_factory=list[object])


class Numbered(Answer):
    number: int


class MergeDone(Answer):
    sha: str = Field(pattern=r"^[0-9a-f]{40,64}$")


class Pull(Answer):
    number: int
    state: Literal["open", "closed"]
    html_url: str = Field(pattern=r"^https?://")
    """People are given it as a link."""
    head: Ref
    base: Ref
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None
    merged_by: User | None = None
    mergeable: bool | None = None
    """None: in a list, or while GitHub finds out."""


class GitRef(Answer):
    sha: str = Field(validation_alias=AliasPath("object", "sha"))


class Said(Answer):
    """What all that people say has in common."""

    id: int
    user: User | None = None
    """None: the account is gone."""
    author_association: str = "NONE"
    body: str | None = None

    @property
    def author(self) -> str:
        return self.user.login if self.user else "ghost"

    @property
    def trusted(self) -> bool:
        return self.author_association in WITH_ACCESS


class Review(Said):
    state: str
    commit_id: str | None = None
    submitted_at: datetime | None = None
    """None: it is still being written."""


class LineComment(Said):
    path: str
    line: int | None = None
    """None: it is outdated, or about the whole file."""
    original_line: int | None = None
    original_commit_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{40,64}$")
    side: str | None = None
    """`LEFT`: a line that the change takes away."""
    diff_hunk: str = ""
    created_at: datetime
    pull_request_review_id: int | None = None
    in_reply_to_id: int | None = None

    @property
    def thread(self) -> int:
        return self.in_reply_to_id or self.id


class IssueComment(Said):
    created_at: datetime


class Label(Answer):
    name: str | None = None


class IssueRow(Answer):
    id: int
    number: int
    state: str
    title: str
    body: str | None = None
    html_url: str = Field(pattern=r"^https?://")
    """People are given it as a link."""
    user: User | None = None
    labels: list[Label | str] = Field(default_factory=list[Label | str])
    pull_request: object | None = None
    """Where it is one: GitHub lists them among the issues."""

    @property
    def names(self) -> list[str]:
        said = (one if isinstance(one, str) else one.name for one in self.labels)
        return [name for name in said if name]


class CheckRun(Answer):
    status: str
    conclusion: str | None = None


class CheckRuns(Answer):
    check_runs: list[CheckRun]


class Status(Answer):
    state: str
    total_count: int


class _Graph(Answer):
    model_config = ConfigDict(alias_generator=to_camel)


class _FirstComment(_Graph):
    database_id: int


class _FirstComments(_Graph):
    nodes: list[_FirstComment]


class _Thread(_Graph):
    is_resolved: bool
    comments: _FirstComments


class _PageInfo(_Graph):
    has_next_page: bool
    end_cursor: str | None = None


class _ThreadPage(_Graph):
    nodes: list[_Thread]
    page_info: _PageInfo


class Threads(Answer):
    threads: _ThreadPage = Field(
        validation_alias=AliasPath("data", "repository", "pullRequest", "reviewThreads")
    )
