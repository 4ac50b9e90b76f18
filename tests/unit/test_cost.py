"""What a run costs: as reported, else by the prices of its tokens, else unknown; never nothing."""

import json
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import pytest
from pydantic import ValidationError

from agents_manager.domain import cost
from agents_manager.domain.cost import Price, PriceTable
from agents_manager.domain.run import Cost, CostBasis, Usage
from agents_manager.errors import InvalidInput
from agents_manager.flow import figures

PRICES = {
    "m": Price(input=2, output=10, cache_read=0.5, cache_write=3),
    "plain": Price(input=2, output=10),
    "m-2026-01-01": Price(input=1, output=1),
}
MILLION = 1_000_000


def computed(usd: float) -> Cost:
    return Cost(usd=usd, basis=CostBasis.COMPUTED)


def test_what_the_agent_reports_counts() -> None:
    used = Usage(input_tokens=MILLION, output_tokens=MILLION, cost_usd=0.25)
    assert cost.of_turn(used, "m", PRICES) == Cost(usd=0.25, basis=CostBasis.REPORTED)
    free = Usage(cost_usd=0)
    assert cost.of_turn(free, None, {}) == Cost(usd=0, basis=CostBasis.REPORTED)


def test_else_each_kind_of_tokens_has_its_price() -> None:
    used = Usage(
        input_tokens=MILLION,
        output_tokens=2 * MILLION,
        cache_read_tokens=4 * MILLION,
        cache_write_tokens=MILLION,
    )
    assert cost.of_turn(used, "m", PRICES) == computed(2 + 20 + 2 + 3)
    assert cost.of_turn(Usage(input_tokens=10, output_tokens=5), "m", PRICES) == computed(7e-5)
    assert cost.of_turn(Usage(input_tokens=0, output_tokens=0), "m", PRICES) == computed(0)


def test_a_model_is_also_known_with_the_day_of_its_release() -> None:
    used = Usage(input_tokens=MILLION, output_tokens=0)
    assert cost.of_turn(used, "m-20260101", PRICES) == computed(2)
    assert cost.of_turn(used, "m-2026-01-01", PRICES) == computed(1)
    assert cost.of_turn(used, "m-2026-01", PRICES) is None


@pytest.mark.parametrize(
    ("used", "model"),
    [
        pytest.param(None, "m", id="no usage"),
        pytest.param(Usage(), "m", id="no tokens"),
        pytest.param(Usage(input_tokens=1), "m", id="no output"),
        pytest.param(Usage(output_tokens=1), "m", id="no input"),
        pytest.param(Usage(input_tokens=1, output_tokens=1), None, id="no model"),
        pytest.param(Usage(input_tokens=1, output_tokens=1), "other", id="unknown model"),
        pytest.param(
            Usage(input_tokens=1, output_tokens=1, cache_read_tokens=1), "plain", id="cache read"
        ),
        pytest.param(
            Usage(input_tokens=1, output_tokens=1, cache_write_tokens=1), "plain", id="cache write"
        ),
    ],
)
def test_else_it_is_unknown(used: Usage | None, model: str | None) -> None:
    assert cost.of_turn(used, model, PRICES) is None


def test_a_price_for_caches_is_needed_only_by_runs_that_used_them() -> None:
    used = Usage(input_tokens=MILLION, output_tokens=0, cache_read_tokens=0)
    assert cost.of_turn(used, "plain", PRICES) == computed(2)


def test_turns_together_are_as_unknown_as_one_of_them() -> None:
    said = Cost(usd=0.5, basis=CostBasis.REPORTED)
    assert cost.together([said, said]) == Cost(usd=1, basis=CostBasis.REPORTED)
    assert cost.together([said, computed(0.25)]) == computed(0.75)
    assert cost.together([said, None]) is None
    assert cost.together([]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"input": -1},
        {"output": float("nan")},
        {"cacheRead": float("inf")},
        {"input": "3"},
        {"x": 1},
    ],
)
def test_nonsense_is_no_price(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate({"input": 1, "output": 1, **wrong})


def test_the_table_of_the_product_is_dated_and_whole() -> None:
    text = resources.files("agents_manager").joinpath("prices.json").read_text()
    table = PriceTable.model_validate_json(text)
    assert table.source
    for model, price in table.models.items():
        assert None not in (price.cache_read, price.cache_write), model
        assert 0 < (price.cache_read or 0) < price.input < price.output, model
    assert list(json.loads(text)["models"]) == sorted(table.models)


NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2d", datetime(2026, 3, 8, 12, 30, tzinfo=UTC)),
        ("12h", datetime(2026, 3, 10, 0, 30, tzinfo=UTC)),
    ],
)
def test_times_to_count_from(said: str, means: datetime) -> None:
    assert figures.since(said, NOW) == means


@pytest.mark.parametrize("said", ["", "yesterday", "2026-02-30", "3w", "-1d", "99999999d", "٣d"])
def test_what_is_no_time_is_refused_with_the_way_out(said: str) -> None:
    with pytest.raises(InvalidInput, match="such as 2026-03-01") as caught:
        figures.since(said, NOW)
    assert f'"{said}"' in caught.value.message


def test_prices_know_the_models_that_gemini_uses_by_default() -> None:
    table = PriceTable.model_validate_json(
        resources.files("agents_manager").joinpath("prices.json").read_text(encoding="utf-8")
    )
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=10_000)
    for model in ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview"):
        found = cost.of_turn(usage, model, table.models)
        assert found is not None, model
        assert found.usd > 0
