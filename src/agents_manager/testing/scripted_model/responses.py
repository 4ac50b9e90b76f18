"""OpenAI Responses: `POST /v1/responses`, streamed and whole."""

import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from agents_manager.testing.scripted_model import openai
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


def read(call: Call) -> Talk:
    openai.check(call, "model", "input")
    content = call.body["input"]
    items = [{"role": "user", "content": content}] if isinstance(content, str) else rows(content)
    _check(items)
    return Talk(
        model=str(call.body["model"]),
        system="\n".join([text_of(call.body.get("instructions")), *_system(items)]),
        entries=tuple(entry for item in items if (entry := _entry(item))),
        tools=frozenset(_tools(call.body, items)),
        stream=call.body.get("stream") is True,
    )


def _check(items: list[Json]) -> None:
    kinds = [(str(item.get("type", "message")), str(item.get("call_id"))) for item in items]
    calls = {name for kind, name in kinds if kind.endswith("_call") and name != "None"}
    outputs = {name for kind, name in kinds if kind.endswith("_call_output")}
    if missing := calls - outputs:
        raise Refused(400, f"No tool output found for function call {min(missing)}.")
    if unknown := outputs - calls:
        raise Refused(
            400, f"No tool call found for function call output with call_id {min(unknown)}."
        )


def _entry(item: Json) -> Entry | None:
    kind, role = str(item.get("type", "message")), item.get("role")
    if kind == "message" and role == "user":
        return Entry("user", text_of(item.get("content")))
    if kind == "message" and role == "assistant":
        return Entry("model", text_of(item.get("content")))
    if kind.endswith("_call_output"):
        return Entry("result", text_of(item.get("output")))
    if kind.endswith("_call") or kind == "reasoning":
        return Entry("model", "")
    return None


def _system(items: list[Json]) -> Iterator[str]:
    for item in items:
        if item.get("role") in ("developer", "system"):
            yield text_of(item.get("content"))


def _tools(body: Json, items: list[Json]) -> Iterator[str]:
    """Codex sends the tools of some models as an item of the input."""
    listed = rows(body.get("tools"))
    for item in items:
        if item.get("type") == "additional_tools":
            listed += rows(item.get("tools"))
    for tool in listed:
        yield str(tool.get("name") or tool.get("type"))


def whole(spoken: Spoken) -> Json:
    return _response(spoken, "completed", [_item(block) for block in spoken.blocks])


def frames(spoken: Spoken) -> Iterator[bytes]:
    number = count()

    def event(kind: str, **fields: Any) -> bytes:
        data = {"type": f"response.{kind}", "sequence_number": next(number), **fields}
        return frame(data, f"response.{kind}")

    begun = _response(spoken, "in_progress", [])
    yield event("created", response=begun)
    yield event("in_progress", response=begun)
    items = [_item(block) for block in spoken.blocks]
    for index, (block, item) in enumerate(zip(spoken.blocks, items, strict=True)):
        place = {"item_id": item["id"], "output_index": index}
        empty: Json = {"content": []} if isinstance(block, Say) else {"arguments": ""}
        added = {**item, **empty, "status": "in_progress"}
        yield event("output_item.added", output_index=index, item=added)
        if isinstance(block, Say):
            place["content_index"] = 0
            part = item["content"][0]
            yield event("content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(block.text, spoken.piece):
                yield event("output_text.delta", **place, delta=piece)
            yield event("output_text.done", **place, text=block.text)
            yield event("content_part.done", **place, part=part)
        else:
            for piece in pieces(item["arguments"], spoken.piece):
                yield event("function_call_arguments.delta", **place, delta=piece)
            yield event("function_call_arguments.done", **place, arguments=item["arguments"])
        yield event("output_item.done", output_index=index, item=item)
    status = "completed" if spoken.stop == "end" else "incomplete"
    ended = {**_response(spoken, status, items), "id": begun["id"]}
    yield event(status, response=ended)


def _response(spoken: Spoken, status: str, output: list[Json]) -> Json:
    reasons = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
    reason = reasons.get(spoken.stop) if status == "incomplete" else None
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": spoken.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "usage": None if status == "in_progress" else _usage(spoken),
    }


def _usage(spoken: Spoken) -> Json:
    return {
        "input_tokens": spoken.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": spoken.usage.cache_read,
            "cache_write_tokens": spoken.usage.cache_write,
        },
        "output_tokens": spoken.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spoken.prompt_tokens + spoken.usage.output,
    }


def _item(block: Say | Use) -> Json:
    if isinstance(block, Say):
        return {
            "id": new_id("msg"),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": block.text, "annotations": []}],
        }
    namespace, _, name = block.name.rpartition(".")
    return {
        "id": new_id("fc"),
        "type": "function_call",
        "status": "completed",
        "call_id": new_id("call"),
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "arguments": arguments(block),
    }


def broken(error: Json) -> bytes:
    told = error["error"]
    failed: Json = {
        "id": new_id("resp"),
        "object": "response",
        "status": "failed",
        "output": [],
        "error": {"code": told["code"] or "server_error", "message": told["message"]},
    }
    return frame({"type": "response.failed", "response": failed}, "response.failed")


API = Api(read, whole, frames, openai.error, broken)
