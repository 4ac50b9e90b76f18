"""The breaker: agents that end the same way and leave the same work, time after time, will not get
any further by themselves."""

import json
import re
from collections.abc import Sequence
from datetime import datetime

from agents_manager.domain.pipeline import TriggerType
from agents_manager.domain.run import Run
from agents_manager.domain.stages.table import BY_OUTCOME
from agents_manager.domain.task import ActorType, History

TIMES = 3
_VARIES = re.compile(r"[0-9a-f]{8,}|\d+")
_ANSWERS = (TriggerType.PROMPT_RESPONSE, TriggerType.REVIEW_SUBMITTED)


def ended_with(run: Run) -> str:
    """The outcome or the error, which names the checks that failed; numbers and ids left out."""
    if run.error is None:
        return run.outcome or ""
    return _VARIES.sub("*", f"{run.error.error_class}: {run.error.error}")


def _fingerprint(run: Run) -> str:
    """Of stages also what they say, which is their work."""
    said = json.dumps(run.payload, sort_keys=True) if run.outcome in BY_OUTCOME else ""
    return f"{ended_with(run)}{said}"


def heard_at(entries: Sequence[History]) -> datetime | None:
    """When a person last had a say: whatever follows is something new."""
    for entry in reversed(entries):
        if entry.actor.type is ActorType.USER or entry.trigger in _ANSWERS:
            return entry.time
    return None


def last_alike(runs: Sequence[Run], since: datetime | None) -> Sequence[Run]:
    """The last runs of the task, if they ended the same way as often as is too often and nobody had
    a say in between; else none. The newest comes last. What they left is still to be compared."""
    newest = runs[-1]
    same_work = [
        run
        for run in runs
        if (run.mode, run.phase_id) == (newest.mode, newest.phase_id)
        and (since is None or run.created_at >= since)
    ]
    last = same_work[-TIMES:]
    alike = len(last) == TIMES and len({_fingerprint(run) for run in last}) == 1
    return last if alike and all(run.head_sha for run in last) else []
