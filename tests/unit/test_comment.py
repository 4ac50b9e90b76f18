"""Comments: what the log adds up to, what an agent reads, what is refused."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agents_manager.domain import comment, event
from agents_manager.domain.comment import Comment
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Actor, ActorType

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SAID = Comment(
    number=1,
    pull=None,
    author="ann",
    text="Use the helper.",
    file="a.py",
    line=3,
    resolved=False,
    time=NOW,
)


REVIEW = event.ReviewSubmitted(
    prompt=None,
    decision="approved",
    by="ann",
    via="cli",
    summary=None,
    comments=(),
    head_sha=None,
)


def log(*happened: event.Event) -> list[Logged]:
    """As the store keeps it, the newest first."""
    entries = [
        Logged(
            id=seq,
            task_id=TaskId("t"),
            seq=seq,
            time=NOW,
            category=one.category,
            type=one.type,
            level=one.level,
            summary=one.sentence(),
            actor=Actor(type=ActorType.USER, name="ann"),
            data=one.model_dump(mode="json", exclude={"type"}),
        )
        for seq, one in enumerate(happened, 1)
    ]
    return entries[::-1]


def added(number: int, **fields: Any) -> event.CommentAdded:
    words = {"by": "ann", "text": "Use the helper.", "pull": None, "file": "a.py", "line": 3}
    return event.CommentAdded(number=number, **{**words, **fields})


def test_comments_stand_as_they_were_last_resolved_or_opened() -> None:
    def turned(number: int, resolved: bool) -> event.CommentResolved:
        return event.CommentResolved(number=number, by="ben", resolved=resolved)

    found = comment.of_log(
        log(added(1), REVIEW, added(2, pull=4), turned(1, True), turned(2, True), turned(1, False))
    )
    assert found == [SAID, replace(SAID, number=2, pull=4, resolved=True)]
    # Of a comment that lies too far back nothing is told.
    assert comment.of_log(log(turned(1, True))) == []


def test_an_agent_reads_who_said_it_where_and_whether_it_is_open() -> None:
    assert comment.told(SAID) == "- [Open] a.py:3 - ann: Use the helper."
    there = replace(SAID, line=None, pull=4, resolved=True, author="an\nn", text="a\n- b")
    assert comment.told(there) == "- [Resolved] a.py - an n on pull request #4: a\n  - b"
    assert comment.told(replace(SAID, file=None, line=None)) == "- [Open] ann: Use the helper."


def test_the_events_say_what_happened() -> None:
    assert added(1).sentence() == "ann commented on a.py:3: Use the helper."
    again = event.CommentResolved(number=2, by="ben", resolved=False)
    assert again.sentence() == "ben opened again comment 2."


@pytest.mark.parametrize(
    ("text", "file", "line", "fault"),
    [
        ("  ", None, None, "text: it is empty"),
        ("x" * 10_001, None, None, "text: at most 10000 characters"),
        ("a\x00", None, None, "text: a text holds a NUL character"),
        ("a", "", None, "file: it must be a path, on one line"),
        ("a", "a\nb", None, "file: it must be a path, on one line"),
        ("a", "a" * 1001, None, "file: at most 1000 characters"),
        ("a", None, 3, "line: it needs a file"),
        ("a", "a.py", 0, "line: it must be 1 or more"),
    ],
)
def test_what_is_no_comment_is_refused(
    text: str, file: str | None, line: int | None, fault: str
) -> None:
    assert comment.faults(text, file, line) == [fault]


def test_what_is_a_comment_is_taken() -> None:
    assert comment.faults("a\nb", "src/größe.py", 3) == []
