"""OpenAI Chat Completions: `POST /v1/chat/completions`, streamed and whole."""

import time
from collections.abc import Iterator

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
    row,
    rows,
    text_of,
)


def read(call: Call) -> Talk:
    openai.check(call, "model", "messages")
    messages = rows(call.body["messages"])
    _check(messages)
    return Talk(
        model=str(call.body["model"]),
        system="\n".join(_texts(messages, "system", "developer")),
        entries=tuple(entry for message in messages if (entry := _entry(message))),
        tools=frozenset(
            str(row(tool.get("function")).get("name")) for tool in rows(call.body.get("tools"))
        ),
        stream=call.body.get("stream") is True,
    )


def _check(messages: list[Json]) -> None:
    open_calls: set[str] = set()
    for i, message in enumerate(messages):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise Refused(
                    400,
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    f"preceding message with 'tool_calls'. (messages[{i}])",
                )
            open_calls.discard(str(message["tool_call_id"]))
            continue
        _all_answered(open_calls)
        open_calls = {str(call.get("id")) for call in rows(message.get("tool_calls"))}
    _all_answered(open_calls)


def _all_answered(open_calls: set[str]) -> None:
    if open_calls:
        raise Refused(
            400,
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(sorted(open_calls))}",
        )


def _texts(messages: list[Json], *roles: str) -> Iterator[str]:
    for message in messages:
        if message.get("role") in roles:
            yield text_of(message.get("content"))


def _entry(message: Json) -> Entry | None:
    text = text_of(message.get("content"))
    match message.get("role"):
        case "user":
            return Entry("user", text)
        case "assistant":
            return Entry("model", text)
        case "tool":
            return Entry("result", text)
        case _:
            return None


def whole(spoken: Spoken) -> Json:
    said = "".join(block.text for block in spoken.blocks if isinstance(block, Say))
    message: Json = {"role": "assistant", "content": said or None, "refusal": None}
    if spoken.calls:
        message["tool_calls"] = [_call(block) for block in spoken.blocks if isinstance(block, Use)]
    choice = {"index": 0, "message": message, "finish_reason": _reason(spoken), "logprobs": None}
    return {
        **_head(spoken, "chat.completion"),
        "choices": [choice],
        "usage": _usage(spoken),
    }


def frames(spoken: Spoken) -> Iterator[bytes]:
    head = _head(spoken, "chat.completion.chunk")

    def chunk(delta: Json, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return frame({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    number = 0
    for block in spoken.blocks:
        if isinstance(block, Say):
            for piece in pieces(block.text, spoken.piece):
                yield chunk({"content": piece})
            continue
        call = _call(block)
        begun = {**call, "function": {"name": block.name, "arguments": ""}}
        yield chunk({"tool_calls": [{"index": number, **begun}]})
        for piece in pieces(call["function"]["arguments"], spoken.piece):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
        number += 1
    yield chunk({}, _reason(spoken))
    yield frame({**head, "choices": [], "usage": _usage(spoken)})
    yield frame("[DONE]")


def _head(spoken: Spoken, kind: str) -> Json:
    return {
        "id": new_id("chatcmpl"),
        "object": kind,
        "created": int(time.time()),
        "model": spoken.model,
    }


def _reason(spoken: Spoken) -> str:
    if spoken.stop != "end":
        return {"max_tokens": "length", "refusal": "content_filter"}[spoken.stop]
    return "tool_calls" if spoken.calls else "stop"


def _call(block: Use) -> Json:
    return {
        "id": new_id("call"),
        "type": "function",
        "function": {"name": block.name, "arguments": arguments(block)},
    }


def _usage(spoken: Spoken) -> Json:
    return {
        "prompt_tokens": spoken.prompt_tokens,
        "completion_tokens": spoken.usage.output,
        "total_tokens": spoken.prompt_tokens + spoken.usage.output,
        "prompt_tokens_details": {
            "cached_tokens": spoken.usage.cache_read,
            "cache_write_tokens": spoken.usage.cache_write,
        },
    }


API = Api(read, whole, frames, openai.error, frame)
