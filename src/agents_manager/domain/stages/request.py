"""Requests: how one agent has another run again. They stand in its final message, outside of code
and quotes, as

    REQUEST: debugger - 3 tests of the auth module fail
    Context: test_jwt_verify, test_token_refresh
    Priority: high
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agents_manager.domain import fences
from agents_manager.domain.stages import table
from agents_manager.errors import closest

MOST = 10
"""Requests of one message."""
MAX_REASON = 1_000
MAX_CONTEXT = 10_000
_REQUEST = re.compile(r" {0,3}(?:\*\*)?REQUEST(?:\*\*)?:(?:\*\*)?[ \t]*(.*)")
_WHOM = re.compile(r"\[?([A-Za-z0-9_-]{1,64})\]?[ \t]+[-\u2013\u2014][ \t]+(.+)")
_PART = re.compile(r" {0,3}(?:\*\*)?(Context|Priority)(?:\*\*)?:(?:\*\*)?[ \t]*(.*)", re.IGNORECASE)
_REST = frozenset({"context", "priority"})
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")


class Priority(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"


ORDER = list(Priority)
"""The most urgent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    target: str
    reason: str
    context: str = ""
    priority: Priority = Priority.NORMAL


def read(text: str) -> tuple[list[Request], list[str]]:
    """What a message asks for, and a sentence for each request that cannot be read."""
    requests: list[Request] = []
    problems: list[str] = []
    for first, rest in _blocks(text):
        try:
            requests.append(_request(first, rest))
        except ValueError as error:
            problems.append(str(error))
    if len(requests) > MOST:
        problems.append(f"{len(requests)} requests; a message has at most {MOST}.")
    return requests, problems


def given(value: Any) -> Request:
    """A request that comes as data; ValueError says what is wrong with it."""
    match value:
        case {"agent": str(target), "reason": str(reason), **rest} if not set(rest) - _REST:
            pass
        case _:
            raise ValueError('A request is an object with "agent" and "reason", as texts.')
    context, priority = rest.get("context") or "", rest.get("priority") or Priority.NORMAL
    if not reason.strip():
        raise ValueError("The reason of a request is missing.")
    return _sound(target, reason, str(context), str(priority))


def refusal(source: str, request: Request) -> str | None:
    """Why this agent may not ask for that; None: it may."""
    stage = table.stage_of(request.target)
    if stage is None:
        known = sorted(table.BY_ROLE)
        return f'There is no agent "{request.target}".{closest(request.target, known)}'
    if stage.role == table.DECIDER:
        return f"Nobody may request {table.DECIDER}."
    own = table.stage_of(source)
    allowed = table.may_ask(own.role) if own else frozenset[str]()
    if stage.role in allowed:
        return None
    if not allowed:
        return f"{source} may request nobody."
    return f"{source} may not request {request.target}; it may: {', '.join(sorted(allowed))}."


def _request(first: str, rest: list[str]) -> Request:
    said = _WHOM.fullmatch(first.strip())
    if said is None:
        raise ValueError(
            f'"REQUEST: {first.strip()[:100]}" cannot be read; write "REQUEST: agent - reason".'
        )
    parts: dict[str, list[str]] = {"context": [], "priority": []}
    into: list[str] | None = None
    for line in rest:
        part = _PART.match(line)
        if part:
            into = parts[part[1].lower()]
            into.append(part[2])
        elif into is not None:
            into.append(line)
    wanted = _bare(" ".join(parts["priority"])) or Priority.NORMAL
    context = _bare("\n".join(parts["context"]))
    return _sound(said[1], _bare(said[2]), context, wanted)


def _sound(target: str, reason: str, context: str, priority: str) -> Request:
    wanted = priority.lower()
    if wanted not in ORDER:
        raise ValueError(f'"{wanted[:50]}" is no priority; there are {", ".join(ORDER)}.')
    if len(reason) > MAX_REASON:
        raise ValueError(f"The reason of a request has at most {MAX_REASON} characters.")
    if len(context) > MAX_CONTEXT:
        raise ValueError(f"The context of a request has at most {MAX_CONTEXT} characters.")
    return Request(target=target, reason=reason, context=context, priority=Priority(wanted))


def _bare(text: str) -> str:
    """The brackets of the form may have been left standing."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def _blocks(text: str) -> list[tuple[str, list[str]]]:
    """The first line of each request behind its mark, and the lines that belong to it: up to an
    empty one, a heading, code or the next request."""
    blocks: list[tuple[str, list[str]]] = []
    rest: list[str] | None = None
    fence: str | None = None
    for line in fences.lines(text):
        fence, fenced = fences.state(fence, line)
        start = None if fenced else _REQUEST.fullmatch(line)
        if start:
            rest = []
            blocks.append((start[1], rest))
        elif fenced or not line.strip() or _HEADING.match(line):
            rest = None
        elif rest is not None:
            rest.append(line)
    return blocks
