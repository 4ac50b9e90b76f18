"""A task as a Markdown file that people read and keep: its words, and behind them what became of
it. Written and read so that every text comes back as it was, whatever it holds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain import fences

METADATA = (
    *("Type", "Priority", "Size", "Complexity", "Agent", "Model", "Pipeline", "Tags"),
    *("Depends on", "Created"),
)
WORDS = METADATA[:6]
"""Each is a field of the task of the same name."""
LISTS = ("Tags", "Depends on")
BETWEEN = ", "
"""Of the values of a list. No tag and no id holds a blank."""
UNDER_CRITERION = " " * 6
"""In front of its further lines: so deep that none of them is a heading or a fence."""

_MEANS = re.compile(r"#{1,3}(?: |$)|-{3,}\s*$|\*Task completed:|outcome:")
"""Lines that say something to who reads the file."""
_TICKS = re.compile("`{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    id: str
    """Of the task where it was first written to a file."""
    title: str
    metadata: Mapping[str, str]
    """By the names of `METADATA`; what is not said is not there."""
    objective: str
    acceptance_criteria: tuple[str, ...]
    description: str
    plan: str | None
    log: str
    handoff: str
    """YAML as it was written; empty where there is none."""
    note: str
    """A handoff in free words."""
    completed: str | None

    def listed(self, name: str) -> tuple[str, ...]:
        value = self.metadata.get(name, "")
        return tuple(part for one in value.split(BETWEEN) if (part := one.strip()))


def write(file: TaskFile) -> str:
    known = [f"- {name}: {file.metadata[name]}" for name in METADATA if file.metadata.get(name)]
    plan = [] if file.plan is None else ["### Plan", *block(file.plan)]
    handed = fenced(file.handoff, "yaml") if file.handoff else block(file.note)
    parts: list[Sequence[str]] = [
        [f"# Task {file.id}: {file.title}"],
        ["## Metadata", "\n".join(known)],
        ["## Objective", *block(file.objective)],
        ["## Acceptance Criteria", "\n".join(map(_criterion, file.acceptance_criteria))],
        ["## Context Provided", "### Description", *block(file.description), *plan],
        ["---", "## Execution Log", *block(file.log)],
        ["---", "## Handoff", *handed],
        [] if file.completed is None else ["---", f"*Task completed: {file.completed}*"],
    ]
    return "\n\n".join(paragraph for part in parts for paragraph in part if paragraph) + "\n"


def _criterion(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f"- [ ] {first}", *(line and UNDER_CRITERION + line for line in others)])


def block(text: str) -> list[str]:
    """A text as it stands in the file: as it is, or in a fence where its lines would mean
    something there."""
    plain = text == text.strip() and "\r" not in text
    safe = plain and not any(_means(line) for line in text.split("\n"))
    return [text] if safe else fenced(text, "markdown")


def fenced(text: str, kind: str) -> list[str]:
    longest = max(map(len, _TICKS.findall(text)), default=2)
    ticks = "`" * (longest + 1)
    return [f"{ticks}{kind}\n{text}\n{ticks}"]


def _means(line: str) -> bool:
    return bool(_MEANS.match(line)) or fences.state(None, line)[1]
