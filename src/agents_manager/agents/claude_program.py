"""The program that Claude Code is: the user's own, where its version is supported, or the one that
the SDK brings along."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agents_manager.agents import programs
from agents_manager.agents.programs import Release

NAME = "claude"
SDK = "claude_agent_sdk"
SUPPORTED: tuple[Release, Release] = ((2, 1, 325), (2, 1))
"""The oldest supported version, and the last supported series. 2.1.325 to 2.1.328 are tested."""
OLDEST, NEWEST = (".".join(map(str, release)) for release in SUPPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeProgram:
    path: str
    version: str | None
    doubts: Sequence[str] = ()


def choose(path: str) -> ClaudeProgram | None:
    """Returns the program that runs use; None if there is none."""
    own, bundled = programs.look_for(NAME, path), _bundled()
    if own is None:
        return bundled
    version = programs.known_version(own, path)
    if is_supported(version):
        return ClaudeProgram(path=own, version=version)
    if bundled is None:
        return None
    said = f"has version {version}" if version else "does not tell its version"
    doubt = (
        f"Your program {own} {said}; {OLDEST} to {NEWEST}.x are supported, so the one of the SDK is"
        " used."
    )
    return ClaudeProgram(path=bundled.path, version=bundled.version, doubts=(doubt,))


def is_supported(version: str | None) -> bool:
    if version is None:
        return False
    release = tuple(int(part) for part in version.split("."))
    return release >= SUPPORTED[0] and release[: len(SUPPORTED[1])] <= SUPPORTED[1]


def _bundled() -> ClaudeProgram | None:
    spec = find_spec(SDK)
    for folder in (spec and spec.submodule_search_locations) or ():
        program = Path(folder, "_bundled", NAME)
        if program.is_file():
            file = program.with_name("claude.version")
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            version = text.partition(" ")[0].strip() or None
            return ClaudeProgram(path=str(program), version=version)
    return None
