"""The programs that agents are: where they lie, and which release they are."""

import os
import re
import shutil
import subprocess
from functools import lru_cache

from agents_manager.errors import AgentNotInstalled

PATIENCE_S = 20.0
Release = tuple[int, ...]


def look_for(program: str, path: str) -> str | None:
    return shutil.which(program, path=path)


def found(program: str, path: str, agent: str) -> str:
    there = look_for(program, path)
    if there is not None:
        return there
    if "/" in program:
        where = "it is not there, or cannot be executed"
    else:
        where = f"it is on none of the folders of the PATH: {path}"
    raise AgentNotInstalled(f'The program "{program}" of agent "{agent}": {where}.')


def absent(program: str, get: str) -> str:
    way = f"Get it with: {get}" if get else "Get it from its maker."
    return f'The program "{program}" is on none of the folders of your PATH. {way}'


def version(program: str, path: str) -> str | None:
    """What the program says of itself; None when it says nothing that looks like a version."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            env={"PATH": path, "TERM": "dumb"},
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(rb"\d+\.\d+(\.\d+)*", done.stdout)
    return number[0].decode() if number else None


def known_version(program: str, path: str) -> str | None:
    """The same, asked once for as long as the file stays as it is."""
    try:
        found = os.stat(program)  # noqa: PTH116 - follows links, as starting it does
    except OSError:
        return None
    return _version_of(program, path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _version_of(program: str, path: str, mtime_ns: int, size: int) -> str | None:
    return version(program, path)


def is_older(version: str | None, release: Release) -> bool:
    """Returns whether the version is below the release; an unknown version is not."""
    return version is not None and _release(version) < release


def _release(version: str) -> Release:
    return tuple(int(part) for part in version.split("."))


def doubts(name: str, version: str | None, tested: tuple[Release, Release]) -> tuple[str, ...]:
    first, last = (".".join(map(str, release)) for release in tested)
    if version is None:
        return (f"It does not say its version; {first} to {last} are tested.",)
    if is_older(version, tested[0]):
        return (f"{name} {version} is older than what is tested ({first} to {last}): update it.",)
    if _release(version)[: len(tested[1])] > tested[1]:
        return (f"{name} {version} is newer than what is tested ({first} to {last}).",)
    return ()
