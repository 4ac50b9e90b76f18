"""The class of an error that agents tell in words alone, as real ones worded it."""

import pytest

from agents_manager.agents import troubles

NOISE = "\ufffd\x1b[31m#<<n"


@pytest.mark.parametrize(
    ("words", "status", "error_class"),
    [
        ("Internal error: terminated terminated", 500, "interrupted"),
        (f"Unexpected token '\ufffd', \"{NOISE}\"... is not valid JSON", 500, "interrupted"),
        ("Model stream ended without a finish reason.", -32603, "interrupted"),
        ("Internal error: Overloaded", -32603, "overloaded"),
        ("The server said nothing useful.", 500, "overloaded"),
        ("The process was terminated by its user.", None, "crash"),
    ],
)
def test_an_error_has_the_class_of_its_words(
    words: str, status: int | None, error_class: str
) -> None:
    assert troubles.classified(words, status) == error_class
