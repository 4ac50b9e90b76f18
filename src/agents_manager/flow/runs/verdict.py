"""What the steps of a run hand on to each other: small JSON values that outlive a crash."""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict


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
    how: str
    output: str
    seconds: float


Fault = dict[str, str]
"""A violation of a rule of handoffs: `field`, `wrong` and `right`."""


class Given(TypedDict):
    """What an agent left for a handoff."""

    source: Literal["tool", "message", "file"]
    value: Any
    faults: list[Fault]
    """Why there is no value: it could not be read."""


class Handoff(TypedDict):
    """One that holds."""

    document: dict[str, Any]
    source: str
    completeness: float


class Again(TypedDict):
    """Why an agent is asked once more, in the same session."""

    kind: Literal["repair", "fix", "handoff"]
    """Its outcome could not be taken, its work failed the project's checks, or its outcome stands
    and only its handoff could not be taken."""
    round: int
    """How many rounds of fixing there were with this one."""
    text: str
    message: NotRequired[str]
    """The message whose outcome could not be taken, the end of it where it is long."""
    given: NotRequired[Given]
    """The handoff so far; it counts unless the agent sends another."""
    stands: NotRequired["Verdict"]
    """What the run came to, where it is asked for its handoff alone."""


class Verdict(TypedDict, total=False):
    outcome: str
    payload: dict[str, Any] | None
    inferred: bool
    document: str
    """The text of the final message, where it is the result."""
    error: str
    error_class: str
    message: str
    """What the agent said, where no outcome could be taken from it."""
    begun: bool
    """False: nothing was started for this turn, so that it used nothing."""
    over_budget: bool
    """A budget is used up, and an admin is asked for more."""
    paused: str
    """The run waits for the answer to this question, and goes on with it."""
    elsewhere: bool
    """The work so far is on another machine only, and an admin is asked."""
    grew: bool
    """With an error: the conversation grew beyond its first prompt, so a new one is shorter."""
    resets_at: str | None
    """When the provider said that its limit ends."""
    interruption: str
    """How the agent's response broke off after it had reported an outcome that counts."""
    again: Again
    """The agent is asked once more."""
    refused: list[str]
    """The reasons of the repair turns that led here."""
    checks: list[Check]
    suspects: list[str]
    """Failed checks that the agent may not be the cause of."""
    suspects_ran: bool
    """Whether these checks ran and failed; False if their environment failed."""
    checks_passed: bool | None
    """None when none of the project's own was run."""
    usage: dict[str, Any] | None
    usage_refused: str | None
    """Why what the agent said about its usage is not believed."""
    cost: dict[str, Any] | None
    session: str | None
    session_lost: bool
    """Whether the session to go on with was gone."""
    start_sha: str
    """Where the branch left its base."""
    head_sha: str | None
    requests: list[dict[str, Any]]
    """Whom the agent wants to have run again."""
    changed: list[str]
    """The files that the run changed, where it was looked at."""
    left_out: list[str]
    """The build products that were left out of the commit of uncommitted work."""
    blocked: dict[str, Any]
    """The connections that the sandbox refused, as the fields of its event."""
    fix_rounds: int
    given: Given
    """What the turn, or one before it, left for a handoff."""
    handoff: Handoff
    handoff_faults: list[Fault]
    """Why there is none."""
    handoff_required: bool
    handoff_returned: list[list[Fault]]
    """What was wrong with those that the agent was asked to correct."""


def trouble(error: str, error_class: str, resets_at: datetime | None = None) -> Verdict:
    verdict = Verdict(error=error, error_class=error_class)
    if resets_at is not None:
        verdict["resets_at"] = resets_at.isoformat()
    return verdict
