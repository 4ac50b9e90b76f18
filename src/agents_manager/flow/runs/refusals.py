"""Adds the connections that the sandbox refused to the error of a run and to its task's log."""

import asyncio
import re
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import SYSTEM
from agents_manager.flow.ports import Refusals, Services, Tx
from agents_manager.flow.runs.places import STDERR
from agents_manager.flow.runs.verdict import Verdict

MOST_EVENTS = 500
COMPLAINTS = 16 * 1024
"""How many bytes of the end of the error output are searched for addresses."""
MAY_CAUSE = frozenset(
    {
        *(ErrorClass.AUTH, ErrorClass.BAD_OUTPUT, ErrorClass.CRASH, ErrorClass.ENVIRONMENT),
        *(ErrorClass.INTERRUPTED, ErrorClass.STALLED, ErrorClass.TIMEOUT),
    }
)
"""Classes of errors that a refused connection may be the cause of."""
NOT_CONNECTED = re.compile(
    r"connection error|(?:unable|failed|cannot|could not) (?:to )?connect|connection refused"
    r"|ECONNREFUSED|fetch failed|network error",
    re.IGNORECASE,
)
HINT = (
    "In its sandbox an agent reaches this machine only at addresses that are allowed. If its model"
    " server is one of them, allow it with: am config set --user sandbox.addresses"
    " '[\"127.0.0.1:PORT\"]'"
)


async def explained(s: Services, run: Run, verdict: Verdict, directory: Path) -> Verdict:
    """Return the verdict of a turn with the connections that the sandbox refused, which an error
    names if they may be its cause."""
    if not run.kept:
        return verdict
    error = verdict.get("error", "")
    found = await asyncio.to_thread(_refusals, s, directory, error)
    told = verdict.copy()
    if found.refused:
        told["blocked"] = {
            "places": [each.place for each in found.refused],
            "reasons": [each.why for each in found.refused],
            "more": found.more,
            "allow": found.allow,
        }
    if verdict.get("error_class") in MAY_CAUSE:
        said = _event(run, told).says() if found.refused else ""
        # A response that broke off was being received, so its server is reachable.
        unconnected = verdict.get("error_class") != ErrorClass.INTERRUPTED
        unexplained = unconnected and NOT_CONNECTED.search(error) and "127.0.0.1" not in said
        told["error"] = " ".join(filter(None, [error, said, HINT if unexplained else ""]))
    return told


def record(tx: Tx, s: Services, run: Run, verdict: Verdict) -> None:
    if "blocked" in verdict:
        told = _event(run, verdict)
        tx.events.add(run.task_id, told, SYSTEM, s.clock.now())


def find(tx: Tx, run: Run) -> event.ConnectionsBlocked | None:
    """Return what the sandbox refused to an ended run, or None if it was nothing."""
    type_ = event.ConnectionsBlocked.model_fields["type"].default
    log = tx.events.newest(run.task_id, event.ConnectionsBlocked.category, MOST_EVENTS)
    found = (e.data for e in log if e.type == type_ and e.data["run"] == run.id)
    data = next(found, None)
    return event.ConnectionsBlocked.model_validate(data) if data else None


def _event(run: Run, verdict: Verdict) -> event.ConnectionsBlocked:
    return event.ConnectionsBlocked.model_validate({"run": run.id, **verdict.get("blocked", {})})


def _refusals(s: Services, directory: Path, error: str) -> Refusals:
    complaints = ""
    try:
        with (directory / STDERR).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - COMPLAINTS))
            complaints = file.read().decode(errors="replace")
    except OSError:
        pass
    return s.sandbox.refusals(directory, f"{error}\n{complaints}" if error else "")
