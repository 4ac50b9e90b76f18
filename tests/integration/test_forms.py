"""An outcome of a project asks a person with a form: from the agent that ends with it to the agent
that is told the answer."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.errors import InvalidAnswer, InvalidPipeline, PromptAlreadyAnswered
from agents_manager.flow import prompts, undoing
from tests.forms import OUTCOME, PIPELINE, PLANNED, RELEASE, SUGGESTING, VALUE, bring_form
from tests.pipeline_desk import define
from tests.worlds import ANN, BOB, World, working


def plans(payload: object = PLANNED) -> dict[str, Any]:
    first = [{"outcome": {"name": OUTCOME, "payload": payload}}]
    return {"implement": [first, [{"outcome": "no_changes"}]]}


async def waiting(world: World, payload: object = PLANNED) -> Prompt:
    bring_form(world.repo)
    task = await world.start(plans(payload), pipeline=PIPELINE)
    [prompt] = (await world.until(task, "needs_info")).prompts
    return prompt


async def test_a_form_is_asked_refused_answered_and_told_to_the_agent(world: World) -> None:
    prompt = await waiting(world)
    task = await world.s.store.read(lambda tx: tx.tasks.get(prompt.task_id))
    assert prompt.type is PromptType.INFO_REQUEST
    assert prompt.payload == {
        "outcome": OUTCOME,
        "title": "Which release?",
        "reported": PLANNED,
        "schema": RELEASE["answer"],
        "value": None,
    }
    asked = next(e for e in await world.events(task) if e.type == "prompt_created")
    assert asked.summary == (
        "Waiting for a person (info_request): Which release? Search, and a fix."
    )
    with pytest.raises(InvalidAnswer, match="nothing recommended"):
        await prompts.accept(world.s, prompt.id, ANN)
    with pytest.raises(InvalidAnswer) as refused:
        await world.answer(prompt, {"value": {"version": "one", "chanel": "beta"}})
    assert list(refused.value.details) == [
        'value.chanel: there is no such field. Did you mean "channel"?',
        'value.version: does not fit the pattern "^[0-9]+[.][0-9]+$"',
        "value.announce: is missing",
    ]
    assert (await world.view(task)).prompts == [prompt]

    await world.answer(prompt, {"value": {**VALUE, "notes": "First\nsecond", "labels": ["a"]}})
    view = await world.until(task, "needs_decision")
    told = str(view.runs[1].prompt)
    assert (
        "You ended with release_planned. A person was asked: Which release?\n"
        "- Summary: Search, and a fix.\n"
        "- Changes: search, a fix\n"
        "Answer:\n"
        "- Version: 1.2\n"
        "- Tell the list: no\n"
        "- Notes: First\n"
        "  second\n"
        "- Labels: a"
    ) in told
    with pytest.raises(PromptAlreadyAnswered, match=r"Version: 1\.2; Announce: no; Notes"):
        await prompts.answer(world.s, prompt.id, {"value": VALUE}, BOB)


async def test_what_the_agent_suggests_is_accepted(world: World) -> None:
    prompt = await waiting(world, SUGGESTING)
    assert prompt.payload["reported"] == PLANNED
    assert prompt.payload["value"] == VALUE
    done = await prompts.accept(world.s, prompt.id, ANN)
    assert done.prompt.response == {"value": VALUE}


async def test_an_agent_is_told_the_form_and_held_to_it(world: World) -> None:
    bring_form(world.repo)
    wrong = {**PLANNED, "suggested_answer": {"version": "1.2"}}
    script = {
        "implement": [
            {
                "steps": plans(wrong)["implement"][0],
                "repair": [{"outcome": {"name": OUTCOME, "payload": PLANNED}}],
            }
        ]
    }
    task = await world.start(script, pipeline=PIPELINE)
    view = await world.until(task, "needs_info")
    assert '"suggested_answer":{"title":"Which release?"' in str(view.runs[0].prompt)
    assert view.prompts[0].payload["value"] is None


async def test_an_answer_is_taken_back_and_the_form_is_open_again(world: World) -> None:
    prompt = await waiting(world)
    await prompts.answer(world.s, prompt.id, {"value": VALUE}, ANN, delay_s=60)
    done = await undoing.undo(world.s, prompt.id, ANN)
    assert (done.prompt.status, done.prompt.revision) == (PromptStatus.PENDING, 2)
    assert done.prompt.payload == prompt.payload


@pytest.mark.slow
async def test_after_a_restart_the_form_is_the_one_that_was_asked(
    tmp_path: Path, repo: Path
) -> None:
    async with working(tmp_path / "home", repo) as before:
        prompt = await waiting(before)
    (repo / ".agents-manager" / "outcomes" / f"{OUTCOME}.json").write_text("{")
    async with working(tmp_path / "home", repo) as world:
        with pytest.raises(InvalidAnswer):
            await world.answer(prompt, {"value": {}})
        define(repo, OUTCOME, RELEASE)
        await world.answer(prompt, {"value": VALUE})
        task = await world.s.store.read(lambda tx: tx.tasks.get(prompt.task_id))
        await world.until(task, "needs_decision")


async def test_a_broken_form_is_refused_with_file_and_place(world: World) -> None:
    bring_form(world.repo)
    path = define(world.repo, OUTCOME, {**RELEASE, "answer": {"type": "object"}})
    with pytest.raises(InvalidPipeline) as refused:
        await world.create({}, pipeline=PIPELINE)
    assert refused.value.details[-1] == (
        f"{path}, line 19, answer.properties: name at least one field"
    )


async def test_without_a_form_the_outcome_asks_nothing(world: World) -> None:
    bring_form(world.repo)
    define(world.repo, OUTCOME, {k: v for k, v in RELEASE.items() if k != "answer"})
    with pytest.raises(InvalidPipeline) as refused:
        await world.create({}, pipeline=PIPELINE)
    told = " ".join(refused.value.details)
    assert "brings no info_request" in told
    assert 'an outcome of a project asks if it has an "answer"' in told
