"""The mark beside a SQLite file whose data lives in another database now. The file itself stays as
it was; whoever would go on with it is told where the data is, so that no second history begins."""

import json
import os
from datetime import datetime
from pathlib import Path

from agents_manager.errors import DatabaseMoved


def beside(path: Path) -> Path:
    return path.with_name(path.name + ".moved")


def put(path: Path, where: str, at: datetime) -> Path:
    """`where` names the other database without its password."""
    mark = beside(path)
    new = mark.with_name(mark.name + ".new")
    new.touch(mode=0o600)
    with new.open("w", encoding="utf-8") as file:
        json.dump({"to": where, "at": at.isoformat()}, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(mark)
    return mark


def refuse(path: Path) -> None:
    """Asked by every write, too: one that had to wait while the data was moved must not be lost."""
    mark = beside(path)
    try:
        text = mark.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    raise DatabaseMoved(
        f'The data of "{path}" was moved to {_told(text)}. Set AM_DATABASE_URL to that database.'
        f' To go back to what the file holds, without anything done there since, delete "{mark}".'
    )


def _told(text: str) -> str:
    try:
        told = json.loads(text)
        return f'"{told["to"]}" at {told["at"]}'
    except (ValueError, KeyError, TypeError):
        return "another database"
