"""What the steps of a run hand on to each other: small JSON values that outlive a crash."""

from datetime import datetime
from typing import Any, NotRequired, TypedDict


class Ending(TypedDict):
    reason: str
    exit_code: int | None
    truncated: bool
    message: NotRequired[str]
    """Why there was nothing to start."""


class Check(TypedDict):
    name: str
    passed: bool
    severity: str
    output: str


class Verdict(TypedDict, total=False):
    outcome: str
    payload: dict[str, Any] | None
    inferred: bool
    document: str
    """The text of the final message, where it is the result."""
    error: str
    error_class: str
    resets_at: str | None
    """When the provider said that its limit ends."""
    repair: str
    """Why the outcome could not be taken; the agent is asked once more."""
    refused: str | None
    """The reason of the repair turn that led here."""
    checks: list[Check]
    usage: dict[str, Any] | None
    usage_refused: str | None
    """Why what the agent said about its usage is not believed."""
    cost: dict[str, Any] | None
    session: str | None
    start_sha: str
    """Where the branch left its base."""
    head_sha: str | None


def trouble(error: str, error_class: str, resets_at: datetime | None = None) -> Verdict:
    verdict = Verdict(error=error, error_class=error_class)
    if resets_at is not None:
        verdict["resets_at"] = resets_at.isoformat()
    return verdict
