"""What Codex prints, one JSON event a line, as messages and as the end of a turn."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from agents_manager.agents import lines, resets, stream, structured, troubles
from agents_manager.domain import cost, strict_json
from agents_manager.domain import payload as payloads
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.flow.ports import Said

BEFORE = "before.json"
"""In the job's directory: where Codex keeps its sessions, and how the one to go on with stood."""
TOTALS = "totals.json"
COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
"""In Codex's home: what each session has used."""
SHELL = "shell"
PATCH = "apply_patch"
MAX_FILE = 1024 * 1024
MAX_EVENT = 8 * 1024 * 1024
"""Codex prints the first MiB of what a command printed, in which each byte may be escaped."""
MAX_ERROR = 2_000
MAX_RESET_S = 31 * 86_400
SANDBOX_FAILED = (
    "Codex could not start the sandbox that its commands run in, so it could do nothing: {said}"
    " See docs/how-to/codex.md."
)

_SANDBOX_FAULT = re.compile(
    rb"(bwrap: |bubblewrap is unavailable|codex-linux-sandbox)[^\"\\]{0,300}"
)

Event = Mapping[str, Any]
Tokens = Mapping[str, int]

_CLASSES = (
    (r"context window|context_length_exceeded|ran out of room", ErrorClass.CONTEXT_TOO_LONG),
    (r"max_output_tokens", ErrorClass.MAX_TOKENS),
    (r"content_filter|flagged for|invalid_prompt", ErrorClass.REFUSAL),
    (r"\b(500|503|529)\b|overloaded|high demand|at capacity", ErrorClass.OVERLOADED),
    (r"stream disconnected|stream closed before", ErrorClass.INTERRUPTED),
    (r"\b401\b|unauthorized|not logged in|log ?in again|refresh token", ErrorClass.AUTH),
    (r"quota exceeded|usage limit|billing|\b402\b", ErrorClass.QUOTA),
    (r"\b429\b|rate limit|too many requests", ErrorClass.RATE_LIMIT),
    (r"\b40[034]\b|invalid_request_error", ErrorClass.ENVIRONMENT),
)
"""How an error is told by its words: Codex gives no code. What is not known is a crash, which is
tried again."""


def read(folder: Path) -> Said:
    turn = _Turn()
    for event in stream.messages(folder / "output", MAX_EVENT):
        turn.take(event)
    if not turn.begun and not _text(folder / "stderr"):
        return Said(final_text="", usage=None, session=None)
    error, error_class = _error(turn, folder)
    final = unwrapped(turn.text)
    return Said(
        final_text=turn.text if final is None else final[0],
        usage=None if turn.refused else _usage(turn, folder),
        usage_refused=turn.refused,
        session=turn.session,
        session_lost=_before(folder).lost,
        structured=None if final is None else final[1],
        error=error,
        error_class=error_class,
        resets_at=_resets_at(error, error_class, turn.session, folder),
    )


def parse(line: bytes) -> Sequence[Mapping[str, Any]]:
    event = stream.message(line, MAX_EVENT)
    if event is None:
        return [{"type": "output", "text": stream.text(line)}]
    match event:
        case {"type": "item.started" | "item.completed" as when, "item": {**item}}:
            return _of_item(item, ended=when == "item.completed")
        case {"type": "error", "message": str(message)}:
            return [{"type": "output", "text": message}]
        case {"type": "turn.failed"}:
            return [{"type": "result", "error": _message(event)}]
        case {"type": "turn.completed", "usage": {**usage}}:
            return [{"type": "usage", **_split(_tokens(usage))}]
        case _:
            return []


def _of_item(item: Event, *, ended: bool) -> Sequence[Mapping[str, Any]]:
    match item:
        case {"type": "command_execution"} if ended:
            return [_result(item, SHELL, item.get("aggregated_output"))]
        case {"type": "command_execution"}:
            return [_tool(item, SHELL, {"command": item.get("command")})]
        case {"type": "mcp_tool_call"} if ended:
            return [_result(item, _mcp_name(item), _mcp_text(item))]
        case {"type": "mcp_tool_call"}:
            return [_tool(item, _mcp_name(item), item.get("arguments"))]
        case {"type": "file_change"} if ended:
            use = _tool(item, PATCH, {"changes": item.get("changes")})
            return [use, _result(item, PATCH, "")]
        case {"type": "agent_message", "text": str(text)} if ended:
            return [{"type": "assistant", "text": _shown(text)}]
        case {"type": "error", "message": str(message)} if ended:
            return [{"type": "output", "text": f"Warning: {message}"}]
        case _:
            return []


def unwrapped(text: str) -> tuple[str, Any] | None:
    """Words and outcome of a final message that has the form we asked for. Codex does not hold the
    model to it, so both are untrusted."""
    try:
        value = strict_json.loads(text, max_bytes=4 * payloads.MAX_BYTES, max_depth=8)
    except ValueError:
        return None
    return structured.unwrapped(value)


def before(home: Path, session: str | None, *, lost: bool) -> str:
    """How a session stands, for whoever reads what comes next: Codex reports the sum of all turns,
    and adds to the same file."""
    file = rollout(home, session)
    size = file.stat().st_size if file else 0
    used = _json(home / TOTALS).get(session or "", {})
    return json.dumps({"home": str(home), "size": size, "used": used, "lost": lost})


def rollout(home: Path, session: str | None) -> Path | None:
    """The file of a session; None when Codex does not know it, or would die of it: it needs the
    first line and passes over others that it cannot read."""
    if session is None or not re.fullmatch(r"[0-9a-f-]{1,64}", session):
        return None
    found = next((home / "sessions").glob(f"**/rollout-*{session}.jsonl"), None)
    if found is None:
        return None
    with found.open("rb") as file:
        first = file.readline(MAX_FILE)
    return found if stream.message(first) else None


@dataclass(frozen=True, slots=True)
class Before:
    home: Path | None
    size: int
    used: Tokens
    lost: bool
    """Whether there was another session, which is gone."""


def _before(folder: Path) -> Before:
    match _json(folder / BEFORE):
        case {"home": str(home), "size": int(size), "used": used, "lost": bool(lost)}:
            return Before(Path(home), size, _tokens(used), lost)
        case _:
            return Before(None, 0, {}, lost=False)


@dataclass(slots=True)
class _Turn:
    """The end of a turn, as far as its events tell."""

    begun: bool = False
    text: str = ""
    session: str | None = None
    usage: Tokens = field(default_factory=dict[str, int])
    refused: str | None = None
    """Why its usage is not believed."""
    completed: bool = False
    failed: str | None = None
    complained: str = ""
    """The last error that need not have been the end."""
    worked: bool = False
    """Whether any command could be run."""

    def take(self, event: Event) -> None:
        self.begun = True
        match event:
            case {"type": "thread.started", "thread_id": str(thread)}:
                self.session = thread
            case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
                self.text = stream.text(text.encode("utf-8", "replace"))
            case {"type": "item.completed", "item": {"type": "command_execution", **item}}:
                printed = str(item.get("aggregated_output")).encode("utf-8", "replace")
                self.worked |= _SANDBOX_FAULT.search(printed) is None
            case {"type": "turn.completed"}:
                self.completed = True
                self.usage = _tokens(event.get("usage"))
                self.refused = _refusal(event.get("usage"))
            case {"type": "turn.failed"}:
                self.failed = _message(event)
            case {"type": "error"}:
                self.complained = _message({"error": event})
            case _:
                pass


def _error(turn: _Turn, folder: Path) -> tuple[str | None, ErrorClass | None]:
    if turn.failed is not None:
        return turn.failed, _class(turn.failed)
    if not turn.completed:
        said = turn.complained or _text(folder / "stderr").strip()[-MAX_ERROR:]
        return f"Codex ended in the middle of its turn. {said}".strip(), _class(said)
    if not turn.worked and (said := _sandbox_fault(_before(folder), turn.session)):
        return SANDBOX_FAILED.format(said=said), ErrorClass.ENVIRONMENT
    return None, None


def _sandbox_fault(before: "Before", session: str | None) -> str | None:
    """Commands that the sandbox could not take are sure to be in the session's own file only: Codex
    need not print them, and exits with 0."""
    results = _rollout_lines(before, session, b"function_call_output")
    found = next((m for line in results if (m := _SANDBOX_FAULT.search(line))), None)
    return stream.text(found[0]) if found else None


def _rollout_lines(before: "Before", session: str | None, part: bytes) -> Iterator[bytes]:
    """Yield the lines with this part that the turn added to the session's file."""
    file = rollout(before.home, session) if before.home else None
    if file is not None:
        with file.open("rb") as lines:
            lines.seek(before.size)
            yield from (line for line in lines if part in line)


def _resets_at(
    error: str | None, error_class: ErrorClass | None, session: str | None, folder: Path
) -> datetime | None:
    """Return when a limit ends: as the session's file has it from the provider's headers, else as
    the error message says, which has no seconds."""
    if error is None or error_class not in (ErrorClass.RATE_LIMIT, ErrorClass.QUOTA):
        return None
    printed = datetime.fromtimestamp((folder / "output").stat().st_mtime, UTC)
    return _limit_in_rollout(_before(folder), session) or resets.said(error, printed)


def _limit_in_rollout(before: "Before", session: str | None) -> datetime | None:
    """Return the time at which every exhausted rate limit of this turn will have reset."""
    found: list[datetime] = []
    for line in _rollout_lines(before, session, b'"rate_limits"'):
        event = stream.message(line)
        match event:
            case {"payload": {"rate_limits": {**limits}}}:
                windows = [limits.get("primary"), limits.get("secondary")]
                found = [at for one in windows if (at := _exhausted_until(one, event))]
            case _:
                pass
    return max(found, default=None)


def _exhausted_until(window: Any, event: Event) -> datetime | None:
    match window:
        case {"used_percent": int() | float() as used, **told} if used >= 100:
            written = resets.moment(event.get("timestamp"))
            seconds = told.get("resets_in_seconds")
            if isinstance(seconds, int) and written and 0 < seconds <= MAX_RESET_S:
                return written + timedelta(seconds=seconds)
            return resets.moment(told.get("resets_at"))
        case _:
            return None


def _class(message: str) -> ErrorClass:
    for pattern, found in _CLASSES:
        if re.search(pattern, message, re.IGNORECASE):
            return found
    return ErrorClass.CRASH


def _message(event: Event) -> str:
    error = event.get("error")
    said = cast("Event", error).get("message") if isinstance(error, dict) else None
    return troubles.message(said)[:MAX_ERROR] if isinstance(said, str) else "Codex did not say why."


def _tool(item: Event, name: str, given: Any) -> Mapping[str, Any]:
    return lines.tool_use(str(item.get("id")), name, given)


def _result(item: Event, name: str, text: Any) -> Mapping[str, Any]:
    failed = item.get("status") != "completed" or item.get("exit_code") not in (0, None)
    shown = text if isinstance(text, str) else ""
    return lines.tool_result(str(item.get("id")), name, shown, ok=not failed)


def _mcp_name(item: Event) -> str:
    return f"{item.get('server')}.{item.get('tool')}"


def _mcp_text(item: Event) -> str:
    match item:
        case {"error": {"message": str(message)}}:
            return message
        case {"result": {"content": [*parts]}}:
            return "\n".join(_texts(parts))
        case _:
            return ""


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    for part in parts:
        match part:
            case {"text": str(text)}:
                yield text
            case _:
                pass


def _shown(text: str) -> str:
    final = unwrapped(text)
    return text if final is None else structured.shown(final)


# -------------------------------------------------------------------------------------------- usage


def _usage(turn: _Turn, folder: Path) -> Usage | None:
    """Of this turn alone. The session's new total is kept for the next one."""
    if not turn.usage:
        return None
    before = _before(folder)
    if before.home is not None and turn.session is not None:
        _keep(before.home / TOTALS, turn.session, turn.usage)
    fresh = {name: max(0, count - before.used.get(name, 0)) for name, count in turn.usage.items()}
    return Usage.model_validate(_split(fresh))


def _keep(totals: Path, session: str, usage: Tokens) -> None:
    new = totals.with_name(f".{totals.name}.{os.getpid()}")
    new.write_text(json.dumps({**_json(totals), session: usage}), encoding="utf-8")
    new.replace(totals)


def _tokens(usage: Any) -> Tokens:
    if not isinstance(usage, dict):
        return {}
    counts = cast("dict[str, Any]", usage)
    return {name: counts[name] for name in COUNTS if not cost.refusal(name, counts.get(name))}


def _refusal(usage: Any) -> str | None:
    counts = cast("dict[str, Any]", usage) if isinstance(usage, dict) else {}
    given = [(name, counts[name]) for name in COUNTS if counts.get(name) is not None]
    return next((why for name, count in given if (why := cost.refusal(name, count))), None)


def _split(tokens: Tokens) -> Mapping[str, int]:
    """Codex counts what came from a cache, or went into one, as input too."""
    cached = {
        "cache_read_tokens": tokens.get("cached_input_tokens"),
        "cache_write_tokens": tokens.get("cache_write_input_tokens"),
    }
    split = {name: count for name, count in cached.items() if count is not None}
    if "input_tokens" in tokens:
        split["input_tokens"] = max(0, tokens["input_tokens"] - sum(split.values()))
    if "output_tokens" in tokens:
        split["output_tokens"] = tokens["output_tokens"]
    return split


def _json(path: Path) -> dict[str, Any]:
    """A file of our own; nothing where it is missing or was tampered with."""
    try:
        value = json.loads(path.read_bytes()[:MAX_FILE])
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return stream.text(file.read(MAX_FILE))
    except OSError:
        return ""
