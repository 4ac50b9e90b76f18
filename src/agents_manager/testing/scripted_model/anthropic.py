"""Anthropic Messages: `POST /v1/messages`, streamed and whole."""

from collections.abc import Iterator
from typing import Any

from agents_manager.testing.scripted_model.steps import Say, Use
from agents_manager.testing.scripted_model.talk import Entry, Talk
from agents_manager.testing.scripted_model.wire import (
    Api,
    Call,
    Json,
    Refused,
    Spoken,
    arguments,
    frame,
    new_id,
    pieces,
    rows,
    text_of,
)

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(call: Call) -> Talk:
    if not ({"x-api-key", "authorization"} & call.headers.keys()):
        raise Refused(401, "x-api-key header is required")
    if "anthropic-version" not in call.headers:
        raise Refused(400, "anthropic-version: header is required")
    for field in ("model", "max_tokens", "messages"):
        if field not in call.body:
            raise Refused(400, f"{field}: Field required")
    messages = _joined(rows(call.body["messages"]))
    _check(messages)
    return Talk(
        model=str(call.body["model"]),
        system=text_of(call.body.get("system")),
        entries=tuple(entry for message in messages for entry in _entries(message)),
        tools=frozenset(str(tool.get("name")) for tool in rows(call.body.get("tools"))),
        stream=call.body.get("stream") is True,
    )


def _joined(messages: list[Json]) -> list[Json]:
    """Messages with their content in blocks; neighbours of one role are one turn to the API."""
    turns: list[Json] = []
    for message in messages:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else rows(content)
        role = message.get("role")
        if role == "system" and turns:  # Recent models take such words between the turns.
            role = "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": list(blocks)})
    return turns


def _check(turns: list[Json]) -> None:
    if not turns:
        raise Refused(400, "messages: at least one message is required")
    if turns[0]["role"] != "user":
        raise Refused(400, "messages: first message must use the user role")
    open_calls: set[str] = set()
    for i, turn in enumerate(turns):
        if turn["role"] not in ("user", "assistant"):
            raise Refused(400, f"messages.{i}.role: Input should be 'user' or 'assistant'")
        if not turn["content"]:
            raise Refused(400, f"messages.{i}: all messages must have non-empty content")
        if any(block.get("text") == "" for block in turn["content"]):
            raise Refused(400, f"messages.{i}: text content blocks must be non-empty")
        results = _ids(turn, "tool_result", "tool_use_id")
        if unknown := results - open_calls:
            raise Refused(
                400,
                f"messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(sorted(unknown))}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message.",
            )
        if missing := open_calls - results:
            raise Refused(
                400,
                f"messages.{i - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(sorted(missing))}.",
            )
        open_calls = _ids(turn, "tool_use", "id")


def _ids(turn: Json, kind: str, field: str) -> set[str]:
    return {str(block.get(field)) for block in turn["content"] if block.get("type") == kind}


def _entries(turn: Json) -> Iterator[Entry]:
    for block in turn["content"]:
        if turn["role"] == "assistant":
            yield Entry("model", text_of(block))
        elif block.get("type") == "tool_result":
            yield Entry("result", text_of(block.get("content")))
        else:
            yield Entry("user", text_of(block))


def whole(spoken: Spoken) -> Json:
    return {
        **_message(spoken),
        "content": [_block(block) for block in spoken.blocks],
        "stop_reason": _stop(spoken),
        "usage": _usage(spoken, spoken.usage.output),
    }


def frames(spoken: Spoken) -> Iterator[bytes]:
    start: Json = {**_message(spoken), "content": [], "usage": _usage(spoken, 1)}
    yield _frame("message_start", message=start)
    yield _frame("ping")
    for index, block in enumerate(spoken.blocks):
        empty: Json = {"input": {}} if isinstance(block, Use) else {"text": ""}
        yield _frame("content_block_start", index=index, content_block={**_block(block), **empty})
        for delta in _deltas(block, spoken.piece):
            yield _frame("content_block_delta", index=index, delta=delta)
        yield _frame("content_block_stop", index=index)
    ending = {"stop_reason": _stop(spoken), "stop_sequence": None}
    yield _frame("message_delta", delta=ending, usage=_usage(spoken, spoken.usage.output))
    yield _frame("message_stop")


def _frame(kind: str, **fields: Any) -> bytes:
    return frame({"type": kind, **fields}, kind)


def _message(spoken: Spoken) -> Json:
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _stop(spoken: Spoken) -> str:
    if spoken.stop != "end":
        return spoken.stop
    return "tool_use" if spoken.calls else "end_turn"


def _usage(spoken: Spoken, output: int) -> Json:
    return {
        "input_tokens": spoken.usage.input,
        "cache_creation_input_tokens": spoken.usage.cache_write,
        "cache_read_input_tokens": spoken.usage.cache_read,
        "output_tokens": output,
    }


def _block(block: Say | Use) -> Json:
    if isinstance(block, Say):
        return {"type": "text", "text": block.text}
    return {"type": "tool_use", "id": new_id("toolu"), "name": block.name, "input": block.input}


def _deltas(block: Say | Use, size: int) -> Iterator[Json]:
    if isinstance(block, Say):
        for piece in pieces(block.text, size):
            yield {"type": "text_delta", "text": piece}
    else:
        for piece in pieces(arguments(block), size):
            yield {"type": "input_json_delta", "partial_json": piece}


def error(status: int, message: str, kind: str | None) -> Json:
    kind = kind or KINDS.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": new_id("req"),
    }


def broken(error: Json) -> bytes:
    return frame(error, "error")


API = Api(read, whole, frames, error, broken)
