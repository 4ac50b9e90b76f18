"""Claude Code's messages as lines of our stream, above all how a run ended."""

import json
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    RateLimitEvent,
    RateLimitInfo,
    ResultMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from agents_manager.agents import claude_lines, lines
from agents_manager.agents.claude_lines import Listener


def result(**fields: Any) -> ResultMessage:
    said = {"is_error": False, "stop_reason": "end_turn"}
    given = {"subtype": "success", "session_id": "s-1", **said, **fields}
    return ResultMessage(duration_ms=1, duration_api_ms=1, num_turns=1, **given)


def said(text: str, error: Any = None) -> AssistantMessage:
    return AssistantMessage(content=[TextBlock(text)], model="m", error=error)


def ending(*messages: Any, stopped: bool = False, trouble: Any = None) -> dict[str, Any]:
    listener = Listener()
    for message in messages:
        list(listener.lines(message))
    return dict(listener.ending(stopped=stopped, trouble=trouble))


def test_a_good_end_has_the_final_text() -> None:
    good = result(result="Done.", terminal_reason="completed")
    assert ending(said("Done."), good) == {"type": "result", "text": "Done.", "session": "s-1"}


def test_the_session_is_told_once_and_before_the_end() -> None:
    listener, message = Listener(), said("I look.")
    message.session_id = "s-1"
    told = [line for _ in range(2) for line in listener.lines(message)]
    assert [line for line in told if line["type"] == "session"] == [lines.session("s-1")]
    assert listener.ending(stopped=True, trouble=None)["session"] == "s-1"


def called(name: str, given: Any) -> AssistantMessage:
    return AssistantMessage(content=[ToolUseBlock("1", name, given)], model="m")


def formed(text: str) -> tuple[AssistantMessage, ResultMessage]:
    value = {"text": text, "outcome": "needs_info", "payload": {"questions": []}}
    return called("StructuredOutput", value), result(result="{}", structured_output=value)


def test_a_final_message_that_has_the_form_is_taken_apart() -> None:
    line = ending(said("I looked."), *formed("The plan."))
    assert line["text"] == "The plan."
    assert line["structured"] == {"outcome": "needs_info", "payload": {"questions": []}}
    (shown,) = Listener().lines(formed("The plan.")[0])
    assert shown == {"type": "assistant", "text": "The plan.\n[needs_info]"}


def returned(call: str, content: Any, *, failed: bool | None = None) -> dict[str, Any]:
    listener = Listener()
    list(listener.lines(called("Bash", {})))
    message = UserMessage(content=[ToolResultBlock(call, content, failed)])
    (line,) = listener.lines(message)
    return dict(line)


def test_what_a_tool_returned_is_shown_with_its_call() -> None:
    (use,) = Listener().lines(called("Bash", {"command": "ls"}))
    assert (use["type"], use["id"]) == ("tool_use", "1")
    assert returned("1", "a.py\nb.py") == {
        "type": "tool_result",
        "id": "1",
        "name": "Bash",
        "ok": True,
        "text": "a.py\nb.py",
    }
    parts = [{"type": "text", "text": "No such file"}, {"type": "image", "source": {}}]
    failed = returned("1", parts, failed=True)
    assert (failed["ok"], failed["text"]) == (False, "No such file\n(image)")
    assert returned("1", None)["text"] == ""


def test_of_a_huge_result_its_beginning_and_its_end_are_kept() -> None:
    line = returned("1", "first " + "x" * 30_000_000 + " last")
    assert len(lines.encoded(line)) < 2 * lines.MAX_RESULT
    assert line["text"].startswith("first ")
    assert line["text"].endswith(" last")
    assert "(29992011 characters left out)" in line["text"]
    assert line["characters"] == 30_000_011


def test_a_final_message_has_no_result_of_a_tool() -> None:
    listener = Listener()
    list(listener.lines(formed("The plan.")[0]))
    accepted = UserMessage(content=[ToolResultBlock("1", "Structured output provided.")])
    assert list(listener.lines(accepted)) == []


def test_words_beside_the_form_count_where_it_has_none() -> None:
    line = ending(said("I look."), called("Read", {}), said("The plan."), *formed(" "))
    assert line["text"] == "The plan."


def test_the_form_asked_for_in_vain_does_not_cost_the_final_message() -> None:
    within = said("Of a sub-agent.")
    within.parent_tool_use_id = "1"
    failed = said("Overloaded.", "server_error")
    spoken = (said("The plan."), failed, said("Done."))
    line = ending(said("I look."), called("Agent", {}), within, *spoken, result(result="Done."))
    assert (line["text"], "structured" in line) == ("The plan.\n\nDone.", False)


@pytest.mark.parametrize(
    ("kind", "fields", "error_class"),
    [
        ("authentication_failed", {"api_error_status": None}, "auth"),
        ("billing_error", {"api_error_status": 400}, "quota"),
        ("rate_limit", {}, "rate_limit"),
        ("model_not_found", {"api_error_status": 404}, "environment"),
        ("unknown", {"api_error_status": 403}, "auth"),
        ("unknown", {"api_error_status": 402}, "quota"),
        (None, {"api_error_status": 429}, "rate_limit"),
        ("server_error", {"api_error_status": 529}, "overloaded"),
        (None, {"api_error_status": 529}, "overloaded"),
        ("server_error", {"result": "API Error: Server error mid-response."}, "interrupted"),
        ("unknown", {"result": "API Error: Failed to parse JSON"}, "interrupted"),
        ("unknown", {"result": "Prompt is too long · try less."}, "context_too_long"),
        ("unknown", {"result": "Sonnet can't help with this. Start anew."}, "refusal"),
        ("unknown", {"stop_reason": "max_tokens"}, "max_tokens"),
        (None, {"terminal_reason": "max_turns"}, "budget"),
        (None, {"terminal_reason": "aborted_tools"}, "interrupted"),
        (None, {"subtype": "error_max_structured_output_retries"}, "bad_output"),
        (None, {}, "crash"),
    ],
)
def test_an_error_has_its_class_though_it_calls_itself_a_success(
    kind: str | None, fields: Any, error_class: str
) -> None:
    failed = {"terminal_reason": "api_error", "result": "Oh no.", "is_error": True, **fields}
    line = ending(said("Oh no.", kind), result(**failed))
    assert line["error_class"] == error_class
    assert line["error"].startswith(str(failed["result"]).removesuffix("."))
    assert "text" not in line


def test_an_end_that_is_no_error_but_not_complete_either() -> None:
    line = ending(said("Half"), result(result="", terminal_reason="hook_stopped"))
    assert (line["error"], line["error_class"]) == ("Claude Code stopped: hook_stopped.", "crash")


def test_a_response_without_a_stop_reason_is_interrupted_although_it_reports_success() -> None:
    line = ending(said("Half"), result(result="Half", stop_reason=None))
    assert line["error_class"] == "interrupted"
    assert line["error"] == "The model's response was cut off before its end."


def test_a_limit_says_when_it_ends() -> None:
    info = RateLimitInfo(status="rejected", resets_at=1_800_000_000)
    limited = RateLimitEvent(rate_limit_info=info, uuid="u", session_id="s-1")
    line = ending(
        limited, said("Limit reached.", "rate_limit"), result(is_error=True, result="No.")
    )
    assert line["error"] == "No. It resets at 2027-01-15T08:00:00+00:00."
    assert (line["error_class"], line["resets_at"]) == ("rate_limit", "2027-01-15T08:00:00+00:00")


def test_without_a_result_the_trouble_is_told() -> None:
    line = ending(trouble=("No such program.", "environment"))
    assert (line["error"], line["error_class"]) == ("No such program.", "environment")
    assert ending()["error_class"] == "crash"
    assert ending(stopped=True, trouble=("Killed.", "crash"))["error_class"] == "cancelled"


def test_long_inputs_are_cut_and_long_lines_left_out() -> None:
    call = ToolUseBlock("1", "Write", {"file_path": "/x", "content": "x" * 9_000, "n": [1]})
    [line] = Listener().lines(AssistantMessage(content=[call], model="m"))
    assert line["input"]["content"].endswith("… (9000 characters)")
    assert (line["input"]["file_path"], line["input"]["n"]) == ("/x", [1])
    long = "x" * lines.MAX_BYTES
    cut = json.loads(lines.encoded({"type": "result", "text": long}))
    assert (cut["type"], cut["error_class"]) == ("result", "bad_output")
    assert json.loads(lines.encoded({"type": "assistant", "text": long}))["type"] == "output"
    assert lines.encoded({"type": "output", "text": "\ud800ü"}).endswith('?ü"}\n'.encode())


# ------------------------------------------------------------------------------------------- usage


def used(tokens: int, cost: float, basis: str = "list") -> dict[str, Any]:
    return {"inputTokens": tokens, "outputTokens": 1, "costUSD": cost, "costBasis": basis}


def test_usage_is_what_was_added_to_the_totals_of_the_session() -> None:
    before = {"a": used(100, 0.25)}
    line = claude_lines.usage({"a": used(150, 0.75), "b": used(7, 0.125)}, before)
    assert line == {
        "type": "usage",
        "input_tokens": 57,
        "output_tokens": 1,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cost_usd": 0.625,
    }


def test_a_model_without_a_price_makes_the_cost_unknown() -> None:
    now = {"a": used(10, 0.5), "b": used(10, 0.1, "unknown")}
    assert "cost_usd" not in claude_lines.usage(now, {})
    assert claude_lines.usage({**now, "a": used(20, 0.75)}, now)["cost_usd"] == 0.25


def test_what_was_used_so_far_counts_each_message_once() -> None:
    def part(name: str, output: int) -> AssistantMessage:
        used = {"input_tokens": 5, "output_tokens": output, "cache_read_input_tokens": 2}
        return AssistantMessage(content=[], model="m", message_id=name, usage=used)

    listener = Listener()
    told = [line for m in (part("a", 1), part("a", 3), part("b", 4)) for line in listener.lines(m)]
    assert [(t["input_tokens"], t["output_tokens"]) for t in told] == [(5, 1), (5, 3), (10, 7)]
    assert (told[-1]["type"], told[-1]["model"]) == ("usage_so_far", "m")
    assert (told[-1]["cache_read_tokens"], told[-1]["cache_write_tokens"]) == (4, 0)


def test_nothing_used_is_nothing_to_tell() -> None:
    blank = {"input_tokens": 0, "output_tokens": 0}
    failed = AssistantMessage(content=[], model="m", message_id="a", usage=blank)
    assert list(Listener().lines(failed)) == []
