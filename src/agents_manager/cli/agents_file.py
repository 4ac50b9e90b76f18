"""The section of what is known in a file such as AGENTS.md: nothing else of the file is touched."""

import os
import stat
import tempfile
from pathlib import Path

from agents_manager.domain import agents_md
from agents_manager.errors import InvalidInput

MAX_BYTES = 1024 * 1024
MODE = 0o644


def write(path: Path, section: str) -> bool:
    """Whether the file says something else now. One that is not there is made."""
    before, mode = _read(path)
    try:
        after = agents_md.placed(before, section)
    except InvalidInput as error:
        raise InvalidInput(f"{path} is left as it is. {error.message}") from None
    if after == before:
        return False
    _replace(path, after, mode)
    return True


def _read(path: Path) -> tuple[str, int]:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return "", MODE
    if stat.S_ISLNK(found.st_mode):
        raise InvalidInput(f"{path} is a symbolic link; name the file itself.")
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is no file.")
    if found.st_size > MAX_BYTES:
        raise InvalidInput(f"{path} has {found.st_size} bytes, at most {MAX_BYTES} are taken.")
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        content = file.read(MAX_BYTES)
    try:
        return content.decode(), stat.S_IMODE(found.st_mode)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{path} is not UTF-8 text (line {line}).") from None


def _replace(path: Path, text: str, mode: int) -> None:
    """Whole or not at all; a link that was put there meanwhile is replaced, not followed."""
    fd, new = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
        Path(new).chmod(mode)
        Path(new).replace(path)
    except BaseException:
        Path(new).unlink(missing_ok=True)
        raise
