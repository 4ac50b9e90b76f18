"""A task that was split: phases made once, each with a branch and a pull request of its own."""

from typing import Any

import pytest

from agents_manager.domain.phase import PhaseStatus
from agents_manager.domain.pipeline import PromptType
from agents_manager.errors import InvalidAnswer, InvalidInput, PhaseNotFound, TransitionRefused
from agents_manager.flow import phases, tasks
from tests import repos
from tests.worlds import ANN, World

pytestmark = pytest.mark.slow

SPLIT = {
    "outcome": {
        "name": "propose_split",
        "payload": {
            "reason": "Two things at once.",
            "proposedPhases": [
                {"name": "Backend", "description": "The file.", "complexity": "high"},
                {"name": "Front end", "description": "The other file."},
            ],
        },
    }
}


def writes(name: str) -> list[dict[str, Any]]:
    return [
        {"write": {"path": name, "text": f"{name}\n"}},
        {"commit": f"Add {name}"},
        {"outcome": "pr_ready"},
    ]


async def reviewed(world: World, task: Any, runs: int) -> Any:
    return await world.wait(
        task, lambda v: v.task.status == "pr_review" and len(v.runs) == runs, f"review {runs}"
    )


async def test_a_split_task_goes_phase_by_phase_to_the_final_merge(world: World) -> None:
    task = await world.start(
        {"plan": [[SPLIT]], "implement": [writes("one"), writes("two"), writes("three")]}
    )
    view = await world.until(task, "pending_split")
    assert view.prompts[0].type is PromptType.SPLIT_PROPOSAL
    await world.answer(view.prompts[0], {"decision": "approved"})

    view = await reviewed(world, task, 2)
    assert [(p.name, p.status) for p in view.phases] == [
        ("Backend", PhaseStatus.ACTIVE),
        ("Front end", PhaseStatus.PENDING),
    ]
    told = view.runs[-1].prompt or ""
    assert "# This phase\n\n```text\nBackend\n\nThe file.\n```" in told
    first = view.prompts[0].payload
    assert first["branch"].endswith("--1-backend")
    assert first["base"] == first["branch"].removesuffix("--1-backend")
    await world.review(task, "changes_requested", summary="More.")
    await reviewed(world, task, 3)
    await world.review(task, "approved")

    view = await reviewed(world, task, 4)
    assert [p.status for p in view.phases] == [PhaseStatus.DONE, PhaseStatus.ACTIVE]
    assert view.runs[-1].session != view.runs[-2].session, "a phase begins a session of its own"
    assert not (world.repo / "one").exists(), "phases are merged into the task's branch"
    await world.review(task, "approved")

    view = await world.wait(
        task,
        lambda v: v.task.status == "pr_review" and v.prompts[0].payload["base"] == "main",
        "the final review",
    )
    assert view.prompts[0].payload["files"] == 3
    await world.settled(task)
    await world.review(task, "approved")
    view = await world.until(task, "done")
    assert [p.status for p in view.phases] == [PhaseStatus.DONE] * 2
    assert sorted(f.name for f in world.repo.iterdir() if f.name in ("one", "two", "three")) == [
        "one",
        "three",
        "two",
    ]
    merges = repos.run(world.repo, "log", "--merges", "--format=%s", "main").splitlines()
    assert len(merges) == 3
    types = await world.types(task)
    assert (types.count("split_approved"), types.count("pull_request.merged")) == (1, 3)


async def test_an_agent_that_is_run_again_in_a_phase_goes_on_with_its_session(
    world: World,
) -> None:
    asks = [{"ask": {"question": "Which?", "options": ["a", "b"]}}]
    task = await world.start(
        {"plan": [[SPLIT]], "implement": [asks, [{"hang": True}], writes("one")]}
    )
    view = await world.until(task, "pending_split")
    await world.answer(view.prompts[0], {"decision": "approved"})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and bool(v.prompts), "the question")
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "option": "a"}]})
    view = await world.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    assert view.run is not None
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.choose(task, "rerun")
    view = await reviewed(world, task, 4)
    first, stopped, again = view.runs[1:]
    assert first.session is not None
    assert {first.phase_id, stopped.phase_id, again.phase_id} == {view.phases[0].id}
    assert (stopped.session, again.session) == (first.session, first.session)


async def test_a_rejected_split_goes_on_where_it_was_with_the_reason(world: World) -> None:
    task = await world.start({"plan": [[SPLIT], [{"say": "# Plan"}, {"outcome": "plan_complete"}]]})
    view = await world.until(task, "pending_split")
    await world.answer(view.prompts[0], {"decision": "rejected", "reason": "It is small."})
    view = await world.until(task, "planned")
    assert view.phases == []
    assert "It was rejected: It is small." in (view.runs[-1].prompt or "")


async def test_a_split_in_the_middle_of_work_keeps_what_is_committed(world: World) -> None:
    begun = [*writes("one")[:2], SPLIT]
    task = await world.start(
        {
            "plan": [[{"say": "p"}, {"outcome": "plan_complete"}]],
            "implement": [begun, writes("two"), writes("three")],
        }
    )
    await world.until(task, "planned")
    await world.review(task, "approved")
    view = await world.until(task, "pending_split")
    await world.answer(
        view.prompts[0],
        {"decision": "approved", "phases": [{"name": "All", "description": "Whole."}]},
    )
    view = await reviewed(world, task, 3)
    assert view.prompts[0].payload["files"] == 1, "the phase adds to what the task's branch held"
    await world.review(task, "approved")
    view = await world.wait(
        task,
        lambda v: v.task.status == "pr_review" and v.prompts[0].payload["base"] == "main",
        "the final review",
    )
    assert view.prompts[0].payload["files"] == 2


async def test_phases_can_be_skipped_and_put_into_another_order(world: World) -> None:
    three = [{"name": n, "description": n} for n in ("a", "b", "c", "d")]
    task = await world.start({"plan": [[SPLIT]], "implement": [writes("one"), writes("two")]})
    view = await world.until(task, "pending_split")
    with pytest.raises(InvalidAnswer, match="at least one phase"):
        await world.answer(view.prompts[0], {"decision": "approved", "phases": []})
    await world.answer(view.prompts[0], {"decision": "approved", "phases": three})
    await reviewed(world, task, 2)
    with pytest.raises(TransitionRefused, match="is active"):
        await phases.skip(world.s, task.id, 1, ANN)
    with pytest.raises(PhaseNotFound, match="no phase 9"):
        await phases.skip(world.s, task.id, 9, ANN)
    await phases.skip(world.s, task.id, 3, ANN)
    with pytest.raises(InvalidInput, match="every phase"):
        await phases.reorder(world.s, task.id, [4], ANN)
    found = await phases.reorder(world.s, task.id, [4, 2], ANN)
    assert [p.name for p in found] == ["a", "d", "c", "b"]
    await world.review(task, "approved")
    view = await reviewed(world, task, 3)
    assert [(p.name, p.status) for p in view.phases] == [
        ("a", PhaseStatus.DONE),
        ("d", PhaseStatus.ACTIVE),
        ("c", PhaseStatus.SKIPPED),
        ("b", PhaseStatus.PENDING),
    ]


async def test_a_split_after_a_review_withdraws_the_pull_request_of_the_whole(world: World) -> None:
    task = await world.start(
        {
            "plan": [[{"say": "p"}, {"outcome": "plan_complete"}]],
            "implement": [writes("one"), [SPLIT], writes("two"), writes("three")],
        }
    )
    await world.until(task, "planned")
    await world.review(task, "approved")
    await reviewed(world, task, 2)
    await world.settled(task)
    await world.review(task, "changes_requested", summary="Too much at once.")
    view = await world.until(task, "pending_split")
    await world.answer(view.prompts[0], {"decision": "approved"})
    for runs in (4, 5):
        await reviewed(world, task, runs)
        await world.settled(task)
        await world.review(task, "approved")
    await world.wait(
        task,
        lambda v: v.task.status == "pr_review" and v.prompts[0].payload["base"] == "main",
        "the final review",
    )
    await world.settled(task)
    await world.review(task, "approved")
    view = await world.until(task, "done")
    pulls = await world.s.store.read(lambda tx: tx.pulls.all_of_task(task.id))
    assert [(p.number, p.state.value) for p in pulls] == [
        (1, "closed"),
        (2, "merged"),
        (3, "merged"),
        (4, "merged"),
    ]
