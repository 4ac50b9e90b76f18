"""The simulation and the engine are two walkers of one graph: given the same script they take the
same way and ask the same questions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain import simulation_script
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.simulate import Simulation, simulate
from agents_manager.domain.task import Result
from agents_manager.flow import pipelines as pipelines_of
from tests.engine_walk import EngineWalk, Ground, ground
from tests.pipeline_walks import REGISTRY, built_in, script, sound_pipeline
from tests.unit.pipeline_documents import document, edge, status

STEPS = 10


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with ground(tmp_path_factory.mktemp("agrees")) as found:
        yield found


@pytest.mark.slow
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(made=sound_pipeline(), data=st.data())
def test_both_take_the_same_way(
    engine: Ground, made: tuple[dict[str, Any], Pipeline], data: st.DataObject
) -> None:
    walked, pipeline = made
    steps = data.draw(script(pipeline, STEPS))
    assert differences(engine.walk(walked), pipeline, steps) == []


REVIEWED = document(
    edge("reviewing", "judging", "review_submitted", "review_approved"),
    edge("judging", "stuck", "auto", "review_changes_requested"),
    edge("judging", "merging", "auto", "review_approved", hooks=[{"type": "merge_pr"}]),
    without="reviewing-review_submitted-merging",
    statuses=(status("judging", "active"),),
)
READY = {"outcome": "pr_ready"}
ASK = {"outcome": {"name": "needs_info", "payload": {"question": "Why?"}}}
ANSWER = {"answer": {"answers": [{"question_id": "q1", "text": "So."}]}}
IDLE = {"outcome": {"name": "no_changes", "payload": {"reason": "None."}}}
REPRODUCED = {"outcome": "reproduced"}
SEND_BACK = {"review": "changes_requested"}
WALKS: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "a review is looked at where it brought the task": (
        REVIEWED,
        ["start", READY, {"review": "approved"}],
        "done",
    ),
    "what was to follow a move goes with it": (
        built_in("feature"),
        [
            "start",
            {"fail": "create_task_branch"},
            {"outcome": "plan_complete"},
            {"review": "approved"},
            {"review": "approved"},
        ],
        "in_progress",
    ),
    "a split that nobody approved makes no phases": (
        document(
            edge("working", "asking", "needs_info", hooks=[{"type": "execute_split"}]),
            without="working-needs_info-asking",
        ),
        ["start", ASK, {"choose": "rerun"}, READY],
        "reviewing",
    ),
    "commits that no agent handed over are reviewed as they are": (
        built_in("simple"),
        ["start", READY, SEND_BACK, IDLE, {"choose": "review"}],
        "review",
    ),
    "commits of a failed run are checked again": (
        built_in("bug"),
        ["start", REPRODUCED, READY, SEND_BACK, {"error": "crash"}, {"choose": "check_again"}],
        "pr_review",
    ),
    "commits of a stopped run are handed over where it worked": (
        built_in("simple"),
        ["start", READY, SEND_BACK, {"error": "cancelled"}, {"choose": "check_again"}],
        "review",
    ),
    "a run that did not begin has no commits to hand over": (
        built_in("simple"),
        ["start", READY, {"fail": "start_agent"}, SEND_BACK, {"choose": "review"}],
        "needs_decision",
    ),
    "with any every outcome is taken": (
        document(edge("working", "stuck", "any"), without="working-no_changes-stuck"),
        ["start", {"outcome": {"name": "reproduced"}}],
        "stuck",
    ),
}


@pytest.mark.parametrize("name", WALKS)
def test_ways_on_which_they_once_parted(engine: Ground, name: str) -> None:
    walked, steps, end = WALKS[name]
    walk = engine.walk(walked)
    assert differences(walk, pipelines.parse(walked), steps) == []
    assert walk.task.status == end


def test_a_difference_is_noticed(engine: Ground) -> None:
    """The engine walks another graph than the simulation: one where the answer ends the task."""
    other = document(
        edge("asking", "done", "prompt_response", "has_payload_response"),
        without="asking-prompt_response-$origin",
    )
    same = pipelines.parse(document())
    assert differences(engine.walk(document()), same, ["start", ASK, ANSWER]) == []
    found = differences(engine.walk(other), same, ["start", ASK, ANSWER])
    assert found[:2] == ["step 3 answer (None)", "status: done / working"]


CHECKED = document(
    edge("working", "checking", "pr_ready", hooks=[{"type": "run_checks"}]),
    edge("checking", "reviewing", "manual", "checks_passed"),
    without="working-pr_ready-reviewing",
    statuses=(status("checking", "active"),),
)


@pytest.mark.parametrize(
    ("command", "end"), [(None, "checking"), ("true", "reviewing"), ("false", "working")]
)
def test_checks_that_are_missing_never_passed(
    tmp_path: Path, command: str | None, end: str
) -> None:
    checks = {"checks": {"own": {"command": command}}} if command else {}
    files = {".agents-manager/config.json": json.dumps(checks)}
    steps: list[Any] = ["start", READY, {"move": "reviewing"}]
    if command == "false":
        steps.insert(1, {"fail": "run_checks"})
    with ground(tmp_path, files) as found:
        walk = found.walk(CHECKED)
        has = pipelines_of.has_checks(found.s, found.project)
        assert differences(walk, pipelines.parse(CHECKED), steps, checks=has) == []
        assert walk.task.status == end
        if command is None:
            [refused] = [h for h in walk.history if h.result is Result.REFUSED]
            assert refused.guards[0].reason == "No checks were run on the work as it stands."


def differences(
    walk: EngineWalk, pipeline: Pipeline, steps: Sequence[Any], *, checks: bool = True
) -> list[str]:
    """Where the two part, at the first step where they do."""
    parsed = simulation_script.parse(steps)
    for number, step in enumerate(parsed, 1):
        refused = walk.play(step)
        told = simulate(pipeline, REGISTRY, parsed[:number], checks=checks)
        pairs = [
            ("status", walk.task.status, told.status),
            ("waits for", walk.waits_for, told.waits_for),
            ("way", walk.moves, way(told)),
            ("asked", asked(walk), questions(told)),
        ]
        found = [f"{what}: {ours} / {theirs}" for what, ours, theirs in pairs if ours != theirs]
        if found:
            return [f"step {number} {step} ({refused})", *found, str(told.decisions[-1])]
    return []


def way(told: Simulation) -> list[tuple[Result, str, str]]:
    return [(d.result, d.source, d.to) for d in told.decisions if d.result is not Result.REFUSED]


def questions(told: Simulation) -> list[tuple[str, Sequence[str]]]:
    return [(d.asks.type, d.asks.choices) for d in told.decisions if d.asks]


def asked(walk: EngineWalk) -> list[tuple[str, Sequence[str]]]:
    return [(p.type, tuple(c["id"] for c in p.payload.get("choices", ()))) for p in walk.asked]
