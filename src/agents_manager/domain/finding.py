"""What is wrong with a pipeline: how bad, where, and the way out."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    """The pipeline is not saved."""
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Severity
    code: str
    position: str
    """The place in the document, such as `transitions.3.guards.0`."""
    message: str
    fix: str


def error(code: str, position: str, message: str, fix: str) -> Finding:
    return Finding(Severity.ERROR, code, position, message, fix)


def warning(code: str, position: str, message: str, fix: str) -> Finding:
    return Finding(Severity.WARNING, code, position, message, fix)


def errors(findings: Sequence[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity is Severity.ERROR]
