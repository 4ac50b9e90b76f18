"""A simulation decides as the engine does, and tells every decision."""

import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import lint, plain_yaml, registry, simulation_script
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.pipeline import Pipeline, PromptType
from agents_manager.domain.simulate import Simulation, simulate
from agents_manager.domain.simulation_told import Asked
from agents_manager.domain.stages import table
from agents_manager.domain.task import Result
from agents_manager.errors import InvalidInput
from tests.stage_samples import SAMPLES
from tests.unit.pipeline_documents import document, edge, status
from tests.unit.test_form import PLANNED

REGISTRY = registry.built_in()
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-pipeline.md"
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "feature-walk.yaml"
ASK = {"outcome": {"name": "needs_info", "payload": {"question": "Why?"}}}
ANSWER = {"answer": {"answers": [{"question_id": "q1", "text": "So."}]}}


def built_in(name: str) -> Pipeline:
    file = resources.files("agents_manager").joinpath("pipelines", f"{name}.json")
    return pipelines.parse(json.loads(file.read_text()))


def walked(*script: Any, of: object = None) -> Simulation:
    graph = of if isinstance(of, Pipeline) else pipelines.parse(of or document())
    return simulate(graph, REGISTRY, simulation_script.parse(list(script)))


def way(told: Simulation) -> list[str]:
    """Where it went, `-` for a refused attempt."""
    return ["-" if d.result is Result.REFUSED else d.to for d in told.decisions]


# ---------------------------------------------------------------------------- the documentation


def test_the_script_of_the_page_visits_every_status() -> None:
    (text,) = re.findall(r"```yaml[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert EXAMPLE.read_text().partition("\n")[2] == text
    script = plain_yaml.loads(text, max_bytes=10_000, max_depth=10)
    told = walked(*script, of=built_in("feature"))
    assert [d for d in told.decisions if d.result is Result.REFUSED] == []
    assert (told.status, told.finished) == ("cancelled", True)
    assert told.not_visited == ()


def test_the_page_has_every_step() -> None:
    rows = re.findall(r"^\| `(\w+)[:`]", PAGE.read_text(), re.MULTILINE)
    assert set(rows) >= set(simulation_script.STEPS)


# --------------------------------------------------------------------------------- decisions


def test_a_move_is_told_with_guards_effects_and_question() -> None:
    told = walked("start", {"outcome": "pr_ready"}, {"review": "changes_requested"})
    ready, back = told.decisions[1:]
    assert (ready.step, ready.by, ready.transition) == (
        2,
        "outcome pr_ready",
        "working-pr_ready-reviewing",
    )
    assert [(e.name, e.policy) for e in ready.effects] == [("push_and_create_pr", "required")]
    assert ready.asks
    assert ready.asks.summary == "Review the work (+1 -0 in 1 file)."
    assert [(g.name, g.passed) for g in back.guards] == [
        ("review_changes_requested", True),
        ("max_iterations", True),
    ]
    assert told.waits_for == "An agent is at work."


def test_a_question_leads_back_to_where_it_came_from() -> None:
    told = walked("start", ASK, ANSWER)
    assert way(told) == ["working", "asking", "working"]


def test_automatic_moves_follow_and_merging_is_taken_to_succeed() -> None:
    told = walked("start", {"outcome": "pr_ready"}, {"review": "approved"})
    assert way(told) == ["working", "reviewing", "merging", "done"]
    assert told.decisions[-1].by == "auto"
    assert told.finished


def test_rounds_are_counted_as_the_engine_counts_them() -> None:
    rework = [{"outcome": "pr_ready"}, {"review": "changes_requested"}]
    told = walked("start", *rework * 6)
    assert way(told)[-2:] == ["reviewing", "-"]
    assert told.decisions[-1].reasons == (
        'To "merging": The review says changes_requested.',
        'To "working": Maximum review iterations (5) reached. Manual intervention required.',
    )
    assert told.waits_for == "A person is asked: review."


def test_answers_and_errors_use_up_no_rounds() -> None:
    again = [ASK, ANSWER, {"error": "crash"}, {"choose": "stuck-manual-$origin"}]
    told = walked("start", *again * 8, {"outcome": "pr_ready"}, {"review": "changes_requested"})
    assert "-" not in way(told)


def test_a_grant_begins_the_rounds_anew() -> None:
    capped = document(
        edge("working", "pausing", "approved"),
        edge(
            "pausing", "working", "auto", "max_iterations:working", hooks=[{"type": "start_agent"}]
        ),
        statuses=(status("pausing", "active"),),
    )
    told = walked("start", *[{"outcome": "approved"}] * 6, {"choose": "grant"}, of=capped)
    refused = next(d for d in told.decisions if d.result is Result.REFUSED)
    assert refused.by == "auto"
    assert refused.asks
    assert refused.asks.choices == ("grant", "rerun", "cancel")
    assert [d.result for d in told.decisions[-2:]] == [Result.GRANTED, Result.DONE]
    assert told.status == "working"


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (["start", "start"], "no single next move"),
        ([{"move": "done"}], 'There is no move from "open" to "done"'),
        ([{"outcome": "pr_ready"}], 'No agent is at work in "open".'),
        (["start", {"outcome": "plan_complete"}], "is not possible here"),
        (["start", {"outcome": "pr_redy"}], 'Did you mean "pr_ready"?'),
        (["start", {"outcome": "needs_info"}], "needs a payload"),
        (
            ["start", {"outcome": {"name": "needs_info", "payload": {}}}],
            "questions: Field required",
        ),
        ([{"error": "crash"}], "No agent is at work"),
        ([{"answer": {}}], "Nothing is asked"),
        (["start", ASK, {"answer": {"answers": []}}], "does not have the right shape"),
        (["start", ASK, {"answer": {"answers": [{"question_id": "x", "text": "y"}]}}], "fit"),
        (["start", ASK, {"review": "approved"}], 'No review is asked for in "asking".'),
        (["start", {"choose": "x"}], "There is nothing to choose"),
        (["start", {"error": "crash"}, {"choose": "x"}], 'There is no choice "x".'),
        ([{"fail": "merge"}], 'There is no hook "merge". Did you mean "merge_pr"?'),
    ],
)
def test_what_the_engine_would_refuse_is_refused_and_changes_nothing(
    script: list[Any], says: str
) -> None:
    before = walked(*script[:-1])
    after = walked(*script)
    last = after.decisions[-1]
    assert last.result is Result.REFUSED
    assert any(says in reason for reason in last.reasons), last.reasons
    assert (after.status, after.waits_for) == (before.status, before.waits_for)


def test_an_agent_stands_in_the_way_unless_the_move_stops_it() -> None:
    told = walked("start", {"move": "stuck"}, of=document(edge("working", "stuck")))
    assert "Run 1 is still going on" in told.decisions[-1].reasons[0]
    cancelled = walked("start", {"move": "cancelled"})
    assert (cancelled.status, cancelled.finished) == ("cancelled", True)


def test_a_stopped_agent_leaves_the_choice_to_a_person() -> None:
    told = walked("start", {"error": "cancelled"}, {"choose": "rerun"}, {"outcome": "pr_ready"})
    assert told.decisions[1].asks
    assert told.decisions[1].asks.choices == ("rerun", "cancel")
    assert told.status == "reviewing"


def test_an_error_that_no_edge_takes_is_put_to_a_person() -> None:
    told = walked("start", {"error": "auth"}, of=document(without="working-agent_error-stuck"))
    assert told.status == "working"
    assert told.waits_for == "A person is asked: choice."


# ------------------------------------------------------------------------------ failing hooks


def test_a_failed_required_hook_takes_the_task_back_and_asks_again() -> None:
    told = walked("start", {"outcome": "pr_ready"}, {"fail": "merge_pr"}, {"review": "approved"})
    last = told.decisions[-1]
    assert (last.result, last.source, last.to) == (Result.ROLLED_BACK, "merging", "reviewing")
    assert last.reasons == ("merge_pr failed: the script says so",)
    assert told.waits_for == "A person is asked: review."


def test_back_in_an_active_status_the_move_can_be_tried_again() -> None:
    told = walked(
        "start", {"fail": "push_and_create_pr"}, {"outcome": "pr_ready"}, {"choose": "again"}
    )
    assert way(told) == ["working", "reviewing", "working", "reviewing"]


def test_a_merge_without_a_pull_request_fails() -> None:
    bare = document(edge("working", "reviewing", "pr_ready"), without="working-pr_ready-reviewing")
    told = walked("start", {"outcome": "pr_ready"}, {"review": "approved"}, of=bare)
    assert told.decisions[-1].reasons == ("merge_pr failed: There is no pull request to merge.",)
    assert told.status == "reviewing"


def test_a_merge_can_report_conflicts() -> None:
    conflict = {"fail": {"hook": "merge_pr", "outcome": "conflicts_detected"}}
    told = walked("start", {"outcome": "pr_ready"}, conflict, {"review": "approved"})
    assert told.decisions[-1].by == "merge_pr failed"
    assert told.status == "working"


def test_an_agent_that_cannot_be_started_is_an_agent_error() -> None:
    told = walked({"fail": "start_agent"}, "start")
    assert way(told) == ["working", "stuck"]


def test_a_run_that_cannot_be_stopped_keeps_the_task_where_it_is() -> None:
    told = walked("start", {"fail": "stop_agent"}, {"move": "cancelled"})
    assert way(told) == ["working", "-"]
    assert told.waits_for == "An agent is at work."


def test_a_failed_hook_that_nobody_requires_changes_nothing() -> None:
    told = walked({"fail": "notify"}, "start", {"outcome": "pr_ready"}, of=built_in("simple"))
    assert told.status == "review"


# ------------------------------------------------------------------------------------ the edge


def test_a_circle_of_automatic_moves_is_stopped() -> None:
    circle = document(
        edge("working", "a", "approved"),
        edge("a", "b", "auto", hooks=[{"type": "notify"}]),
        edge("b", "a", "auto"),
        statuses=(status("a", "active"), status("b", "active")),
    )
    told = walked("start", {"outcome": "approved"}, of=circle)
    assert "More than 200 moves follow from one step." in told.decisions[-1].reasons
    assert len(told.decisions) < 300


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({}, "A script is a list of steps"),
        ("start", "A script is a list of steps"),
        ([1], "step 1: a step is its name and what it takes"),
        ([{"start": None, "move": "x"}], "step 1: a step is its name"),
        ([{}], "step 1: a step is its name"),
        (["strat"], 'there is no step "strat". Did you mean "start"?'),
        ([{"outcome": {"nam": "x"}}], "outcome: name: Field required"),
        ([{"error": "crashed"}], "step 1: error: "),
        ([{"review": "maybe"}], "step 1: review: "),
        ([{"move": ""}], "step 1: move: "),
        (["start"] * 1001, "at most 1000 steps"),
    ],
)
def test_a_wrong_script_is_refused_step_by_step(script: object, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        simulation_script.parse(script)
    assert any(says in line for line in (caught.value.message, *caught.value.details))


def test_a_split_after_a_review_ends_with_a_final_pull_request() -> None:
    phase = {"name": "All"}
    split = {"name": "propose_split", "payload": {"reason": "Big.", "proposed_phases": [phase]}}
    ready, approve = {"outcome": "pr_ready"}, {"review": "approved"}
    told = walked(
        *("start", {"outcome": "plan_complete"}, approve, ready, {"review": "changes_requested"}),
        *({"outcome": split}, {"answer": {"decision": "approved"}}, ready, approve, approve),
        of=built_in("feature"),
    )
    assert way(told)[-4:] == ["merging", "pr_review", "merging", "done"]


def test_a_form_is_asked_and_the_answer_is_held_to_it() -> None:
    known = replace(REGISTRY, outcomes={**REGISTRY.outcomes, PLANNED.name: PLANNED})
    clean = document()
    asks = edge("working", "asking", PLANNED.name)
    graph = pipelines.parse({**clean, "transitions": [*clean["transitions"], asks]})
    assert list(lint.check(graph, known)) == []
    script = [
        "start",
        {"outcome": PLANNED.name},
        {"answer": {"value": {"channel": "beta"}}},
        {"answer": {"value": {"version": "1.2", "channel": "beta"}}},
    ]
    told = simulate(graph, known, simulation_script.parse(script))
    assert way(told) == ["working", "asking", "-", "working"]
    assert told.decisions[1].asks == Asked(PromptType.INFO_REQUEST, "Which release?", ())
    assert told.decisions[2].reasons[1:] == ("value.version: is missing",)


def test_stages_are_walked_by_what_they_end_with() -> None:
    stages = [s for s in table.STAGES if s.role != "debugger"]
    ended = [{"outcome": {"name": s.outcome, "payload": SAMPLES[s.outcome]}} for s in stages]
    approved = {"review": "approved"}
    script = ["start", *ended[:2], approved, *ended[2:], approved]
    found = simulate(built_in("staged"), registry.built_in(), simulation_script.parse(script))
    assert found.status == "done"
    assert "debugging" in found.not_visited
    assert [d.to for d in found.decisions].count("building") == 1  # Both batches at once.
