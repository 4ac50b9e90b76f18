"""An agent reviews first: read-only, in a session of its own, and never the last to decide."""

from typing import Any

import pytest

from agents_manager.cli.pages import prompt as pages
from agents_manager.domain import simulation_script
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.simulate import simulate
from agents_manager.errors import InvalidAnswer
from agents_manager.flow import tasks
from agents_manager.flow.views import TaskView
from tests.integration.test_built_in_pipelines import built_in, says, work
from tests.pipeline_walks import REGISTRY
from tests.worlds import World

COMMENT = {"file": "work.txt", "line": 1, "severity": "must_fix", "comment": "Say it in full."}
OBJECTS = [
    {
        "outcome": {
            "name": "changes_requested",
            "payload": {"summary": "Too short.", "comments": [COMMENT]},
        }
    }
]


async def reviewed(
    world: World, *reviews: Any, status: str = "pr_review", **review: Any
) -> TaskView:
    """The task, once its work was reviewed by an agent."""
    agents = {"critic": {"adapter": "scripted"}}
    lint = {"command": "false", "severity": "warning"}
    chosen = {"agent": "critic", **review}
    world.configure({"agents": agents, "review": chosen, "checks": {"lint": lint}})
    world.project = await tasks.trust_project(world.s, world.project)
    script = {
        "plan": [says("plan_complete")],
        "implement": [work("one"), work("two")],
        "review": list(reviews),
    }
    task = await world.start(script, pipeline="feature")
    await world.until(task, "planned")
    await world.review(task, "approved")
    return await world.until(task, status)


@pytest.mark.slow
async def test_what_an_agent_objects_to_goes_back_with_the_admins_word(world: World) -> None:
    view = await reviewed(world, OBJECTS, says("approved"))
    task, prompt = view.task, view.prompts[0]
    author, critic = view.runs[-2:]
    assert (critic.mode, critic.agent, critic.outcome) == ("review", "critic", "changes_requested")
    assert author.session
    assert critic.session != author.session
    assert "checks that failed: lint (exit code 1)" in (critic.prompt or "")
    assert prompt.payload["warnings"] == ["lint (exit code 1)"]
    assert prompt.payload["review"]["decision"] == "changes_requested"
    assert prompt.payload["review"]["comments"][0]["file"] == "work.txt"
    told = [e for e in await world.events(task) if e.type == "review_submitted"][-1]
    assert told.summary == "critic asked for changes with 1 comment: Too short."
    assert told.data["head_sha"] == author.head_sha
    ways = pages.ways(prompt, task)
    assert ways[0].endswith("--send-back   # Send back for rework")
    assert ways[-1].endswith("--approve   # Approve anyway")

    await world.review(task, "changes_requested")
    view = await world.until(task, "pr_review")
    rework = view.runs[-2]
    assert "[Must Fix] [Open] work.txt:1 - critic: Say it in full." in (rework.prompt or "")
    assert (rework.agent, rework.session) == ("scripted", author.session), "its author goes on"
    assert view.prompts[0].payload["review"]["decision"] == "approved"
    with pytest.raises(InvalidAnswer):
        await world.review(task, "changes_requested")
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "work.txt").read_text() == "two\n"


async def test_an_admin_approves_anyway(world: World) -> None:
    view = await reviewed(world, OBJECTS)
    await world.review(view.task, "approved")
    await world.until(view.task, "done")


async def test_a_review_without_a_verdict_approves_nothing(world: World) -> None:
    view = await reviewed(world, [{"say": "Fine by me."}], status="failed")
    assert view.runs[-1].error is not None
    assert view.runs[-1].error.error_class is ErrorClass.BAD_OUTPUT
    assert "review_submitted" not in (await world.types(view.task))[-6:]


async def test_silence_is_consent_only_where_a_project_says_so_and_a_person_decides(
    world: World,
) -> None:
    view = await reviewed(world, [{"say": "Fine by me."}], assumeApproved=True)
    assert view.prompts[0].payload["review"]["decision"] == "approved"


@pytest.mark.slow
async def test_a_reviewer_that_changes_the_work_is_not_listened_to(world: World) -> None:
    view = await reviewed(world, [*work("mine")[:2], *says("approved")], status="failed")
    assert view.runs[-1].error is not None
    assert "The agent changed the branch" in view.runs[-1].error.error
    assert view.pull is not None
    assert view.pull.state == "open"


def test_a_simulation_has_a_reviewer_where_it_says_so() -> None:
    start: list[Any] = ["start", {"outcome": "plan_complete"}, {"review": "approved"}]
    ready: list[Any] = [*start, {"outcome": "pr_ready"}]
    feature = built_in("feature")
    assert simulate(feature, REGISTRY, simulation_script.parse(ready)).status == "pr_review"
    steps = simulation_script.parse([{"reviewer": True}, *ready])
    assert simulate(feature, REGISTRY, steps).status == "agent_review"
