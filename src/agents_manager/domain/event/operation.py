"""The machine and its settings."""

from typing import Literal

from agents_manager.domain.event.happening import Happening, Level


class DiskLow(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["disk.low"] = "disk.low"
    run: str
    reason: str

    def says(self) -> str:
        return f"The agent waits for room on the disk. {self.reason}"


class CloneFailed(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["project.clone_failed"] = "project.clone_failed"
    project: str
    host: str
    reason: str

    def says(self) -> str:
        return f'Project "{self.project}" is not on machine {self.host}. {self.reason}'


class ConfigBroken(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["config.broken"] = "config.broken"
    project: str
    reason: str
    kept: bool
    """Whether the settings from before hold on; else no run is started."""

    def says(self) -> str:
        then = "what it said before holds on" if self.kept else "no run is started until it can"
        return f'The settings of project "{self.project}" cannot be read, {then}. {self.reason}'


class ConfigRepaired(Happening):
    category = "note"
    type: Literal["config.repaired"] = "config.repaired"
    project: str

    def says(self) -> str:
        return f'The settings of project "{self.project}" can be read again, and are in force.'
