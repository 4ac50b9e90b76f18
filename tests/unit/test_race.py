"""Who may race, who may judge, and who can be picked."""

from dataclasses import replace

import pytest

from agents_manager.domain import race
from agents_manager.domain.ids import RunId
from agents_manager.domain.race import Contender, Race
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.errors import InvalidInput
from tests.contract.store_values import a_run

A, B = Contender(agent="a"), Contender(agent="b")
ASKS = {"needs_info"}


def done(part: str, **fields: object) -> Run:
    ended = {"status": RunStatus.COMPLETED, "outcome": "pr_ready", "part": part, **fields}
    return replace(a_run(id=RunId(f"run-{part}")), **ended)


def test_a_contender_is_an_agent_and_maybe_a_model() -> None:
    assert race.named("codex") == Contender(agent="codex")
    assert race.named(" ollama:qwen:7b ") == Contender(agent="ollama", model="qwen:7b")
    assert str(race.named("ollama:qwen:7b")) == "ollama:qwen:7b"
    for wrong in ("", ":x", "codex:", " "):
        with pytest.raises(InvalidInput, match="names no contender"):
            race.named(wrong)


@pytest.mark.parametrize(
    ("contenders", "judge", "why"),
    [
        ([A], None, "there are 1"),
        ([Contender(agent=name) for name in "abcdef"], None, "there are 6"),
        ([A, B, A], None, "a is there twice"),
        ([A, B], B, "never judges"),
    ],
)
def test_what_cannot_race(contenders: list[Contender], judge: Contender | None, why: str) -> None:
    (fault,) = race.faults(contenders, judge)
    assert why in fault


def test_the_same_agent_races_and_judges_with_another_model() -> None:
    both = [Contender(agent="a", model="big"), Contender(agent="a", model="small")]
    assert race.faults(both, A) == []


def test_only_who_ended_well_can_be_picked() -> None:
    error = AgentError(error="No.", error_class=ErrorClass.CHECKS_FAILED)
    assert race.unfit(done("1-1"), ASKS) is None
    assert race.unfit(done("1-1", status=RunStatus.RUNNING), ASKS) == "It is not done yet."
    assert race.unfit(done("1-1", status=RunStatus.CANCELLED), ASKS) == "It was stopped."
    failed = race.unfit(done("1-1", status=RunStatus.FAILED, error=error), ASKS)
    assert failed == "It failed (checks_failed): No."
    assert "asks a question" in (race.unfit(done("1-1", outcome="needs_info"), ASKS) or "")


def test_a_judge_picks_by_letter_one_that_can_be_picked() -> None:
    found = Race(group=2, contenders=(A, B), judge=None)
    runs = [done("1-1"), done("2-1"), done("2-2", outcome="needs_info")]
    assert [found.letter(run) for run in found.members(runs)] == ["A", "B"]
    assert race.judged_fault(found, runs, "A", ASKS) is None
    assert race.judged_fault(found, runs, "B", ASKS) == (
        '"B" cannot be picked; one of these can: A.'
    )
