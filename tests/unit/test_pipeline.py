import json
from importlib import resources
from typing import Any

import pytest

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain import registry
from agents_manager.domain.pipeline import Category, Pipeline, Trigger, TriggerType
from agents_manager.errors import InvalidPipeline


def document(*transitions: Any, **fields: Any) -> dict[str, Any]:
    statuses = [
        {"id": "open", "category": "open"},
        {"id": "working", "category": "active"},
        {"id": "asking", "category": "waiting", "prompt": {"type": "info_request"}},
        {"id": "reviewing", "category": "review", "prompt": {"type": "review"}},
        {"id": "done", "category": "final"},
        {"id": "cancelled", "category": "final"},
    ]
    return {
        "id": "p",
        "name": "P",
        "statuses": statuses,
        "transitions": list(transitions),
        **fields,
    }


def edge(source: str, to: str, trigger: Any = "manual", **fields: Any) -> dict[str, Any]:
    return {"from": source, "to": to, "trigger": trigger, **fields}


def parsed(*transitions: Any, **fields: Any) -> Pipeline:
    return pipelines.parse(document(*transitions, **fields))


def problems(document: object) -> list[str]:
    with pytest.raises(InvalidPipeline) as caught:
        pipelines.parse(document)
    return [caught.value.message, *caught.value.details]


# --------------------------------------------------------------------------------- notations


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            edge("working", "asking", {"type": "agent_outcome", "outcome": "needs_info"}),
            id="object",
        ),
        pytest.param(
            edge("working", "asking", "agent_outcome", outcomeValue="needs_info"), id="string"
        ),
    ],
)
def test_both_trigger_notations_say_the_same(row: dict[str, Any]) -> None:
    transition = parsed(row).transitions[0]
    assert transition.trigger == Trigger(type=TriggerType.AGENT_OUTCOME, outcome="needs_info")
    assert transition.source == "working"
    assert transition.to == "asking"


@pytest.mark.parametrize("kind", list(TriggerType))
def test_every_trigger_type_is_read_in_both_notations(kind: TriggerType) -> None:
    outcome = "pr_ready" if kind is TriggerType.AGENT_OUTCOME else None
    short = edge("open", "working", kind.value, outcomeValue=outcome)
    long = edge("open", "working", {"type": kind.value, "outcome": outcome})
    assert parsed(short).transitions[0].trigger == parsed(long).transitions[0].trigger


def test_an_alias_of_an_outcome_is_read_as_the_outcome() -> None:
    """Otherwise `plan_ready` of an agent or a pipeline would never meet `plan_complete`."""
    pipeline = parsed(edge("working", "reviewing", "agent_outcome", outcomeValue="plan_ready"))
    assert registry.built_in().offered(pipeline, "working") == ["plan_complete"]


@pytest.mark.parametrize(
    ("older", "category"), [("done", Category.FINAL), ("backlog", Category.OPEN)]
)
def test_older_category_names_are_read(older: str, category: Category) -> None:
    pipeline = parsed(
        statuses=[{"id": "x", "category": older}, {"id": "open", "category": "open", "position": 9}]
    )
    assert pipeline.status("x").category is category


def test_guards_may_be_negated() -> None:
    guards = [{"type": "has_pr", "not": True}, {"type": "has_plan"}]
    transition = parsed(edge("open", "working", guards=guards)).transitions[0]
    assert [(g.negate, g.name) for g in transition.guards] == [
        (True, "not has_pr"),
        (False, "has_plan"),
    ]


def test_ids_are_made_where_they_are_missing() -> None:
    pipeline = parsed(
        edge("open", "working"),
        edge("open", "working"),
        edge("working", "done", "agent_outcome", outcomeValue="pr_ready", id="mine"),
    )
    ids = [t.id for t in pipeline.transitions]
    assert ids == ["open-manual-working-0", "open-manual-working-1", "mine"]


# --------------------------------------------------------------------------------- questions


def test_what_the_categories_mean() -> None:
    pipeline = parsed()
    waits = {s.id for s in pipeline.statuses if pipeline.awaits_human(s.id)}
    assert waits == {"asking", "reviewing"}
    assert {s.id for s in pipeline.statuses if pipeline.is_final(s.id)} == {"done", "cancelled"}
    assert {s.id for s in pipeline.statuses if pipeline.is_active(s.id)} == {"working"}
    assert pipeline.has("open")
    assert not pipeline.has("nowhere")


def test_the_initial_status_is_the_first_open_one_by_position() -> None:
    statuses = [
        {"id": "done", "category": "final", "position": 0},
        {"id": "later", "category": "open", "position": 2},
        {"id": "first", "category": "open", "position": 1},
    ]
    assert parsed(statuses=statuses).initial.id == "first"


def test_a_status_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidPipeline, match='Pipeline "p" has no status "nowhere"'):
        parsed().status("nowhere")


def test_titles_fall_back_on_ids() -> None:
    status = parsed(
        statuses=[{"id": "in_review", "category": "open"}, {"id": "b", "category": "open"}]
    ).statuses[0]
    assert status.title == "in review"
    assert parsed(edge("open", "working")).transitions[0].title == "to working"
    assert parsed(edge("open", "working", label="Start")).transitions[0].title == "Start"


def leaving(status: str, *transitions: Any) -> list[str]:
    return [t.id for t in parsed(*transitions).leaving(status)]


CANCEL = edge("*", "cancelled", id="cancel")


def test_a_wildcard_leaves_every_status_that_is_not_final_and_not_its_target() -> None:
    pipeline = parsed(CANCEL, edge("*", "working", "agent_error", id="error"))
    ways = {s.id: [t.id for t in pipeline.leaving(s.id)] for s in pipeline.statuses}
    assert ways["open"] == ["cancel", "error"]
    assert ways["working"] == ["cancel"]
    assert ways["done"] == ways["cancelled"] == []


def test_a_final_status_can_be_left_only_explicitly() -> None:
    assert leaving("done", CANCEL, edge("done", "open", id="reopen")) == ["reopen"]


def test_an_explicit_from_beats_the_wildcard_for_the_same_trigger() -> None:
    rows = [
        edge("*", "done", "agent_error", id="anywhere"),
        edge("working", "asking", "agent_error", id="here"),
    ]
    assert leaving("working", *rows) == ["here"]
    assert leaving("asking", *rows) == ["anywhere"]


def test_of_manual_moves_it_beats_the_wildcard_only_for_the_same_target() -> None:
    start = edge("open", "working", id="start")
    own_cancel = edge("working", "cancelled", id="cancel-work")
    assert leaving("open", CANCEL, start, own_cancel) == ["start", "cancel"]
    assert leaving("working", CANCEL, start, own_cancel) == ["cancel-work"]


def test_offered_outcomes_are_each_named_once_in_order() -> None:
    pipeline = parsed(
        edge("working", "reviewing", "agent_outcome", outcomeValue="pr_ready"),
        edge("working", "asking", "agent_outcome", outcomeValue="needs_info"),
        edge("working", "done", "agent_outcome", outcomeValue="pr_ready"),
        edge("*", "done", "agent_outcome", outcomeValue="no_changes"),
        edge("working", "asking", "agent_error"),
    )
    known = registry.built_in()
    assert known.offered(pipeline, "working") == ["pr_ready", "needs_info", "no_changes"]
    assert known.offered(pipeline, "done") == []


def test_a_pipeline_may_be_large_but_not_of_any_size() -> None:
    def large(statuses: int, transitions: int) -> Pipeline:
        names = [f"s{n}" for n in range(statuses)]
        rows = [edge(names[n % statuses], names[-1]) for n in range(transitions)]
        found = [{"id": name, "category": "open"} for name in names]
        return pipelines.parse({"id": "p", "name": "P", "statuses": found, "transitions": rows})

    assert len(large(1_000, 5_000).transitions) == 5_000
    for statuses, transitions in ((1_001, 1), (2, 5_001)):
        with pytest.raises(InvalidPipeline, match="is not a pipeline") as refused:
            large(statuses, transitions)
        assert "should have at most" in refused.value.details[0]


def test_with_any_every_outcome_is_offered_that_can_be_taken_there() -> None:
    known = registry.built_in()
    named = edge("working", "asking", "agent_outcome", outcomeValue="needs_info")
    onward = known.offered(parsed(named, edge("working", "done", "any")), "working")
    assert onward[0] == "needs_info"
    all_but_a_judges = [name for name in known.outcomes if name != "race_judged"]
    assert sorted(onward) == sorted(all_but_a_judges)
    assert known.offered(parsed(edge("*", "done", "any")), "working") == all_but_a_judges
    assert known.offered(parsed(edge("*", "done", "any")), "working", "judge") == ["race_judged"]
    asks = known.offered(parsed(edge("working", "asking", "any")), "working")
    assert asks == ["needs_info", "options_proposed"]


# ------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        pytest.param([], "a pipeline is an object", id="not-an-object"),
        pytest.param({"id": "p", "name": "P", "statuses": []}, "statuses: ", id="no-statuses"),
        pytest.param(document(id="Not OK"), "id: ", id="bad-id"),
        pytest.param(
            document(colour="red"), 'colour: there is no key "colour".', id="unknown-field"
        ),
        pytest.param({**document(), "transitions": {}}, "transitions: ", id="no-list"),
        pytest.param(document("x"), "transitions.0: ", id="row-is-no-object"),
        pytest.param(document(edge("open", "working", 7)), "transitions.0.trigger: ", id="number"),
        pytest.param(
            document(edge("open", "working", "sometimes")),
            "transitions.0.trigger.type: ",
            id="unknown-trigger",
        ),
        pytest.param(
            document(edge("open", "working"), edge("open", "done", guards=[{"typ": "x"}])),
            "transitions.1.guards.0.type: Field required",
            id="guard-without-type",
        ),
        pytest.param(
            document(edge("working", "done", "agent_outcome")),
            "transitions.0.trigger: an outcome belongs to agent_outcome, and only there",
            id="outcome-missing",
        ),
        pytest.param(
            document(edge("working", "done", "manual", outcomeValue="pr_ready")),
            "transitions.0.trigger: an outcome belongs to agent_outcome, and only there",
            id="outcome-on-manual",
        ),
        pytest.param(
            document(
                edge(
                    "working",
                    "done",
                    {"type": "agent_outcome", "outcome": "pr_ready"},
                    outcomeValue="no_changes",
                )
            ),
            'transitions.0.outcomeValue: there is no key "outcomeValue".',
            id="two-outcomes",
        ),
        pytest.param(
            document(edge("wrking", "done")),
            'transitions.0.from: there is no status "wrking". Did you mean "working"?',
            id="unknown-from",
        ),
        pytest.param(
            document(edge("open", "working"), edge("open", "dnoe")),
            'transitions.1.to: there is no status "dnoe". Did you mean "done"?',
            id="unknown-to",
        ),
        pytest.param(
            document(edge("open", "*")), 'transitions.0.to: there is no status "*"', id="to-star"
        ),
        pytest.param(
            document(edge("$origin", "done")),
            'transitions.0.from: there is no status "$origin"',
            id="from-origin",
        ),
        pytest.param(
            document(edge("open", "done", id="a"), edge("open", "working", id="a")),
            'transitions: the id "a" stands there twice',
            id="transition-twice",
        ),
        pytest.param(
            document(statuses=[{"id": "a", "category": "open"}, {"id": "a", "category": "final"}]),
            'statuses: "a" stands there twice',
            id="status-twice",
        ),
        pytest.param(
            document(statuses=[{"id": "a", "category": "final"}]),
            "none has the category open",
            id="no-beginning",
        ),
        pytest.param(
            document(statuses=[{"id": "a", "category": 3}]), "statuses.0.category: ", id="category"
        ),
        pytest.param(
            document(
                statuses=[
                    {
                        "id": "a",
                        "category": "open",
                        "prompt": {"type": "review", "expires_after": 0},
                    }
                ]
            ),
            "statuses.0.prompt.expires_after: ",
            id="expires-at-once",
        ),
    ],
)
def test_faults_are_named_with_their_place(bad: object, expected: str) -> None:
    assert any(expected in line for line in problems(bad))


def test_all_faults_are_told_at_once() -> None:
    bad = document(edge("x", "y"), edge("z", "done"))
    assert [line.split(":")[0] for line in problems(bad)[1:]] == [
        "transitions.0.from",
        "transitions.0.to",
        "transitions.1.from",
    ]


def test_the_file_is_named() -> None:
    with pytest.raises(InvalidPipeline, match=r"mine\.yaml"):
        pipelines.parse({}, where="mine.yaml")


BUILT_IN = [
    p for p in resources.files("agents_manager").joinpath("pipelines").iterdir() if p.is_file()
]


@pytest.mark.parametrize("file", [pytest.param(f, id=f.name) for f in BUILT_IN])
def test_built_in_pipelines_are_sound(file: Any) -> None:
    pipeline = pipelines.parse(json.loads(file.read_text(encoding="utf-8")), where=file.name)
    registry.built_in().check_names(pipeline)


# ----------------------------------------------------------------------- what a status asks


def asking(**prompt: Any) -> dict[str, Any]:
    made = document()
    made["statuses"][2]["prompt"] = {"type": "info_request", **prompt}
    return made


def test_a_status_says_for_how_long_and_whom_it_asks() -> None:
    found = pipelines.parse(asking(expires_after=3600, roles=["lead"])).status("asking").prompt
    assert found is not None
    assert (found.expires_after, found.roles) == (3600, ("lead",))


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ({"expires_after": 0}, "statuses.2.prompt.expires_after"),
        ({"expires_after": 10**9}, "statuses.2.prompt.expires_after"),
        ({"expires_after": "soon"}, "statuses.2.prompt.expires_after"),
        ({"roles": "lead"}, "statuses.2.prompt.roles"),
        ({"roles": [""]}, "statuses.2.prompt.roles.0"),
        ({"role": ["lead"]}, 'Did you mean "roles"?'),
        ({"type": "permission"}, "a permission is asked for by a run, not by a status"),
        ({"type": "budget"}, "a budget is asked for by a run, not by a status"),
    ],
)
def test_a_status_that_asks_wrongly_is_refused(prompt: dict[str, Any], said: str) -> None:
    assert any(said in line for line in problems(asking(**prompt)))


def test_what_is_left_out_is_a_status_and_a_guard_of_the_way_says_why() -> None:
    way = {"from": "open", "to": "working", "trigger": "manual", "guards": [{"type": "has_branch"}]}
    made = document({**way, "skips": {"askng": "has_plan"}})
    with pytest.raises(InvalidPipeline) as refused:
        pipelines.parse(made)
    assert refused.value.details == (
        'transitions.0.skips: there is no status "askng". Did you mean "asking"?',
        'transitions.0.skips: "has_plan" is no guard of this transition, so it cannot say why'
        ' "askng" is left out',
    )
