"""Which rounds and answers a run is told of."""

from typing import Any

from agents_manager.domain import conversation
from agents_manager.domain.comment import Comment
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import Run, RunStatus
from tests.contract.store_values import a_prompt, a_run, later

MORE = "The work was sent back, with words:\nMore."
NOTHING: dict[str, Any] = {"summary": None, "comments": []}


def ended(id: str, at: float, **fields: Any) -> Run:
    done = {"status": RunStatus.COMPLETED, "outcome": "pr_ready", "ended_at": later(at)}
    return a_run(id, **{**done, **fields})


def review(run: str, decision: str, at: float, **fields: Any) -> Prompt:
    words = {k: fields.pop(k) for k in ("summary", "comments") if k in fields}
    return a_prompt(
        f"{run}-{at}",
        run_id=RunId(run),
        status=PromptStatus.RESPONDED,
        responded_at=later(at),
        response={"decision": decision, **NOTHING, **words},
        **{"type": PromptType.REVIEW, "payload": {"files": 1}, **fields},
    )


def test_rounds_are_those_of_the_phase() -> None:
    runs = [ended("one", 1, phase_id="p1"), ended("two", 3, phase_id="p2")]
    asked = [review(r, "changes_requested", at, summary=r) for r, at in (("one", 2), ("two", 4))]
    told = conversation.rounds(asked, runs, a_run("now", phase_id="p2"), {})
    assert told == ["Round 1 (Changes Requested):\ntwo"]


def test_rounds_are_those_of_the_same_kind_and_others_are_told_beside() -> None:
    runs = [ended("plan", 1, mode="plan"), ended("work", 3)]
    about_plan = review(
        "plan", "changes_requested", 2, summary="Plan.", type=PromptType.DOCUMENT_REVIEW
    )
    about_work = review("work", "changes_requested", 4, summary="Work.")
    asked = [about_plan, about_work]
    told = conversation.exchange(asked, runs, a_run("now"), {})
    assert told == ["The work was sent back, with words:\nPlan."]
    for mode, word in (("plan", "Plan."), ("implement", "Work."), ("review", "Work.")):
        told = conversation.rounds(asked, runs, a_run("now", mode=mode), {})
        assert told == [f"Round 1 (Changes Requested):\n{word}"]


def test_the_review_of_an_agent_is_a_round_unless_a_person_approved_anyway() -> None:
    payload = {"summary": "Not yet.", "comments": []}
    runs = [ended("r", 1, mode="review", outcome="changes_requested", payload=payload)]
    now = a_run("now")
    assert conversation.rounds([], runs, now, {}) == ["Round 1 (Changes Requested):\nNot yet."]
    anyway = review("r", "approved", 2, payload={"files": 1, "review": payload})
    assert conversation.rounds([anyway], runs, now, {}) == []
    back = review(
        "r", "changes_requested", 2, summary="Indeed.", payload={"files": 1, "review": payload}
    )
    told = conversation.rounds([back], runs, now, {})
    assert told == ["Round 1 (Changes Requested):\nNot yet.\nIndeed."]


def test_comments_of_rounds_are_told_as_they_stand_now() -> None:
    remark = {"id": "c1", "file": "a.py", "line": 3, "severity": "must_fix", "comment": "No."}
    said = {"summary": "Not yet.", "comments": [remark]}
    runs = [ended("r", 1, mode="review", outcome="changes_requested", payload=said)]
    back = review("r", "changes_requested", 2, payload={"files": 1, "review": said}, **said)
    made: dict[str, Any] = {"pull": None, "author": "ben", "text": "No.", "severity": "must_fix"}
    made |= {"file": "a.py", "original_file": "a.py", "original_line": 3, "time": later(0)}
    threads = conversation.threads(
        [
            Comment(number=1, review="r", review_comment="c1", line=3, resolved=True, **made),
            Comment(number=2, review=back.id, review_comment="c1", line=5, resolved=False, **made),
            Comment(number=3, line=3, resolved=False, **made),
        ]
    )
    by_agent = "Not yet.\n- [Must Fix] [Resolved] a.py:3 - ben: No."
    by_person = "Not yet.\n- [Must Fix] [Open] a.py:5 (was line 3) - ben: No."
    begun = "Round 1 (Changes Requested):\n"
    now = a_run("now")
    assert conversation.rounds([], runs, now, threads) == [f"{begun}{by_agent}"]
    [told] = conversation.rounds([back], runs, now, threads)
    assert told == f"{begun}{by_agent}\n{by_person}"
    assert conversation.latest([back], runs, threads).endswith(by_person)


def test_an_approval_with_words_is_told_and_one_without_is_not() -> None:
    plan = {"payload": {"title": "Plan"}, "type": PromptType.DOCUMENT_REVIEW}
    now = a_run("now")
    assert conversation.exchange([review("r", "approved", 1, **plan)], [], now, {}) == []
    told = conversation.exchange(
        [review("r", "approved", 1, summary="But soon.", **plan)], [], now, {}
    )
    assert told == ["The plan was approved, with words:\nBut soon."]


def test_the_latest_answer_is_fresh_until_a_run_has_an_outcome() -> None:
    asked = [review("one", "changes_requested", 2, summary="More.")]
    failed = ended("two", 3, outcome=None, status=RunStatus.FAILED)
    assert conversation.latest(asked, [ended("one", 1)], {}) == MORE
    assert conversation.latest(asked, [ended("one", 1), failed], {}) == MORE
    assert conversation.latest(asked, [ended("one", 1), ended("two", 3)], {}) == ""


def test_what_was_said_with_a_choice_is_told() -> None:
    def choice(text: str | None, at: float) -> Prompt:
        response = {"choice_id": "rerun", "text": text}
        kind = PromptType.CHOICE
        return a_prompt(f"c{at}", type=kind, response=response, responded_at=later(at))

    asked = [review("one", "changes_requested", 2, summary="More."), choice(None, 3)]
    assert conversation.latest(asked, [], {}) == MORE
    assert "Use the other key." in conversation.latest(
        [*asked, choice("Use the other key.", 4)], [], {}
    )


PLAN = "# Plan\n\nFirst the model,\nthen the form.\n\n```\na\n\nb\n```\n\nLast\n"


def about_plan(decision: str, *comments: tuple[int | None, str | None]) -> Prompt:
    said = [
        {"file": file, "line": line, "severity": "must_fix", "comment": "Why?"}
        for line, file in comments
    ]
    payload = {"title": "Plan", "document": PLAN}
    kind = PromptType.DOCUMENT_REVIEW
    return review("plan", decision, 2, comments=said, payload=payload, type=kind)


def test_a_comment_on_a_document_comes_with_its_paragraph() -> None:
    runs = [ended("plan", 1, mode="plan")]
    now = a_run("now", mode="plan")
    asked = about_plan("changes_requested", (4, None), (9, None), (None, None), (4, "a.py"))
    assert conversation.rounds([asked], runs, now, {}) == [
        "Round 1 (Changes Requested):\n"
        "- [Must Fix] line 4 - Why?\n  > First the model,\n  > then the form.\n"
        "- [Must Fix] line 9 - Why?\n  > ```\n  > a\n  > b\n  > ```\n"
        "- [Must Fix] Why?\n"
        "- [Must Fix] a.py:4 - Why?"
    ]
    [told] = conversation.exchange([about_plan("approved", (12, None))], runs, a_run("now"), {})
    assert told.endswith("- [Must Fix] line 12 - Why?\n  > Last")
