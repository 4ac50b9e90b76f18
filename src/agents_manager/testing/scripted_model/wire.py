"""What the APIs have in common: a call that came in, an answer that goes out, and refusals."""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from agents_manager.testing.scripted_model.steps import Say, Stop, Usage, Use
from agents_manager.testing.scripted_model.talk import Talk

Json: TypeAlias = dict[str, Any]


class Refused(Exception):
    """The real API would not take this request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Call:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True, slots=True)
class Spoken:
    """An answer whose blocks every API can say."""

    model: str
    blocks: tuple[Say | Use, ...]
    usage: Usage
    piece: int
    stop: Stop = "end"

    @property
    def calls(self) -> bool:
        return any(isinstance(block, Use) for block in self.blocks)

    @property
    def prompt_tokens(self) -> int:
        return self.usage.input + self.usage.cache_read + self.usage.cache_write


@dataclass(frozen=True, slots=True)
class Api:
    read: Callable[[Call], Talk]
    whole: Callable[[Spoken], Json]
    frames: Callable[[Spoken], Iterable[bytes]]
    error: Callable[[int, str, str | None], Json]
    broken: Callable[[Json], bytes]
    """The event that a stream sends for an error, made of the answer to a failed request."""


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def frame(data: Any, event: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    text = data if isinstance(data, str) else json.dumps(data)
    return f"{head}data: {text}\n\n".encode()


def pieces(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)] or [""]


def arguments(call: Use) -> str:
    return call.input if isinstance(call.input, str) else json.dumps(call.input)


def rows(value: Any) -> list[Json]:
    """The objects in a list, of what may be no list at all."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def row(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """The text of a message's content: plain, in parts, or one part."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return text_of([value])
    return "\n".join(str(part["text"]) for part in rows(value) if "text" in part)
