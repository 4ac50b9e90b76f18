"""What is kept of handoffs and of what was found out."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    Edge,
    FileNote,
    KeptHandoff,
    Node,
    Query,
    Source,
    Use,
)


class Knowledge(Protocol):
    def keep_handoff(self, kept: KeptHandoff) -> None:
        """Adds, or replaces that of the same run."""
        ...

    def handoff(self, run_id: RunId) -> KeptHandoff | None: ...
    def handoffs(self, task_id: TaskId) -> list[KeptHandoff]:
        """The oldest first."""
        ...

    def add(self, node: Node) -> None: ...
    def get(self, node_id: str) -> Node: ...
    def find(self, id_or_prefix: str) -> Node: ...
    def update(self, node_id: str, now: datetime, **fields: Any) -> None: ...
    def add_source(self, node_id: str, source: Source) -> None: ...
    def add_edge(self, edge: Edge) -> None:
        """Once, however often it is said."""
        ...

    def edges(self, node_ids: Collection[str]) -> list[Edge]:
        """Those that begin or end at one of these."""
        ...

    def search(self, query: Query, *, limit: int, after: str | None = None) -> list[Node]:
        """By text the best first, else the newest first."""
        ...

    def ranked(
        self, query: Query, words: Collection[str], *, limit: int
    ) -> list[tuple[Node, float]]:
        """Nodes with any of the words, tags or files, and how well their text fits (0 to 1)."""
        ...

    def tags(self, project_id: ProjectId | None) -> Mapping[str, int]: ...
    def memory(self, project_id: ProjectId) -> list[Node]:
        """Gotchas of high severity that hold, the newest first."""
        ...

    def add_file(self, note: FileNote) -> None: ...
    def files(
        self, project_id: ProjectId, *, under: str = "", limit: int, after: str | None = None
    ) -> list[FileNote]:
        """By path, of each the newest first."""
        ...

    def add_blocker(self, blocker: ActiveBlocker) -> None: ...
    def find_blocker(self, id_or_prefix: str) -> ActiveBlocker: ...
    def blockers(
        self, project_id: ProjectId | None, *, resolved: bool = False
    ) -> list[ActiveBlocker]: ...
    def blocking(self, task_id: TaskId) -> list[ActiveBlocker]:
        """Unresolved ones that name the task."""
        ...

    def resolve(self, blocker_id: str, now: datetime, by: str, note: str | None) -> bool:
        """False when it was resolved before."""
        ...

    def use(self, uses: Sequence[Use]) -> None: ...
    def uses(self, run_ids: Collection[RunId]) -> list[Use]: ...
    def helped(self, run_id: RunId) -> None:
        """Counts the run among those that ended well, for the nodes that it was given."""
        ...
