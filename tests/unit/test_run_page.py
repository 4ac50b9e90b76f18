"""Transcripts as the command line prints them."""

from agents_manager.cli.pages import run
from agents_manager.cli.render import Line


def printed(text: str, *, ok: bool = True) -> list[str]:
    message = {"type": "tool_result", "id": "1", "name": "Bash", "ok": ok, "text": text}
    return [line.text for line in run.transcript([message]) if isinstance(line, Line)]


def test_a_long_result_is_folded_to_its_first_lines() -> None:
    assert printed("\n".join(map(str, range(100)))) == [
        *("  0", "  1", "  2", "  3", "  4"),
        "  … 95 more lines (--json shows all)",
    ]
    assert len(printed("x" * 1_000_000)[0]) < 400


def test_a_failed_call_says_so() -> None:
    assert printed("No such file", ok=False) == ["  failed:", "  No such file"]
