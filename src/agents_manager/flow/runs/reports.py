"""The outcome that an agent reported by a tool while it ran: a file in the job's directory, so that
it survives whoever took the report."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.domain import payload as payloads
from agents_manager.domain import strict_json
from agents_manager.flow.runs import keys

FILE = "report.json"
REFUSED = "refused-report.json"
REQUESTS = "requests.json"
HANDOFF = "handoff.json"
PAUSE = "pause.json"
"""Says that the turn ends as one that waits, and for the answer to which question."""
TOKENS = "report.sha256"
"""Of the tokens that may report."""


def keep(directory: Path, outcome: str, payload: Mapping[str, Any] | None) -> None:
    """The last report counts."""
    _write(directory / FILE, {"outcome": outcome, "payload": payload})


def keep_refused(directory: Path, reason: str, value: Any) -> None:
    """Keeps a report that could not be taken, and why."""
    shown = json.dumps(value, ensure_ascii=False, indent=2)[: payloads.MAX_BYTES]
    _write(directory / REFUSED, {"reason": reason, "report": shown})


def refused(directory: Path) -> tuple[str, str] | None:
    """Returns why the last report that could not be taken was refused, and the report."""
    try:
        kept = json.loads((directory / REFUSED).read_bytes())
    except FileNotFoundError:
        return None
    return kept["reason"], kept["report"]


def keep_requests(directory: Path, requests: Sequence[Mapping[str, Any]]) -> None:
    """Whom the agent wants to have run again, all of them."""
    _write(directory / REQUESTS, requests)


def requests(directory: Path) -> list[dict[str, Any]]:
    """As they were taken: nobody but us writes there."""
    try:
        return json.loads((directory / REQUESTS).read_bytes())
    except FileNotFoundError:
        return []


def keep_handoff(directory: Path, handoff: Mapping[str, Any]) -> None:
    """The last one counts."""
    _write(directory / HANDOFF, handoff)


def handoff(directory: Path) -> Any:
    """As it was taken; None: none was."""
    try:
        return json.loads((directory / HANDOFF).read_bytes())
    except FileNotFoundError:
        return None


def pause(directory: Path, prompt_id: str) -> None:
    _write(directory / PAUSE, {"prompt": prompt_id})


def paused(directory: Path) -> str | None:
    """The question that the turn pauses for; None: it does not."""
    try:
        return json.loads((directory / PAUSE).read_bytes())["prompt"]
    except FileNotFoundError:
        return None


def _write(file: Path, value: Any) -> None:
    """Whole or not at all."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(json.dumps(value), encoding="utf-8")
    new.replace(file)


def new_token(directory: Path) -> str:
    """A token that may report into this directory."""
    return keys.new(directory, TOKENS)


def opens(directory: Path, token: str) -> bool:
    return keys.opens(directory, TOKENS, token)


def read(directory: Path) -> Any:
    """What was reported, as untrusted as everything an agent says; None when nothing was."""
    try:
        with (directory / FILE).open("rb") as file:
            content = file.read(2 * payloads.MAX_BYTES)
    except FileNotFoundError:
        return None
    try:
        text = content.decode()
        return strict_json.loads(text, max_bytes=2 * payloads.MAX_BYTES, max_depth=40)
    except ValueError:
        return {}
