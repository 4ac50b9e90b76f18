from pathlib import Path

import pytest

from tests.hostile.rows import ROWS, SWITCHED_OFF

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_test(row: str) -> None:
    assert all(map(_is_there, ROWS[row])), ROWS[row]


@pytest.mark.parametrize("measure", SWITCHED_OFF)
def test_every_measure_is_switched_off_once(measure: str) -> None:
    assert _is_there(SWITCHED_OFF[measure])


def _is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    text = (TOP / file).read_text()
    return f"def {name}(" in text or (file.endswith(".ts") and name in text)
