"""What an agent asks a person in the middle of its run. It waits for the answer; where that takes
too long the run pauses: it ends, the question stays open, and the answer starts it again in the
same session."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents_manager.domain import conversation, event, strict_json
from agents_manager.domain import payload as payloads
from agents_manager.domain.ids import PromptId, RunId
from agents_manager.domain.payload import NeedsInfo
from agents_manager.domain.pipeline import PromptType, faults
from agents_manager.domain.prompt import Prompt, PromptStatus, ResumePoint
from agents_manager.domain.question import Ask
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Actor
from agents_manager.errors import InvalidInput
from agents_manager.flow import asking, parts, remedies
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import reports

POLL_S = 0.3
GRACE_S = 60.0
"""How long an agent has to end after it was told that its run pauses."""
MARGIN_S = 30.0
"""What is left of the time of a run when it pauses, for its agent to end in."""
MOST = 20
"""Questions of one run."""
OUTCOME = "needs_info"
"""What a run ends with that pauses."""

PAUSES = (
    "Nobody has answered yet. This run pauses now: the question stays open, your work is kept, and"
    " you are started again in this session with the answer. End your turn now, with one short"
    " message. Do not go on, do not guess the answer, and call no other tool."
)


async def ask(s: Services, run_id: RunId, directory: Path, wait_s: float, value: Any) -> str:
    """What people answered, or that the run pauses; InvalidInput where nobody is asked. Asked again
    in the same words it is the same question, so that a call that was cut off loses nothing."""
    payload = _read(value)
    if await asyncio.to_thread(reports.paused, directory):
        raise InvalidInput("This run pauses until its question is answered. End your turn now.")
    prompt = await s.store.write(lambda tx: put(tx, s, run_id, payload))
    waits_s = min(wait_s, await _left_s(s, directory))
    try:
        async with asyncio.timeout(waits_s):
            prompt = await _answered(s, prompt.id)
    except TimeoutError:
        prompt = await s.store.read(lambda tx: tx.prompts.get(prompt.id))
        if prompt.status is PromptStatus.PENDING:
            await asyncio.to_thread(reports.pause, directory, prompt.id)
            return PAUSES
    if prompt.status is not PromptStatus.RESPONDED:
        raise InvalidInput(f"The question was {prompt.status}; nobody answers it. Go on without.")
    return f"{prompt.responded_by} answered.\n\n{conversation.answered(prompt)}"


async def attend(s: Services, directory: Path) -> None:
    """Ends an agent that goes on though its run pauses; until it is cancelled."""
    while True:
        await asyncio.sleep(1)
        if await asyncio.to_thread(reports.paused, directory):
            break
    await asyncio.sleep(GRACE_S)
    await s.runners.stop(directory, "paused")


def _read(value: Any) -> Mapping[str, Any]:
    """Held to the same rules as a question that a run ends with."""
    try:
        text = json.dumps(value)
        strict_json.loads(text, max_bytes=payloads.MAX_BYTES, max_depth=payloads.MAX_DEPTH)
        return NeedsInfo.model_validate(value).model_dump(mode="json")
    except ValidationError as error:
        raise InvalidInput("; ".join(faults(error))) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(str(error)) from None


async def _left_s(s: Services, directory: Path) -> float:
    """Until the run would be ended for its time or its silence."""
    pulse = await s.runners.pulse(directory)
    if pulse is None:
        return float("inf")
    limits = pulse.limits
    left = limits.timeout_s - pulse.age_s - MARGIN_S
    silent = float("inf") if limits.silence_s is None else limits.silence_s - MARGIN_S
    return max(0.0, min(left, silent))


async def _answered(s: Services, prompt_id: PromptId) -> Prompt:
    while True:
        prompt = await s.store.read(lambda tx: tx.prompts.get(prompt_id))
        if prompt.status is not PromptStatus.PENDING:
            return prompt
        await asyncio.sleep(POLL_S)


def put(tx: Tx, s: Services, run_id: RunId, payload: Mapping[str, Any]) -> Prompt:
    """Opens the question, or finds it where it was asked before."""
    run = tx.runs.get(run_id)
    if not run.status.live:
        raise InvalidInput("The run is over.")
    asked = of_run(tx, run)
    for prompt in asked:
        known = prompt.status in (PromptStatus.PENDING, PromptStatus.RESPONDED)
        if known and prompt.payload == payload:
            return prompt
    waits = next((p for p in asked if p.status is PromptStatus.PENDING), None)
    if waits is not None:
        raise InvalidInput(
            f'"{asking.summary(waits)}" is not answered yet. Wait for that call to end; what you'
            " want to know at once belongs into one call."
        )
    if len(asked) >= MOST:
        raise InvalidInput(f"A run asks at most {MOST} times. Go on with what you know.")
    task = tx.tasks.get(run.task_id)
    resume = ResumePoint(
        status=task.status, mode=run.mode, agent=run.agent, session=run.session, run=run.id
    )
    ask = Ask(PromptType.INFO_REQUEST, payload, None)
    entry = tx.effects.get(run.effect_id).history_id
    return asking.open_prompt(tx, s, task, ask, entry, resume, midway=True)


def of_run(tx: Tx, run: Run) -> list[Prompt]:
    return [p for p in tx.prompts.of_task(run.task_id) if p.midway and p.run_id == run.id]


def unanswered(tx: Tx, run: Run) -> Prompt | None:
    return next((p for p in of_run(tx, run) if p.status is PromptStatus.PENDING), None)


def withdraw(tx: Tx, s: Services, run: Run) -> None:
    """The run is over and does not come back to it."""
    for prompt in of_run(tx, run):
        if prompt.status is PromptStatus.PENDING:
            asking.close(tx, s, prompt, PromptStatus.CANCELLED)


def pause(tx: Tx, s: Services, run: Run, prompt_id: str, actor: Actor) -> None:
    """The run has ended and waits for an answer; one that came while it ended starts it again."""
    prompt = tx.prompts.get(PromptId(prompt_id))
    tx.events.add(
        run.task_id, event.AgentPaused(run=run.id, prompt=prompt.id), actor, s.clock.now()
    )
    if prompt.status is PromptStatus.RESPONDED:
        remedies.rerun(tx, s, run.task_id, SYSTEM, run=run)
    elif prompt.status is not PromptStatus.PENDING:
        remedies.after_stop(tx, s, run.task_id, "The agent waited for an answer that nobody gives.")
    elif run.part:
        parts.ended(tx, s, run)


def answered(tx: Tx, s: Services, prompt: Prompt, actor: Actor) -> None:
    """A run that goes on has it from the call that waits; one that paused is started again."""
    assert prompt.run_id is not None
    run = tx.runs.get(prompt.run_id)
    if not run.status.live:
        remedies.rerun(tx, s, run.task_id, actor, run=run)
