"""Ends runs that are over every limit though their runner lives: it keeps the limits itself, unless
it hangs. Time is counted by this process alone, so that a machine that slept or a clock that jumped
ends nothing."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Limits, Run, RunStatus
from agents_manager.flow import machines, repairs
from agents_manager.flow.ports import Pulse, Services, StopReason

GRACE_S = 60.0
"""What the runner itself has for ending its agent, and more."""


@dataclass(frozen=True, slots=True)
class Seen:
    since: float
    """When the job was first seen at work."""
    output_bytes: int
    moved: float
    """When its output was last seen to have grown."""


@dataclass(slots=True)
class Watchdog:
    _seen: dict[Path, Seen] = field(default_factory=dict[Path, Seen])

    async def look(self, s: Services, now: float) -> list[Run]:
        """The runs that were ended."""
        runs = await s.store.read(repairs.live)
        mine = [run for run in runs if not machines.elsewhere(s, run)]
        working = {run.id: run for run in mine if run.status is RunStatus.RUNNING}
        folders = await s.runners.at_work(s.jobs_dir)
        jobs = {f: run for f in folders if (run := working.get(RunId(f.parent.name)))}
        pulses = {folder: await s.runners.pulse(folder) for folder in jobs}
        known, self._seen = self._seen, {}
        ended: list[Run] = []
        for folder, pulse in pulses.items():
            if pulse is None:
                continue
            seen = self._seen[folder] = _seen(known.get(folder), pulse, now)
            reason = overdue(seen, pulse.limits, now)
            if reason is not None:
                run = jobs[folder]
                await repairs.tell(s, run, "Its runner did not keep its limits.", "It was ended.")
                await s.runners.stop(folder, reason)
                ended.append(run)
        return ended


def _seen(before: Seen | None, pulse: Pulse, now: float) -> Seen:
    if before is None:
        return Seen(now, pulse.output_bytes, now)
    if before.output_bytes == pulse.output_bytes:
        return before
    return replace(before, output_bytes=pulse.output_bytes, moved=now)


def overdue(seen: Seen, limits: Limits, now: float) -> StopReason | None:
    """The limit that was passed long ago, if one was."""
    if now - seen.since > limits.timeout_s + GRACE_S:
        return "timeout"
    if limits.silence_s is not None and now - seen.moved > limits.silence_s + GRACE_S:
        return "stalled"
    return None
