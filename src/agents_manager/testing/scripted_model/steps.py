"""What the scripted model does when it is asked: the steps of a scenario."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agents_manager.testing.scripted_model.talk import Talk


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer. `input` counts what came from no cache; APIs that report the sum of all
    three get the sum."""

    input: int = 100
    output: int = 10
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """A call of a tool the agent has. An input that is text is sent as it stands, valid or not."""

    name: str
    input: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Structured:
    """A value for the schema the agent asked for: a call of Claude Code's tool, else JSON text."""

    value: Any


Block: TypeAlias = Say | Use | Structured


Stop: TypeAlias = Literal["end", "max_tokens", "refusal"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model with several blocks, or with a usage or a pace of its own."""

    blocks: Sequence[Block]
    usage: Usage = field(default_factory=Usage)
    pause: float = 0.0
    """Seconds before each piece of a stream."""
    piece: int = 16
    """Characters in each piece of a stream."""
    stop: Stop = "end"
    """Why the model stopped."""


Answer: TypeAlias = Block | Turn


@dataclass(frozen=True, slots=True)
class Hang:
    """Sends nothing, or half of the answer, and waits to be released or for the client to go."""

    answer: Answer = field(default_factory=lambda: Say("Released."))
    midway: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """Sends half of the answer and closes the connection."""

    answer: Answer = field(default_factory=lambda: Say("This is never said to its end."))


@dataclass(frozen=True, slots=True)
class Broken:
    """Sends part of the answer, then an error event in the shape of the API."""

    answer: Answer = field(default_factory=lambda: Say("This sentence has no end in this stream."))
    message: str = "Overloaded"
    code: int = 529
    """The status that the API would have answered with, had it known in time."""
    part: float = 0.5
    """How much of the answer is sent."""


@dataclass(frozen=True, slots=True)
class Garbled:
    """Sends part of the answer, then an event that is not valid JSON."""

    answer: Answer = field(default_factory=lambda: Say("This sentence has no end in this stream."))
    garbage: str = '{"type": "content_block_delta", '
    """What follows; nothing where it is empty."""
    part: float = 0.5
    """How much of the answer is sent."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Sends this text where the API sends JSON."""

    text: str = '{"type": '


@dataclass(frozen=True, slots=True)
class Status:
    """An error, in the shape of the API."""

    code: int
    message: str = "Refused by the script."
    kind: str | None = None
    """The API's name of the error, where it is not the usual one of the status."""
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further headers, such as the time at which a limit resets."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the error object."""


Trouble: TypeAlias = Hang | Cut | Broken | Garbled | Malformed | Status


@dataclass(frozen=True, slots=True)
class Once:
    """Trouble for the first request, or the first few, that reach this step."""

    trouble: Trouble
    then: Answer
    times: int = 1


Step: TypeAlias = Answer | Trouble | Once
Condition: TypeAlias = Callable[[Talk], bool]


@dataclass(frozen=True, slots=True)
class When:
    """Steps for the requests that fulfil a condition; they begin when it does."""

    condition: Condition
    steps: Sequence[Step]


def outcome(name: str, payload: Any = None, text: str = "Done.") -> Say:
    """A final message that ends with an outcome, as Agents Manager asks its agents for."""
    body = "" if payload is None else json.dumps(payload)
    return Say(f"{text}\n<<<OUTCOME:{name}>>>\n{body}\n<<<END_PAYLOAD>>>")


def as_turn(answer: Answer) -> Turn:
    return answer if isinstance(answer, Turn) else Turn([answer])
