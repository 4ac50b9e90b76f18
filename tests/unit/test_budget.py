"""How a budget stands, and how that is said."""

from typing import Any

import pytest

from agents_manager.domain.budget import Budget, BudgetScope


def budget(spent: float, limit: float = 1.0, **fields: Any) -> Budget:
    filled: dict[str, Any] = {"scope": BudgetScope.TASK, "subject": "t", "name": "T", "unknown": 0}
    filled |= {"limit_usd": limit, "spent_usd": spent, "granted_usd": 0.0}
    return Budget(**{**filled, **fields})


@pytest.mark.parametrize(
    ("spent", "near", "reached"),
    [
        (0.0, False, False),
        (0.79, False, False),
        (0.8, True, False),
        (0.99, True, False),
        (1.0, True, True),
        (1.5, True, True),
    ],
)
def test_near_at_four_fifths_and_reached_at_the_limit(
    spent: float, near: bool, reached: bool
) -> None:
    assert (budget(spent).near, budget(spent).reached) == (near, reached)


def test_fractions_that_do_not_add_up_reach_their_sum() -> None:
    assert budget(0.1 * 3, 0.3).reached
    assert budget(sum([0.1] * 10)).reached


def test_what_is_left_is_never_less_than_nothing() -> None:
    assert (budget(0.25).left_usd, budget(1.5).left_usd, budget(1.5).over_usd) == (0.75, 0, 0.5)


def test_it_says_what_is_not_known() -> None:
    said = "The budget of this task is used up: at least $1.00 spent, 2 runs unknown, of $1.00."
    assert budget(1.0, unknown=2).sentence == said
    day = budget(0.9, scope=BudgetScope.DAY, name="2026-03-01", unknown=1)
    said = "The budget of the day 2026-03-01 is used to 90%: at least $0.90 spent, 1 run unknown"
    assert day.sentence == f"{said}, of $1.00."
