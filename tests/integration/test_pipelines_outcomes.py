"""A project's own outcomes: agents are told of them, held to them, and they move the task."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.run import ErrorClass
from agents_manager.errors import InvalidPipeline
from agents_manager.flow import pipelines, tasks
from tests.pipeline_desk import bring, define, shipped
from tests.worlds import ANN, World, working

SCHEMA = {
    "title": "A ticket was filed",
    "description": "You filed a ticket instead of changing code.",
    "type": "object",
    "required": ["ticket"],
    "properties": {"ticket": {"type": "string", "pattern": "^SHOP-[0-9]+$"}},
}


def filing() -> dict[str, Any]:
    """`simple`, where an agent may also end by filing a ticket, which a person then looks at."""
    simple = shipped()
    filed = {
        "from": "in_progress",
        "to": "needs_decision",
        "trigger": {"type": "agent_outcome", "outcome": "ticket_filed"},
    }
    return {**simple, "id": "filing", "transitions": [*simple["transitions"], filed]}


def ends_with(payload: object) -> dict[str, Any]:
    outcome = {"outcome": {"name": "ticket_filed", "payload": payload}}
    return {"implement": [{"steps": [outcome], "repair": [outcome]}]}


async def test_an_agent_is_told_of_the_outcome_and_ends_with_it(world: World) -> None:
    define(world.repo, "ticket_filed", SCHEMA)
    bring(world.repo, "filing.json", filing())
    task = await world.start(ends_with({"ticket": "SHOP-7"}), pipeline="filing")
    view = await world.until(task, "needs_decision")
    run = view.runs[0]
    assert (run.outcome, run.payload) == ("ticket_filed", {"ticket": "SHOP-7"})
    assert "- `ticket_filed`: You filed a ticket instead of changing code. Payload: " in str(
        run.prompt
    )
    assert '"pattern":"^SHOP-[0-9]+$"' in str(run.prompt)
    assert "ticket_filed" in view.prompts[0].payload["reason"]
    await world.choose(task, "finish")
    await world.until(task, "done")


async def test_an_agent_is_held_to_the_schema(world: World) -> None:
    define(world.repo, "ticket_filed", SCHEMA)
    bring(world.repo, "filing.json", filing())
    task = await world.start(ends_with({"ticket": "7"}), pipeline="filing")
    view = await world.until(task, "needs_decision")
    error = view.runs[0].error
    assert error is not None
    assert error.error_class is ErrorClass.BAD_OUTPUT
    assert 'does not fit the pattern "^SHOP-[0-9]+$"' in error.error


async def test_a_broken_outcome_keeps_what_it_said_before(world: World) -> None:
    define(world.repo, "ticket_filed", SCHEMA)
    bring(world.repo, "filing.json", filing())
    await pipelines.reload(world.s, world.project)
    path = define(world.repo, "ticket_filed", '{"type": "object", "reqired": []}')
    (file, broken) = await pipelines.files_of(world.s, world.project)
    assert file.errors == ()
    assert broken.errors == (
        f'{path}, line 1, reqired: the keyword "reqired" is not read. Did you mean "required"?',
    )
    task = await world.start(ends_with({"ticket": "SHOP-7"}), pipeline="filing")
    assert (await world.until(task, "needs_decision")).runs[0].outcome == "ticket_filed"


@pytest.mark.slow
async def test_after_a_restart_runs_that_need_a_broken_outcome_are_refused_with_its_place(
    tmp_path: Path, repo: Path
) -> None:
    define(repo, "ticket_filed", SCHEMA)
    bring(repo, "filing.json", filing())
    async with working(tmp_path / "home", repo) as before:
        task = await before.create(ends_with({"ticket": "SHOP-7"}), pipeline="filing")
        nothing = {"name": "no_changes", "payload": {"reason": "It is there."}}
        other = await before.create({"implement": [[{"outcome": nothing}]]}, pipeline="simple")
    path = define(repo, "ticket_filed", '{\n"type": "object",\n"reqired": []}')
    async with working(tmp_path / "home", repo) as world:
        for one in (task, other):
            await tasks.move(world.s, one.id, ANN)
        refused = (await world.until(task, "needs_decision")).runs[0].error
        assert refused is not None
        assert refused.error_class is ErrorClass.ENVIRONMENT
        assert f'{path}, line 3, reqired: the keyword "reqired" is not read.' in refused.error
        # A run that does not need it is none of its business.
        assert (await world.until(other, "needs_decision")).runs[0].error is None
        define(repo, "ticket_filed", SCHEMA)
        await world.choose(task, "again")
        view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "run again")
        assert view.runs[1].outcome == "ticket_filed"


async def test_a_removed_outcome_refuses_runs_in_a_sentence(world: World) -> None:
    path = define(world.repo, "ticket_filed", SCHEMA)
    bring(world.repo, "filing.json", filing())
    task = await world.create(ends_with({"ticket": "SHOP-7"}), pipeline="filing")
    path.unlink()
    await tasks.move(world.s, task.id, ANN)
    view = await world.until(task, "needs_decision")
    error = view.runs[0].error
    assert error is not None
    assert error.error_class is ErrorClass.ENVIRONMENT
    assert 'defines the outcome "ticket_filed" any more' in error.error


@pytest.mark.parametrize(
    ("name", "schema", "says"),
    [
        ("ticket_filed", "{", "cannot be read"),
        ("ticket_filed", {"type": "object", "not": {"$ref": "http://x"}}, "no place in this file"),
        ("ticket_filed", "x" * 5_000_000, "5000000 bytes"),
        ("pr_ready", SCHEMA, "is built in"),
        ("plan_ready", SCHEMA, "is built in"),
        ("Ticket Filed", SCHEMA, "small letters"),
    ],
)
async def test_a_pipeline_that_needs_a_broken_outcome_is_refused_with_the_reason(
    world: World, name: str, schema: object, says: str
) -> None:
    path = define(world.repo, name, schema)
    bring(world.repo, "filing.json", filing())
    with pytest.raises(InvalidPipeline) as refused:
        await world.create({}, pipeline="filing")
    told = " ".join(refused.value.details)
    assert 'There is no outcome "ticket_filed"' in told
    assert str(path) in told
    assert says in told


async def test_other_projects_and_shared_pipelines_do_not_know_it(world: World) -> None:
    define(world.repo, "ticket_filed", SCHEMA)
    with pytest.raises(InvalidPipeline) as refused:
        await pipelines.add(world.s, filing())
    assert 'There is no outcome "ticket_filed"' in refused.value.details[0]
