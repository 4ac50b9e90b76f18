"""Gemini: `POST /v1beta/models/<model>:generateContent` and `:streamGenerateContent?alt=sse`."""

import json
from collections.abc import Iterator

from agents_manager.testing.scripted_model.steps import Say, Use
from agents_manager.testing.scripted_model.talk import Entry, Talk
from agents_manager.testing.scripted_model.wire import (
    Api,
    Call,
    Json,
    Refused,
    Spoken,
    frame,
    new_id,
    pieces,
    row,
    rows,
    text_of,
)

KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}

REASONS = {"end": "STOP", "max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def read(call: Call) -> Talk:
    if "x-goog-api-key" not in call.headers and "key" not in call.query:
        raise Refused(
            403, "Method doesn't allow unregistered callers. Please use API Key to call this API."
        )
    model, _, method = call.path.rpartition("/")[2].partition(":")
    streams = method == "streamGenerateContent"
    if streams and call.query.get("alt") != "sse":
        raise Refused(400, "The scripted model streams Gemini only with alt=sse.")
    contents = rows(call.body.get("contents"))
    _check(contents)
    return Talk(
        model=model,
        system=text_of(row(call.body.get("systemInstruction")).get("parts")),
        entries=tuple(entry for content in contents for entry in _entries(content)),
        tools=frozenset(
            str(declared.get("name"))
            for tool in rows(call.body.get("tools"))
            for declared in rows(tool.get("functionDeclarations"))
        ),
        stream=streams,
    )


def _check(contents: list[Json]) -> None:
    if not contents:
        raise Refused(400, "* GenerateContentRequest.contents: contents is not specified")
    open_calls = 0
    for i, content in enumerate(contents):
        if content.get("role", "user") not in ("user", "model"):
            raise Refused(400, "Please use a valid role: user, model.")
        if not rows(content.get("parts")):
            raise Refused(400, f"* GenerateContentRequest.contents[{i}].parts: must not be empty")
        if _count(content, "functionResponse") != open_calls:
            raise Refused(
                400,
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn.",
            )
        open_calls = _count(content, "functionCall")


def _count(content: Json, kind: str) -> int:
    return sum(kind in part for part in rows(content.get("parts")))


def _entries(content: Json) -> Iterator[Entry]:
    for part in rows(content.get("parts")):
        if content.get("role") == "model":
            yield Entry("model", text_of(part))
        elif "functionResponse" in part:
            response = row(row(part["functionResponse"]).get("response"))
            yield Entry("result", "\n".join(map(str, response.values())))
        else:
            yield Entry("user", text_of(part))


def whole(spoken: Spoken) -> Json:
    return _response(spoken, [_part(block) for block in spoken.blocks], last=True)


def frames(spoken: Spoken) -> Iterator[bytes]:
    parts = [
        part
        for block in spoken.blocks
        for part in (
            [_part(block)]
            if isinstance(block, Use)
            else [{"text": piece} for piece in pieces(block.text, spoken.piece)]
        )
    ]
    for i, part in enumerate(parts, 1):
        yield frame(_response(spoken, [part], last=i == len(parts)))


def _part(block: Say | Use) -> Json:
    if isinstance(block, Say):
        return {"text": block.text}
    return {"functionCall": {"id": new_id("call"), "name": block.name, "args": block.input}}


def _response(spoken: Spoken, parts: list[Json], *, last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = REASONS[spoken.stop]
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": spoken.prompt_tokens,
            "cachedContentTokenCount": spoken.usage.cache_read,
            "candidatesTokenCount": spoken.usage.output,
            "totalTokenCount": spoken.prompt_tokens + spoken.usage.output,
        },
        "modelVersion": spoken.model,
    }


def error(status: int, message: str, kind: str | None) -> Json:
    usual = KINDS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": kind or usual}}


def broken(error: Json) -> bytes:
    """Return an error as the provider sends it in the middle of a stream: not as an event."""
    return json.dumps(error).encode()


API = Api(read, whole, frames, error, broken)
