"""The breaker: runs that end the same way and leave the same work halt the task."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents_manager.domain import pipeline
from agents_manager.domain.task import Task
from tests.worlds import World

pytestmark = pytest.mark.slow

AGENTS: Mapping[str, Any] = {
    "id": "loop",
    "name": "Loop",
    "statuses": [
        {"id": "open", "category": "open"},
        {"id": "building", "category": "active"},
        {"id": "judging", "category": "active"},
        {"id": "stuck", "category": "waiting", "prompt": {"type": "choice"}},
        {"id": "done", "category": "final"},
    ],
    "transitions": [
        {"from": "open", "to": "building", "trigger": "manual", "hooks": ["implement"]},
        {"from": "building", "to": "judging", "trigger": "pr_ready", "hooks": ["review"]},
        {
            "from": "judging",
            "to": "building",
            "trigger": "changes_requested",
            "hooks": ["implement"],
        },
        {"from": "judging", "to": "done", "trigger": "approved"},
        {"from": "building", "to": "building", "trigger": "agent_error", "hooks": ["implement"]},
        {"from": "judging", "to": "stuck", "trigger": "agent_error"},
        {"from": "stuck", "to": "building", "trigger": "manual", "hooks": ["implement"]},
    ],
}
PLAIN = ("manual", "agent_error")
MORE = {"comments": [{"comment": "More.", "severity": "must_fix"}], "summary": "No."}
AGAIN = [{"outcome": {"name": "changes_requested", "payload": MORE}}]
NOTHING = [{"outcome": "pr_ready"}]


def line(text: str) -> list[dict[str, Any]]:
    work = {"modify": {"path": "greeting.txt", "append": f"{text}\n"}}
    return [work, {"commit": f"Add {text}"}, {"outcome": "pr_ready"}]


def _transition(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    hooks = [{"type": "start_agent", "params": {"mode": m}} for m in row.get("hooks", ())]
    name = row["trigger"]
    trigger = {"type": name} if name in PLAIN else {"type": "agent_outcome", "outcome": name}
    return {**row, "id": f"t{number}", "trigger": trigger, "hooks": hooks}


async def start(world: World, script: Mapping[str, Any]) -> Task:
    rows = [_transition(n, row) for n, row in enumerate(AGENTS["transitions"])]
    document = {**AGENTS, "transitions": rows}
    parsed, now = pipeline.parse(document), world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))
    return await world.start(script, pipeline="loop")


async def halted(world: World, task: Task) -> str:
    view = await world.wait(task, lambda v: bool(v.prompts), "halted")
    [prompt] = view.prompts
    assert view.run is None
    assert [c["id"] for c in prompt.payload["choices"]][:2] == ["rerun", "onward"]
    [told] = [e for e in await world.events(task) if e.type == "agent.no_progress"]
    assert told.level == "error"
    assert str(prompt.payload["reason"]).startswith("No progress: the last 3 runs")
    return str(prompt.payload["evidence"])


async def test_the_same_work_three_times_in_a_row_halts_the_task(world: World) -> None:
    """Two agents would go on for ever."""
    script = {"implement": [line("one"), NOTHING, NOTHING], "review": [AGAIN, AGAIN, AGAIN]}
    task = await start(world, {**script, "implement": [*script["implement"], line("two")]})
    assert await halted(world, task) == "pr_ready"
    view = await world.view(task)
    assert (view.task.status, len(view.runs)) == ("building", 5)
    assert "No progress" in view.why
    # A person who has it go on takes the outcome as it is, and the count begins anew.
    await world.choose(task, "onward")
    view = await world.wait(task, lambda v: len(v.runs) > 6, "going on")
    assert (await world.types(task)).count("agent.no_progress") == 1


async def test_work_that_changes_is_progress(world: World) -> None:
    approved = [{"outcome": "approved"}]
    builds = [line("one"), line("two"), line("three"), line("four")]
    task = await start(world, {"implement": builds, "review": [AGAIN, AGAIN, AGAIN, approved]})
    await world.until(task, "done")
    assert "agent.no_progress" not in await world.types(task)


async def test_the_same_error_three_times_in_a_row_halts_the_task(world: World) -> None:
    """The numbers in it may differ."""
    fails = [[{"fail": {"message": f"Lost {n}.", "class": "auth"}}] for n in range(3)]
    task = await start(world, {"implement": fails})
    assert await halted(world, task) == "auth: Lost *."
    assert len((await world.view(task)).runs) == 3


async def test_retries_count_as_one(world: World) -> None:
    world.configure({"retries": {"crash": {"tries": 4, "delay": 10, "factor": 1}}})
    crash = [{"crash": 3}]
    builds = [crash, crash, crash, crash, line("one")]
    task = await start(world, {"implement": builds, "review": [[{"outcome": "approved"}]]})
    await world.until(task, "done")
    assert "agent.no_progress" not in await world.types(task)
