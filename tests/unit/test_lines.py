"""Where a line stands after a change, and that it is the same line."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents_manager.domain.lines import Hunk, hunks, moved

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "@@ -1 +1 @@", "}", ""]), max_size=12)


@pytest.mark.parametrize(
    ("line", "change", "now"),
    [
        (3, [], 3),
        (3, [Hunk(0, 0, 2)], 5),
        (3, [Hunk(2, 0, 1)], 4),
        (3, [Hunk(3, 0, 1)], 3),
        (3, [Hunk(3, 1, 1)], None),
        (3, [Hunk(2, 2, 0)], None),
        (3, [Hunk(1, 2, 0)], 1),
        (3, [Hunk(4, 2, 9)], 3),
        (9, [Hunk(1, 1, 3), Hunk(5, 2, 0), Hunk(9, 0, 4)], 9),
    ],
)
def test_a_line_is_moved_by_what_happened_above_it(
    line: int, change: list[Hunk], now: int | None
) -> None:
    assert moved(line, change) == now


def test_hunks_are_read_and_nothing_else() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@ def f():\n-@@ -9 +9 @@\n+@@\n@@ -4,0 +6 @@\n+x\n"
    assert hunks(patch) == [Hunk(1, 1, 2), Hunk(4, 0, 1)]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=TEXTS, after=TEXTS)
def test_what_git_says_of_any_two_files_keeps_each_line(
    tmp_path: Path, before: list[str], after: list[str]
) -> None:
    for name, lines in (("old", before), ("new", after)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    told = subprocess.run(
        ["git", "diff", "--no-index", "--unified=0", "--no-color", "old", "new"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    change = hunks(told.stdout)
    there = [moved(number, change) for number in range(1, len(before) + 1)]
    kept = [number for number in there if number is not None]
    assert kept == sorted(set(kept))
    for line, now in zip(before, there, strict=True):
        assert now is None or after[now - 1] == line
    assert len(before) - len(kept) == sum(hunk.lines for hunk in change)
