"""The log of a task as the command line prints it."""

from datetime import UTC, datetime
from typing import Any

from agents_manager.cli.pages.task import event_lines
from agents_manager.domain.event import Logged
from agents_manager.domain.event.happening import Level
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import SYSTEM


def logged(seq: int, category: str, summary: str, **data: Any) -> Logged:
    return Logged(
        id=seq,
        task_id=TaskId("t"),
        seq=seq,
        time=datetime(2026, 11, 15, tzinfo=UTC),
        category=category,
        type=category,
        level=Level.INFO,
        summary=summary,
        actor=SYSTEM,
        data=data,
    )


EVENTS = [
    logged(1, "agent", "claude started."),
    *(logged(n, "tool", "Bash: ls", name="Bash", ok=True) for n in range(2, 5)),
    logged(5, "tool", "Edit (failed): a.py", name="Edit", ok=False),
    logged(6, "tool", "40 more tool calls: see the transcript.", count=40),
    logged(7, "agent", "The agent ended."),
    logged(8, "tool", "Bash: ls", name="Bash", ok=None),
]


def told(*, tools: bool) -> list[str]:
    return [line.text.split("  ")[-1] for line in event_lines(EVENTS, tools=tools)]


def test_calls_of_tools_are_folded_unless_they_are_asked_for() -> None:
    assert told(tools=False) == [
        "claude started.",
        "44 tool calls: Bash 3, Edit 1 (1 failed)",
        "The agent ended.",
        "1 tool call: Bash 1",
    ]
    assert told(tools=True) == [event.summary for event in EVENTS]
