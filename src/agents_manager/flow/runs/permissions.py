"""While an agent runs it may ask for permissions, which people give. The requests and the answers
are files of the turn (`domain.permission`), so that neither a restart of the server nor one of the
worker loses any. What stands in a request is the agent's word."""

import asyncio
import os
from pathlib import Path

import structlog
from pydantic import ValidationError

from agents_manager.domain import permission
from agents_manager.domain.ids import RunId
from agents_manager.domain.permission import Request
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    PermissionPayload,
    Prompt,
    PromptStatus,
    ResumePoint,
    Scope,
)
from agents_manager.domain.question import Ask
from agents_manager.domain.run import Run
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import asking
from agents_manager.flow.ports import Services, Tx

POLL_S = 0.2
MOST = 500
"""Permissions that people are asked for in one run."""
log = structlog.get_logger()


async def attend(s: Services, run_id: RunId, turn: int, directory: Path) -> None:
    """Has people answer what a turn asks for, until it is cancelled."""
    number = 1
    while True:
        try:
            if await _answered(s, run_id, turn, number, directory):
                number += 1
                continue
        except (AgentsManagerError, OSError) as error:
            log.warning("permission.not_asked", run=run_id, number=number, error=str(error))
        await asyncio.sleep(POLL_S)


async def by_tool(
    s: Services, run_id: RunId, name: str, wanted: Request, wait_s: float
) -> bool | None:
    """Whether a run may do something that its agent asked for by a tool; None: nobody said so in
    time, and nobody is asked any more."""
    asked = await s.store.read(lambda tx: _asked(tx, run_id, name))
    if asked is None:
        allow = await s.store.write(lambda tx: _ask(tx, s, run_id, name, wanted))
        if allow is not None:
            return allow
    try:
        async with asyncio.timeout(wait_s):
            while True:
                allow = await s.store.read(lambda tx: _decided(tx, run_id, name))
                if allow is not None:
                    return allow
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        return await s.store.write(lambda tx: _too_late(tx, s, run_id, name))


def _too_late(tx: Tx, s: Services, run_id: RunId, name: str) -> bool | None:
    """What was said at the last moment counts."""
    allow, asked = _decided(tx, run_id, name), _asked(tx, run_id, name)
    if allow is None and asked is not None:
        asking.close(tx, s, asked, PromptStatus.CANCELLED)
    return allow


async def withdraw(s: Services, run_id: RunId) -> None:
    """The turn is over: nobody waits for its answers any more."""
    await s.store.write(lambda tx: _withdraw(tx, s, run_id))


async def _answered(s: Services, run_id: RunId, turn: int, number: int, directory: Path) -> bool:
    """Whether this request is there and has its answer."""
    answer = directory / permission.answer_file(number)
    if answer.exists():
        return True
    request = directory / permission.request_file(number)
    if not request.exists():
        return False
    wanted = await asyncio.to_thread(_read, request)
    name = f"{turn}.{number}"
    if wanted is None:
        allow: bool | None = False
    elif await s.store.read(lambda tx: _asked(tx, run_id, name)) is None:
        allow = await s.store.write(lambda tx: _ask(tx, s, run_id, name, wanted))
    else:
        allow = await s.store.read(lambda tx: _decided(tx, run_id, name))
    if allow is None:
        return False
    await asyncio.to_thread(_write, answer, permission.Answer(allow=allow))
    return True


def _decided(tx: Tx, run_id: RunId, name: str) -> bool | None:
    """None while a person still has to decide."""
    asked = _asked(tx, run_id, name)
    if asked is None or asked.status is PromptStatus.PENDING:
        return None
    return asked.status is PromptStatus.RESPONDED and bool((asked.response or {}).get("allow"))


def _ask(tx: Tx, s: Services, run_id: RunId, name: str, wanted: Request) -> bool | None:
    """Asks a person, unless there is nothing to decide any more."""
    run = tx.runs.get(run_id)
    if not run.status.live:
        return False
    known = _said_before(tx, run, wanted)
    if known is not None:
        return known
    if len(_of(tx, run_id)) >= MOST:
        return False
    task = tx.tasks.get(run.task_id)
    payload = PermissionPayload(
        tool=wanted.tool, action=wanted.action, reason=wanted.reason, request=name
    )
    resume = ResumePoint(
        status=task.status, mode=run.mode, agent=run.agent, session=run.session, run=run.id
    )
    ask = Ask(PromptType.PERMISSION, payload.model_dump(mode="json"), None)
    asking.open_prompt(tx, s, task, ask, tx.effects.get(run.effect_id).history_id, resume)
    return None


def _said_before(tx: Tx, run: Run, wanted: Request) -> bool | None:
    """What was said of the very same before, to hold for this run or for the project. How far an
    answer reaches is how long it holds, never what else it covers."""
    for prompt in reversed(tx.prompts.permissions(run.project_id)):
        response = prompt.response or {}
        scope = response.get("scope")
        reaches = scope == Scope.PROJECT or (scope == Scope.RUN and prompt.run_id == run.id)
        same = (prompt.payload["tool"], prompt.payload["action"]) == (wanted.tool, wanted.action)
        if reaches and same:
            return bool(response.get("allow"))
    return None


def _asked(tx: Tx, run_id: RunId, name: str) -> Prompt | None:
    return next((p for p in _of(tx, run_id) if p.payload["request"] == name), None)


def _of(tx: Tx, run_id: RunId) -> list[Prompt]:
    found = tx.prompts.of_task(tx.runs.get(run_id).task_id)
    return [p for p in found if p.type is PromptType.PERMISSION and p.run_id == run_id]


def _withdraw(tx: Tx, s: Services, run_id: RunId) -> None:
    for prompt in _of(tx, run_id):
        if prompt.status is PromptStatus.PENDING:
            asking.close(tx, s, prompt, PromptStatus.CANCELLED)


def _read(request: Path) -> Request | None:
    """None for what is no request; the driver writes none such, but others could."""
    try:
        # Neither a link elsewhere nor a pipe may be put in its place.
        fd = os.open(request, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            content = file.read(permission.MAX_BYTES + 1) or b""
        return (
            Request.model_validate_json(content) if len(content) <= permission.MAX_BYTES else None
        )
    except (ValidationError, OSError):
        return None


def _write(file: Path, answer: permission.Answer) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(answer.model_dump_json(), encoding="utf-8")
    new.replace(file)
