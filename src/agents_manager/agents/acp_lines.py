"""What an agent says over the Agent Client Protocol, as lines of our message stream."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from acp import RequestError
from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    ContentToolCallContent,
    FileEditToolCallContent,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
)

from agents_manager.agents import lines, troubles
from agents_manager.agents.acp_profiles import Counts
from agents_manager.agents.acp_wire import Fault
from agents_manager.agents.lines import Line

TOKENS = {
    "input_tokens": ("inputTokens", "input_tokens"),
    "output_tokens": ("outputTokens", "output_tokens"),
    "cache_read_tokens": ("cachedReadTokens",),
    "cache_write_tokens": ("cachedWriteTokens",),
}
"""What each number is called by agents."""
AUTH_REQUIRED = -32000
STOPS = {
    "max_tokens": ("The model's answer was cut off at its length limit.", "max_tokens"),
    "max_turn_requests": ("The agent took more requests than it allows itself.", "budget"),
    "refusal": ("The model refused to go on.", "refusal"),
    "cancelled": ("The agent ended its turn as cancelled.", "interrupted"),
}
ENDED = ("completed", "failed")
PLACES = {"cwd"}
"""Inputs that say where a tool runs, which some agents send first."""
MARKS = {"completed": "x", "in_progress": "~"}


class Listener:
    """What was heard in one session."""

    def __init__(self, counts: Counts) -> None:
        self.muted = False
        """While an old session is loaded, what was said in it is said again."""
        self.fresh = True
        """Whether the session began with this turn."""
        self.answered: Mapping[str, Any] = {}
        """The answer to the prompt, as it was sent."""
        self._counts = counts
        self._said = ""
        self._message: str | None = None
        self._words: list[str] = []
        """What it said since it last used a tool."""
        self._calls: dict[str, _Call] = {}
        self._pieces: list[Mapping[str, Any]] = []
        self._cost: float | None = None

    def lines(self, update: object) -> Iterator[Line]:
        if self.muted:
            return
        if isinstance(update, AgentMessageChunk):
            yield from self._hear(update)
            if self._counts is Counts.PIECES and _used(update):
                yield from self._so_far()
            return
        yield from self.flush()
        if isinstance(update, ToolCallStart):
            self._words = []
        if isinstance(update, ToolCallStart | ToolCallProgress):
            yield from self._call(update)
        elif isinstance(update, AgentPlanUpdate):
            steps = [f"[{MARKS.get(e.status, ' ')}] {e.content}" for e in update.entries]
            yield {"type": "output", "text": lines.short("\n".join(["Plan:", *steps]))}
        elif isinstance(update, UsageUpdate) and update.cost is not None:
            self._cost = update.cost.amount if update.cost.currency == "USD" else None
            yield from self._so_far()

    def _call(self, update: ToolCallStart | ToolCallProgress) -> Iterator[Line]:
        call = self.remember(update)
        ended = update.status in ENDED and not call.ended
        if not call.shown and (call.given.keys() - PLACES or ended):
            call.shown = True
            if not call.given:  # Then the title says what it did.
                call.name, call.given = update.kind or call.kind or call.name, {"title": call.name}
            yield lines.tool_use(update.tool_call_id, call.name, call.given)
        if ended:
            call.ended = True
            yield lines.tool_result(
                update.tool_call_id, call.name, call.returned, ok=update.status == "completed"
            )

    def remember(self, update: ToolCallUpdate | ToolCallStart | ToolCallProgress) -> "_Call":
        """Return all that is known of a call. Some agents describe it only when they ask for
        permission, and some send its input only when it has ended."""
        call = self._calls.setdefault(update.tool_call_id, _Call())
        call.kind = call.kind or update.kind
        call.name = call.name or (update.title or "").strip() or update.kind or "tool"
        given: Any = update.raw_input
        if isinstance(given, dict):
            call.given = {**call.given, **cast("dict[str, Any]", given)}
        call.returned = _returned(update) or call.returned
        return call

    def flush(self) -> Iterator[Line]:
        """The message that has come to its end, if there is one."""
        text, self._said = self._said, ""
        if text.strip():
            self._words.append(text)
            yield {"type": "assistant", "text": text}

    def _hear(self, chunk: AgentMessageChunk) -> Iterator[Line]:
        if chunk.message_id != self._message:
            yield from self.flush()
            self._message = chunk.message_id
        if isinstance(chunk.content, TextContentBlock):
            self._said += chunk.content.text
        if used := _used(chunk):
            self._pieces.append(used)

    @property
    def final(self) -> str:
        return "\n\n".join(self._words)

    def _so_far(self) -> Iterator[Line]:
        if known := self.usage():
            yield {**known, "type": "usage_so_far"}

    def usage(self) -> Line | None:
        """What the turn used; None where it is not known. The cost is the session's, so that it is
        the turn's only where both began together; and 0 is what agents say that know no price."""
        line: dict[str, Any] = {"type": "usage"}
        for numbers in self._numbers():
            for ours, theirs in TOKENS.items():
                value = next((numbers[name] for name in theirs if name in numbers), None)
                if value is not None:
                    line[ours] = _plus(line.get(ours), value)
        if self.fresh and self._cost:
            line["cost_usd"] = self._cost
        return line if len(line) > 1 else None

    def _numbers(self) -> list[Mapping[str, Any]]:
        if self._counts is Counts.PIECES:
            return self._pieces
        place = {Counts.ANSWER: ("usage",), Counts.QUOTA: ("_meta", "quota", "token_count")}
        found: Any = self.answered if self._counts in place else None
        for name in place.get(self._counts, ()):
            found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
        return [_apart(cast("dict[str, Any]", found))] if isinstance(found, dict) else []


@dataclass(slots=True)
class _Call:
    """A call of a tool."""

    name: str = ""
    kind: str | None = None
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    returned: str = ""
    shown: bool = False
    ended: bool = False


def _returned(update: ToolCallUpdate | ToolCallStart | ToolCallProgress) -> str:
    """Return what a call returned so far: its content for people, else its raw output."""
    parts: list[str] = []
    for part in update.content or ():
        if isinstance(part, FileEditToolCallContent):
            parts.append(f"Changed {part.path}")
        elif isinstance(part, ContentToolCallContent) and isinstance(
            part.content, TextContentBlock
        ):
            parts.append(part.content.text)
    raw: Any = update.raw_output
    if parts or raw is None:
        return "\n".join(parts)
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)


def _used(chunk: AgentMessageChunk) -> Mapping[str, Any] | None:
    found: Any = (chunk.field_meta or {}).get("usage")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _plus(known: Any, value: Any) -> Any:
    """Nonsense stays what it is, for the reader to refuse."""
    if isinstance(known, int) and isinstance(value, int):
        return value if value < 0 else known + value
    return value if known is None else known


def _apart(numbers: dict[str, Any]) -> Mapping[str, Any]:
    """Some count what came from the cache as input too, which their sum gives away."""
    names = ("totalTokens", "inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens")
    known = [numbers.get(name) or 0 for name in names]
    if not all(isinstance(number, int) for number in known):
        return numbers
    total, given, made, read, written = known
    if (read or written) and total == given + made and given >= read + written:
        return {**numbers, "inputTokens": given - read - written}
    return numbers


def fault_of(error: RequestError) -> Fault:
    """What an agent answered in place of a result."""
    data: Any = error.data
    details: Any = data
    if isinstance(data, dict):
        details = cast("dict[str, Any]", data).get("details")
    told = str(error).strip()
    words = troubles.message(told) or f"error {error.code}"
    if isinstance(details, str) and details.strip() and details not in words:
        words = f"{words}: {details}"
    error_class = (
        "auth"
        if error.code == AUTH_REQUIRED
        else troubles.classified(f"{words} {told}", error.code)
    )
    return Fault(lines.short(words), error_class)
