"""A text with one value changed parses to the same with that value changed."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents_manager import json_text

KEYS = st.text('ab"\\é.{}', min_size=1, max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a{}",:', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
PLACES = st.lists(KEYS, min_size=1, max_size=3)
INDENTS = st.sampled_from([None, 1, 4])


def put(value: dict[str, Any], place: list[str], new: Any) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    at = changed
    for key in place[:-1]:
        if not isinstance(at.get(key), dict):
            at[key] = {}
        at = at[key]
    at[place[-1]] = new
    return changed


@given(OBJECTS, PLACES, VALUES, INDENTS)
def test_set(value: dict[str, Any], place: list[str], new: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert json.loads(json_text.with_value(text, place, new)) == put(value, place, new)


@given(OBJECTS, PLACES, VALUES, INDENTS)
def test_what_was_set_can_be_taken_out(
    value: dict[str, Any], place: list[str], new: Any, indent: int | None
) -> None:
    value.pop(place[0], None)
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    there = json_text.with_value(text, place, new)
    assert json.loads(json_text.without(there, place)) == value


def test_the_rest_of_the_text_stays_as_it_was() -> None:
    text = '{\n    "a": [1,   2],\n    "b": {"c":1}\n}\n'
    assert json_text.with_value(text, ["b", "d"], True) == text.replace(":1}", ':1, "d": true}')
    assert json_text.with_value(text, ["e"], "x") == text.replace("1}\n", '1},\n    "e": "x"\n')
    assert json_text.without(text, ["b", "c"]) == '{\n    "a": [1,   2]\n}\n'
    assert json_text.without(text, ["nothing"]) == text
