"""Responses that go wrong, in the form in which each provider sends them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from agents_manager.testing.scripted_model.steps import (
    Broken,
    Cut,
    Garbled,
    Say,
    Status,
    Trouble,
    Turn,
)

Provider: TypeAlias = Literal["anthropic", "openai", "gemini"]

RESET = timedelta(hours=2)
"""How far away the limits reset that name a time."""
_TOO_LONG: Mapping[Provider, str] = {
    "anthropic": "prompt is too long: 250000 tokens > 200000 maximum",
    "openai": "Your input exceeds the context window of this model. Please adjust your input and"
    " try again.",
    "gemini": "The input token count (1250000) exceeds the maximum number of tokens allowed"
    " (1048576).",
}


@dataclass(frozen=True, slots=True)
class Unusual:
    """A response that goes wrong, as every request gets it or, with `once`, only the first."""

    sent: str
    """What a person would say that the provider sent."""
    step: Callable[[Provider], Trouble | Turn]
    once: bool = False


def _limited(provider: Provider, form: str) -> Status:
    """A request beyond the rate limit, and when to come back."""
    at = datetime.now(UTC) + RESET
    seconds = RESET.total_seconds()
    match form, provider:
        case "seconds", "gemini":
            wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7200s"}
            return Status(429, "Resource has been exhausted.", fields={"details": [wait]})
        case "seconds", _:
            return Status(429, "Too many requests.", retry_after=seconds)
        case "date", _:
            date = f"{at:%a, %d %b %Y %H:%M:%S} GMT"
            return Status(429, "Too many requests.", headers={"Retry-After": date})
        case "reset", "anthropic":
            names = ("requests", "tokens")
            told = {
                f"anthropic-ratelimit-{name}-reset": f"{at:%Y-%m-%dT%H:%M:%SZ}" for name in names
            }
            left = {f"anthropic-ratelimit-{name}-remaining": "0" for name in names}
            return Status(429, "Too many requests.", headers={**told, **left})
        case "reset", _:
            return Status(
                429, "Too many requests.", headers={"x-ratelimit-reset-requests": "2h0m0s"}
            )
        case _:
            return Status(429, "Too many requests.")


def _used_up(provider: Provider) -> Status:
    """The usage limit of a subscription."""
    at = datetime.now(UTC) + RESET
    match provider:
        case "anthropic":
            told = {
                "status": "rejected",
                "reset": f"{at.timestamp():.0f}",
                "representative-claim": "five_hour",
                "5h-status": "rejected",
                "5h-reset": f"{at.timestamp():.0f}",
                "5h-utilization": "1.0",
            }
            headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in told.items()}
            return Status(
                429, "This request would exceed your account's rate limit.", headers=headers
            )
        case "openai":
            seconds = int(RESET.total_seconds())
            fields = {
                "plan_type": "plus",
                "resets_at": int(at.timestamp()),
                "resets_in_seconds": seconds,
            }
            return Status(
                429, "The usage limit has been reached", "usage_limit_reached", fields=fields
            )
        case "gemini":
            return _limited(provider, "seconds")


def _no_credit(provider: Provider) -> Status:
    match provider:
        case "anthropic":
            return Status(
                400,
                "Your credit balance is too low to access the Anthropic API. Please go to Plans &"
                " Billing to upgrade or purchase credits.",
            )
        case "openai":
            return Status(
                429,
                "You exceeded your current quota, please check your plan and billing details.",
                "insufficient_quota",
            )
        case "gemini":
            return Status(
                429,
                "You exceeded your current quota, please check your plan and billing details.",
            )


_NOISE = "\ufffd\x1b[31m#<<not an event of the API>>\ufffd"

_SLOWLY = Turn([Say("This sentence has no end in this stream.")], pause=0.05)
"""Gemini recognizes an error only if it does not arrive together with what was said before it."""
_PARAGRAPH = (
    "The greeting is read from a file next to the program, so that translators can change it"
    " without touching any code. First comes the default language, then each of the others in"
    " alphabetical order, and a missing translation falls back to English."
)

UNUSUAL: Mapping[str, Unusual] = {
    "error event once": Unusual(
        "an error event (overloaded) in the middle of one response",
        lambda _: Broken(_SLOWLY),
        once=True,
    ),
    "error event": Unusual(
        "an error event (overloaded) in the middle of every response", lambda _: Broken(_SLOWLY)
    ),
    "late error event": Unusual(
        "an error event (overloaded) after a whole paragraph, in every response",
        lambda _: Broken(Turn([Say("Now I write the file."), Say(_PARAGRAPH)], pause=0.02)),
    ),
    "garbled": Unusual(
        "events that are not JSON, in the middle of every response",
        lambda _: Garbled(garbage=_NOISE),
    ),
    "truncated JSON": Unusual(
        "an event whose JSON is cut off, then the end of the stream, every time",
        lambda _: Garbled(),
    ),
    "early end": Unusual(
        "half of a response without its last events, every time", lambda _: Garbled(garbage="")
    ),
    "cut": Unusual("half of a response, then a closed connection, every time", lambda _: Cut()),
    "429 seconds": Unusual(
        "429 with the time to wait in seconds, as `Retry-After` (Gemini: `retryDelay`)",
        lambda provider: _limited(provider, "seconds"),
    ),
    "429 date": Unusual(
        "429 with `Retry-After` as a date", lambda provider: _limited(provider, "date")
    ),
    "429 reset": Unusual(
        "429 with the provider's header for the reset",
        lambda provider: _limited(provider, "reset"),
    ),
    "429": Unusual("429 without a time", lambda provider: _limited(provider, "")),
    "usage limit": Unusual(
        "429, the usage limit of a subscription with the time of its reset", _used_up
    ),
    "529": Unusual("529", lambda _: Status(529, "Overloaded")),
    "refusal": Unusual(
        "a refusal", lambda _: Turn([Say("I cannot help with that.")], stop="refusal")
    ),
    "max tokens": Unusual(
        "half of a sentence, cut off at the limit of output tokens",
        lambda _: Turn([Say("I was going to")], stop="max_tokens"),
    ),
    "prompt too long": Unusual(
        "400, the prompt is too long",
        lambda provider: Status(400, _TOO_LONG[provider]),
    ),
    "no credit": Unusual("credit too low", _no_credit),
}
