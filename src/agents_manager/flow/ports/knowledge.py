"""What is kept of handoffs and of what was found out."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    Edge,
    FileNote,
    Fit,
    KeptHandoff,
    Node,
    NodeKind,
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
    def named(self, node_ids: Collection[str]) -> list[Node]:
        """Those of them that there are."""
        ...

    def of_task(self, task_id: TaskId) -> Node | None:
        """The node that stands for the task itself."""
        ...

    def same(self, project_id: ProjectId, kind: NodeKind, text: str) -> Node | None:
        """The oldest that says this, but for case, spaces and the sign at its end; a retired one
        where there is no other."""
        ...

    def update(
        self, node_id: str, now: datetime, *, version: int | None = None, **fields: Any
    ) -> Node:
        """With a version, StaleKnowledge when it is no longer the node's; then it counts up."""
        ...

    def add_source(self, node_id: str, source: Source) -> None: ...
    def say(self, node_id: str, words: str) -> None:
        """Those who said what the node's text was said these words, as it will be another."""
        ...

    def add_files(self, node_id: str, paths: Collection[str]) -> None:
        """Files that it is found by, beside those of its sources."""
        ...

    def add_edge(self, edge: Edge) -> None:
        """Once, however often it is said."""
        ...

    def edges(self, node_ids: Collection[str]) -> list[Edge]:
        """Those that begin or end at one of these."""
        ...

    def search(self, query: Query, *, limit: int, after: str | None = None) -> list[Node]:
        """By text the best first, else the newest first."""
        ...

    def ranked(self, query: Query, words: Collection[str], *, limit: int) -> list[Fit]:
        """Nodes with any of the words, tags or files, those with the most and rarest of them first.
        Of what very many nodes have, the newest are looked at."""
        ...

    def about(self, project_id: ProjectId, paths: Collection[str] | None) -> list[Node]:
        """Active findings, told by runs or people, with a source in one of the files; None: in
        any."""
        ...

    def doubtful(self, project_id: ProjectId, *, limit: int) -> list[Node]:
        """What is stale, contradicted, or was told often and never helped."""
        ...

    def looked(self, project_id: ProjectId) -> str | None:
        """The commit that findings were last held against."""
        ...

    def look(self, project_id: ProjectId, commit: str) -> None: ...
    def tags(self, project_id: ProjectId | None) -> Mapping[str, int]: ...
    def memory(self, project_id: ProjectId, *, limit: int) -> list[Node]:
        """Gotchas of high severity that were not retired, the newest first."""
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
