"""What Codex prints, one JSON event a line, as messages and as the end of a turn."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from agents_manager.agents import resets, stream, structured
from agents_manager.domain import cost, strict_json
from agents_manager.domain import payload as payloads
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.flow.ports import Said

BEFORE = "before.json"
"""In the job's directory: where Codex keeps its sessions, and how the one to go on with stood."""
TOTALS = "totals.json"
COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
"""In Codex's home: what each session has used."""
MAX_FILE = 1024 * 1024
MAX_ERROR = 2_000
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
    (r"\b401\b|unauthorized|not logged in|log ?in again|refresh token", ErrorClass.AUTH),
    (r"quota exceeded|usage limit|billing|\b402\b", ErrorClass.QUOTA),
    (r"\b429\b|rate limit|too many requests", ErrorClass.RATE_LIMIT),
    (r"\b40[034]\b|invalid_request_error", ErrorClass.ENVIRONMENT),
)
"""How an error is told by its words: Codex gives no code. What is not known is a crash, which is
tried again."""


def read(folder: Path) -> Said:
    turn = _Turn()
    for event in stream.messages(folder / "output"):
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
        resets_at=_resets_at(error, error_class, folder),
    )


def parse(line: bytes) -> Sequence[Mapping[str, Any]]:
    event = stream.message(line)
    if event is None:
        return [{"type": "output", "text": stream.text(line)}]
    match event:
        case {"type": "item.started", "item": {"type": "command_execution", **item}}:
            return [_tool("shell", {"command": item.get("command")})]
        case {"type": "item.started", "item": {"type": "mcp_tool_call", **item}}:
            name = f"{item.get('server')}.{item.get('tool')}"
            return [_tool(name, item.get("arguments"))]
        case {"type": "item.completed", "item": {"type": "file_change", **item}}:
            return [_tool("apply_patch", {"changes": item.get("changes")})]
        case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
            return [{"type": "assistant", "text": _shown(text)}]
        case {"type": "item.completed", "item": {"type": "error", "message": str(message)}}:
            return [{"type": "output", "text": f"Warning: {message}"}]
        case {"type": "error", "message": str(message)}:
            return [{"type": "output", "text": message}]
        case {"type": "turn.failed"}:
            return [{"type": "result", "error": _message(event)}]
        case {"type": "turn.completed", "usage": {**usage}}:
            return [{"type": "usage", **_split(_tokens(usage))}]
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
    file = rollout(before.home, session) if before.home else None
    if file is None:
        return None
    with file.open("rb") as lines:
        lines.seek(before.size)
        results = (line for line in lines if b"function_call_output" in line)
        found = next((m for line in results if (m := _SANDBOX_FAULT.search(line))), None)
    return stream.text(found[0]) if found else None


def _resets_at(error: str | None, error_class: ErrorClass | None, folder: Path) -> datetime | None:
    """Told in words, from the moment they were printed on."""
    if error is None or error_class not in (ErrorClass.RATE_LIMIT, ErrorClass.QUOTA):
        return None
    printed = datetime.fromtimestamp((folder / "output").stat().st_mtime, UTC)
    return resets.said(error, printed)


def _class(message: str) -> ErrorClass:
    for pattern, found in _CLASSES:
        if re.search(pattern, message, re.IGNORECASE):
            return found
    return ErrorClass.CRASH


def _message(event: Event) -> str:
    error = event.get("error")
    said = cast("Event", error).get("message") if isinstance(error, dict) else None
    return said[:MAX_ERROR] if isinstance(said, str) else "Codex did not say why."


def _tool(name: str, given: Any) -> Mapping[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


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
