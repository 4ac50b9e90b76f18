from typing import Any

import pytest

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain import registry
from agents_manager.domain.effects import HOOK_MEANINGS, HOOK_POLICIES
from agents_manager.domain.pipeline import HookSpec, Policy
from agents_manager.errors import InvalidPipeline

BUILT_IN = registry.built_in()


def with_transition(**fields: Any) -> pipelines.Pipeline:
    row = {"from": "open", "to": "done", "trigger": "manual", **fields}
    return pipelines.parse(
        {
            "id": "p",
            "name": "P",
            "statuses": [
                {"id": "open", "category": "open"},
                {"id": "in_progress", "category": "active"},
                {"id": "done", "category": "final"},
            ],
            "transitions": [{"from": "open", "to": "done", "trigger": "manual"}, row],
        }
    )


def guarded(type: str, **params: Any) -> dict[str, Any]:
    return {"guards": [{"type": "has_plan"}, {"type": type, "params": params}]}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            guarded("has_plans"),
            'transitions.1.guards.1.type: there is no guard "has_plans". Did you mean "has_plan"?',
            id="guard",
        ),
        pytest.param(
            {"hooks": [{"type": "start_agnet"}]},
            'transitions.1.hooks.0.type: there is no hook "start_agnet".'
            ' Did you mean "start_agent"?',
            id="hook",
        ),
        pytest.param(
            {"trigger": {"type": "agent_outcome", "outcome": "pr_redy"}},
            'transitions.1.trigger.outcome: there is no outcome "pr_redy".'
            ' Did you mean "pr_ready"?',
            id="outcome",
        ),
        pytest.param(
            {"hooks": [{"type": "zzz"}]},
            'transitions.1.hooks.0.type: there is no hook "zzz".',
            id="nothing-is-close",
        ),
        pytest.param(
            guarded("max_iterations", max=5),
            "transitions.1.guards.1.params.statusId: Field required",
            id="parameter-missing",
        ),
        pytest.param(
            guarded("max_iterations", statusId="in_progress", max="five"),
            "transitions.1.guards.1.params.max: Input should be a valid integer",
            id="parameter-is-no-number",
        ),
        pytest.param(
            guarded("max_iterations", statusId="in_progress", max=0),
            "transitions.1.guards.1.params.max: Input should be greater than or equal to 1",
            id="cap-that-never-passes",
        ),
        pytest.param(
            guarded("max_iterations", statusId="in_progres", max=5),
            'transitions.1.guards.1.params.statusId: there is no status "in_progres".'
            ' Did you mean "in_progress"?',
            id="cap-that-never-counts",
        ),
        pytest.param(
            guarded("within_budget", taskUSD=5),
            'transitions.1.guards.1.params.taskUSD: there is no key "taskUSD".'
            ' Did you mean "taskUsd"?',
            id="unknown-parameter",
        ),
        pytest.param(
            {"hooks": [{"type": "start_agent", "params": {"mode": "plan", "modell": "x"}}]},
            'transitions.1.hooks.0.params.modell: there is no key "modell". Did you mean "model"?',
            id="unknown-parameter-of-a-hook",
        ),
        pytest.param(
            {"hooks": [{"type": "start_phase_agent", "params": {"timeout": 0}}]},
            "transitions.1.hooks.0.params.timeout: Input should be greater than 0",
            id="parameter-of-a-hook-out-of-range",
        ),
        pytest.param(
            {"hooks": [{"type": "start_agent", "params": {"command": ["sh"]}}]},
            'transitions.1.hooks.0.params.command: there is no key "command".',
            id="program-in-a-hook",
        ),
    ],
)
def test_unknown_names_are_told_with_place_and_closest(
    fields: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidPipeline, match='Pipeline "p" has errors') as caught:
        BUILT_IN.check_names(with_transition(**fields))
    assert [line.split(", unable")[0] for line in caught.value.details] == [expected]


def test_all_problems_are_told_at_once() -> None:
    fields = {
        "guards": [{"type": "a"}, {"type": "max_iterations"}],
        "hooks": [{"type": "b"}],
        "trigger": {"type": "agent_outcome", "outcome": "c"},
    }
    with pytest.raises(InvalidPipeline) as caught:
        BUILT_IN.check_names(with_transition(**fields))
    assert len(caught.value.details) == 5


def test_known_names_pass() -> None:
    guards = [
        {"type": "max_iterations", "params": {"statusId": "in_progress", "max": 5}},
        {"type": "has_payload_response", "params": {"payloadType": "needs_info"}},
        {"type": "within_budget", "params": {"taskUsd": 2.5}},
        {"type": "within_budget"},
        {"type": "is_admin", "not": True},
    ]
    hooks = [{"type": name} for name in HOOK_POLICIES]
    BUILT_IN.check_names(with_transition(guards=guards, hooks=hooks))
    for outcome in (*BUILT_IN.outcomes, "plan_ready"):
        BUILT_IN.check_names(with_transition(trigger={"type": "agent_outcome", "outcome": outcome}))


def test_the_pipeline_decides_the_policy_and_else_the_hook() -> None:
    assert BUILT_IN.policy(HookSpec(type="start_agent")) is Policy.REQUIRED
    assert BUILT_IN.policy(HookSpec(type="notify")) is Policy.BEST_EFFORT
    chosen = HookSpec(type="notify", policy=Policy.REQUIRED)
    assert BUILT_IN.policy(chosen) is Policy.REQUIRED


@pytest.mark.parametrize("hook", ["start_agent", "merge_pr", "push_and_create_pr"])
def test_what_must_not_be_lost_is_required(hook: str) -> None:
    assert HOOK_POLICIES[hook] is Policy.REQUIRED


def test_everything_is_registered_under_its_own_name() -> None:
    assert all(name == o.name for name, o in BUILT_IN.outcomes.items())
    assert all(name == guard.__name__ for name, guard in BUILT_IN.guards.items())
    assert BUILT_IN.hooks == HOOK_POLICIES


def test_every_guard_and_hook_says_what_it_is_for() -> None:
    assert HOOK_MEANINGS.keys() == HOOK_POLICIES.keys()
    assert all((guard.__doc__ or "").endswith(".") for guard in BUILT_IN.guards.values())
