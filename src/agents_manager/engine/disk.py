"""Whether there is room on the disk for another run."""

import shutil
from collections.abc import Callable
from pathlib import Path

MB = 1_000_000


def free_mb(folder: Path) -> int:
    return shutil.disk_usage(folder).free // MB


class FreeSpace:
    def __init__(self, folder: Path, least_mb: Callable[[], int]) -> None:
        self._folder = folder
        self._least_mb = least_mb

    def shortage(self) -> str | None:
        least = self._least_mb()
        free = free_mb(self._folder)
        if free >= least:
            return None
        return (
            f"The disk of {self._folder} has {free} MB left; below {least} MB (limits.freeDiskMb)"
            " no agent is started."
        )

    def free_mb(self) -> int:
        return free_mb(self._folder)
