"""The course of a staged task, from its runs and its log alone."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents_manager.domain.course import Course, StageFacts
from agents_manager.domain.event import Level, Logged
from agents_manager.domain.ids import EffectId, ProjectId, RunId, TaskId
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.domain.stages import table
from agents_manager.domain.task import SYSTEM
from tests.stage_samples import SAMPLES

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Row = tuple[str, str, str | None]


def at(minute: int) -> datetime:
    return NOON + timedelta(minutes=minute)


def run(name: str, role: str, minute: int, **fields: Any) -> Run:
    """One that delivered what its stage is for, unless it says otherwise."""
    outcome = fields.pop("outcome", table.BY_ROLE[role].outcome)
    payload = fields.pop("payload", SAMPLES.get(outcome or ""))
    return Run(
        **{"id": RunId(name), "task_id": TaskId("t"), "project_id": ProjectId("p")},
        **{"effect_id": EffectId(name), "agent": "a", "mode": role, "model": None},
        **{"attempt": 1, "session": None, "phase_id": None, "outcome": outcome},
        status=RunStatus.COMPLETED,
        payload=payload,
        created_at=at(minute),
        ended_at=at(minute + 1),
        **fields,
    )


def log(*rows: tuple[int, str, Mapping[str, Any]]) -> list[Logged]:
    return [
        Logged(
            **{"id": n, "task_id": TaskId("t"), "seq": n, "time": at(minute), "type": type},
            **{"category": "agent", "level": Level.INFO, "summary": "", "actor": SYSTEM},
            data=data,
        )
        for n, (minute, type, data) in enumerate(rows)
    ]


def asked(
    number: int, source: str, target: str, minute: int, by: str = "r", **fields: Any
) -> tuple[int, str, Mapping[str, Any]]:
    stages = [table.stage_of(name) for name in (source, target)]
    assert stages[0]
    assert stages[1]
    data = {
        **{"trigger": f"LB{number}", "run": by, "source_agent": source, "target_agent": target},
        **{"source_stage": stages[0].number, "target_stage": stages[1].number},
        **{"source_status": source, "reason": "why", "context": "", "priority": "normal"},
        **{"signature": "s", "implied": False, **fields},
    }
    return minute, "loop_back.requested", data


def sent(number: int, run: str, minute: int) -> tuple[int, str, Mapping[str, Any]]:
    return minute, "loop_back.dispatched", {"trigger": f"LB{number}", "run": run}


def assigned(run: str, agent: str, batch: int | None, minute: int) -> Any:
    found = SAMPLES["implementation_plan"]["batches"]
    data = {
        **{"run": run, "agent": agent, "trigger": None, "files": ["x"]},
        "batch": found[batch - 1] if batch else None,
    }
    return minute, "builder.assigned", data


def course(runs: Sequence[Run], *rows: Any, since: datetime | None = None) -> Course:
    return Course(runs=runs, log=log(*rows), since=since)


class TestBatches:
    plan = run("p", "plan-agent", 0)

    def test_those_are_left_that_nobody_has_built(self) -> None:
        built = run("b1", "build-agent", 2)
        found = course([self.plan, built], assigned("b1", "build-agent-1", 1, 2))
        assert [batch.number for batch in found.batches_left()] == [2]

    def test_a_builder_that_failed_has_built_nothing(self) -> None:
        error = AgentError(error="no", error_class=ErrorClass.CRASH)
        died = run("b1", "build-agent", 2, outcome=None, payload=None, error=error)
        found = course([self.plan, died], assigned("b1", "build-agent-1", 1, 2))
        assert [batch.number for batch in found.batches_left()] == [1, 2]
        assert found.unfinished("build-agent") == died

    def test_a_restart_has_all_built_again(self) -> None:
        runs = [self.plan, run("b1", "build-agent", 2), run("d", "decide-agent", 4)]
        built = assigned("b1", "build-agent-1", 1, 2)
        assert [batch.number for batch in course(runs, built).batches_left()] == [2]
        again = course([*runs, run("p2", "plan-agent", 6)], built)
        assert [batch.number for batch in again.batches_left()] == [1, 2]

    def test_a_request_is_no_batch(self) -> None:
        runs = [self.plan, run("b3", "build-agent", 2)]
        found = course(runs, assigned("b3", "build-agent-3", None, 2))
        assert [batch.number for batch in found.batches_left()] == [1, 2]


class TestRequests:
    def test_the_most_urgent_is_first_and_of_these_the_oldest(self) -> None:
        found = course(
            [],
            asked(1, "test-agent", "debugger", 1),
            asked(2, "test-agent", "debugger", 2, priority="high"),
            asked(3, "test-agent", "debugger", 3, priority="critical"),
            asked(4, "test-agent", "debugger", 4, priority="critical"),
        )
        assert [a.trigger.trigger_id for a in found.pending()] == ["LB3", "LB4", "LB2", "LB1"]

    def test_each_is_pending_dispatched_and_completed(self) -> None:
        found = course(
            [],
            *(asked(n, "test-agent", "debugger", n) for n in (1, 2, 3)),
            sent(2, "a", 4),
            sent(3, "b", 4),
            (5, "loop_back.completed", {"trigger": "LB3"}),
        )
        assert [a.trigger.status for a in found.asked] == ["pending", "dispatched", "completed"]

    @pytest.mark.parametrize(
        ("source", "target", "back"),
        [
            ("pre-flight-checker", "plan-agent", True),
            ("logical-agent", "test-agent", True),
            ("test-agent", "debugger", False),
            ("review-agent", "build-agent", False),
            ("plan-agent", "debugger", True),
        ],
    )
    def test_a_reader_goes_straight_back(self, source: str, target: str, back: bool) -> None:
        runs = [run("s", source, 0), run("t", target, 2)]
        found = course(runs, asked(1, source, target, 1, by="s"), sent(1, "t", 2))
        assert found.facts().requester == (source if back else None)

    def test_one_in_the_middle_of_another_goes_back_by_both(self) -> None:
        """Pre-flight asks the planner, who asks discovery first."""
        runs = [
            run("f", "pre-flight-checker", 0),
            run("p", "plan-agent", 2),
            run("d", "code-discovery", 4),
            run("p2", "plan-agent", 6),
        ]
        found = course(
            runs,
            asked(1, "pre-flight-checker", "plan-agent", 1, by="f"),
            sent(1, "p", 2),
            asked(2, "plan-agent", "code-discovery", 3, by="p"),
            sent(2, "d", 4),
            (6, "loop_back.returned", {"trigger": "LB2", "run": "p2"}),
        )
        served = found.served("p2")
        assert served
        assert served.trigger.trigger_id == "LB1"
        assert found.facts().requester == "pre-flight-checker"

    def test_a_run_that_goes_on_serves_what_the_one_before_it_did(self) -> None:
        error = AgentError(error="no", error_class=ErrorClass.CRASH)
        runs = [
            run("t", "test-agent", 0),
            run("d", "debugger", 2, outcome=None, payload=None, error=error),
            run("d2", "debugger", 4),
            run("d3", "debugger", 6),
        ]
        found = course(runs, asked(1, "test-agent", "debugger", 1, by="t"), sent(1, "d", 2))
        served = [found.served(name) for name in ("t", "d", "d2", "d3")]
        assert [bool(one) for one in served] == [False, True, True, False]

    def test_they_are_counted_by_edge_and_in_all_since_the_last_grant(self) -> None:
        rows = [
            asked(1, "test-agent", "debugger", 1),
            sent(1, "a", 1),
            asked(2, "review-agent", "build-agent", 2),
            sent(2, "b", 2),
            asked(3, "test-agent", "debugger", 3),
        ]
        facts = course([], *rows).facts("LB3")
        assert (facts.loop_backs, facts.on_edge, facts.alike) == (2, 1, 2)
        granted = course([], *rows, since=at(2)).facts("LB3")
        assert (granted.loop_backs, granted.on_edge, granted.alike) == (0, 0, 1)

    def test_only_those_alike_in_a_row_count(self) -> None:
        rows = [
            asked(n, "test-agent", "debugger", n, signature=s) for n, s in enumerate("aabaa", 1)
        ]
        assert course([], *rows).facts("LB5").alike == 2


def test_a_builder_in_trouble_is_to_be_debugged_until_a_debugger_was_there() -> None:
    ended = {
        **{"run": "b", "build_agent": "build-agent-1", "files_targeted": ["a"]},
        **{"pre_check_passed": True, "build_completed": True, "post_check_passed": False},
        **{"debug_iterations": 3, "final_status": "needs_external_debug"},
    }
    row = (1, "builder.ended", ended)
    assert course([], row).to_debug() == ("build-agent-1",)
    assert course([run("d", "debugger", 2)], row).to_debug() == ()


def test_before_a_run_only_what_came_before_it_is_known() -> None:
    runs = [run("p", "plan-agent", 0), run("b", "build-agent", 2), run("p2", "plan-agent", 4)]
    found = course(runs, assigned("b", "build-agent-1", 1, 2))
    assert found.before(runs[0]).completed() == ()
    assert found.before(runs[1]).completed() == (2,)
    assert found.before(runs[1]).assignments.get("b")
    assert found.before(runs[2]).completed() == (2, 4)


def test_work_begins_where_the_first_of_the_runs_began_that_go_on_from_each_other() -> None:
    failed = {"outcome": None, "payload": None}
    runs = [
        run("b1", "build-agent", 0, base_sha="a"),
        run("b2", "build-agent", 2, base_sha="b", **failed),
        run("b3", "build-agent", 4, base_sha="c"),
    ]
    assert [course(runs).base_of(one) for one in runs] == ["a", "b", "b"]


def test_without_stages_there_is_nothing_to_know() -> None:
    assert course([]).facts() == StageFacts()
