"""Work that changes what agents and checks are told is not merged without a person."""

import json
from importlib.resources import files
from typing import Any

from agents_manager.domain import pipeline
from agents_manager.domain.pipeline import PromptType
from tests.worlds import World

HOOKS = [{"type": "push_and_create_pr"}, {"type": "merge_pr"}]


async def by_itself(world: World, hooks: Any = HOOKS, to: str = "merging") -> None:
    """`simple`, where what an agent calls ready is merged."""
    base = json.loads(files("agents_manager").joinpath("pipelines/simple.json").read_text())
    moves = [
        {**t, "to": to, "hooks": hooks} if t["id"] == "ready" else t for t in base["transitions"]
    ]
    document = {**base, "id": "by-itself", "transitions": moves}
    parsed = pipeline.parse(document)
    now = world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


def writing(path: str) -> dict[str, Any]:
    steps = [
        {"write": {"path": path, "text": "{}\n"}},
        {"commit": "Write it"},
        {"outcome": "pr_ready"},
    ]
    return {"implement": [steps]}


async def test_a_pipeline_that_asks_nobody_asks_about_such_files(world: World) -> None:
    await by_itself(world)
    task = await world.start(writing(".claude/settings.json"), pipeline="by-itself")
    view = await world.wait(task, lambda v: v.run is None and bool(v.prompts), "asked")
    assert not (world.repo / ".claude").exists()
    assert view.prompts[0].type is PromptType.CHOICE
    assert "policy.changed" in await world.types(task)
    assert "A person has to approve it." in view.why


async def test_and_merges_all_others(world: World) -> None:
    await by_itself(world)
    task = await world.start(writing("app.json"), pipeline="by-itself")
    await world.until(task, "done")
    assert (world.repo / "app.json").exists()
    assert "policy.changed" not in await world.types(task)


async def test_a_review_names_them_and_a_person_may_approve(world: World) -> None:
    task = await world.start(writing(".claude/settings.json"), pipeline="simple")
    view = await world.until(task, "review")
    await world.settled(task)
    assert view.prompts[0].payload["policy"] == [".claude/settings.json"]
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / ".claude/settings.json").exists()
