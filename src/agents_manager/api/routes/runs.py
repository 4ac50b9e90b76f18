"""Runs: what agents were told, what they wrote, and stopping them."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import PlainTextResponse

from agents_manager.api import forms, outputs, pages, schemas
from agents_manager.api.context import Caller, LiveFeed, Services, StillKnown
from agents_manager.api.stream import EventStream, live
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput, NotFound, RunNotFound
from agents_manager.flow import retries, tasks
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import checking, handoffs, left_out, mirrors, places, watch

router = APIRouter(prefix="/runs", tags=["runs"])


@router.get("")
async def list_runs(s: Services, query: Annotated[forms.RunQuery, Query()]) -> pages.Runs:
    """Runs of one task or of all, newest first; `live` leaves out those that have ended. `next` is
    the cursor of the page that follows."""

    def read(tx: Tx) -> list[Run]:
        task = tx.tasks.find(query.task).id if query.task else None
        try:
            return tx.runs.page(
                task=task, live=query.live, after=query.cursor, limit=query.limit + 1
            )
        except RunNotFound:
            raise InvalidInput("The cursor is not one of this listing.", ["cursor"]) from None

    found = await s.store.read(read)
    page = found[: query.limit]
    more = len(found) > query.limit
    return pages.Runs(items=[schemas.Run.of(r) for r in page], next=page[-1].id if more else None)


@router.get("/{run_id}")
async def get_run(s: Services, run_id: str) -> schemas.Run:
    """One run."""
    return schemas.Run.of(await s.store.read(lambda tx: tx.runs.find(run_id)))


@router.get("/{run_id}/prompt", response_class=PlainTextResponse)
async def get_run_prompt(
    s: Services, run_id: str, query: Annotated[forms.PromptQuery, Query()]
) -> PlainTextResponse:
    """The exact text that the agent was given, in its first turn or in a later one; as turn 0, what
    was added to its own system prompt."""
    run = await s.store.read(lambda tx: tx.runs.find(run_id))
    await mirrors.bring(s, run)
    told = await asyncio.to_thread(places.told, s, run)
    if not told:
        raise NotFound(f"Run {run.id} ({run.status}) has no prompt; it is written at its start.")
    if query.turn == 0:
        system = await asyncio.to_thread(places.system_prompt, s, run)
        if system is None:
            raise NotFound(f"Nothing was added to the system prompt of run {run.id}.")
        return PlainTextResponse(system)
    if query.turn > len(told):
        raise NotFound(f"Run {run.id} has no turn {query.turn}; it has had {len(told)}.")
    return PlainTextResponse(told[query.turn - 1])


@router.get("/{run_id}/checks")
async def get_checks(s: Services, run_id: str) -> pages.Checks:
    """What the project's checks said about the work of a run, round by round."""
    run = await s.store.read(lambda tx: tx.runs.find(run_id))
    await mirrors.bring(s, run)
    rounds = await asyncio.to_thread(checking.of_run, s, run.id)
    return pages.Checks.model_validate({"run_id": run.id, "rounds": rounds})


@router.get("/{run_id}/left-out")
async def get_left_out(s: Services, run_id: str) -> pages.LeftOut:
    """The build products that a run left out of the commit of uncommitted work."""
    run = await s.store.read(lambda tx: tx.runs.find(run_id))
    found = await s.store.read(lambda tx: left_out.find(tx, run))
    return pages.LeftOut(run_id=run.id, paths=list(found.paths), more=found.more)


@router.get("/{run_id}/handoff")
async def get_handoff(s: Services, run_id: str) -> pages.RunHandoff:
    """The note that a run left for the next, and what was wrong with one that was not kept."""
    note = await s.store.read(lambda tx: handoffs.of_run(tx, tx.runs.find(run_id)))
    kept = note.kept
    return pages.RunHandoff(
        run_id=note.run_id,
        handoff=pages.HandoffNote.of(kept.handoff) if kept else None,
        source=kept.source if kept else None,
        completeness=kept.completeness if kept else None,
        violations=[pages.Violation(**one) for one in note.violations],
    )


@router.get("/{run_id}/transcript")
async def get_transcript(
    s: Services, run_id: str, query: Annotated[forms.TranscriptQuery, Query()]
) -> pages.Transcript:
    """What the agent wrote, from an offset on."""
    run = await s.store.read(lambda tx: tx.runs.find(run_id))
    await mirrors.bring(s, run)
    files = [places.job_dir(s, run.id, turn) / places.OUTPUT for turn in places.TURNS]
    turns = await asyncio.to_thread(lambda: sum(file.exists() for file in files))
    if query.turn > max(turns, 1) and run.transcript_removed_at is None:
        raise NotFound(f"Run {run.id} has no turn {query.turn}; it has had {turns}.")
    part, size = await asyncio.to_thread(
        _part, files[query.turn - 1], query.offset, query.limit, run.status.live
    )
    return pages.Transcript(
        run_id=run.id,
        turn=query.turn,
        turns=turns,
        offset=query.offset,
        next_offset=query.offset + len(part),
        size=size,
        live=run.status.live,
        text=part.decode(errors="replace"),
        removed_at=places.removed_at(s, run),
        missing=await mirrors.missing(s, run),
    )


@router.get(
    "/{run_id}/output", response_class=EventStream, responses={200: {"model": pages.Output}}
)
async def stream_output(
    s: Services,
    feed: LiveFeed,
    permit: StillKnown,
    run_id: str,
    query: Annotated[forms.OutputQuery, Query()],
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
) -> EventStream:
    """What the agent says and does, as it happens: the past first, or what follows `after`, then
    what comes. Each entry is an `output`; the last is an `end` with the run's status."""

    def read(tx: Tx) -> tuple[Run, Project]:
        found = tx.runs.find(run_id)
        return found, tx.projects.get(found.project_id)

    run, project = await s.store.read(read)
    after = query.after if last_event_id is None else last_event_id
    at = watch.position(after) if after is not None else watch.Position()
    return live(outputs.frames(s, feed, run, project, at, permit))


@router.post("/{run_id}/stop")
async def stop_run(s: Services, actor: Caller, run_id: str) -> pages.Moved:
    """Stops a run; the task stays where it is, and a person is asked what to do."""
    stopping = await tasks.stop_run(s, run_id, actor)
    return pages.Moved(
        task=schemas.Task.of(stopping.task), stopping_run=stopping.run.id, waits=None
    )


@router.post("/{run_id}/retry")
async def retry_run(s: Services, actor: Caller, run_id: str) -> schemas.Run:
    """Tries a run again now that would be tried again later; *stop* calls it off."""
    return schemas.Run.of(await s.store.write(lambda tx: retries.now(tx, s, run_id, actor)))


def _part(path: Path, offset: int, limit: int, growing: bool) -> tuple[bytes, int]:
    """Bytes from the offset on, and the size of the whole. A character is not cut in two, unless
    the whole ends within it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(offset)
            part = file.read(limit)
    except FileNotFoundError:
        return b"", 0
    if growing or offset + len(part) < size:
        part = part[: len(part) - watch.begun(part)]
    return part, size
