import json
from typing import Any

import pytest

from agents_manager.domain import strict_json


def loads(text: str, *, max_bytes: int = 100_000, max_depth: int = 32) -> Any:
    return strict_json.loads(text, max_bytes=max_bytes, max_depth=max_depth)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param('{"a": 1, "a": 2}', 'the key "a" stands there twice', id="duplicate-key"),
        pytest.param('[{"b": {"a": 1, "a": 1}}]', "stands there twice", id="duplicate-key-inside"),
        pytest.param('{"a": 1, "\\u0061": 2}', "stands there twice", id="duplicate-key-escaped"),
        pytest.param("NaN", "NaN is not JSON", id="nan"),
        pytest.param("[Infinity]", "Infinity is not JSON", id="infinity"),
        pytest.param("[-Infinity]", "-Infinity is not JSON", id="minus-infinity"),
        pytest.param("1e999", "a number is too large", id="float-over"),
        pytest.param("-1e999", "a number is too large", id="float-under"),
        pytest.param("9" * 10_000, "beyond 64 bits", id="ten-thousand-digits"),
        pytest.param("9223372036854775808", "beyond 64 bits", id="one-over-64-bits"),
        pytest.param("-9223372036854775809", "beyond 64 bits", id="one-under-64-bits"),
        pytest.param('"\\ud800"', "half a surrogate pair", id="lone-surrogate-escaped"),
        pytest.param('{"\\udc00": 1}', "half a surrogate pair", id="lone-surrogate-in-key"),
        pytest.param('["\ud800"]', "half a surrogate pair", id="lone-surrogate-raw"),
        pytest.param('[["\\u0000"]]', "NUL", id="nul-escaped"),
        pytest.param('{"a\\u0000": 1}', "NUL", id="nul-in-key"),
        pytest.param("", "Expecting value at line 1, column 1", id="empty"),
        pytest.param('{"a": 1,\n "b": }', "at line 2, column 7", id="place-is-named"),
        pytest.param('{"a": "b', "Unterminated string", id="cut-off"),
        pytest.param("{} {}", "Extra data", id="two-values"),
        pytest.param("\ufeff{}", "BOM", id="byte-order-mark"),
        pytest.param('"a\nb"', "control character", id="raw-line-break-in-text"),
        pytest.param("{'a': 1}", "double quotes", id="single-quotes"),
    ],
)
def test_refused_with_its_fault(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="arrays"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="closed-arrays"),
        pytest.param('{"a":' * 100_000, id="objects"),
        pytest.param("]" * 100_000 + "[" * 100_000, id="closed-before-opened"),
    ],
)
def test_depth_of_a_hundred_thousand_is_refused_and_not_climbed(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested deeper than 32 levels|Expecting value"):
        loads(text, max_bytes=10_000_000)


def test_depth_is_counted_in_structure_not_in_text() -> None:
    text = json.dumps({"a": '[[[{{{"\\' * 50})
    assert loads(text, max_depth=1) == json.loads(text)


def test_depth_at_the_limit_passes_and_one_more_does_not() -> None:
    assert loads("[[[]]]", max_depth=3) == [[[]]]
    with pytest.raises(ValueError, match="nested deeper than 2 levels"):
        loads("[[[]]]", max_depth=2)


def test_size_is_counted_in_bytes() -> None:
    assert loads('"ää"', max_bytes=6) == "ää"
    with pytest.raises(ValueError, match="6 bytes are over the limit of 5"):
        loads('"ää"', max_bytes=5)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(9223372036854775807, id="largest"),
        pytest.param(-9223372036854775808, id="smallest"),
        pytest.param([1.5, -0.0, 1e308], id="floats"),
        pytest.param({"emoji": "🙂", "separators": "\u2028\u0085", "": None}, id="text"),
        pytest.param([True, False, None, [], {}, ""], id="the-rest"),
    ],
)
def test_what_is_sound_comes_back_unchanged(value: Any) -> None:
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False)) == value
