from pathlib import Path

import pytest

from tests.hostile.rows import ROWS

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_a_test(row: str) -> None:
    for test in ROWS[row]:
        file, _, name = test.partition("::")
        text = (TOP / file).read_text()
        assert f"def {name}(" in text or (file.endswith(".ts") and name in text), test
