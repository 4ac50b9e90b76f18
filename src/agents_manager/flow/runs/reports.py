"""The outcome that an agent reported by a tool while it ran: a file in the job's directory, so that
it survives whoever took the report."""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents_manager.domain import payload as payloads
from agents_manager.domain import strict_json

FILE = "report.json"
TOKENS = "report.sha256"
"""Digests of the tokens that may report; more than one when a crash cut a start short."""


def keep(directory: Path, outcome: str, payload: Mapping[str, Any] | None) -> None:
    """The last report counts. Whole or not at all."""
    new = directory / f".{FILE}.{os.getpid()}"
    new.write_text(json.dumps({"outcome": outcome, "payload": payload}), encoding="utf-8")
    new.replace(directory / FILE)


def new_token(directory: Path) -> str:
    """A token that may report into this directory. Only its digest is kept."""
    token = secrets.token_urlsafe(32)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / TOKENS).open("a", encoding="ascii") as file:
        file.write(f"{_digest(token)}\n")
    return token


def opens(directory: Path, token: str) -> bool:
    try:
        known = (directory / TOKENS).read_text(encoding="ascii").split()
    except FileNotFoundError:
        return False
    return _digest(token) in known


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


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
