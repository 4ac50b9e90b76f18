"""The programs that agents are: where they lie, and which release they are."""

import re
import shutil
import subprocess

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


def doubts(name: str, version: str | None, tested: tuple[Release, Release]) -> tuple[str, ...]:
    first, last = (".".join(map(str, release)) for release in tested)
    if version is None:
        return (f"It does not say its version; {first} to {last} are tested.",)
    release = tuple(int(part) for part in version.split("."))
    if release < tested[0]:
        return (f"{name} {version} is older than what is tested ({first} to {last}): update it.",)
    if release[: len(tested[1])] > tested[1]:
        return (f"{name} {version} is newer than what is tested ({first} to {last}).",)
    return ()
