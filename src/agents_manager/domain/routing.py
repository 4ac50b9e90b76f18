"""What people are told by channels: on which occasions, and when."""

from datetime import datetime
from enum import StrEnum

from agents_manager.domain.reminder import QuietHours


class Occasion(StrEnum):
    QUESTION = "question"
    """Somebody is asked something."""
    REMINDER = "reminder"
    """A question has been open for long."""
    FAILURE = "failure"
    """Something failed for good, and no question says so."""
    DONE = "done"
    """A task is over."""
    NOTICE = "notice"
    """What a pipeline or the program has to say besides."""
    DIGEST = "digest"
    """Once a day, all of it."""


UNASKED = frozenset(Occasion) - {Occasion.NOTICE}
"""What a channel tells that does not say what it is to tell."""

_FAILURES = frozenset({"agent.failed", "hook.failed", "auto.stopped"})


def occasion(event: str, *, final: bool) -> Occasion | None:
    """That of an event by its type; `final` says whether the task is over with it. None for most:
    notices and reminders do not come from the log."""
    if event == "prompt_created":
        return Occasion.QUESTION
    if event in _FAILURES:
        return Occasion.FAILURE
    return Occasion.DONE if event == "status.changed" and final else None


def held_until(now: datetime, quiet: QuietHours | None, *, through: bool) -> datetime | None:
    """The end of the quiet hours that hold something back now; None when it may go out."""
    if quiet is None or through or not quiet.hold(now):
        return None
    return quiet.over(now)
