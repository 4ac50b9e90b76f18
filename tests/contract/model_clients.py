"""Clients of the four model APIs, as agents are: they keep the conversation and send all of it."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import httpx
from httpx_sse import EventSource


@dataclass
class Heard:
    text: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    """Id, name and input."""
    usage: tuple[int, int, int] = (0, 0, 0)
    """Input as the API counts it, output, and read from the cache."""
    pieces: int = 0


# One client for all, since making one takes longer than a test.
HTTP = httpx.Client(timeout=30, verify=False)


class Client:
    path: str
    headers: Mapping[str, str]

    def __init__(self, url: str, *, stream: bool, tools: tuple[str, ...] = ("look",)) -> None:
        self.url = url
        self.stream = stream
        self.tools = tools
        self.history: list[Any] = []
        self.last = Heard()

    def ask(self, text: str) -> Heard:
        self.history.append(self.user(text))
        return self.go()

    def give(self, *results: str) -> Heard:
        """The results of the tools that were called last."""
        names = [(id, name) for id, name, _ in self.last.calls]
        self.history += self.results(list(zip(names, results, strict=True)))
        return self.go()

    def go(self) -> Heard:
        with self.sent() as response:
            response.raise_for_status()
            if self.stream:
                events = [e.data for e in EventSource(response).iter_sse() if e.data != "[DONE]"]
                self.last = self.streamed([json.loads(data) for data in events])
            else:
                self.last = self.whole(json.loads(response.read()))
        self.history += self.model(self.last)
        return self.last

    def sent(self, http: httpx.Client = HTTP) -> AbstractContextManager[httpx.Response]:
        return http.stream("POST", f"{self.url}{self.path}", json=self.body(), headers=self.headers)

    def body(self) -> dict[str, Any]:
        raise NotImplementedError

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def results(self, pairs: list[tuple[tuple[str, str], str]]) -> list[Any]:
        raise NotImplementedError

    def model(self, heard: Heard) -> list[Any]:
        raise NotImplementedError

    def whole(self, answer: Any) -> Heard:
        raise NotImplementedError

    def streamed(self, events: list[Any]) -> Heard:
        raise NotImplementedError


class Anthropic(Client):
    path = "/v1/messages?beta=true"
    headers = MappingProxyType({"x-api-key": "k", "anthropic-version": "2023-06-01"})

    def body(self) -> dict[str, Any]:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        return {
            "model": "m",
            "max_tokens": 100,
            "messages": self.history,
            "tools": tools,
            "stream": self.stream,
        }

    def results(self, pairs: list[tuple[tuple[str, str], str]]) -> list[Any]:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text} for (id, _), text in pairs
        ]
        return [{"role": "user", "content": blocks}]

    def model(self, heard: Heard) -> list[Any]:
        text = [{"type": "text", "text": heard.text}] if heard.text else []
        calls = [
            {"type": "tool_use", "id": id, "name": name, "input": given}
            for id, name, given in heard.calls
        ]
        return [{"role": "assistant", "content": [*text, *calls]}]

    def whole(self, answer: Any) -> Heard:
        heard = Heard(usage=_anthropic_usage(answer["usage"]))
        for block in answer["content"]:
            if block["type"] == "text":
                heard.text += block["text"]
            else:
                heard.calls.append((block["id"], block["name"], block["input"]))
        assert answer["stop_reason"] == ("tool_use" if heard.calls else "end_turn")
        return heard

    def streamed(self, events: list[Any]) -> Heard:
        assert [e["type"] for e in (events[0], events[-1])] == ["message_start", "message_stop"]
        heard = Heard()
        for block in _anthropic_blocks(events):
            if "id" in block[0]:
                given = "".join(delta["partial_json"] for delta in block[1:])
                heard.calls.append((block[0]["id"], block[0]["name"], _parsed(given)))
            else:
                heard.text += "".join(delta["text"] for delta in block[1:])
                heard.pieces += len(block) - 1
        heard.usage = _anthropic_usage(events[-2]["usage"])
        return heard


def _anthropic_blocks(events: list[Any]) -> Iterator[list[Any]]:
    block: list[Any] = []
    for event in events:
        match event["type"]:
            case "content_block_start":
                block = [event["content_block"]]
            case "content_block_delta":
                block.append(event["delta"])
            case "content_block_stop":
                yield block


def _anthropic_usage(usage: Any) -> tuple[int, int, int]:
    return usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"]


class Responses(Client):
    path = "/v1/responses"
    headers = MappingProxyType({"authorization": "Bearer k"})

    def body(self) -> dict[str, Any]:
        tools = [{"type": "function", "name": name} for name in self.tools]
        return {"model": "m", "input": self.history, "tools": tools, "stream": self.stream}

    def results(self, pairs: list[tuple[tuple[str, str], str]]) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": id, "output": text}
            for (id, _), text in pairs
        ]

    def model(self, heard: Heard) -> list[Any]:
        content = [{"type": "output_text", "text": heard.text}]
        said = [{"type": "message", "role": "assistant", "content": content}] if heard.text else []
        calls = [
            {
                "type": "function_call",
                "call_id": id,
                "name": name,
                "arguments": json.dumps(given),
            }
            for id, name, given in heard.calls
        ]
        return [*said, *calls]

    def whole(self, answer: Any) -> Heard:
        usage = answer["usage"]
        cached = usage["input_tokens_details"]["cached_tokens"]
        heard = Heard(usage=(usage["input_tokens"], usage["output_tokens"], cached))
        for item in answer["output"]:
            if item["type"] == "message":
                heard.text += item["content"][0]["text"]
            else:
                given = _parsed(item["arguments"])
                heard.calls.append((item["call_id"], item["name"], given))
        return heard

    def streamed(self, events: list[Any]) -> Heard:
        assert [e["sequence_number"] for e in events] == list(range(len(events)))
        assert events[-1]["type"] == "response.completed"
        heard = self.whole(events[-1]["response"])
        deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
        assert "".join(deltas) == heard.text
        heard.pieces = len(deltas)
        return heard


class Chat(Client):
    path = "/v1/chat/completions"
    headers = MappingProxyType({"authorization": "Bearer k"})

    def body(self) -> dict[str, Any]:
        tools = [{"type": "function", "function": {"name": name}} for name in self.tools]
        return {"model": "m", "messages": self.history, "tools": tools, "stream": self.stream}

    def results(self, pairs: list[tuple[tuple[str, str], str]]) -> list[Any]:
        return [{"role": "tool", "tool_call_id": id, "content": text} for (id, _), text in pairs]

    def model(self, heard: Heard) -> list[Any]:
        calls = [
            {"id": id, "function": {"name": name, "arguments": json.dumps(given)}}
            for id, name, given in heard.calls
        ]
        return [{"role": "assistant", "content": heard.text, "tool_calls": calls}]

    def whole(self, answer: Any) -> Heard:
        message = answer["choices"][0]["message"]
        calls = [
            (call["id"], call["function"]["name"], _parsed(call["function"]["arguments"]))
            for call in message.get("tool_calls", [])
        ]
        return Heard(message["content"] or "", calls, _chat_usage(answer["usage"]))

    def streamed(self, events: list[Any]) -> Heard:
        heard = Heard(usage=_chat_usage(events[-1]["usage"]))
        given: dict[int, list[str]] = {}
        for event in events[:-1]:
            delta = event["choices"][0]["delta"]
            heard.text += delta.get("content", "")
            heard.pieces += bool(delta.get("content"))
            for call in delta.get("tool_calls", []):
                id = [call["id"], call["function"]["name"], ""] if "id" in call else []
                parts = given.setdefault(call["index"], id)
                parts[2] += call["function"]["arguments"]
        heard.calls = [(id, name, _parsed(text)) for id, name, text in given.values()]
        reason = events[-2]["choices"][0]["finish_reason"]
        assert reason == ("tool_calls" if heard.calls else "stop")
        return heard


def _chat_usage(usage: Any) -> tuple[int, int, int]:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return usage["prompt_tokens"], usage["completion_tokens"], cached


class Gemini(Client):
    headers = MappingProxyType({"x-goog-api-key": "k"})

    def __init__(self, url: str, *, stream: bool, tools: tuple[str, ...] = ("look",)) -> None:
        super().__init__(url, stream=stream, tools=tools)
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        self.path = f"/v1beta/models/m:{method}"

    def body(self) -> dict[str, Any]:
        tools = [{"functionDeclarations": [{"name": name} for name in self.tools]}]
        return {"contents": self.history, "tools": tools}

    def user(self, text: str) -> Any:
        return {"role": "user", "parts": [{"text": text}]}

    def results(self, pairs: list[tuple[tuple[str, str], str]]) -> list[Any]:
        parts = [
            {"functionResponse": {"name": name, "response": {"output": text}}}
            for (_, name), text in pairs
        ]
        return [{"role": "user", "parts": parts}]

    def model(self, heard: Heard) -> list[Any]:
        text = [{"text": heard.text}] if heard.text else []
        calls = [{"functionCall": {"name": name, "args": given}} for _, name, given in heard.calls]
        return [{"role": "model", "parts": [*text, *calls]}]

    def whole(self, answer: Any) -> Heard:
        return self.streamed([answer])

    def streamed(self, events: list[Any]) -> Heard:
        usage = events[-1]["usageMetadata"]
        heard = Heard(
            usage=(
                usage["promptTokenCount"],
                usage["candidatesTokenCount"],
                usage["cachedContentTokenCount"],
            )
        )
        assert events[-1]["candidates"][0]["finishReason"] == "STOP"
        for event in events:
            for part in event["candidates"][0]["content"]["parts"]:
                if "functionCall" in part:
                    call = part["functionCall"]
                    heard.calls.append((call["id"], call["name"], call["args"]))
                else:
                    heard.text += part["text"]
                    heard.pieces += 1
        return heard


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


APIS: dict[str, type[Client]] = {
    "anthropic": Anthropic,
    "responses": Responses,
    "chat": Chat,
    "gemini": Gemini,
}

Connect: TypeAlias = Callable[..., Client]
"""Makes a client of one API, for a scenario and with the tools it offers."""
