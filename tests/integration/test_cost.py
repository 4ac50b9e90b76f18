"""What a run cost is recorded at its end: as reported, computed from its tokens, or unknown."""

from typing import Any

import pytest

from agents_manager.domain.run import CostBasis
from agents_manager.flow.views import TaskView
from tests import worlds

pytestmark = pytest.mark.slow

PRICES = {"m": {"input": 2, "output": 10}}
COUNTED = {"input_tokens": 1_000_000, "output_tokens": 100_000}


async def ended(world: worlds.World, *usages: dict[str, Any], model: str = "m") -> TaskView:
    """A task whose agent reported the usages; where there are two, the second as it was asked to
    mend its outcome."""
    world.configure({"agents": {"scripted": {"model": model}}, "prices": PRICES})
    steps = [
        {"modify": {"path": "greeting.txt", "append": "hello\n"}},
        {"commit": "Say hello"},
        {"usage": usages[-1]},
        {"outcome": "pr_ready"},
    ]
    first = [{"usage": usages[0]}, {"malformed": "<<<OUTCOME:pr_ready>>>{"}]
    visit: Any = {"steps": first, "repair": steps} if len(usages) > 1 else steps
    task = await world.start({"implement": [visit]}, pipeline="simple")
    return await world.until(task, "review")


@pytest.mark.parametrize(
    ("used", "model", "usd", "basis"),
    [
        ({**COUNTED, "cost_usd": 0.5}, "m", 0.5, CostBasis.REPORTED),
        (COUNTED, "m", 3.0, CostBasis.COMPUTED),
        (COUNTED, "claude-opus-4-5-20251101", 7.5, CostBasis.COMPUTED),
        (COUNTED, "nobody-knows", None, None),
    ],
)
async def test_reported_or_computed_or_unknown(
    world: worlds.World,
    used: dict[str, Any],
    model: str,
    usd: float | None,
    basis: CostBasis | None,
) -> None:
    view = await ended(world, used, model=model)
    (run,) = view.runs
    assert (run.cost_usd, run.cost_basis) == (usd, basis)
    told = [e.data for e in await world.events(view.task) if e.type == "agent.completed"]
    assert [data["cost_usd"] for data in told] == [usd]


async def test_turns_are_priced_one_by_one(world: worlds.World) -> None:
    (run,) = (await ended(world, COUNTED, {"cost_usd": 0.5})).runs
    assert (run.cost_usd, run.cost_basis) == (3.5, CostBasis.COMPUTED)


async def test_a_turn_that_lied_makes_the_run_unknown(world: worlds.World) -> None:
    view = await ended(world, {"input_tokens": -1}, {"cost_usd": 0.5})
    assert (view.runs[0].usage, view.runs[0].cost_usd) == (None, None)
    assert "cost.usage_refused" in await world.types(view.task)


async def test_what_cannot_be_is_told_and_counts_as_unknown(world: worlds.World) -> None:
    view = await ended(world, {**COUNTED, "output_tokens": -5, "cost_usd": 0.5})
    (run,) = view.runs
    assert (run.usage, run.cost_usd, run.cost_basis) == (None, None, None)
    (told,) = [e for e in await world.events(view.task) if e.category == "cost"]
    assert told.summary == (
        "What the agent said it used is not believed and counts as unknown: output_tokens is -5."
    )
