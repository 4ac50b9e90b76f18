"""The ten steps of a run, in order. What the first seven came to is kept once done; each may be
repeated when a crash cut it short, so each looks first."""

from pathlib import Path

from agents_manager.domain.ids import RunId
from agents_manager.domain.task import Project
from agents_manager.flow import patience, settings_watch, sharing, surroundings
from agents_manager.flow.ports import Services, Steps
from agents_manager.flow.runs import (
    brief,
    close,
    collect,
    conclude,
    drive,
    mirrors,
    prepare,
    refusals,
    sightings,
    spending,
    tool_calls,
    traces,
)
from agents_manager.flow.runs.places import OUTPUT, TURNS, job_dir
from agents_manager.flow.runs.verdict import Again, Ending, Fault, Verdict


async def run(run_id: RunId, s: Services, steps: Steps) -> None:
    known = await patience.through(lambda: s.store.read(lambda tx: prepare.of(tx, run_id)))
    begun, _, project = known
    await patience.through(lambda: mirrors.own(s, begun))
    await settings_watch.readable(s, run_id, project)
    await surroundings.learn(s, project)
    if s.traces.on:
        steps = traces.ToldSteps(s, begun, steps)
    verdict: Verdict | None = await steps.run("prepare", lambda: prepare.prepare(run_id, s))
    if verdict is None:
        await steps.run("brief", lambda: brief.brief(run_id, s))
        verdict = await _turns(run_id, project, s, steps)
        await settings_watch.readable(s, run_id, project)
        # Nothing that follows needs to be kept: what is collected again is on record once, and
        # once the run is closed its effect is done, so that this is not come to again.
        with traces.step(s, begun, "collect"):
            await patience.through(lambda: collect.collect(run_id, verdict, s))
            await patience.through(lambda: share(run_id, s))
    with traces.step(s, begun, "close"):
        await patience.through(lambda: close.close(run_id, verdict, s))


async def share(run_id: RunId, s: Services) -> None:
    """What the run committed, with the machines that share the database."""
    if s.here is not None:
        run, task, project = await s.store.read(lambda tx: prepare.of(tx, run_id))
        await sharing.share_run(s, run, task, project)


async def _turns(run_id: RunId, project: Project, s: Services, steps: Steps) -> Verdict:
    again: Again | None = None
    past: list[Verdict] = []
    for turn in TURNS:
        asked, directory = again, job_dir(s, run_id, turn)
        await settings_watch.readable(s, run_id, project)
        async with (
            sightings.noted(s, run_id, project, turn),
            tool_calls.recorded(s, run_id, project, turn),
        ):
            ended = await steps.run(
                f"drive-{turn}",
                lambda t=turn, a=asked, d=directory: drive.drive(run_id, t, a, d, s),
            )
        await settings_watch.readable(s, run_id, project)
        verdict = await steps.run(
            f"conclude-{turn}",
            lambda a=asked, e=ended, d=directory: _concluded(run_id, a, e, d, s),
        )
        past.append(verdict)
        again = verdict.get("again")
        if again is None:
            break
    fixed = sum(again["kind"] == "fix" for turn in past if (again := turn.get("again")))
    told = Verdict(refused=_refused(past), fix_rounds=fixed, handoff_returned=_returned(past))
    broke = [turn["interruption"] for turn in past if "interruption" in turn]
    if broke:
        told["interruption"] = broke[-1]
    blocked = [turn["blocked"] for turn in past if "blocked" in turn]
    if blocked:
        told["blocked"] = blocked[-1]
    return {**past[-1], **told, **spending.together(past)}


async def _concluded(
    run_id: RunId, asked: Again | None, ended: Ending, directory: Path, s: Services
) -> Verdict:
    verdict = await conclude.conclude(run_id, asked, ended, directory, s)
    run = await s.store.read(lambda tx: tx.runs.get(run_id))
    return await refusals.explained(s, run, verdict, directory)


def _refused(turns: list[Verdict]) -> list[str]:
    asked = [again for turn in turns if (again := turn.get("again"))]
    return [again["text"] for again in asked if again["kind"] == "repair"]


def _returned(turns: list[Verdict]) -> list[list[Fault]]:
    """What was wrong with the handoffs that the agent was asked to correct."""
    asked = [again for turn in turns if (again := turn.get("again"))]
    return [again["stands"].get("handoff_faults", []) for again in asked if "stands" in again]


async def kept(run_id: RunId, s: Services) -> Verdict:
    """What a run that was stopped had used, and its session."""
    run, _, project = await s.store.read(lambda tx: prepare.of(tx, run_id))
    await mirrors.bring(s, run, at_once=True)
    turns = [await spending.kept(run, project, begun, s) for begun in _begun(s, run_id)]
    session = next((found for t in reversed(turns) if (found := t.get("session"))), None)
    return {**spending.together(turns), "session": session}


def _begun(s: Services, run_id: RunId) -> list[Path]:
    """Where there is output: a turn that is stopped has a directory even if it never began."""
    turns = [job_dir(s, run_id, turn) for turn in TURNS]
    return [directory for directory in turns if (directory / OUTPUT).exists()]
