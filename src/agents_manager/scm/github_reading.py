"""What people and programs say about a pull request on GitHub, in our own words. Only people with
access to the repository count: anybody else can comment, and an agent reads what is said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from agents_manager.domain.comment import MAX_TEXT, Answer, Comment, quoted
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
    """On lines with the answers to them, beside them, and what reviews say; the oldest first."""
    reviews = await api.pages(f"/pulls/{number}/reviews", Review)
    ours = {review.id for review in reviews if _is_ours(review)}
    on_lines = await api.pages(f"/pulls/{number}/comments", LineComment)
    beside = await api.pages(f"/issues/{number}/comments", IssueComment)
    resolved = await _known_resolved(api, number) if on_lines else frozenset[int]()
    written = [(r, r.submitted_at) for r in reviews if r.submitted_at and r.body]
    said: list[tuple[Said, datetime]] = [
        *((c, c.created_at) for c in on_lines if c.pull_request_review_id not in ours),
        *((c, c.created_at) for c in beside),
        *((r, at) for r, at in written if r.id not in ours),
    ]
    heard = [(one, at) for one, at in said if one.trusted]
    if len(heard) < len(said):
        left_out = len(said) - len(heard)
        log.info("github.strangers_left_out", pull=number, comments=left_out)
    heard.sort(key=lambda entry: (entry[1], entry[0].id))
    return _threads(heard, number, resolved)


def _threads(
    heard: Sequence[tuple[Said, datetime]], number: int, resolved: frozenset[int]
) -> list[Comment]:
    """The first of a thread is the comment, and those after it are the answers."""
    found: list[Comment] = []
    begun: dict[int, int] = {}
    for said, at in heard:
        text = (said.body or "")[:MAX_TEXT]
        if not isinstance(said, LineComment):
            found.append(_comment(said, number, text, at))
        elif said.thread in begun:
            first = begun[said.thread]
            answer = Answer(author=said.author, text=text, time=at)
            found[first] = replace(found[first], answers=(*found[first].answers, answer))
        else:
            begun[said.thread] = len(found)
            found.append(_on_line(said, number, text, resolved))
    return found


def _comment(said: Said, pull: int, text: str, at: datetime) -> Comment:
    return Comment(
        number=None,
        pull=pull,
        author=said.author,
        text=text,
        file=None,
        line=None,
        original_file=None,
        original_line=None,
        resolved=False,
        time=at,
    )


def _on_line(said: LineComment, pull: int, text: str, resolved: frozenset[int]) -> Comment:
    # A line that the change takes away is none of the file as it is: its words say which.
    left = said.side == "LEFT"
    line, made_on = (None, None) if left else (said.line, said.original_line)
    hunk = said.diff_hunk.split("\n")[1:]
    kept = hunk[-1:] if left else [one for one in hunk if not one.startswith("-")]
    return replace(
        _comment(said, pull, text, said.created_at),
        file=said.path,
        line=line or made_on,
        original_file=said.path,
        original_line=made_on,
        head_sha=said.original_commit_id,
        quote=quoted([one[1:] for one in kept]),
        outdated=made_on is not None and line is None,
        resolved=said.thread in resolved,
    )


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
