"""What earlier runs of the same kind said and did, for a run that has no session to go on with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents_manager.domain.names import visible
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import watch
from agents_manager.flow.runs.places import OUTPUT, TURNS, job_dir
from agents_manager.flow.runs.watch import Piece, Position

MAX_RUNS = 5
MAX_BYTES = 512 * 1024
"""Of the end of a turn's output; a prompt has room for less."""
LINE = 200


def of(s: Services, project: Project, runs: Sequence[Run]) -> list[str]:
    """The last runs, the oldest first: words before the end and calls of tools as a line each, the
    final text in full."""
    told = [_run(s, project, run) for run in runs[-MAX_RUNS:]]
    return [text for text in told if text]


def _run(s: Services, project: Project, run: Run) -> str:
    parse = watch.parser(s, run, project)
    messages = (m for piece in _pieces(s, run) if piece.whole for m in parse(piece))
    said = digest(messages)
    ended = run.outcome or (run.error.error_class if run.error else run.status)
    return f"Run {run.id[:8]} ({run.mode} by {run.agent}, {ended}):\n{said}" if said else ""


def _pieces(s: Services, run: Run) -> Iterable[Piece]:
    for turn in TURNS:
        output = job_dir(s, run.id, turn) / OUTPUT
        try:
            size = output.stat().st_size
        except FileNotFoundError:
            continue
        at = Position(offset=max(0, size - MAX_BYTES))
        while batch := watch.pieces(output, at, over=True):
            yield from batch
            at = batch[-1].next


def digest(messages: Iterable[Mapping[str, Any]]) -> str:
    lines: list[str] = []
    printed: list[str] = []
    final = ""
    for message in messages:
        match message:
            case {"type": "assistant", "text": str(text)}:
                lines += _line("said", final)
                final = text
            case {"type": "tool_use", "name": str(name)}:
                lines += _line("said", final)
                final = ""
                given = json.dumps(message.get("input", {}), ensure_ascii=False)
                lines += _line(visible(name, LINE), given)
            case {"type": "result", "error": str(error)} if error:
                lines += _line("ended with an error", error)
            case {"type": "result", "text": str(text)} if text.strip():
                final = text
            case {"type": "output", "text": str(text)}:
                printed.append(text)
            case _:
                pass
    # An agent that prints plain text has no messages: all of it is its final text.
    words = final.strip() or ("" if lines else "\n".join(printed).strip())
    return "\n".join([*lines, *([words] if words else [])])


def _line(what: str, words: str) -> list[str]:
    return [f"- {what}: {visible(words, LINE)}"] if words.strip() else []
