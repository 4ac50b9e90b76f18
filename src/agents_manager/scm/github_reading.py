"""What people and programs say about a pull request on GitHub, in our own words. Only people with
access to the repository count: anybody else can comment, and an agent reads what is said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from agents_manager.domain.comment import MAX_TEXT, Comment
from agents_manager.domain.names import visible
from agents_manager.errors import ForgeError, ForgeUnavailable
from agents_manager.flow.ports import OutsideReview, OwnReview
from agents_manager.scm import pull_text
from agents_manager.scm.github_api import Api
from agents_manager.scm.github_models import (
    CheckRuns,
    IssueComment,
    LineComment,
    Review,
    Said,
    Status,
    Threads,
)

log = structlog.get_logger()

MARK = "<!-- agents-manager review "
"""What reviews that were made here begin with there: they are not read back."""
DECISIONS: Mapping[str, Any] = {"APPROVED": "approved", "CHANGES_REQUESTED": "changes_requested"}
EVENTS = {"approved": "APPROVE", "changes_requested": "REQUEST_CHANGES"}
MAX_THREAD_PAGES = 10
MAX_SUMMARY = 10_000
_FINE = ("success", "neutral", "skipped")
_THREADS = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { isResolved comments(first: 1) { nodes { databaseId } } }
      }
    }
  }
}
"""


async def comments(api: Api, number: int) -> list[Comment]:
    """On lines, beside them, and what reviews say; the oldest first."""
    reviews = await api.pages(f"/pulls/{number}/reviews", Review)
    ours = {review.id for review in reviews if _is_ours(review)}
    on_lines = await api.pages(f"/pulls/{number}/comments", LineComment)
    beside = await api.pages(f"/issues/{number}/comments", IssueComment)
    resolved = await _known_resolved(api, number) if on_lines else frozenset[int]()
    said = [
        *(
            _Placed(c, c.created_at, c.path, c.line or c.original_line, _thread(c) in resolved)
            for c in on_lines
            if c.pull_request_review_id not in ours
        ),
        *(_Placed(c, c.created_at) for c in beside),
        *(
            _Placed(r, r.submitted_at)
            for r in reviews
            if r.submitted_at and r.body and r.id not in ours
        ),
    ]
    heard = [one for one in said if one.said.trusted]
    if len(heard) < len(said):
        left_out = len(said) - len(heard)
        log.info("github.strangers_left_out", pull=number, comments=left_out)
    heard.sort(key=lambda one: (one.time, one.said.id))
    return [one.comment(number) for one in heard]


@dataclass(frozen=True, slots=True)
class _Placed:
    said: Said
    time: datetime
    file: str | None = None
    line: int | None = None
    resolved: bool = False

    def comment(self, pull: int) -> Comment:
        return Comment(
            number=None,
            pull=pull,
            author=self.said.author,
            text=(self.said.body or "")[:MAX_TEXT],
            file=self.file,
            line=self.line,
            resolved=self.resolved,
            time=self.time,
        )


def _thread(comment: LineComment) -> int:
    return comment.in_reply_to_id or comment.id


def _is_ours(said: Said) -> bool:
    return (said.body or "").startswith(MARK)


async def _known_resolved(api: Api, number: int) -> frozenset[int]:
    """None is taken for resolved where GitHub does not say."""
    try:
        return await _resolved(api, number)
    except ForgeUnavailable:
        raise
    except ForgeError as error:
        log.warning("github.threads_unknown", pull=number, error=error.message)
        return frozenset()


async def _resolved(api: Api, number: int) -> frozenset[int]:
    """The first comments of the threads that are resolved, which only GraphQL tells."""
    owner, name = api.repository.split("/")
    found: set[int] = set()
    asked: dict[str, Any] = {"owner": owner, "name": name, "number": number, "after": None}
    for _ in range(MAX_THREAD_PAGES):
        threads = (await api.query(_THREADS, asked, Threads)).threads
        done = (thread for thread in threads.nodes if thread.is_resolved)
        found |= {first.database_id for thread in done for first in thread.comments.nodes}
        asked["after"] = threads.page_info.end_cursor
        if not threads.page_info.has_next_page:
            break
    return frozenset(found)


async def reviews(api: Api, number: int) -> tuple[tuple[OutsideReview, ...], int]:
    """The last word of each person with access, and how many others reviewed."""
    listed = [r for r in await api.pages(f"/pulls/{number}/reviews", Review) if not _is_ours(r)]
    last: dict[str, OutsideReview] = {}
    strangers: set[str] = set()
    for review in sorted(listed, key=lambda r: r.id):
        if not review.trusted:
            strangers.add(review.author)
        elif review.state == "DISMISSED":
            last.pop(review.author, None)
        elif review.state in DECISIONS and review.submitted_at:
            last[review.author] = OutsideReview(
                id=str(review.id),
                author=visible(review.author, 100),
                decision=DECISIONS[review.state],
                summary=(review.body or "").strip()[:MAX_SUMMARY],
                head_sha=review.commit_id,
            )
    return tuple(last.values()), len(strangers)


async def checks(api: Api, sha: str) -> str | None:
    """What all of them come to; None where there are none that the token may see."""
    status = await api.find(f"/commits/{sha}/status", Status)
    runs = await api.find(f"/commits/{sha}/check-runs?per_page=100", CheckRuns)
    said = [status.state] if status and status.total_count else []
    for run in runs.check_runs if runs else ():
        said.append(run.conclusion or "pending" if run.status == "completed" else "pending")
    if not said:
        return None
    if any(one != "pending" and one not in _FINE for one in said):
        return "failed"
    return "pending" if "pending" in said else "passed"


def forms(review: OwnReview, mark: str) -> Iterator[dict[str, Any]]:
    """As it was made; where GitHub does not take that, as words: nobody can approve there what they
    opened, and a comment needs a line of the change."""
    on_lines = [c for c in review.comments if c.get("file") and c.get("line")]
    beside = [c for c in review.comments if c not in on_lines]
    heard = (
        f"{review.author} {'approved' if review.decision == 'approved' else 'asked for changes'}"
    )
    head = f"{mark}\n{heard} in Agents Manager."
    event = EVENTS[review.decision]
    plain = {"commit_id": review.head_sha, "body": _words(head, review.summary, beside)}
    inline = [
        {"path": c["file"], "line": c["line"], "side": "RIGHT", "body": _line(c)} for c in on_lines
    ]
    if inline:
        yield {**plain, "event": event, "comments": inline}
        yield {**plain, "event": "COMMENT", "comments": inline}
    words = {**plain, "body": _words(head, review.summary, review.comments)}
    yield {**words, "event": event}
    yield {**words, "event": "COMMENT"}


def _words(head: str, summary: str | None, comments: Sequence[Mapping[str, Any]]) -> str:
    listed = "\n".join(f"- {_place(c)}{_line(c)}" for c in comments)
    said = pull_text.harmless("\n\n".join(part for part in (summary, listed) if part))
    return pull_text.bounded(f"{head}\n\n{said}" if said else head)


def _line(comment: Mapping[str, Any]) -> str:
    return pull_text.harmless(f"[{comment['severity']}] {comment['comment']}")


def _place(comment: Mapping[str, Any]) -> str:
    if not comment.get("file"):
        return ""
    return (
        f"`{comment['file']}:{comment['line']}` "
        if comment.get("line")
        else f"`{comment['file']}` "
    )
