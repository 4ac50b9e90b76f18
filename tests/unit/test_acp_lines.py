"""What agents report over the Agent Client Protocol about their tools, as lines of our stream."""

from typing import Any

from acp.schema import ToolCallProgress, ToolCallStart, ToolCallUpdate

from agents_manager.agents.acp_lines import Listener
from agents_manager.agents.acp_profiles import Counts


def start(call: str, title: str, **fields: Any) -> ToolCallStart:
    update = {"sessionUpdate": "tool_call", "toolCallId": call, "title": title, **fields}
    return ToolCallStart.model_validate(update)


def progress(call: str, **fields: Any) -> ToolCallProgress:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields}
    return ToolCallProgress.model_validate(update)


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def shown(*updates: Any) -> list[dict[str, Any]]:
    listener = Listener(Counts.NOWHERE)
    return [dict(line) for update in updates for line in listener.lines(update)]


def test_a_call_is_shown_with_what_it_returned() -> None:
    use, result = shown(
        start("1", "Run ls", rawInput={"command": "ls"}),
        progress("1", status="in_progress", content=text("a.py")),
        progress("1", status="completed"),
        progress("1", status="completed"),
    )
    assert (use["name"], use["input"]) == ("Run ls", {"command": "ls"})
    assert result == {
        "type": "tool_result",
        "id": "1",
        "name": "Run ls",
        "ok": True,
        "text": "a.py",
    }


def test_an_edit_and_a_raw_output_have_a_text() -> None:
    diff = {"type": "diff", "path": "/w/a.py", "newText": "x"}
    lines = shown(
        start("1", "Write a.py", status="completed", content=[diff]),
        start("2", "Fetch", status="failed", rawOutput={"code": 404}),
    )
    returned = [(one["text"], one["ok"]) for one in lines if one["type"] == "tool_result"]
    assert returned == [("Changed /w/a.py", True), ('{"code": 404}', False)]


def test_a_call_is_shown_when_it_is_known_what_it_does() -> None:
    """As OpenCode reports it, which first says only where the tool runs."""
    use, result = shown(
        start("1", "bash", status="pending", rawInput={"cwd": "/w"}),
        progress("1", status="in_progress", rawInput={"command": "ls", "cwd": "/w"}),
        progress("1", status="completed"),
    )
    assert (use["name"], use["input"]) == ("bash", {"cwd": "/w", "command": "ls"})
    assert result["name"] == "bash"


def test_a_call_without_an_input_is_shown_by_its_kind_and_title() -> None:
    """As Gemini reports it."""
    use, result = shown(
        start("1", "ls -l", kind="execute", status="pending"), progress("1", status="completed")
    )
    assert (use["name"], use["input"]) == ("execute", {"title": "ls -l"})
    assert result["name"] == "execute"


def test_a_call_that_is_only_described_when_it_asks_is_shown() -> None:
    listener = Listener(Counts.NOWHERE)
    asked = {"toolCallId": "1", "title": "Write a.py", "rawInput": {"path": "a.py"}}
    listener.remember(ToolCallUpdate.model_validate(asked))
    use, result = listener.lines(progress("1", status="completed"))
    assert (use["name"], use["input"]) == ("Write a.py", {"path": "a.py"})
    assert (result["name"], result["ok"]) == ("Write a.py", True)
