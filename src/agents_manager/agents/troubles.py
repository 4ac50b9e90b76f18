"""The class of an error that an agent tells in words, or by a status of HTTP."""

import json
import re
from collections.abc import Mapping

SIGNS = (
    (
        "context_too_long",
        r"prompt is too long|context.{0,10}(length|window)|maximum context"
        r"|token count.{0,40}exceeds",
    ),
    ("max_tokens", r"max_output_tokens|output token maximum|output length limit"),
    ("refusal", r"content.?filter|flagged for|usage policy|safety (filter|setting|reason)"),
    ("overloaded", r"\b(502|503|529)\b|overloaded|service unavailable|internal server error"),
    ("auth", r"\b(401|403)\b|unauthori[sz]ed|authenticat|api key|log ?in\b|not logged in"),
    ("quota", r"\b402\b|quota|credit|billing|usage limit"),
    ("rate_limit", r"\b429\b|rate.?limit|too many requests|resource.{0,12}exhausted"),
    ("environment", r"\b404\b|model.{0,40}not (found|exist)|unknown model"),
    (
        "interrupted",
        r"\bterminated$|in JSON at|not valid JSON|JSON (parse|input)|unterminated string"
        r"|incomplete json|unexpected (token|end of)"
        r"|premature(ly)? close|socket hang up|ECONNRESET|connection (was )?(lost|closed|reset)"
        r"|other side closed|stream (ended|closed|disconnected|error)|mid-response|without finish",
    ),
)
STATUSES: Mapping[int, str] = {
    401: "auth",
    402: "quota",
    403: "auth",
    404: "environment",
    413: "context_too_long",
    429: "rate_limit",
    500: "overloaded",
    502: "overloaded",
    503: "overloaded",
    529: "overloaded",
}


def classified(words: str, status: int | None = None) -> str:
    """Return the class of the error. The words tell more than the status, if they tell anything."""
    for error_class, signs in SIGNS:
        if re.search(signs, words, re.IGNORECASE):
            return error_class
    return STATUSES.get(status or 0, "crash")


def message(words: str) -> str:
    """Return the provider's message where an agent tells the whole body of its response."""
    try:
        body = json.loads(words)
    except (ValueError, RecursionError):
        return words
    match body:
        case {"error": {"message": str(told)}} if told.strip():
            return told
        case _:
            return words
