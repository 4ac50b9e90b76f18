"""Copies of what agents print and are told, for machines other than the one they run on."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agents_manager.domain.ids import RunId, TaskId

LONGEST_PIECE = 256 * 1024
TurnFile = tuple[int, str]
"""The number of a turn, 0 for the run itself, and the name of a file."""


class Outputs(Protocol):
    def ends(self, run_id: RunId) -> Mapping[TurnFile, int]:
        """Up to where each file is copied."""
        ...

    def end(self, run_id: RunId, part: TurnFile) -> int:
        """The same of one file."""
        ...

    def add(self, run_id: RunId, part: TurnFile, start: int, data: bytes) -> None:
        """A piece that is not longer than the longest."""
        ...

    def put(self, run_id: RunId, part: TurnFile, data: bytes) -> None:
        """In the place of what is there."""
        ...

    def after(self, run_id: RunId, part: TurnFile, offset: int, most: int) -> bytes:
        """What follows an offset, of at most so many pieces."""
        ...

    def live(self, host: str) -> list[RunId]:
        """Runs of a machine that are not over."""
        ...

    def unfinished(self, host: str, mark: TurnFile, limit: int) -> list[RunId]:
        """Runs of a machine that are over, have not been removed and lack the mark."""
        ...

    def tasks(self) -> list[TaskId]:
        """Those that have copies."""
        ...

    def of_task(self, task_id: TaskId) -> Mapping[RunId, str | None]:
        """The runs of a task of which there are copies, and the machine of each."""
        ...

    def removed(self, run_ids: Sequence[RunId]) -> Mapping[RunId, bool]:
        """Of those runs that there are, whether retention removed what they printed."""
        ...

    def size(self, run_ids: Sequence[RunId]) -> int: ...
    def drop(self, run_ids: Sequence[RunId]) -> None: ...
