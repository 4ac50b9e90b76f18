"""What Codex prints is read whatever it holds, and never taken for more than it says."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents import codex_output
from agents_manager.domain.run import ErrorClass, Usage


def printed(folder: Path, *events: dict[str, Any], stderr: str = "") -> Path:
    (folder / "output").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    (folder / "stderr").write_text(stderr)
    return folder


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": kind, **fields}}


STARTED = {"type": "thread.started", "thread_id": "01a1-b"}
DONE = {
    "type": "turn.completed",
    "usage": {"input_tokens": 100, "cached_input_tokens": 30, "output_tokens": 7},
}


def test_the_last_message_of_a_finished_turn_is_the_final_one(tmp_path: Path) -> None:
    said = codex_output.read(
        printed(
            tmp_path,
            STARTED,
            item("agent_message", text="I look."),
            item("error", message="Unknown model."),
            item("agent_message", text="Done."),
            DONE,
        )
    )
    assert (said.final_text, said.session, said.error) == ("Done.", "01a1-b", None)
    assert said.usage == Usage(input_tokens=70, output_tokens=7, cache_read_tokens=30)


def test_what_was_used_before_is_taken_off_however_often_it_is_read(tmp_path: Path) -> None:
    home = tmp_path / "codex"
    home.mkdir()
    (tmp_path / codex_output.BEFORE).write_text(codex_output.before(home, None, lost=True))
    first = codex_output.read(printed(tmp_path, STARTED, DONE))
    (tmp_path / codex_output.BEFORE).write_text(codex_output.before(home, "01a1-b", lost=False))
    later = {"type": "turn.completed", "usage": {"input_tokens": 150, "output_tokens": 9}}
    for _ in range(2):
        second = codex_output.read(printed(tmp_path, STARTED, later))
        assert second.usage == Usage(input_tokens=50, output_tokens=2)
        assert (first.session_lost, second.session_lost) == (True, False)
    assert first.usage is not None
    assert first.usage.output_tokens == 7


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        pytest.param(
            '{"text": "t", "outcome": "approved", "payload": "{\\"a\\": 1}"}',
            {"outcome": "approved", "payload": {"a": 1}},
            id="payload as text",
        ),
        pytest.param(
            '{"text": "t", "outcome": "approved", "payload": "no JSON"}',
            {"outcome": "approved", "payload": "no JSON"},
            id="payload that is no JSON",
        ),
        pytest.param('{"outcome": "approved"}', None, id="another object"),
        pytest.param("approved", None, id="plain words"),
    ],
)
def test_only_the_form_that_was_asked_for_is_an_outcome(
    tmp_path: Path, text: str, structured: Any
) -> None:
    said = codex_output.read(printed(tmp_path, STARTED, item("agent_message", text=text), DONE))
    assert said.structured == structured
    assert said.final_text == ("t" if structured else text)


@pytest.mark.parametrize(
    ("message", "error_class"),
    [
        ("unexpected status 401 Unauthorized: no", ErrorClass.AUTH),
        ("exceeded retry limit, last status: 401 Unauthorized", ErrorClass.AUTH),
        ("Quota exceeded. Check your plan and billing details.", ErrorClass.QUOTA),
        ("You've hit your usage limit. Try again at 7:15 PM.", ErrorClass.QUOTA),
        ("exceeded retry limit, last status: 429 Too Many Requests", ErrorClass.RATE_LIMIT),
        ("unexpected status 404 Not Found: no such model", ErrorClass.ENVIRONMENT),
        ("stream disconnected before completion: error", ErrorClass.INTERRUPTED),
    ],
)
def test_a_failed_turn_has_its_class(tmp_path: Path, message: str, error_class: ErrorClass) -> None:
    failed = {"type": "turn.failed", "error": {"message": message}}
    said = codex_output.read(printed(tmp_path, STARTED, failed))
    assert (said.error, said.error_class) == (message, error_class)


def test_a_turn_without_an_end_is_no_success_whatever_the_exit_code(tmp_path: Path) -> None:
    said = codex_output.read(printed(tmp_path, STARTED, item("agent_message", text="Done.")))
    assert said.error_class is ErrorClass.CRASH


def test_what_was_never_begun_is_told_by_standard_error(tmp_path: Path) -> None:
    said = codex_output.read(printed(tmp_path, stderr="Error: Not logged in"))
    assert said.error_class is ErrorClass.AUTH
    assert "Not logged in" in (said.error or "")


def test_usage_that_cannot_be_is_not_believed(tmp_path: Path) -> None:
    odd = {"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": -7}}
    said = codex_output.read(printed(tmp_path, STARTED, odd))
    assert (said.usage, said.usage_refused) == (None, "output_tokens is -7.")


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(b"\xff\xfe\x00" * 1000, id="no text"),
        pytest.param(b'{"type":' + b"[" * 100_000, id="very deep"),
        pytest.param(b"x" * 10_000_000, id="one long line"),
        pytest.param(b'{"type": "item.completed", "item": 3}\n', id="item of a wrong type"),
        pytest.param(b'{"type": "turn.failed", "error": ["x"]}\n', id="error of a wrong type"),
        pytest.param(b'{"type": "turn.completed", "usage": {"input_tokens": -1}}\n', id="less"),
        pytest.param(
            json.dumps(item("agent_message", text="\ud800\x00")).encode(),
            id="text that cannot be stored",
        ),
    ],
)
def test_whatever_is_printed_can_be_read(tmp_path: Path, output: bytes) -> None:
    (tmp_path / "output").write_bytes(output)
    said = codex_output.read(tmp_path)
    assert "\x00" not in said.final_text
    said.final_text.encode()
    for line in output.splitlines():
        assert all(isinstance(m["type"], str) for m in codex_output.parse(line))


def test_messages_for_people() -> None:
    events = [
        STARTED,
        {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}},
        item("command_execution", aggregated_output="a.py", exit_code=0, status="completed"),
        item("command_execution", aggregated_output="no", exit_code=2, status="failed"),
        item("file_change", changes=[{"path": "a", "kind": "add"}], status="completed"),
        item("mcp_tool_call", result={"content": [{"text": "ann"}, 3]}, status="completed"),
        item("agent_message", text='{"text": "Done.", "outcome": "pr_ready", "payload": null}'),
        DONE,
        {"type": "turn.failed", "error": {"message": "No."}},
    ]
    shown = [m for e in events for m in codex_output.parse(json.dumps(e).encode())]
    assert [m["type"] for m in shown] == [
        *("tool_use", "tool_result", "tool_result", "tool_use", "tool_result", "tool_result"),
        *("assistant", "usage", "result"),
    ]
    assert shown[0]["input"] == {"command": "ls"}
    returned = [(m["text"], m["ok"]) for m in shown if m["type"] == "tool_result"]
    assert returned == [("a.py", True), ("no", False), ("", True), ("ann", True)]
    assert shown[6]["text"] == "Done.\n[pr_ready]"
    assert shown[8]["error"] == "No."


def test_a_long_result_is_shown_in_parts() -> None:
    """Codex prints all of it in one line, in which each character may be escaped."""
    text = "\n" * 2 * 1024 * 1024
    ran = item("command_execution", aggregated_output=text, exit_code=0, status="completed")
    [shown] = codex_output.parse(json.dumps(ran).encode())
    assert (shown["type"], shown["ok"], shown["characters"]) == ("tool_result", True, len(text))
    assert len(shown["text"]) < 10_000
