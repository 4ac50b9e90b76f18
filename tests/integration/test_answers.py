"""Answering: the first one wins, wrong ones are refused whole, the same one twice counts once."""

import asyncio

import pytest

from agents_manager.domain.prompt import PromptStatus
from agents_manager.errors import (
    InvalidAnswer,
    PromptAlreadyAnswered,
    PromptClosed,
    PromptNotFound,
    TransitionRefused,
)
from agents_manager.flow import prompts, tasks
from tests.worlds import ANN, BOB, GREETING, World

QUESTION = {
    "plan": [
        [
            {
                "ask": {
                    "questions": [
                        {"id": "lang", "question": "Which language?", "options": ["C", "Go"]},
                        {"id": "why", "question": "Why?"},
                    ]
                }
            }
        ],
        [{"say": "# Plan"}, {"outcome": "plan_complete"}],
    ]
}
RIGHT = {"answers": [{"question_id": "why", "text": "fun"}, {"question_id": "lang", "option": 1}]}


async def asked(world: World) -> tuple[tasks.Task, prompts.Prompt]:
    task = await world.start(QUESTION)
    return task, (await world.until(task, "needs_info")).prompts[0]


async def test_of_two_answers_at_once_exactly_one_wins(world: World) -> None:
    task, prompt = await asked(world)
    results = await asyncio.gather(
        *(prompts.answer(world.s, prompt.id, RIGHT, who) for who in (ANN, BOB) for _ in range(4)),
        return_exceptions=True,
    )
    won = [r for r in results if isinstance(r, prompts.Answered)]
    lost = [r for r in results if isinstance(r, PromptAlreadyAnswered)]
    assert (len(won), len(lost)) == (1, 7)
    assert str(won[0].prompt.responded_by) in lost[0].message
    assert "Go; fun" in lost[0].message
    await world.until(task, "planned")
    assert (await world.types(task)).count("prompt_response") == 1


async def test_the_same_answer_under_one_key_is_applied_once(world: World) -> None:
    task, prompt = await asked(world)
    first = await world.answer(prompt, RIGHT, key="k1")
    again = await world.answer(prompt, RIGHT, key="k1")
    assert (first.repeated, again.repeated) == (False, True)
    with pytest.raises(PromptAlreadyAnswered):
        await world.answer(prompt, RIGHT, key="k2")
    await world.until(task, "planned")
    assert len((await world.view(task)).runs) == 2


async def test_a_wrong_answer_changes_nothing(world: World) -> None:
    task, prompt = await asked(world)
    before = await world.events(task)
    wrong = {
        "answers": [{"question_id": "lang", "option": "Rust"}, {"question_id": "wy", "text": "x"}]
    }
    with pytest.raises(InvalidAnswer) as refused:
        await world.answer(prompt, wrong)
    assert refused.value.details == (
        'question "lang" has no option \'Rust\'; it has "C", "Go"',
        'there is no question "wy". Did you mean "why"?',
        'question "why" is not answered',
    )
    with pytest.raises(InvalidAnswer, match="nothing recommended"):
        await prompts.accept(world.s, prompt.id, ANN)
    assert await world.events(task) == before
    assert (await world.view(task)).prompts[0].status is PromptStatus.PENDING


async def test_an_answer_to_a_question_the_task_has_left(world: World) -> None:
    task, prompt = await asked(world)
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    with pytest.raises(PromptClosed, match="was cancelled"):
        await world.answer(prompt, RIGHT)


@pytest.mark.slow
async def test_an_answer_that_the_pipeline_refuses_leaves_the_question_open(world: World) -> None:
    """The cap on plan rounds refuses the sixth rework; the review can still be approved."""
    task = await world.start({"plan": [[{"say": "# Plan"}, {"outcome": "plan_complete"}]]})
    for done in range(5):
        await world.wait(task, lambda v, n=done: bool(v.prompts) and len(v.runs) == n + 1, "a plan")
        await world.review(task, "changes_requested", summary="Once more.")
    await world.wait(task, lambda v: bool(v.prompts) and len(v.runs) == 6, "the last plan")
    with pytest.raises(TransitionRefused) as refused:
        await world.review(task, "changes_requested", summary="And again.")
    assert refused.value.details == (
        'To "in_progress": The review says changes_requested.',
        'To "planning": Maximum review iterations (5) reached. Manual intervention required.',
    )
    view = await world.view(task)
    assert view.task.status == "planned"
    assert view.prompts[0].status is PromptStatus.PENDING
    assert (await world.history(task))[-1].result == "refused"
    await world.review(task, "approved")
    await world.until(task, "pr_review")


@pytest.mark.slow
async def test_the_cap_on_rework_asks_a_person_and_a_grant_goes_on(world: World) -> None:
    task = await world.start({"plan": [[{"say": "p"}, {"outcome": "plan_complete"}]], **GREETING})
    await world.until(task, "planned")
    await world.review(task, "approved")
    for done in range(6):
        await world.wait(
            task,
            lambda v, n=done: v.task.status == "pr_review" and len(v.runs) == n + 2,
            f"review {done}",
        )
        await world.review(task, "changes_requested", summary="More.")
    view = await world.wait(task, lambda v: bool(v.prompts), "the cap")
    assert view.task.status == "changes_requested"
    assert view.prompts[0].payload["reason"] == (
        "Maximum review iterations (5) reached. Manual intervention required."
    )
    await world.choose(task, "grant")
    await world.until(task, "pr_review")


async def test_unknown_prompts_and_reviews_nobody_waits_for(world: World) -> None:
    task = await world.create(GREETING)
    with pytest.raises(PromptNotFound):
        await prompts.answer(world.s, "nonesuch", RIGHT, ANN)
    with pytest.raises(PromptNotFound, match="does not wait for a review"):
        await world.review(task, "approved")
