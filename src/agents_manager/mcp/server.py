"""MCP over HTTP for the agents of runs: one endpoint a run, which the run's token alone opens and
which does nothing but take the run's outcome, its handoff and whom it wants to have run again, put
its questions to people, and look up what its project found out."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager.domain import payload as payloads
from agents_manager.domain import recall, strict_json
from agents_manager.domain.handoff import Handoff, HandoffOutcome
from agents_manager.domain.handoff_faults import told
from agents_manager.domain.outcome import Malformed
from agents_manager.domain.stages import request as requests
from agents_manager.domain.stages import table
from agents_manager.errors import (
    AgentsManagerError,
    InvalidInput,
    NotFound,
    TooLarge,
    Unauthenticated,
)
from agents_manager.flow.memory import lookup
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import midway, reporting
from agents_manager.flow.runs.reporting import Reporter
from agents_manager.mcp import protocol
from agents_manager.mcp.protocol import Json, Said, Tool

FOLDER = "/mcp"
RUNS = f"{FOLDER}/run/"
MAX_BYTES = 2 * payloads.MAX_BYTES
MAX_DEPTH = payloads.MAX_DEPTH + 8

INSTRUCTIONS = (
    "Where you need to know something from a person to go on, ask with ask_human and wait for the"
    " answer. When your work is done, save your handoff with save_handoff and report the outcome"
    " with report_outcome, then end with your final message. It needs no handoff and no outcome"
    " block then."
)


class OnlyPost(AgentsManagerError):
    """This endpoint answers POST; it has nothing to tell by itself."""

    http_status = 405


def app(services: Services) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            reporter = await _admitted(services, request)
            body = await _body(request)
        except ClientDisconnect:
            return
        response = await _unless_gone(_answer(services, reporter, body), receive)
        if response is not None:
            await response(scope, receive, send)

    return serve


async def _unless_gone(answer: Coroutine[Any, Any, Response], receive: Receive) -> Response | None:
    """None where the agent went away before it was answered: nobody waits for it any more."""
    loop = asyncio.get_running_loop()
    work, leaving = loop.create_task(answer), loop.create_task(_left(receive))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await work if work.done() else None
    finally:
        for task in (work, leaving):
            task.cancel()
        await asyncio.wait({work, leaving})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _admitted(s: Services, request: Request) -> Reporter:
    path = request.url.path
    if not path.startswith(RUNS):
        raise NotFound(f"There is no {path[:100]}; agents find their endpoint below {RUNS}.")
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Unauthenticated(
            'Send the header "Authorization: Bearer TOKEN" with the run\'s token.'
        )
    reporter = await reporting.enter(s, path.removeprefix(RUNS), token.strip())
    if request.method != "POST":
        raise OnlyPost
    return reporter


async def _answer(s: Services, reporter: Reporter, body: bytes) -> Response:
    try:
        text = body.decode()
        message = strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        fault = protocol.error(None, protocol.PARSE_ERROR, f"The message is not JSON: {error}.")
        return JSONResponse(fault, 400)
    tools = [
        _report_outcome(reporter),
        _ask_human(s, reporter),
        _save_handoff(s, reporter),
        _search_knowledge(s, reporter),
    ]
    if reporter.stage:
        tools.append(_request_agent(reporter))
    said = await protocol.answer(message, tools, INSTRUCTIONS)
    return Response(status_code=202) if said is None else JSONResponse(said)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BYTES:
            raise TooLarge(f"A message has at most {MAX_BYTES // 1024} KiB.")
    return bytes(body)


def _report_outcome(reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        reading = await reporting.report(reporter, given)
        if isinstance(reading, Malformed):
            return Said(f"Not taken: {reading.reason} Correct it and report again.", wrong=True)
        return Said("Taken. Reported again, the last one counts. End with your final message now.")

    return Tool(
        name="report_outcome",
        description=(
            "Reports the outcome of this run, in the place of an outcome block. Call it once your"
            " work is done. The payload of each outcome is described in your instructions."
        ),
        schema={
            "type": "object",
            "properties": {
                "outcome": {"type": "string", "enum": reporter.offered},
                "payload": {"type": ["object", "null"]},
            },
            "required": ["outcome"],
            "additionalProperties": False,
        },
        call=call,
    )


def _ask_human(s: Services, reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        try:
            return Said(await reporting.ask(s, reporter, given))
        except midway.NotAsked as error:
            return Said(f"Not asked: {error}", wrong=True)

    return Tool(
        name="ask_human",
        description=(
            "Asks a person and waits for the answer, without ending your run. Ask only what you"
            " cannot find out yourself and cannot go on without; put all that you want to know into"
            " one call. Where the call fails, call it again with the same words: it is asked once."
        ),
        schema={
            "type": "object",
            "properties": {
                "questions": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 50,
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string", "description": "Short, such as q1."},
                            "question": {"type": "string"},
                            "context": {
                                "type": "string",
                                "description": "What one must know to answer.",
                            },
                            "options": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": {
                                        "label": {"type": "string"},
                                        "description": {"type": "string"},
                                        "recommended": {"type": "boolean"},
                                    },
                                    "required": ["label"],
                                    "additionalProperties": False,
                                },
                            },
                            "suggested_answer": {"type": "string"},
                        },
                        "required": ["id", "question"],
                        "additionalProperties": False,
                    },
                }
            },
            "required": ["questions"],
            "additionalProperties": False,
        },
        call=call,
    )


def _save_handoff(s: Services, reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        violations = await reporting.save_handoff(s, reporter, given)
        if violations:
            return Said(
                f"Not taken:\n{told(violations)}\nCorrect it and save it again.", wrong=True
            )
        return Said("Taken. Saved again, the last one counts.")

    sections = {name: {"type": "array"} for name in Handoff.model_fields}
    return Tool(
        name="save_handoff",
        description=(
            "Saves the handoff of this run for whoever works here next, in the place of a section"
            " in your final message. Its fields are described in your instructions."
        ),
        schema={
            "type": "object",
            "properties": {**sections, "outcome": {"type": "string", "enum": [*HandoffOutcome]}},
            "required": ["outcome"],
            "additionalProperties": False,
        },
        call=call,
    )


def _search_knowledge(s: Services, reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        try:
            return Said(await lookup.search(s, reporter.project_id, given))
        except InvalidInput as error:
            return Said(f"Not searched: {error.message}", wrong=True)

    return Tool(
        name="search_knowledge",
        description=(
            "Searches what agents found out in this project: patterns, gotchas, decisions and open"
            " questions. Gives those with any of the words and tags, the best first."
        ),
        schema={
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": lookup.MAX_TEXT},
                "tags": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": lookup.MAX_TAGS,
                },
                "kinds": {"type": "array", "items": {"enum": [*recall.KINDS]}},
                "limit": {"type": "integer", "minimum": 1, "maximum": lookup.MOST},
            },
            "additionalProperties": False,
        },
        call=call,
    )


def _request_agent(reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        refused = await reporting.request(reporter, given)
        if refused is not None:
            return Said(f"Not taken: {refused}", wrong=True)
        return Said("Taken. It runs once you have ended with your outcome.")

    stage = table.stage_of(reporter.stage or "")
    allowed = sorted(table.may_ask(stage.role)) if stage else []
    return Tool(
        name="request_agent",
        description=(
            "Has another agent run again before the work goes on, because of a fault that only it"
            f" can mend; in the place of a REQUEST in your final message. You may request:"
            f" {', '.join(allowed)}."
        ),
        schema={
            "type": "object",
            "properties": {
                "agent": {"type": "string"},
                "reason": {"type": "string", "maxLength": requests.MAX_REASON},
                "context": {"type": "string", "maxLength": requests.MAX_CONTEXT},
                "priority": {"type": "string", "enum": [*requests.ORDER]},
            },
            "required": ["agent", "reason"],
            "additionalProperties": False,
        },
        call=call,
    )
