"""What the answers of Anthropic's and OpenAI's interfaces tell about usage, whole or as a stream of
events, read while they pass."""

import json
from collections.abc import Mapping
from typing import Any, cast

from agents_manager.domain import cost
from agents_manager.domain.run import Usage
from agents_manager.flow.runs.counts import Counted

MAX_BYTES = 16 * 1024 * 1024
"""A longer answer or event is passed on, but not read."""
ENDS = ("message_delta", "response.completed", "response.incomplete", "response.failed")
Json = Mapping[str, Any]


class Listener:
    def __init__(self) -> None:
        self._events = False
        self._line = bytearray()
        self._told: dict[str, Any] = {}
        self._model: str | None = None
        self._ended = False
        self._given = False

    def begin(self, content_type: str) -> None:
        self._events = content_type.startswith("text/event-stream")

    def take(self, piece: bytes) -> None:
        if not self._events:
            self._keep(piece)
            return
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._keep(line)
            if self._line.startswith(b"data:") and b'"usage"' in self._line:
                self._hear(bytes(self._line[5:]))
            self._line.clear()
        self._keep(rest)

    def counted(self, *, over: bool) -> Counted | None:
        """What it used, once: as soon as that is known, or else at the end."""
        if over and not self._events and self._line:
            self._hear(bytes(self._line))
            self._line.clear()
        if self._given or not (over or self._ended):
            return None
        usage = _usage(self._told)
        self._given = usage is not None
        return Counted(usage=usage, model=self._model) if usage else None

    @property
    def heard(self) -> Counted:
        """All that was told, whether it was counted or not."""
        return Counted(usage=_usage(self._told), model=self._model)

    def _keep(self, data: bytes) -> None:
        if len(self._line) <= MAX_BYTES:
            self._line += data

    def _hear(self, text: bytes) -> None:
        try:
            event = json.loads(text) if len(text) <= MAX_BYTES else None
        except (ValueError, RecursionError):
            return
        for place in (event, _part(event, "message"), _part(event, "response")):
            self._told |= {k: v for k, v in _part(place, "usage").items() if v is not None}
            model = _part({"": place}, "").get("model")
            self._model = model if isinstance(model, str) else self._model
        # Of chat completions, only the last piece tells anything.
        kind = _part({"": event}, "").get("type")
        self._ended = self._ended or kind in ENDS or "prompt_tokens" in self._told


def _part(value: Any, name: str) -> Json:
    part = cast("Json", value).get(name) if isinstance(value, dict) else None
    return cast("Json", part) if isinstance(part, dict) else {}


def _usage(told: Json) -> Usage | None:
    """OpenAI counts what came from a cache as input, too; Anthropic does not."""
    given = _count(told, "input_tokens", "prompt_tokens")
    written = _count(told, "output_tokens", "completion_tokens")
    if given is None and written is None:
        return None
    details = _part(told, "input_tokens_details") or _part(told, "prompt_tokens_details")
    cached = _count(details, "cached_tokens")
    stored = _count(details, "cache_write_tokens")
    if details and given is not None:
        given = max(0, given - (cached or 0) - (stored or 0))
    return Usage(
        input_tokens=given,
        output_tokens=written,
        cache_read_tokens=cached if details else _count(told, "cache_read_input_tokens"),
        cache_write_tokens=stored if details else _count(told, "cache_creation_input_tokens"),
    )


def _count(told: Json, *names: str) -> int | None:
    return next((told[n] for n in names if n in told and not cost.refusal(n, told[n])), None)
