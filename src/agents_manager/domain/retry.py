"""Whether and when an agent that failed is tried again. Each class of error has a rule of its own;
what cannot pass by itself is not tried again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents_manager.domain.run import ErrorClass
from agents_manager.domain.value import Value

LONGEST_DELAY = timedelta(hours=24)
LONGEST_RESET = timedelta(days=7)
"""A provider's reset time that is further away is not believed."""
AFTER_RESET = timedelta(seconds=5)
"""Its clock need not be ours."""


class Rule(Value):
    tries: int
    """How often it is tried again."""
    delay_s: float
    """The wait before the first of these."""
    factor: float
    """What each wait is to the one before."""
    longest_s: float = LONGEST_DELAY.total_seconds()
    """The longest wait."""
    jitter: float = 0.0
    """The part of each wait, from 0 to 1, that differs between runs, so that they do not all return
    at the same moment."""


Rules = Mapping[ErrorClass, Rule]

NEVER = Rule(tries=0, delay_s=30, factor=2)
_PASSES = Rule(tries=3, delay_s=30, factor=2)
RULES: Rules = {
    ErrorClass.CRASH: _PASSES,
    ErrorClass.TIMEOUT: _PASSES,
    ErrorClass.STALLED: _PASSES,
    ErrorClass.INTERRUPTED: _PASSES,
    ErrorClass.RATE_LIMIT: Rule(tries=6, delay_s=60, factor=2),
    ErrorClass.OVERLOADED: Rule(tries=5, delay_s=30, factor=2, longest_s=600, jitter=0.2),
    ErrorClass.QUOTA: Rule(tries=6, delay_s=900, factor=2),
    ErrorClass.CONTEXT_TOO_LONG: Rule(tries=1, delay_s=0, factor=1),
    ErrorClass.MAX_TOKENS: NEVER,
    ErrorClass.REFUSAL: NEVER,
    ErrorClass.AUTH: NEVER,
    ErrorClass.BAD_OUTPUT: NEVER,
    ErrorClass.CHECKS_FAILED: NEVER,
    ErrorClass.ENVIRONMENT: NEVER,
}
"""Where a class is missing, somebody or a limit ended the run: it is never tried again."""


@dataclass(frozen=True, slots=True)
class Try:
    """A run that failed."""

    error_class: ErrorClass
    again: bool
    """Whether it was itself started because the one before had failed."""


def done(tries: Sequence[Try]) -> int:
    """How often it was tried again after an error like the last one, since somebody or the pipeline
    started it; the newest comes last."""
    wanted = tries[-1].error_class
    alike = 0
    for one in reversed(tries):
        alike += one.error_class is wanted
        if not one.again:
            break
    return alike - 1


def due(
    rule: Rule, done: int, resets_at: datetime | None, now: datetime, spread: float = 0.0
) -> datetime | None:
    """Return when it is tried again: at the provider's reset time if that can be believed, else
    after a growing wait. Return None if it is not tried again.

    `spread`, from 0 to 1, is the part of the rule's jitter by which the wait is shortened.
    """
    if done >= rule.tries:
        return None
    if resets_at is not None and now < resets_at <= now + LONGEST_RESET:
        return resets_at + AFTER_RESET
    wait = min(rule.delay_s * rule.factor**done, rule.longest_s)
    return now + timedelta(seconds=wait * (1 - rule.jitter * spread))
