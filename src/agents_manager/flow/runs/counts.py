"""What the answers of a model told in a turn that asks it through the gateway: a line each in a
file of the job's directory, so that it survives whoever took it down."""

import json
from datetime import datetime
from functools import reduce
from pathlib import Path

from pydantic import ValidationError

from agents_manager.domain.run import Usage
from agents_manager.domain.value import Value
from agents_manager.flow.runs.verdict import Verdict

PAST = "gateway.json"
"""What the turns before used and cost."""
LINES = "gateway.jsonl"
LIMIT = "limit.txt"
"""When the limit ends that the provider last named."""


class Counted(Value):
    usage: Usage | None = None
    model: str | None = None


def begin(directory: Path, past: list[Verdict]) -> None:
    new = directory / f".{PAST}"
    new.write_text(json.dumps(past), encoding="utf-8")
    new.replace(directory / PAST)


def begun(directory: Path) -> bool:
    return (directory / PAST).exists()


def past(directory: Path) -> list[Verdict]:
    return json.loads((directory / PAST).read_text(encoding="utf-8"))


def add(directory: Path, counted: Counted) -> None:
    with (directory / LINES).open("a", encoding="utf-8") as file:
        file.write(f"{counted.model_dump_json()}\n")


def together(directory: Path) -> Counted:
    """All answers so far; a line that a crash cut short is left out."""
    try:
        lines = (directory / LINES).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return Counted()
    found = [counted for line in lines if (counted := _read(line))]
    known = [counted.usage for counted in found if counted.usage]
    model = next((counted.model for counted in reversed(found) if counted.model), None)
    return Counted(usage=reduce(Usage.plus, known) if known else None, model=model)


def limited(directory: Path, until: datetime) -> None:
    new = directory / f".{LIMIT}"
    new.write_text(until.isoformat(), encoding="utf-8")
    new.replace(directory / LIMIT)


def resets_at(directory: Path) -> datetime | None:
    """Return when the limit ends that the provider last named in the turn, or None if it named
    none."""
    try:
        return datetime.fromisoformat((directory / LIMIT).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def _read(line: str) -> Counted | None:
    try:
        return Counted.model_validate_json(line)
    except ValidationError:
        return None
