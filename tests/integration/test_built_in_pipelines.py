"""Every edge of every built-in pipeline, walked with the scripted agent."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import pytest

from agents_manager.domain import lint, pipeline, registry
from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import Pipeline, Trigger, TriggerType
from agents_manager.domain.task import SYSTEM, Result, Task
from agents_manager.flow import tasks, transitions
from agents_manager.flow.unmerged import Consent
from agents_manager.flow.views import TaskView
from tests import repos
from tests.worlds import ANN, World

ASK: list[dict[str, Any]] = [{"ask": {"question": "Which?", "suggestedAnswer": "this"}}]
ANSWER = {"answers": [{"question_id": "q1", "text": "that"}]}
OPTIONS: list[dict[str, Any]] = [
    {
        "outcome": {
            "name": "options_proposed",
            "payload": {
                "summary": "How?",
                "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
            },
        }
    }
]
SPLIT: list[dict[str, Any]] = [
    {
        "outcome": {
            "name": "propose_split",
            "payload": {"reason": "Big", "proposedPhases": [{"name": "One"}, {"name": "Two"}]},
        }
    }
]
OBJECTION: list[dict[str, Any]] = [
    {
        "outcome": {
            "name": "changes_requested",
            "payload": {"summary": "No.", "comments": [{"comment": "x", "severity": "must_fix"}]},
        }
    }
]
CRASH: list[dict[str, Any]] = [{"crash": 1}]
LEAVE = Consent(leave_unmerged=True)
IDLE: list[dict[str, Any]] = [{"outcome": {"name": "no_changes", "payload": {"reason": "None."}}}]


def work(text: str) -> list[dict[str, Any]]:
    return [
        {"write": {"path": "work.txt", "text": f"{text}\n"}},
        {"commit": f"Write {text}"},
        {"outcome": "pr_ready"},
    ]


def says(outcome: str) -> list[dict[str, Any]]:
    return [{"say": "# Words"}, {"outcome": outcome}]


Step = tuple[str, str, Any]
"""The status that is waited for, what is done there, and with what."""

APPROVE: Step = ("pr_review", "review", "approved")
BACK: Step = ("pr_review", "review", "changes_requested")
CANCEL = "cancelled"

Walk = tuple[str, Mapping[str, Any], Sequence[Step], str]

WALKS: list[Walk] = [
    (
        "simple",
        {"implement": [ASK, CRASH, IDLE, work("one"), work("two"), work("mine"), work("theirs")]},
        [
            ("needs_info", "answer", ANSWER),
            ("needs_decision", "choose", "again"),
            ("needs_decision", "choose", "again"),
            ("review", "review", "changes_requested"),
            ("review", "trouble", "merge_failed"),
            ("review", "clash", None),
            ("review", "review", "approved"),
        ],
        "done",
    ),
    ("simple", {"implement": [IDLE]}, [("needs_decision", "choose", "finish")], "done"),
    ("simple", {"implement": [CRASH]}, [("needs_decision", "choose", "cancel")], CANCEL),
    (
        "chore",
        {"implement": [ASK, CRASH, IDLE, work("one"), work("two"), work("mine"), work("theirs")]},
        [
            ("needs_info", "answer", ANSWER),
            ("failed", "choose", "retry"),
            ("needs_decision", "choose", "go_on"),
            BACK,
            ("pr_review", "trouble", "merge_failed"),
            ("pr_review", "clash", None),
            APPROVE,
        ],
        "done",
    ),
    ("chore", {"implement": [IDLE]}, [("needs_decision", "choose", "finish")], "done"),
    ("chore", {"implement": [CRASH]}, [("failed", "choose", "cancel")], CANCEL),
    (
        "bug",
        {
            "investigate": [ASK, CRASH, says("cannot_reproduce")],
            "implement": [ASK, CRASH, work("one"), work("two"), work("mine"), work("theirs")],
        },
        [
            ("needs_info", "answer", ANSWER),
            ("failed", "choose", "retry"),
            ("needs_decision", "choose", "fix_anyway"),
            ("needs_info", "answer", ANSWER),
            ("failed", "choose", "retry"),
            BACK,
            ("pr_review", "trouble", "merge_failed"),
            ("pr_review", "clash", None),
            APPROVE,
        ],
        "done",
    ),
    (
        "bug",
        {"investigate": [says("reproduced")], "implement": [IDLE]},
        [("needs_decision", "choose", "finish")],
        "done",
    ),
    (
        "bug",
        {"investigate": [says("investigation_complete")], "implement": [CRASH]},
        [("failed", "choose", "cancel")],
        CANCEL,
    ),
    (
        "document",
        {"design": [ASK, OPTIONS, CRASH, says("design_ready"), says("design_ready")]},
        [
            ("needs_info", "answer", ANSWER),
            ("options_proposed", "answer", {"option_id": "a"}),
            ("failed", "choose", "retry"),
            ("design_review", "review", "changes_requested"),
            ("design_review", "review", "approved"),
        ],
        "done",
    ),
    ("document", {"design": [CRASH]}, [("failed", "choose", "cancel")], CANCEL),
    (
        "feature",
        {
            "plan": [ASK, OPTIONS, SPLIT, CRASH, says("plan_complete"), says("plan_complete")],
            "implement": [
                ASK,
                OPTIONS,
                CRASH,
                IDLE,
                work("1"),
                work("2"),
                work("3"),
                work("theirs"),
            ],
        },
        [
            ("needs_info", "answer", ANSWER),
            ("options_proposed", "answer", {"option_id": "a"}),
            ("pending_split", "answer", {"decision": "rejected"}),
            ("failed", "choose", "retry"),
            ("planned", "review", "changes_requested"),
            ("planned", "review", "approved"),
            ("needs_info", "answer", ANSWER),
            ("options_proposed", "answer", {"option_id": "b"}),
            ("failed", "choose", "retry"),
            ("needs_decision", "choose", "go_on"),
            BACK,
            ("pr_review", "trouble", "merge_failed"),
            ("pr_review", "clash", None),
            APPROVE,
        ],
        "done",
    ),
    (
        "feature",
        {
            "plan": [says("plan_complete")],
            "implement": [SPLIT, work("one"), work("two")],
        },
        [
            ("planned", "review", "approved"),
            ("pending_split", "answer", {"decision": "approved"}),
            APPROVE,
            APPROVE,
            APPROVE,
        ],
        "done",
    ),
    (
        "feature",
        {"plan": [SPLIT], "implement": [IDLE]},
        [
            ("pending_split", "answer", {"decision": "approved"}),
            ("needs_decision", "choose", "finish"),
        ],
        "done",
    ),
    (
        "feature",
        {
            "plan": [says("plan_complete")],
            "implement": [work("one"), work("two")],
            "review": [CRASH, OBJECTION, says("approved")],
        },
        [("planned", "review", "approved"), ("failed", "choose", "retry"), BACK, APPROVE],
        "done",
    ),
    ("feature", {"plan": [CRASH]}, [("failed", "choose", "cancel")], CANCEL),
]


async def take(
    world: World,
    task: Task,
    name: str,
    steps: Sequence[Step],
    end: str,
    wait: Callable[..., Awaitable[TaskView]] = World.wait,
) -> None:
    answered: set[str] = set()
    for status, action, value in steps:
        view = await wait(
            world,
            task,
            lambda v, s=status: v.task.status == s and any(p.id not in answered for p in v.prompts),
            f"{name}: {status} for {action}",
        )
        await world.settled(task)
        prompt = view.prompts[0]
        answered.add(prompt.id)
        match action:
            case "answer":
                await world.answer(prompt, value)
            case "choose":
                await world.answer(prompt, {"choice_id": value}, consent=LEAVE)
            case "review":
                await world.review(task, value, summary="Said.")
            case "clash":
                repos.commit(world.repo, {value or "work.txt": "theirs\n"}, "Theirs")
                await world.review(task, "approved")
            case _:
                await trouble(world, task, value)
    await wait(world, task, lambda v: v.task.status == end and v.run is None, end)


async def trouble(world: World, task: Task, outcome: str) -> None:
    """As if the forge refused the merge: no local one does."""
    document = (await world.view(task)).task
    found = await world.s.store.read(
        lambda tx: tx.pipelines.get(document.pipeline_id, document.pipeline_version)
    )
    edge = next(t for t in found.transitions if t.trigger.outcome == outcome)

    def write(tx: Any) -> None:
        moved = tx.tasks.move(tx.tasks.get(task.id), edge.source, world.s.clock.now())
        for prompt in tx.prompts.pending(task.id):
            tx.prompts.close(prompt.id, status="cancelled")
        trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)
        fired = Fired(trigger=trigger, payload={"message": "No.", "files": []})
        transitions.report(tx, world.s, moved.id, fired, SYSTEM)

    await world.s.store.write(write)


def built_in(name: str) -> Pipeline:
    return pipeline.parse(
        json.loads(files("agents_manager").joinpath(f"pipelines/{name}.json").read_text())
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simple", "chore", "bug", "document", "feature"])
async def test_every_edge_is_walked(world: World, name: str) -> None:
    taken: set[str | None] = set()
    for pipeline_id, script, steps, end in WALKS:
        if pipeline_id != name:
            continue
        repos.run(world.repo, "reset", "-q", "--hard")
        world.configure({"review": {"agent": "scripted"}} if "review" in script else {})
        task = await world.create(script, pipeline=name, title=f"Walk {len(taken)}")
        await tasks.move(world.s, task.id, ANN)
        await take(world, task, name, steps, end)
        history = await world.history(task)
        taken |= {h.transition_id for h in history if h.result is Result.DONE}
    assert {t.id for t in built_in(name).transitions} - taken == set()


@pytest.mark.parametrize("name", ["simple", "chore", "bug", "document", "feature", "staged"])
def test_built_in_pipelines_have_no_findings(name: str) -> None:
    assert lint.check(built_in(name), registry.built_in()) == []
