"""What was found out, and what blocks tasks."""

from typing import Literal

from agents_manager.domain.event.happening import Happening, Level, counted_as

HANDOFF = "handoff"


class KnowledgeLearned(Happening):
    category = HANDOFF
    type: Literal["knowledge.learned"] = "knowledge.learned"
    run: str | None
    """None: somebody kept it of a note that no run left here."""
    nodes: tuple[str, ...]
    """What nobody had told before."""
    again: tuple[str, ...]
    """What was known, and was found again."""

    def says(self) -> str:
        known = f", and found {len(self.again)} again" if self.again else ""
        who = "The run told" if self.run else "A note told"
        return f"{who} {counted_as(len(self.nodes), 'new finding')}{known}."


class DecisionKept(Happening):
    category = HANDOFF
    type: Literal["knowledge.decided"] = "knowledge.decided"
    node: str
    text: str

    def says(self) -> str:
        return f"Kept as a decision: {self.text}"


class BlockerRaised(Happening):
    category = HANDOFF
    level = Level.WARNING
    type: Literal["blocker.raised"] = "blocker.raised"
    blocker: str
    told: str
    task: str
    """Whose run told of it."""
    tasks: tuple[str, ...]

    def says(self) -> str:
        held = f"; it holds up {counted_as(len(self.tasks), 'task')}" if self.tasks else ""
        return f"A run met a blocker: {self.told}{held}"


class BlockerResolved(Happening):
    category = HANDOFF
    type: Literal["blocker.resolved"] = "blocker.resolved"
    blocker: str
    told: str
    note: str | None

    def says(self) -> str:
        how = f": {self.note}" if self.note else ""
        return f'The blocker "{self.told}" is out of the way{how}'
