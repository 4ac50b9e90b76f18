"""What a run without a session is told of earlier ones."""

from typing import Any

from agents_manager.flow.runs.transcripts import digest


def said(text: str) -> dict[str, Any]:
    return {"type": "assistant", "text": text}


def test_final_words_in_full_and_the_way_there_a_line_each() -> None:
    final = "Done.\n\n- one\n- two\n" + "x" * 1000
    told = digest(
        [
            said("First\nI look."),
            {"type": "tool_use", "name": "shell", "input": {"command": "ls " + "y" * 500}},
            {"type": "usage", "input_tokens": 1},
            said(final),
            {"type": "result", "text": final},
        ]
    )
    first, call, *rest = told.split("\n")
    assert first == "- said: First I look."
    assert call.startswith('- shell: {"command": "ls yyy')
    assert len(call) < 220
    assert "\n".join(rest) == final


def test_words_before_a_call_are_not_final() -> None:
    told = digest([said("I try."), {"type": "tool_use", "name": "shell"}])
    assert told == "- said: I try.\n- shell: {}"


def test_an_error_is_told() -> None:
    told = digest([said("I try."), {"type": "result", "error": "Too\nmany."}])
    assert told == "- ended with an error: Too many.\nI try."


def test_plain_output_is_the_text_and_noise_is_not() -> None:
    lines = [{"type": "output", "text": line} for line in ("one", "two")]
    assert digest(lines) == "one\ntwo"
    assert digest([*lines, said("Done.")]) == "Done."
    assert digest([]) == ""
