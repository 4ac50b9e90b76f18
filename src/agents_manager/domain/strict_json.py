"""JSON from outside, bounded before it is parsed and refused where databases or readers differ:
too large, too deep, too many keys or one twice, NaN, numbers beyond 64 bits, lone surrogates,
NUL."""

import json
from typing import Any, cast

MIN_INT, MAX_INT = -(2**63), 2**63 - 1
MAX_KEYS = 10_000
"""Of one object: more than anybody means, and each that is unknown would be named."""


def loads(text: str, *, max_bytes: int, max_depth: int) -> Any:
    """The value, or ValueError with a sentence that names the fault."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise ValueError(f"{size} bytes are over the limit of {max_bytes}")
    _check_depth(text, max_depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_int=_bounded_int,
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    check_text(value)
    return value


def check_text(value: Any) -> None:
    """Refuses text that no database stores: lone surrogates and NUL."""
    if isinstance(value, str):
        if "\x00" in value:
            raise ValueError("a text holds a NUL character")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("a text holds half a surrogate pair") from None
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            check_text(key)
            check_text(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            check_text(item)


def _check_depth(text: str, limit: int) -> None:
    depth = 0
    in_string = escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > limit:
                raise ValueError(f"nested deeper than {limit} levels")
        elif char in "]}":
            depth -= 1


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_KEYS:
        raise ValueError(f"an object has more than {MAX_KEYS} keys")
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key "{key}" stands there twice')
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _bounded_int(digits: str) -> int:
    if len(digits) > 20 or not MIN_INT <= int(digits) <= MAX_INT:
        raise ValueError("a number is beyond 64 bits")
    return int(digits)


def _finite_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return value
