"""Files that an agent reads and writes through us: those of its workspace, and no others."""

import os
from pathlib import Path

from acp import RequestError

MAX_READ = 16 * 1024 * 1024


def read(
    path: str, workspace: Path, line: int | None, limit: int | None, also: Path | None = None
) -> str:
    """Returns the lines of a file in the workspace, or in the other folder that may be read."""
    place = _inside(path, workspace, also)
    try:
        with place.open("rb") as file:
            content = file.read(MAX_READ + 1)
    except FileNotFoundError:
        raise RequestError.resource_not_found(path) from None
    except OSError as error:
        raise _refusal(f"{path} cannot be read: {error.strerror}.") from None
    if len(content) > MAX_READ:
        raise _refusal(f"{path} has more than {MAX_READ} bytes.")
    text = content.decode(errors="replace")
    if line is None and limit is None:
        return text
    first = max(1, line or 1) - 1
    wanted = text.splitlines(keepends=True)[first:]
    return "".join(wanted if limit is None else wanted[: max(0, limit)])


def write(path: str, content: str) -> None:
    """Of a path that may be written."""
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:
        raise _refusal(f"{path} cannot be written: {error}.") from None


def _inside(path: str, workspace: Path, also: Path | None) -> Path:
    root = os.path.realpath(workspace)
    try:
        place = os.path.realpath(workspace / path)
        roots = [root, *([os.path.realpath(also)] if also else [])]
        within = any(os.path.commonpath([place, each]) == each for each in roots)
    except (OSError, ValueError):
        within, place = False, root
    if not within:
        raise _refusal(f"{path} lies outside of the workspace {root}.")
    return Path(place)


def _refusal(why: str) -> RequestError:
    return RequestError(-32602, why)
