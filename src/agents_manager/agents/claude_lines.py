"""Translation of Claude Code's messages to lines of our message stream.

A failed conversation can report the subtype `success`, and a response that was cut off can end
without an error. A conversation is complete only if `is_error` is false, the terminal reason is
`completed`, and the model itself gave a reason to stop.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from claude_agent_sdk import (
    AssistantMessage,
    ContentBlock,
    Message,
    RateLimitEvent,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from agents_manager.agents import claude_gate, lines, resets, structured, troubles
from agents_manager.agents.lines import Line

Trouble: TypeAlias = tuple[str, str]
"""What went wrong with the program itself, and its class."""
ModelUsage: TypeAlias = Mapping[str, Mapping[str, Any]]
"""What each model was used for, by its name, in Claude Code's own words."""

TOKENS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadInputTokens",
    "cache_write_tokens": "cacheCreationInputTokens",
}
MESSAGE_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
"""The same of a single message, which names them as the API does."""
KINDS = {
    "authentication_failed": "auth",
    "oauth_org_not_allowed": "auth",
    "account_on_hold": "auth",
    "verification_required": "auth",
    "cloud_credential_error": "auth",
    "billing_error": "quota",
    "rate_limit": "rate_limit",
    "overloaded": "overloaded",
    "max_output_tokens": "max_tokens",
    "model_not_found": "environment",
}
STOPS = {
    "refusal": "refusal",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "context_too_long",
}
"""Reasons to stop that leave the work unfinished, with their error classes."""
SIGNS = (
    (re.compile(r"[Pp]rompt is too long|exceeds? the context window"), "context_too_long"),
    (re.compile(r"hit your .{0,30}limit"), "quota"),
    (re.compile(r"exceeded the \d+ output token maximum"), "max_tokens"),
    (re.compile(r"can't help with this|legal/aup|Usage Policy"), "refusal"),
    (
        re.compile(
            r"mid-response|JSON Parse error|Failed to parse JSON|malformed response"
            r"|Connection to the API was lost|stream_truncated"
        ),
        "interrupted",
    ),
)
"""Claude Code tells some errors in words alone."""
COMPLETE = ("", "completed")
"""Terminal reasons of a conversation that came to its end; older versions report none."""
CUT_OFF = "The model's response was cut off before its end."
WAYS_OUT = {
    "auth": "Log in with the program claude, or set ANTHROPIC_API_KEY for the server.",
    "quota": "Look at the credit and the plan of the account.",
}


class Listener:
    """What was heard in one conversation."""

    def __init__(self) -> None:
        self.heard = False
        """Whether the model, or an error in its place, was heard at all."""
        self.result: ResultMessage | None = None
        self._session: str | None = None
        self._words: list[str] = []
        """What it said since it last used a tool."""
        self._kind: str | None = None
        self._resets_at: datetime | None = None
        self._used: dict[str, Mapping[str, Any]] = {}
        """By message, as each comes in several parts."""
        self._called: dict[str, str] = {}
        """The names of the tools, by the ids of their calls."""

    def lines(self, message: Message) -> Iterator[Line]:
        """The lines for everything but the end, which `ending` gives."""
        match message:
            case AssistantMessage():
                self.heard = True
                self._kind = message.error
                self._listen(message)
                yield from self._named(message.session_id)
                yield from self._said(message)
                if message.message_id and message.usage:
                    self._used[message.message_id] = message.usage
                    yield from so_far(self._used.values(), message.model)
            case UserMessage(content=list() as blocks):
                yield from self._returned(blocks)
            case SystemMessage(subtype="permission_denied", data=data):
                why = str(data.get("message", "")).partition(". ")[0]
                yield lines.refused(str(data.get("tool_name")), f"{why}.")
            case RateLimitEvent(rate_limit_info=info) if info.status == "rejected":
                self._resets_at = resets.moment(info.resets_at)
            case ResultMessage():
                self.result = message
            case _:
                pass

    def ending(self, *, stopped: bool, trouble: Trouble | None) -> Line:
        """How it ended. The trouble with the program is told where it has no result."""
        result = self.result
        session = result.session_id if result else self._session
        if result and _is_complete(result):
            return {"type": "result", "session": session, **self._final(result)}
        if stopped:
            return _error("The agent was stopped.", "cancelled", session)
        if result is None:
            return _error(*(trouble or ("Claude Code ended without a result.", "crash")), session)
        why = "; ".join(result.errors or [])
        if result.is_error or result.stop_reason in STOPS:
            why = result.result or why
        elif result.stop_reason is None:
            why = why or CUT_OFF
        why = why or f"Claude Code stopped: {result.terminal_reason or result.subtype}."
        line = _error(why, self._error_class(result), session)
        if self._resets_at is None:
            told = resets.said(why, datetime.now(UTC))
            return {**line, "resets_at": told.isoformat()} if told else line
        at = self._resets_at.isoformat()
        return {**line, "error": f"{line['error']} It resets at {at}.", "resets_at": at}

    def _named(self, session: str | None) -> Iterator[Line]:
        if session and session != self._session:
            self._session = session
            yield lines.session(session)

    def _listen(self, message: AssistantMessage) -> None:
        if message.parent_tool_use_id is not None or message.error is not None:
            return
        for block in message.content:
            if isinstance(block, TextBlock):
                self._words.append(block.text)
            elif isinstance(block, ToolUseBlock) and block.name != claude_gate.ENDS:
                self._words = []

    def _said(self, message: AssistantMessage) -> Iterator[Line]:
        for block in message.content:
            if isinstance(block, TextBlock):
                yield {"type": "assistant", "text": block.text}
            elif isinstance(block, ToolUseBlock):
                final = (
                    structured.unwrapped(block.input) if block.name == claude_gate.ENDS else None
                )
                if final is not None:
                    yield {"type": "assistant", "text": structured.shown(final)}
                else:
                    self._called[block.id] = block.name
                    yield lines.tool_use(block.id, block.name, block.input)

    def _returned(self, blocks: Sequence[ContentBlock]) -> Iterator[Line]:
        for block in blocks:
            # The call that ends the conversation is shown as its final message.
            if isinstance(block, ToolResultBlock) and block.tool_use_id in self._called:
                call, ok = block.tool_use_id, block.is_error is not True
                yield lines.tool_result(call, self._called[call], _text(block.content), ok=ok)

    def _final(self, result: ResultMessage) -> Line:
        # One that ends without the form is asked for it once more. So all that was said since the
        # last tool is the final message, and not only the answer to that.
        words = "\n\n".join(self._words) or result.result or ""
        final = structured.unwrapped(result.structured_output)
        if final is None:
            return {"text": words}
        return {"text": final[0].strip() or words, "structured": final[1]}

    def _error_class(self, result: ResultMessage) -> str:
        reason = result.terminal_reason or ""
        if reason == "max_turns":
            return "budget"
        if result.subtype == "error_max_structured_output_retries":
            return "bad_output"
        if reason.startswith("aborted"):
            return "interrupted"
        if result.stop_reason in STOPS:
            return STOPS[result.stop_reason]
        if not result.is_error and result.stop_reason is None and reason in COMPLETE:
            return "interrupted"
        if by_words := next(
            (known for sign, known in SIGNS if sign.search(result.result or "")), ""
        ):
            return by_words
        return (
            KINDS.get(self._kind or "")
            or troubles.STATUSES.get(result.api_error_status or 0)
            or "crash"
        )


def _is_complete(result: ResultMessage) -> bool:
    """Return whether the model ended its last response itself, rather than being cut off."""
    stopped = result.stop_reason is not None and result.stop_reason not in STOPS
    return not result.is_error and stopped and (result.terminal_reason or "") in COMPLETE


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """Return the text of a tool's result, in which other contents are only named."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = (part.get("text", f"({part.get('type')})") for part in content)
    return "\n".join(map(str, parts))


def _error(why: str, error_class: str, session: str | None) -> Line:
    way_out = WAYS_OUT.get(error_class, "")
    error = f"{why.strip().removesuffix('.')}. {way_out}".strip()
    return {"type": "result", "error": error, "error_class": error_class, "session": session}


def usage(now: ModelUsage, before: ModelUsage) -> Line:
    """What a run used, of the totals of its session now and before. The cost is left out where a
    model has no known price."""
    used = {model: _grown(total, before.get(model, {})) for model, total in now.items()}
    used = {model: grown for model, grown in used.items() if any(grown.values())}
    line: dict[str, Any] = {"type": "usage"}
    for name in TOKENS:
        line[name] = sum(grown[name] for grown in used.values())
    if all(now[model].get("costBasis") in ("list", "managed") for model in used):
        line["cost_usd"] = round(sum(grown["cost_usd"] for grown in used.values()), 6)
    return line


def so_far(used: Collection[Mapping[str, Any]], model: str) -> Iterator[Line]:
    """What is known of the usage before the end: at least this, as messages are told of before all
    of their words are counted. The model is the one that was asked last."""
    sums = {ours: sum(one.get(its) or 0 for one in used) for ours, its in MESSAGE_TOKENS.items()}
    if any(sums.values()):
        yield {"type": "usage_so_far", "model": model, **sums}


def _grown(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    names = {**TOKENS, "cost_usd": "costUSD"}
    return {ours: max(now.get(its, 0) - before.get(its, 0), 0) for ours, its in names.items()}
