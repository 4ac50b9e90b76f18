"""What the installers of Python projects have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_manager.checks.recognise.proposal import MissingTool, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The commands that create a project's `.venv`, and the packages they install besides those
    that these depend on."""

    tool: str
    source: Source
    commands: tuple[str, ...]
    inputs: tuple[str, ...]
    packages: frozenset[str]
    missing: Sequence[MissingTool] = ()
    notes: Sequence[str] = ()
