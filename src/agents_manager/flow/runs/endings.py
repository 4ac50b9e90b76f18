"""Turns of an agent that did not end well: which error that is, and what counts all the same."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents_manager.domain.run import LIMITS, ErrorClass, Run
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput
from agents_manager.flow.ports import Agent, Said, Services
from agents_manager.flow.runs import spending
from agents_manager.flow.runs.places import OUTPUT
from agents_manager.flow.runs.verdict import Ending, Verdict, trouble
from agents_manager.flow.runs.watch import Position, pieces

CUT = (
    "The agent printed more than is kept of its output (outputBytes), so its final message is not"
    " known."
)
BROKE_OFF = "The agent's output ended without the message that ends its stream."
ENDED_BY: Mapping[str, tuple[ErrorClass, str]] = {
    "timeout": (ErrorClass.TIMEOUT, "The agent took longer than it may."),
    "stalled": (ErrorClass.STALLED, "The agent said nothing for too long."),
    "turns": (ErrorClass.BUDGET, "The agent took more turns than it may."),
    "budget": (ErrorClass.BUDGET, "A budget is used up."),
    "no_budget": (ErrorClass.BUDGET, "A budget was used up before this turn."),
    "cancelled": (ErrorClass.CANCELLED, "The agent was stopped."),
    "lost": (ErrorClass.INTERRUPTED, "The agent's runner was killed."),
    "interrupted": (ErrorClass.INTERRUPTED, "Its machine was cut off from the database."),
    "limit": (ErrorClass.LIMIT, "The agent used more of the machine than it may."),
    "refused": (ErrorClass.ENVIRONMENT, "The runner could not start the agent."),
}
_WAITED = ("timeout", "stalled")
_BREAKS = frozenset(
    {
        *(ErrorClass.INTERRUPTED, ErrorClass.CRASH, ErrorClass.AUTH, ErrorClass.CONTEXT_TOO_LONG),
        *(ErrorClass.MAX_TOKENS, ErrorClass.REFUSAL, *LIMITS),
    }
)
"""Errors of a conversation with a model."""


async def stopped(
    run: Run, project: Project, ended: Ending, directory: Path, s: Services
) -> Verdict | None:
    """Return the error of an agent that we stopped or could not start, or None if it ended
    itself."""
    if ended["reason"] not in ENDED_BY:
        return None
    error_class, why = ENDED_BY[ended["reason"]]
    verdict = trouble(ended.get("message") or why, error_class)
    if ended["reason"] == "no_budget":
        return {**verdict, "over_budget": True, "begun": False}
    if ended["reason"] == "budget":
        verdict["over_budget"] = True
    if ended["reason"] not in _WAITED or run.agent is None:
        return verdict
    try:
        agent = s.agents.get(run.agent, project)
        said = await asyncio.to_thread(spending.heard, agent, directory)
    except (InvalidInput, OSError):  # The turn is over whatever can be read.
        return verdict
    # Some agents wait themselves until the provider answers again, for hours if it says so.
    if said.error is None or said.error_class is None or said.error_class not in LIMITS:
        return verdict
    waited = f"{why} It was waiting for its provider. {said.error}"
    return trouble(waited, said.error_class, said.resets_at)


def failed(said: Said, ended: Ending) -> Verdict | None:
    """Return the error of an agent that ended itself, or None if it ended well."""
    if said.error_class is not None:
        why = said.error or "The agent reported an error."
        return trouble(why, said.error_class, said.resets_at)
    if ended["exit_code"] != 0:
        why = f"The agent exited with code {ended['exit_code']}."
        return trouble(f"{why} {said.error or ''}".strip(), ErrorClass.CRASH)
    if ended["truncated"]:
        return trouble(CUT, ErrorClass.BAD_OUTPUT)
    return None if said.complete else trouble(BROKE_OFF, ErrorClass.INTERRUPTED)


def with_growth(failed: Verdict, agent: Agent, directory: Path) -> Verdict:
    """Return the error with whether the conversation grew by calls of tools, if it was too long for
    the model."""
    if failed.get("error_class") != ErrorClass.CONTEXT_TOO_LONG:
        return failed
    at = Position()
    while batch := pieces(directory / OUTPUT, at, over=True):
        for piece in batch:
            line = piece.data.strip() if piece.whole else b""
            if line and any(shown.get("type") == "tool_use" for shown in agent.parse(line)):
                return {**failed, "grew": True}
        at = batch[-1].next
    return failed


def counts_anyway(failed: Verdict, report: Any) -> bool:
    """Return whether an outcome that was reported by a tool counts although the conversation with
    the model failed afterwards."""
    return report is not None and failed.get("error_class") in _BREAKS
