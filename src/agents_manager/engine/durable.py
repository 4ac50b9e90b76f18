"""The durable engine: effects as DBOS workflows, started by id. The only module that knows DBOS,
and only its public interface.

DBOS is a process-wide singleton, so its functions are registered inside `build`, before launch.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar, cast

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, WorkflowStatus
from sqlalchemy import Engine

from agents_manager.domain.ids import EffectId
from agents_manager.engine.dispatcher import Progress
from agents_manager.flow import patience
from agents_manager.flow.ports import Perform

T = TypeVar("T")

APPLICATION_VERSION = "am-1"
WORKFLOW = "effect.v1"
CLOSE_S = 5.0
RECOVERY_S = 60.0
"""How long the engine may take to begin with what was under way at its launch, one after the
other."""
_OVER = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_ACTIVE = frozenset({"PENDING", "ENQUEUED", "DELAYED"})


Answers = Callable[[], Awaitable[object]]
"""Asks the database that the engine is in, and fails while it is away. The engine waits for it by
itself, but with pauses that grow to a minute and a half; so it is not asked before."""


class RecordedSteps:
    """Steps whose results DBOS keeps; a repeated workflow skips those that are done."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        async def step() -> T:
            # Not left to the engine, which keeps a failure as what came of the step.
            result = await patience.through(fn)
            await patience.through(self._answers)
            return result

        await patience.through(self._answers)
        return await DBOS.run_step_async({"name": name}, step)


class Durable:
    def __init__(
        self,
        perform: Perform,
        crashed: Callable[[EffectId, int, str], Awaitable[None]],
        executor_id: str,
        answers: Answers,
    ) -> None:
        self._perform = perform
        self._crashed = crashed
        self._answers = answers
        self._me = executor_id
        self._live: dict[asyncio.Task[Any], str] = {}
        self._recovered_by = float("-inf")
        self._begun: set[str] = set()
        """Until then."""
        self._workflow = DBOS.workflow(name=WORKFLOW)(self._make())

    def _make(self) -> Callable[[str, int], Awaitable[None]]:
        async def effect(effect_id: str, attempt: int) -> None:
            task = asyncio.current_task()
            assert task is not None
            workflow = self._live[task] = workflow_id(EffectId(effect_id), attempt)
            if asyncio.get_running_loop().time() < self._recovered_by:
                self._begun.add(workflow)
            try:
                steps = RecordedSteps(self._answers)
                await self._perform(EffectId(effect_id), attempt, steps)
                await patience.through(self._answers)
            except Exception as error:  # noqa: BLE001 - the job runner: no failure may vanish
                told = f"{type(error).__name__}: {error}"
                await self._crashed(EffectId(effect_id), attempt, told)
            finally:
                del self._live[task]

        return effect

    def launch(self) -> None:
        """Must be called inside the running loop: workflows run on it."""
        self._recovered_by = asyncio.get_running_loop().time() + RECOVERY_S
        DBOS.launch()

    async def start(self, effect_id: EffectId, attempt: int) -> None:
        """Starting the same id and attempt again starts nothing."""
        with SetWorkflowID(workflow_id(effect_id, attempt)):
            await DBOS.start_workflow_async(cast("Any", self._workflow), effect_id, attempt)

    async def look(self, work: Sequence[tuple[EffectId, int]]) -> dict[EffectId, Progress]:
        """How each of those that are known stands, by one look at all of them."""
        if not work:
            return {}
        names = {workflow_id(effect_id, attempt): effect_id for effect_id, attempt in work}
        before = set(self._live.values())
        found = await DBOS.list_workflows_async(
            workflow_ids=list(names), load_input=False, load_output=False
        )
        live = before.union(self._live.values())
        return {names[one.workflow_id]: self._stands(one, live) for one in found}

    def _stands(self, one: WorkflowStatus, live: Collection[str]) -> Progress:
        if one.status not in _ACTIVE:
            return Progress.OVER
        if one.workflow_id in live or one.executor_id != self._me or one.status != "PENDING":
            return Progress.UNDER_WAY
        # Else it would be performed twice: by who takes it up again, and by the engine's recovery.
        recovering = asyncio.get_running_loop().time() < self._recovered_by
        if recovering and one.workflow_id not in self._begun:
            return Progress.UNDER_WAY
        return Progress.FORGOTTEN

    async def resume(self, effect_id: EffectId, attempt: int) -> None:
        """Steps that are done are not done again."""
        await DBOS.resume_workflow_async(workflow_id(effect_id, attempt))

    async def ended(self, before: datetime, limit: int) -> list[str]:
        """Workflows that were over before a time, the oldest first."""
        found = await DBOS.list_workflows_async(
            status=list(_OVER),
            completed_before=before.isoformat(),
            limit=limit,
            load_input=False,
            load_output=False,
        )
        return [workflow.workflow_id for workflow in found]

    async def forget(self, workflows: Sequence[str]) -> None:
        await DBOS.delete_workflows_async(list(workflows))

    async def let_go(self) -> None:
        """Of all that is under way; to the engine it stays pending."""
        live = set(self._live)
        for task in live:
            task.cancel()
        if live:
            await asyncio.wait(live, timeout=CLOSE_S)

    async def close(self) -> None:
        """What is under way goes on at the next launch."""
        await self.let_go()
        # DBOS makes the loop's default executor its own, and closes it.
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "engine-close") as thread:
            close = functools.partial(DBOS.destroy, destroy_registry=True)
            await loop.run_in_executor(thread, close)
        loop.set_default_executor(ThreadPoolExecutor())


def workflow_id(effect_id: EffectId, attempt: int) -> str:
    return f"{effect_id}:{attempt}"


def build(
    perform: Perform,
    crashed: Callable[[EffectId, int, str], Awaitable[None]],
    *,
    executor_id: str,
    engine: Engine | None,
    url: str,
    answers: Answers,
) -> Durable:
    """The engine on its own SQLite file (`engine`) or in a schema of the Postgres database."""
    config: DBOSConfig = {
        "name": "agents-manager",
        "system_database_url": url,
        "system_database_engine": engine,
        "application_version": APPLICATION_VERSION,
        "executor_id": executor_id,
        "serializer": DBOSPortableJSONSerializer(),
        "max_executor_threads": 64,
        # Nothing here waits for its notifications, but closing waits for one such pause.
        "notification_listener_polling_interval_sec": 0.1,
        "log_level": "ERROR",
        "enable_otlp": False,
    }
    DBOS(config=config)
    return Durable(perform, crashed, executor_id, answers)
