"""The ten steps of a run, in order. Each is kept once done; each may be repeated when a crash cut
it short, so each looks first."""

from functools import reduce
from pathlib import Path
from typing import Any

from agents_manager.domain import cost
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Cost, Usage
from agents_manager.flow import settings_watch
from agents_manager.flow.ports import Services, Steps
from agents_manager.flow.runs import brief, close, collect, conclude, drive, prepare
from agents_manager.flow.runs.places import OUTPUT, TURNS, job_dir
from agents_manager.flow.runs.verdict import Again, Verdict


async def run(run_id: RunId, s: Services, steps: Steps) -> None:
    await settings_watch.readable(s, run_id)
    verdict: Verdict | None = await steps.run("prepare", lambda: prepare.prepare(run_id, s))
    if verdict is None:
        await steps.run("brief", lambda: brief.brief(run_id, s))
        verdict = await _turns(run_id, s, steps)
        done = verdict
        await settings_watch.readable(s, run_id)
        await steps.run("collect", lambda: collect.collect(run_id, done, s))
    final = verdict
    await steps.run("close", lambda: _end(run_id, final, s))


async def _end(run_id: RunId, verdict: Verdict, s: Services) -> None:
    await prepare.release(run_id, s)
    await close.close(run_id, verdict, s)


async def _turns(run_id: RunId, s: Services, steps: Steps) -> Verdict:
    again: Again | None = None
    past: list[Verdict] = []
    for turn in TURNS:
        asked, directory = again, job_dir(s, run_id, turn)
        await settings_watch.readable(s, run_id)
        ended = await steps.run(
            f"drive-{turn}", lambda t=turn, a=asked, d=directory: drive.drive(run_id, t, a, d, s)
        )
        await settings_watch.readable(s, run_id)
        verdict = await steps.run(
            f"conclude-{turn}",
            lambda a=asked, e=ended, d=directory: conclude.conclude(run_id, a, e, d, s),
        )
        past.append(verdict)
        again = verdict.get("again")
        if again is None:
            break
    return {**past[-1], "refused": _refused(past), **_used(past)}


def _refused(turns: list[Verdict]) -> list[str]:
    asked = [again for turn in turns if (again := turn.get("again"))]
    return [again["text"] for again in asked if again["kind"] == "repair"]


async def kept(run_id: RunId, s: Services) -> Verdict:
    """What a run that was stopped had used, and its session."""
    run, _, project = await s.store.read(lambda tx: prepare.of(tx, run_id))
    turns = [await conclude.kept(run, project, begun, s) for begun in _begun(s, run_id)]
    session = next((found for t in reversed(turns) if (found := t.get("session"))), None)
    return {**_used(turns), "session": session}


def _begun(s: Services, run_id: RunId) -> list[Path]:
    """Where there is output: a turn that is stopped has a directory even if it never began."""
    turns = [job_dir(s, run_id, turn) for turn in TURNS]
    return [directory for directory in turns if (directory / OUTPUT).exists()]


def _used(turns: list[Verdict]) -> Verdict:
    """By all turns together."""
    costs = [Cost.model_validate(c) if (c := turn.get("cost")) else None for turn in turns]
    spent = cost.together(costs)
    return Verdict(
        usage=_sum([turn.get("usage") for turn in turns]),
        usage_refused=next((why for t in turns if (why := t.get("usage_refused"))), None),
        cost=spent.model_dump(mode="json") if spent else None,
    )


def _sum(used: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Of all turns; unknown where one of them did not say it."""
    known = [Usage.model_validate(usage) for usage in used if usage is not None]
    if not known or len(known) < len(used):
        return None
    return reduce(Usage.plus, known).model_dump(mode="json")
