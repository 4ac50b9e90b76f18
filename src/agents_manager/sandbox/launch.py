"""The program around one sandbox: starts it, supervises it, and ends as the command ended. Signals
are for its process group: the command is in it and gets them, this program and bubblewrap do not
mind them. What only has to be known before the command begins is imported by the process that
becomes it, so that it takes no memory while the command runs."""

from __future__ import annotations

import json
import os
import signal
import sys

from agents_manager.sandbox import supervision, tree
from agents_manager.sandbox.supervision import FAILED, IN_NAMESPACES, TROUBLE, Supervision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn


def main(arguments: Sequence[str]) -> NoReturn:
    file, *more = arguments
    umask = os.umask(0o077)
    cage = None
    try:
        cage = read(file)
        cage["argv"] = [*cage["argv"], *more]
        cage["env"] = {**_inherited(cage), **cage["env"]}
        code = _run(cage, umask)
    except (OSError, ValueError, LookupError) as error:
        code = _failed(cage, error)
    sys.stderr.flush()
    os._exit(code & 0xFF)


def read(cage: str) -> dict[str, Any]:
    """Reads a `Cage` as JSON, or as the name of a file that holds it, after an `@`."""
    if not cage.startswith("@"):
        return json.loads(cage)
    with open(cage[1:], encoding="utf-8") as file:  # noqa: PTH123
        return json.loads(file.read())


def _inherited(cage: Mapping[str, Any]) -> dict[str, str]:
    """The variables that the command takes from this process, as they may hold secrets."""
    return {name: os.environ[name] for name in cage.get("inherits", ()) if name in os.environ}


def _run(cage: dict[str, Any], umask: int) -> int:
    if cage["level"] != IN_NAMESPACES:
        # Imported late: most of the time it is not needed.
        from agents_manager.sandbox import alone

        return alone.run(cage, umask)
    supervised = Supervision(cage) if supervision.is_needed(cage) else None
    launcher = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(cage, umask, supervised, launcher)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    tree.adoptive()
    code = supervision.ended(pid, supervised)
    tree.end_adopted()
    return code


def become(
    cage: Mapping[str, Any], umask: int, supervised: Supervision | None, parent: int
) -> NoReturn:
    """Turns a forked child of `parent` into bubblewrap, which starts the command."""
    try:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        if supervised is not None and supervised.group is not None:
            supervised.group.join()
        from agents_manager.sandbox import namespaces

        channel = None if supervised is None else supervised.channel
        namespaces.enter(cage, umask, channel, parent)
    except (OSError, ValueError, TypeError, LookupError) as error:
        os._exit(_failed(cage, error))
    finally:
        os._exit(FAILED)


def _failed(cage: Mapping[str, Any] | None, error: Exception) -> int:
    why = f"The sandbox could not be made: {error}"
    os.write(2, f"{why}\n".encode())
    if cage is not None and cage.get("log"):
        with open(f"{cage['log']}/{TROUBLE}", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(why)
    return FAILED
