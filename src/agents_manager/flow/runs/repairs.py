"""Messages whose outcome cannot be taken. The agent is asked for it once; if that does not help,
the run fails and people see what the agent said. Nothing is inferred from such a message."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agents_manager.domain import handoff_text
from agents_manager.domain import outcome as outcomes
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.run import ErrorClass
from agents_manager.flow.ports import Agent, Said
from agents_manager.flow.runs import reports
from agents_manager.flow.runs.places import OUTPUT
from agents_manager.flow.runs.verdict import Again, Verdict, trouble
from agents_manager.flow.runs.watch import Position, pieces

MAX_MESSAGE = 256 * 1024
"""Characters of a message that are kept until the agent has answered again."""
MAX_SHOWN = 16_000
"""Characters of what people see of an agent's last messages."""


def ask(reason: str, message: str) -> Verdict:
    return Verdict(again=_again(reason, message))


def _again(reason: str, message: str) -> Again:
    return Again(kind="repair", round=0, text=reason, message=message[-MAX_MESSAGE:])


def message(said: Said) -> str:
    """Return what the agent ended with as text, also where it ended with data."""
    match said.structured:
        case None:
            return said.final_text
        case {"outcome": str(name), "payload": payload}:
            value = json.dumps(payload, ensure_ascii=False, indent=2)
            block = f"<<<OUTCOME:{name}>>>\n{value}\n<<<END_PAYLOAD>>>"
        case other:
            block = json.dumps(other, ensure_ascii=False, indent=2)
    return f"{said.final_text}\n\n{block}".strip()


def in_vain(asked: Again | None, said: Said) -> Again | None:
    """Return why a turn without an outcome counts as a failure: it was asked for a valid one."""
    if asked is None or asked["kind"] != "repair":
        return None
    reason = f"{asked['text']} The agent was asked for it again and reported no outcome."
    return _again(reason, message(said))


def unread(
    agent: Agent, directory: Path, offered: Sequence[str], known: Mapping[str, Outcome]
) -> Again | None:
    """Return the question about a report of a turn that was refused or, if there is none, about the
    first message that looks like an outcome. Only the final message may report one, but a block
    before it may hold a question."""
    if refused := reports.refused(directory):
        reason, report = refused
        return _again(f"The outcome that the agent reported was refused: {reason}", report)
    for text in _words(agent, directory / OUTPUT):
        reading = outcomes.read_markers(text, offered, known)
        if isinstance(reading, outcomes.Nothing):
            continue
        reason = (
            reading.reason
            if isinstance(reading, outcomes.Malformed)
            else f'The outcome "{reading.name}" was in an earlier message, not in the final one.'
        )
        return _again(reason, text)
    return None


def failed(again: Again, asked: Again | None) -> Verdict:
    """Return the error of a run whose agent was asked for its outcome in vain, with all that it
    said, since one of its messages may hold a question."""
    messages = [one.get("message", "").strip() for one in (asked, again) if one is not None]
    shown = "\n\n".join(dict.fromkeys(filter(None, messages)))
    return {**trouble(again["text"], ErrorClass.BAD_OUTPUT), "message": shown[-MAX_SHOWN:]}


def with_document(verdict: Verdict, asked: Again | None) -> Verdict:
    """Return the verdict with the text of the refused message if that is longer: an agent that is
    asked for a valid outcome may send just that, without the plan that it has already written."""
    text, refused = verdict.get("document"), (asked or {}).get("message")
    if text is None or not refused:
        return verdict
    before = handoff_text.without(outcomes.without_blocks(refused))
    return {**verdict, "document": before} if len(before) > len(text) else verdict


def _words(agent: Agent, output: Path) -> Iterator[str]:
    at = Position()
    while batch := pieces(output, at, over=True):
        for piece in batch:
            line = piece.data.removesuffix(b"\n")
            for shown in agent.parse(line) if piece.whole and line.strip() else ():
                text = shown.get("text")
                if shown.get("type") == "assistant" and isinstance(text, str):
                    yield text
        at = batch[-1].next
