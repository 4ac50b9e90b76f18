"""What goes out for a step: status, headers and the pieces of the body."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from agents_manager.testing.scripted_model.steps import (
    Answer,
    Block,
    Broken,
    Cut,
    Garbled,
    Hang,
    Malformed,
    Say,
    Status,
    Structured,
    Trouble,
    Use,
    as_turn,
)
from agents_manager.testing.scripted_model.talk import Talk
from agents_manager.testing.scripted_model.wire import Api, Spoken, frame

CLAUDE_CODE_TOOL = "StructuredOutput"

Event: TypeAlias = Literal["hang", "cut"]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Sequence[bytes]
    streams: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pause: float = 0.0
    event: Event | None = None
    event_at: int = 0
    """The piece of the body before which the event takes place."""


def to_step(api: Api, talk: Talk, step: Answer | Trouble) -> Reply:
    match step:
        case Status():
            return to_error(api, step)
        case Malformed():
            body = frame(step.text) if talk.stream else step.text.encode()
            return Reply(200, [body], streams=talk.stream)
        case Hang():
            return _to_answer(api, talk, step.answer, "hang", midway=step.midway)
        case Cut():
            return _to_answer(api, talk, step.answer, "cut", midway=True)
        case Broken() if talk.stream:
            error = api.error(step.code, step.message, None)
            return _ending_with(api, talk, step, api.broken(error))
        case Broken():
            return to_error(api, Status(step.code, step.message))
        case Garbled() if talk.stream:
            return _ending_with(api, talk, step, frame(step.garbage) if step.garbage else b"")
        case Garbled():
            return Reply(200, [step.garbage.encode()])
        case _:
            return _to_answer(api, talk, step)


def to_error(api: Api, error: Status) -> Reply:
    body = api.error(error.code, error.message, error.kind)
    body["error"].update(error.fields)
    headers = dict(error.headers)
    if error.retry_after is not None:
        headers["Retry-After"] = f"{error.retry_after:g}"
    return Reply(error.code, [_encoded(body)], headers=headers)


def _ending_with(api: Api, talk: Talk, step: Broken | Garbled, last: bytes) -> Reply:
    """The first part of the answer and then, in place of the rest, this."""
    told = _to_answer(api, talk, step.answer)
    begin = list(told.body[: round(len(told.body) * step.part)])
    return replace(told, body=[*begin, last] if last else begin)


def _to_answer(
    api: Api, talk: Talk, answer: Answer, event: Event | None = None, *, midway: bool = False
) -> Reply:
    turn = as_turn(answer)
    blocks = tuple(_sayable(block, talk) for block in turn.blocks)
    spoken = Spoken(talk.model, blocks, turn.usage, turn.piece, turn.stop)
    body = list(api.frames(spoken)) if talk.stream else _halves(_encoded(api.whole(spoken)))
    return Reply(
        200,
        body,
        streams=talk.stream,
        pause=turn.pause,
        event=event,
        event_at=len(body) // 2 if midway else 0,
    )


def _sayable(block: Block, talk: Talk) -> Say | Use:
    if not isinstance(block, Structured):
        return block
    if CLAUDE_CODE_TOOL in talk.tools:
        return Use(CLAUDE_CODE_TOOL, block.value)
    return Say(json.dumps(block.value))


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def _halves(body: bytes) -> list[bytes]:
    middle = len(body) // 2
    return [body[:middle], body[middle:]]
