"""Secrets that open a side door for one turn. Only their digests are kept, in the job's directory;
more than one when a crash cut a start short."""

import hashlib
import secrets
from pathlib import Path


def new(directory: Path, file: str) -> str:
    key = secrets.token_urlsafe(32)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (directory / file).open("a", encoding="ascii") as kept:
        kept.write(f"{_digest(key)}\n")
    return key


def opens(directory: Path, file: str, key: str) -> bool:
    try:
        known = (directory / file).read_text(encoding="ascii").split()
    except FileNotFoundError:
        return False
    return _digest(key) in known


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
