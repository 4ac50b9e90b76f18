"""The tools that the agent of a run has. What it gives is held to the same rules as what stands in
its final message."""

import hashlib
import json
from typing import cast

from agents_manager.domain import permission, recall
from agents_manager.domain.handoff import Handoff, HandoffOutcome
from agents_manager.domain.handoff_faults import told
from agents_manager.domain.outcome import Malformed
from agents_manager.domain.payload import ProposeSplit
from agents_manager.domain.stages import request as requests
from agents_manager.domain.stages import table
from agents_manager.errors import InvalidInput
from agents_manager.flow.memory import lookup
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import reporting
from agents_manager.flow.runs.reporting import Reporter
from agents_manager.mcp.protocol import Json, Said, Tool

SPLIT = "propose_split"


def of(s: Services, reporter: Reporter) -> list[Tool]:
    tools = [
        _report_outcome(reporter),
        _ask_human(s, reporter),
        _save_handoff(s, reporter),
        _search_knowledge(s, reporter),
    ]
    if SPLIT in reporter.offered:
        tools.append(_propose_split(reporter))
    if reporter.asks_permission:
        tools.append(_request_permission(s, reporter))
    if reporter.stage:
        tools.append(_request_loop_back(reporter))
    return tools


def _report_outcome(reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        return await _reported(reporter, given)

    return Tool(
        name="report_outcome",
        description=(
            "Reports the outcome of this run, in the place of one in your final message. Call it"
            " once your work is done. The payload of each outcome is described in your"
            " instructions."
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


async def _reported(reporter: Reporter, given: Json) -> Said:
    reading = await reporting.report(reporter, given)
    if isinstance(reading, Malformed):
        return Said(f"Not taken: {reading.reason} Correct it and report again.", wrong=True)
    return Said("Taken. Reported again, the last one counts. End with your final message now.")


def _propose_split(reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        return await _reported(reporter, {"outcome": SPLIT, "payload": given})

    return Tool(
        name=SPLIT,
        description=(
            "Proposes to do the task in phases, because it is too large for one run, in the place"
            " of the outcome propose_split. A person approves, changes or rejects them."
        ),
        schema=ProposeSplit.model_json_schema(),
        call=call,
    )


def _ask_human(s: Services, reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        try:
            return Said(await reporting.ask(s, reporter, given))
        except InvalidInput as error:
            return Said(f"Not asked: {error.message}", wrong=True)

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


def _request_loop_back(reporter: Reporter) -> Tool:
    async def call(given: Json) -> Said:
        refused = await reporting.request(reporter, given)
        if refused is not None:
            return Said(f"Not taken: {refused}", wrong=True)
        return Said("Taken. It runs once you have ended with your outcome.")

    stage = table.stage_of(reporter.stage or "")
    allowed = sorted(table.may_ask(stage.role)) if stage else []
    return Tool(
        name="request_loop_back",
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


def _request_permission(s: Services, reporter: Reporter) -> Tool:
    """In the form that Claude Code's option `--permission-prompt-tool` takes."""

    async def call(given: Json) -> Said:
        tool, wanted = given.get("tool_name"), given.get("input")
        if not isinstance(tool, str) or not tool or not isinstance(wanted, dict):
            return Said('Not asked: give "tool_name" and, as an object, "input".', wrong=True)
        text = json.dumps(given, sort_keys=True)
        number = str(given.get("tool_use_id") or hashlib.sha256(text.encode()).hexdigest())[:100]
        asked = permission.of_tool(tool, cast("Json", wanted))
        allow = await reporting.permission(s, reporter, number, asked)
        if allow:
            return Said(json.dumps({"behavior": "allow", "updatedInput": wanted}))
        why = "A person did not allow it." if allow is False else "Nobody allowed it in time."
        told = f"{why} Do without it, or end with what you have."
        return Said(json.dumps({"behavior": "deny", "message": told}))

    return Tool(
        name="request_permission",
        description=(
            "Asks a person whether a tool may be used so. Your program calls it for you; there is"
            " no use in calling it yourself."
        ),
        schema={
            "type": "object",
            "properties": {
                "tool_name": {"type": "string"},
                "input": {"type": "object"},
                "tool_use_id": {"type": "string"},
            },
            "required": ["tool_name", "input"],
        },
        call=call,
    )
