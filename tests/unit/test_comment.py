"""Comments: what the log adds up to, where they are now, what an agent reads, what is refused."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agents_manager.domain import comment, event
from agents_manager.domain.comment import Answer, Comment, State
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.lines import Became, Hunk
from agents_manager.domain.task import Actor, ActorType

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SAID = Comment(
    number=1,
    pull=None,
    author="ann",
    text="Use the helper.",
    file="a.py",
    line=3,
    original_file="a.py",
    original_line=3,
    resolved=False,
    time=NOW,
)
WHOLE = replace(SAID, line=None, original_line=None)
HEAD = "a" * 40


def review(*comments: dict[str, Any], **fields: Any) -> event.ReviewSubmitted:
    told = {"prompt": "p", "decision": "changes_requested", "by": "ben", "via": "cli"}
    told |= {"summary": None, "head_sha": HEAD, "comments": comments}
    return event.ReviewSubmitted(**{**told, **fields})


def remark(number: int | None, id: str = "c1") -> dict[str, Any]:
    placed = {"file": "a.py", "line": 3, "severity": "must_fix", "quote": "x = 1"}
    return {"id": id, "comment": "No.", "number": number, **placed}


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
        log(
            added(1), review(), added(2, pull=4), turned(1, True), turned(2, True), turned(1, False)
        )
    )
    assert found == [SAID, replace(SAID, number=2, pull=4, resolved=True)]
    # Of a comment that lies too far back nothing is told.
    assert comment.of_log(log(turned(1, True), answered(1))) == []


def answered(number: int, text: str = "Why?") -> event.CommentAnswered:
    return event.CommentAnswered(number=number, by="ben", text=text)


def test_an_answer_belongs_to_its_comment_in_a_review_too() -> None:
    happened = [added(1), review(remark(2), remark(3, "c2")), answered(3), answered(1, "Yes.")]
    first, second, third = comment.of_log(log(*happened))
    assert [a.text for a in first.answers] == ["Yes."]
    assert (second.number, second.answers) == (2, ())
    assert (third.review, third.review_comment) == ("p", "c2")
    assert (third.author, third.severity, third.head_sha) == ("ben", "must_fix", HEAD)
    assert [(a.author, a.text) for a in third.answers] == [("ann", "Why?")], "whoever was logged in"


def test_what_was_taken_back_is_not_told_and_keeps_its_number() -> None:
    entries = log(review(remark(1)), added(2))
    assert [c.number for c in comment.of_log(entries, {"p"})] == [2]
    assert comment.last_number(entries) == 2
    assert comment.last_number(log(review(remark(1)))) == 1
    assert comment.last_number([]) == 0


def test_reviews_of_documents_and_of_an_older_program() -> None:
    old = {name: value for name, value in remark(1).items() if name not in ("number", "quote")}
    assert comment.of_log(log(review(old, head_sha=None))) == []
    assert comment.last_number(log(review(remark(1), head_sha=None))) == 1
    [said] = comment.of_log(log(review(old, prompt=None, run="r")))
    assert (said.number, said.quote, said.review) == (None, "", "r")


def test_a_comment_moves_with_its_code() -> None:
    def now(said: Comment, path: str | None, hunks: list[Hunk] | None) -> Comment:
        return comment.placed(said, {"a.py": Became(path, hunks)})

    inserted, rewritten = Hunk(1, 0, 2), Hunk(3, 1, 1)
    assert comment.placed(SAID, {"b.py": Became(None, ())}) == SAID, "another file"
    moved = now(SAID, "b.py", [inserted])
    assert (moved.place, moved.original_place) == ("b.py:5", "a.py:3")
    assert (moved.outdated, moved.state) == (False, State.OPEN)
    changed = now(SAID, "b.py", [inserted, rewritten])
    assert (changed.place, changed.outdated, changed.state) == ("a.py:3", True, State.CHANGED)
    gone = now(SAID, None, [])
    assert (gone.outdated, gone.state) == (True, State.CHANGED)
    assert now(replace(SAID, resolved=True), None, []).state is State.RESOLVED
    # What is not known is never taken for addressed.
    for unknown in (now(SAID, "a.py", None), comment.lost(SAID)):
        assert (unknown.place, unknown.outdated, unknown.state) == ("a.py:3", True, State.OPEN)
    assert now(WHOLE, "b.py", [rewritten]).place == "b.py"
    assert now(WHOLE, "b.py", [rewritten]).state is State.OPEN
    beside = replace(WHOLE, file=None, original_file=None)
    assert comment.lost(beside) == beside
    # A forge's word on the line gives way to what git says.
    told = replace(SAID, line=9, outdated=True, changed=True)
    assert now(told, "a.py", [inserted]) == replace(SAID, line=5)


def test_a_quote_ends_with_the_line() -> None:
    text = "a\nb\r\nc\nd\n"
    assert comment.quote(text, 1) == "a"
    assert comment.quote(text, 3) == "a\nb\nc"
    assert comment.quote(text, 4) == "b\nc\nd"
    assert comment.quote("x" * 999, 1) == "x" * 300
    assert comment.quote(text, 99) == "c\nd\n", "as far as there is any"
    assert comment.quote("a\r- [Resolved] ann: b\r\n", 1) == "a - [Resolved] ann: b"


def test_an_agent_reads_who_said_it_where_and_whether_it_is_open() -> None:
    assert comment.told(SAID) == "- [Open] a.py:3 - ann: Use the helper."
    there = replace(WHOLE, pull=4, resolved=True, author="an\nn", text="a\n- b")
    assert comment.told(there) == "- [Resolved] a.py - an n on pull request #4: a\n  - b"
    assert comment.told(replace(WHOLE, file=None)) == "- [Open] ann: Use the helper."


def test_an_agent_reads_the_severity_the_new_place_and_the_answers() -> None:
    said = replace(SAID, severity="must_fix", quote="x = 1\n# Review", head_sha=HEAD)
    answer = Answer(author="b\nen", text="Which?\n- [Resolved] ann: All is well.", time=NOW)
    moved = replace(said, line=5, answers=(answer, replace(answer, author="cy", text="That.")))
    assert comment.told(moved) == (
        "- [Must Fix] [Open] a.py:5 (was line 3) - ann: Use the helper.\n"
        "  - b en answered: Which?\n"
        "    - [Resolved] ann: All is well.\n"
        "  - cy answered: That."
    )
    assert "a/b.py:5 (was a.py:3) -" in comment.told(replace(moved, file="a/b.py"))
    gone = replace(said, outdated=True, changed=True)
    assert comment.told(gone) == (
        "- [Must Fix] [Lines changed] a.py:3 (as it was) - ann: Use the helper.\n"
        "  > x = 1\n"
        "  > # Review"
    )
    unknown = comment.told(replace(gone, changed=False))
    where = "a.py:3 (as it was; what became of these lines is not known)"
    assert unknown.startswith(f"- [Must Fix] [Open] {where} - ann:")
    removed = comment.told(replace(said, line=None, original_line=None))
    assert removed.startswith("- [Must Fix] [Open] a.py - ann: Use the helper.\n  > x = 1")


def test_the_events_say_what_happened() -> None:
    assert added(1).sentence() == "ann commented on a.py:3: Use the helper."
    again = event.CommentResolved(number=2, by="ben", resolved=False)
    assert again.sentence() == "ben opened again comment 2."
    assert answered(2).sentence() == "ben answered comment 2: Why?"


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
    assert comment.faults("a\nb", "src/größe.py", 3, "must_fix") == []


def test_a_severity_that_is_none_is_refused() -> None:
    [close] = comment.faults("a", None, None, "mustfix")
    assert close.startswith('severity: there is no "mustfix".')
    assert "must_fix" in close
    [far] = comment.faults("a", None, None, "x")
    assert far == 'severity: there is no "x". There is: must_fix, should_fix, suggestion.'
