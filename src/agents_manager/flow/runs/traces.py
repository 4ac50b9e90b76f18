"""What is told of tasks, runs and their steps to whoever watches, by the conventions that
OpenTelemetry has for agents. A trace is a task, and ids come from ours, so that a run that goes on
under another server goes on in the same trace."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

import structlog

from agents_manager.domain.event import Logged
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run, Usage
from agents_manager.errors import AgentsManagerError, NotFound
from agents_manager.flow import patience
from agents_manager.flow.ports import Services, Span, Steps, T
from agents_manager.flow.runs import sightings
from agents_manager.flow.runs.counts import Counted

log = structlog.get_logger()

LOOK_S = 2.0
BATCH = 200
CURSOR = "traces"
TENURE = timedelta(seconds=60)
MOVED = "status.changed"
ENDS = ("agent.completed", "agent.failed", "agent.cancelled")
PROVIDERS = {"claude-code": "anthropic", "codex": "openai"}

Attributes = dict[str, str | int | float | bool]


def of_run(run: Run) -> str:
    """The key of the span that all others of a run belong to."""
    return f"run {run.id}"


class ToldSteps:
    """Steps that are told as they are done; one that was done before is not told again."""

    def __init__(self, s: Services, run: Run, steps: Steps) -> None:
        self._s = s
        self._run = run
        self._steps = steps

    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        async def told() -> T:
            with step(self._s, self._run, name):
                return await fn()

        return await self._steps.run(name, told)


@contextmanager
def step(s: Services, run: Run, name: str) -> Generator[None]:
    begun, error = s.clock.now(), None
    try:
        yield
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        s.traces.tell(
            Span(
                trace=run.task_id,
                key=f"step {run.id} {name} {begun.isoformat()}",
                parent=of_run(run),
                name=name,
                start=begun,
                end=max(begun, s.clock.now()),
                attributes=_ours(run),
                error=error,
            )
        )


def model_asked(s: Services, run: Run, begun: datetime, heard: Counted, status: int) -> None:
    """A model was asked in the place of an agent; without a status it did not answer."""
    known = heard.model or run.model
    s.traces.tell(
        Span(
            trace=run.task_id,
            key=f"model {run.id} {begun.isoformat()} {s.ids.new()}",
            parent=of_run(run),
            name=f"chat {known}" if known else "chat",
            start=begun,
            end=max(begun, s.clock.now()),
            client=True,
            attributes={
                "gen_ai.operation.name": "chat",
                **_model(run, known),
                **_used(heard.usage),
                "http.response.status_code": status,
                **_ours(run),
            },
            error=None if 200 <= status < 400 else str(status or "no_answer"),
        )
    )


async def follow(s: Services) -> None:
    """For ever, where anybody is told: moves and runs that are over, as the log has them. It goes
    on where it was, so that none is lost with a server."""
    while s.traces.on:
        try:
            if await _mine(s):
                await look(s)
        except Exception as error:  # noqa: BLE001 - whatever it was, nobody's work waits for it
            patience.tell("traces.failed", error)
        await asyncio.sleep(LOOK_S)


async def look(s: Services) -> None:
    at = await s.store.read(lambda tx: tx.deliveries.position(CURSOR))
    if at is None:  # Nobody is told what was before.
        last = await s.store.read(lambda tx: tx.events.last_id())
        await s.store.write(lambda tx: tx.deliveries.move_to(CURSOR, last))
        return
    while batch := await s.store.read(
        lambda tx, at=at: tx.events.after(at, task=None, limit=BATCH)
    ):
        for logged in batch:
            await _tell(s, logged)
        at = batch[-1].id
        await s.store.write(lambda tx, at=at: tx.deliveries.move_to(CURSOR, at))


async def _mine(s: Services) -> bool:
    """Of several machines one tells."""
    here, now = s.here, s.clock.now()
    if here is None:
        return True
    return await s.store.write(lambda tx: tx.deliveries.lease(CURSOR, here.host, now, now + TENURE))


async def _tell(s: Services, logged: Logged) -> None:
    if logged.type == MOVED:
        _moved(s, logged)
    elif logged.type in ENDS:
        try:
            await _ended(s, RunId(logged.data["run"]))
        except NotFound:
            return  # Deleted with its task.
        except AgentsManagerError as error:
            log.warning("traces.run_not_told", error=error.message)


def _moved(s: Services, logged: Logged) -> None:
    s.traces.tell(
        Span(
            trace=logged.task_id,
            key=f"event {logged.task_id} {logged.seq}",
            parent=None,
            name=f"move {logged.data['to']}",
            start=logged.time,
            end=logged.time,
            attributes={
                "agents_manager.task.id": logged.task_id,
                "agents_manager.task.source": logged.data["source"],
                "agents_manager.task.status": logged.data["to"],
                "agents_manager.trigger": logged.data["trigger"],
            },
        )
    )


async def _ended(s: Services, run_id: RunId) -> None:
    run = await s.store.read(lambda tx: tx.runs.get(run_id))
    if run.ended_at is None:
        return
    calls = await sightings.calls(s, run)
    begun = run.started_at or run.created_at
    s.traces.tell(
        Span(
            trace=run.task_id,
            key=of_run(run),
            parent=None,
            name=f"invoke_agent {run.agent}" if run.agent else "invoke_agent",
            start=begun,
            end=max(begun, run.ended_at),
            attributes=_of_run(run),
            error=run.error.error_class.value if run.error else None,
        )
    )
    for call in calls:
        s.traces.tell(_called(s, run, call))


def _called(s: Services, run: Run, call: sightings.Call) -> Span:
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"{run.id}:{call.at}",
        **_ours(run),
    }
    if s.traces.content:
        attributes["gen_ai.tool.call.arguments"] = s.redact(call.given)
    return Span(
        trace=run.task_id,
        key=f"tool {run.id} {call.at}",
        parent=of_run(run),
        name=f"execute_tool {call.name}",
        start=call.start,
        end=call.end,
        attributes=attributes,
    )


def _of_run(run: Run) -> Attributes:
    known: dict[str, str | float | None] = {
        "gen_ai.agent.name": run.agent,
        "gen_ai.conversation.id": run.session,
        "agents_manager.run.outcome": run.outcome,
        "agents_manager.run.cost_usd": run.cost_usd,
    }
    return {
        "gen_ai.operation.name": "invoke_agent",
        **_model(run, run.model),
        **_used(run.usage),
        **{name: value for name, value in known.items() if value is not None},
        "agents_manager.run.status": run.status.value,
        "agents_manager.run.attempt": run.attempt,
        **_ours(run),
    }


def _model(run: Run, model: str | None) -> Attributes:
    provider = PROVIDERS.get(run.agent or "", run.agent or "unknown")
    asked: Mapping[str, str] = {"gen_ai.request.model": model} if model else {}
    return {"gen_ai.provider.name": provider, **asked}


def _used(usage: Usage | None) -> Attributes:
    """What is unknown is left out."""
    if usage is None:
        return {}
    known = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return {name: value for name, value in known.items() if value is not None}


def _ours(run: Run) -> Attributes:
    return {
        "agents_manager.task.id": run.task_id,
        "agents_manager.run.id": run.id,
        "agents_manager.project.id": run.project_id,
        "agents_manager.run.mode": run.mode,
    }
