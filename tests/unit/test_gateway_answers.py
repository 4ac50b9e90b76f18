"""What answers of models tell about usage, however they are cut into pieces."""

import json
from typing import Any

import pytest

from agents_manager.domain import cost
from agents_manager.domain.run import Usage
from agents_manager.sandbox.answers import Listener

CLAUDE = [
    {
        "type": "message_start",
        "message": {
            "model": "claude",
            "usage": {
                "input_tokens": 7,
                "cache_read_input_tokens": 5,
                "cache_creation_input_tokens": 3,
                "output_tokens": 1,
            },
        },
    },
    {"type": "content_block_delta", "delta": {"text": 'a "usage" in words'}},
    {"type": "message_delta", "usage": {"output_tokens": 20}},
    {"type": "message_stop"},
]
RESPONSES = [
    {"type": "response.created", "response": {"model": "gpt", "usage": None}},
    {
        "type": "response.completed",
        "response": {
            "model": "gpt",
            "usage": {
                "input_tokens": 12,
                "input_tokens_details": {"cached_tokens": 5},
                "output_tokens": 20,
            },
        },
    },
]
CHAT = [
    {"model": "gpt", "choices": [{}], "usage": None},
    {
        "model": "gpt",
        "choices": [],
        "usage": {
            "prompt_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens": 20,
        },
    },
]
USED = Usage(input_tokens=7, output_tokens=20, cache_read_tokens=5)


def events(told: list[Any]) -> bytes:
    return b"".join(f"event: x\r\ndata: {json.dumps(e)}\r\n\r\n".encode() for e in told)


def heard(content_type: str, *pieces: bytes) -> Any:
    listener = Listener()
    listener.begin(content_type)
    for piece in pieces:
        listener.take(piece)
    return listener.counted(over=True)


@pytest.mark.parametrize(
    ("told", "model", "used"),
    [
        pytest.param(CLAUDE, "claude", USED.model_copy(update={"cache_write_tokens": 3}), id="a"),
        pytest.param(RESPONSES, "gpt", USED, id="responses"),
        pytest.param(CHAT, "gpt", USED, id="chat"),
    ],
)
def test_streams(told: list[Any], model: str, used: Usage) -> None:
    data = events(told)
    for cut in range(len(data) + 1):
        found = heard("text/event-stream; charset=utf-8", data[:cut], data[cut:])
        assert (found.usage, found.model) == (used, model)


def test_it_is_known_before_the_last_words_and_told_once() -> None:
    listener = Listener()
    listener.begin("text/event-stream")
    listener.take(events(CLAUDE[:2]))
    assert listener.counted(over=False) is None
    listener.take(events(CLAUDE[2:3]))
    assert listener.counted(over=False) is not None
    assert listener.counted(over=True) is None


def test_what_is_cut_short_used_what_it_told() -> None:
    found = heard("text/event-stream", events(CLAUDE[:2]))
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 1)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[" * 100_000, b"null", b'{"usage": 3}', b'{"usage": {"input_tokens": -1}}'),
        b'{"usage": {"input_tokens": "7"}}',
    ],
)
def test_nonsense_tells_nothing(body: bytes) -> None:
    assert heard("application/json", body) is None
    assert heard("text/event-stream", b"data: " + body + b' "usage"\n') is None


def test_of_two_counts_the_larger_holds_and_never_the_sum() -> None:
    told = Usage(input_tokens=7, output_tokens=3, cost_usd=1.0)
    same = Usage(input_tokens=7, output_tokens=3)
    more = Usage(input_tokens=8, output_tokens=3)
    assert cost.larger(told, same) == told
    assert cost.larger(told, more) == more
    assert cost.larger(None, more) == more
    assert cost.larger(told, None) == told
    assert cost.larger(None, None) is None
