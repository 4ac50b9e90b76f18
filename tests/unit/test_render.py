"""What people read: aligned, in words, and without a character that steers their terminal."""

import os
import pty
import sys
from datetime import UTC, datetime, timedelta

import pytest

from agents_manager.cli import render
from agents_manager.cli.render import Line, Table

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nwith ünïcödé 👩‍💻", "plain\ttext\nwith ünïcödé 👩‍💻"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("a\u202eb\u2066c\u061c\u200f", "a\\u202eb\\u2066c\\u061c\\u200f"),
        ("line\u2028two", "line\\u2028two"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half \ud83d", "half \\ud83d"),
        ("windows\r\nlines, old\rmac", "windows\nlines, old\\x0dmac"),
    ],
)
def test_control_characters_are_shown_instead_of_obeyed(text: str, shown: str) -> None:
    assert render.clean(text) == shown
    assert render.clean(shown) == shown


def test_tables_are_aligned_by_the_columns_that_characters_take() -> None:
    table = Table(("ID", "TITLE", "X"), [("1", "日本", "a"), ("22", "e\u0301t\x1b", "")], indent=2)
    assert render.to_text([Line("Tasks"), table]) == (
        "Tasks\n"
        "  ID  TITLE   X\n"
        "  1   日本    a\n"
        "  22  e\u0301t\\x1b"
    )  # fmt: skip


def test_a_cell_stays_on_one_line() -> None:
    assert render.to_text([Table(("A",), [("one\ntwo\t three",)])]) == "A\none two three"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "just now"),
        (4, "just now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7200, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_times_are_relative(seconds: float, said: str) -> None:
    assert render.ago(NOW - timedelta(seconds=seconds), NOW) == said


def test_an_unknown_cost_is_not_nothing() -> None:
    assert render.money(None) == "unknown"
    assert render.money(0.0) == "$0.00"


def test_long_texts_are_cut_with_a_word_about_the_rest() -> None:
    shown = render.excerpt("\n".join("abcdef"), 3, indent=1)
    assert [line.text for line in shown] == [" a", " b", " c", " … 3 more lines (--json shows all)"]
    assert len(render.excerpt("a\nb", 1)) == 2


def test_prose_is_cut_where_a_terminal_is_too_narrow(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("1a2b3c4d", "A long title that does not fit into the line", "shop")]
    render.to_terminal([Table(("ID", "TITLE", "PROJECT"), rows, cut=("TITLE",))])
    _, line = capsys.readouterr().out.splitlines()
    assert line.split() == ["1a2b3c4d", "A", "long", "title", "that", "do…", "shop"]
    assert rows[0][1] in render.to_text([Table(("ID", "TITLE", "PROJECT"), rows, cut=("TITLE",))])


def test_what_costs_less_than_a_cent_is_not_nothing() -> None:
    shown = [render.money(usd) for usd in (None, 0.0, 0.0004, 0.01, 12.5)]
    assert shown == ["unknown", "$0.00", "$0.0004", "$0.01", "$12.50"]


def test_a_table_in_a_pipe_is_as_wide_as_its_columns_of_prose_allow() -> None:
    table = Table(("ID", "TITLE"), [("1", "a" * 60), ("2", "b")], cut=("TITLE",))
    assert render.to_text([table], 20) == f"ID  TITLE\n1   {'a' * 15}…\n2   b"
    ids = Table(("ID", "TITLE"), [("1" * 30, "a" * 60)], cut=("TITLE",))
    assert render.to_text([ids], 20).splitlines()[1] == f"{'1' * 30}  {'a' * 7}…"
    assert render.to_text([Line("x" * 60)], 20) == "x" * 60


def test_a_terminal_without_a_size_does_not_narrow_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert os.get_terminal_size(theirs).columns == 0
        assert render.pipe_width() == render.PIPE_WIDTH


def test_lines_in_a_pipe_are_broken_between_words_and_keep_their_indent() -> None:
    assert render.to_text([Line("  one two three")], 9) == "  one two\n  three"
    assert render.to_text([Line("one averylongword three")], 9) == "one\naverylongword\nthree"
    assert render.to_text([Line("Why    one two three")], 14) == "Why    one two\n       three"
    assert render.to_text([Line("one two three")]) == "one two three"


@pytest.mark.parametrize(
    "line",
    [
        Line("  am prompt answer 77d0 --option 2   # Review as it is"),
        Line("a line of code", verbatim=True),
    ],
)
def test_commands_and_code_in_a_pipe_are_not_broken(line: Line) -> None:
    assert render.to_text([line], 9) == line.text


def test_a_command_in_a_sentence_is_not_broken() -> None:
    text = 'To look at it, run "am task show 3f2a" again.'
    assert render.to_text([Line(text)], 20) == 'To look at it, run\n"am task show 3f2a"\nagain.'


def test_a_table_in_a_pipe_that_has_no_prose_wraps_its_cells() -> None:
    table = Table(("TO", "WHY"), [("done", "no: it waits for others"), ("open", "possible")])
    assert render.to_text([table], 20) == (
        "TO    WHY\n"
        "done  no: it waits\n"
        "      for others\n"
        "open  possible"
    )  # fmt: skip
