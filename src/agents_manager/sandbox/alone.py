"""A sandbox without namespaces, of the rules that the system has for a single command and what it
starts. The command sees the machine's own processes and its own network; of the latter it reaches
the proxy and the ports that were granted."""

import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from agents_manager.sandbox import bubblewrap, landlock, seatbelt, supervision, telling, tree
from agents_manager.sandbox.bubblewrap import PACKAGE, Bounds, Cage
from agents_manager.sandbox.supervision import FAILED, Supervision
from agents_manager.sandbox.telling import in_memory

START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from agents_manager.sandbox import guard; "
    "guard.main(*map(int, sys.argv[1:]))"
)
LANDLOCK, SEATBELT = "S2", "S1"
"""The levels that are made so: on Linux, and on macOS."""
GUARD = (sys.executable, "-I", "-S", "-c", START, str(PACKAGE.parents[1]))


def run(raw: Mapping[str, Any], umask: int) -> int:
    cage = Cage.from_json(raw)
    bubblewrap.check(cage)
    if cage.level not in (LANDLOCK, SEATBELT):
        raise PermissionError(f'there is none of level "{cage.level}"')
    if bubblewrap.is_root():
        raise PermissionError("what root starts is kept by bubblewrap alone")
    if cage.level == LANDLOCK:
        landlock.check(cage)
    with (
        tempfile.TemporaryDirectory(
            prefix="am-own-", dir=cage.log, ignore_cleanup_errors=True
        ) as folder,
        socket.create_server(("127.0.0.1", 0)) as door,
    ):
        own = _with_own_places(cage, Path(folder).resolve())
        _link(own)
        lifeline, held = os.pipe()
        told = in_memory(json.dumps(_told(own, umask, door.getsockname()[1])).encode())
        argv = [*GUARD, str(told), str(lifeline)]
        try:
            return _followed(own, door, argv, [told, lifeline])
        finally:
            # Should somebody have ended the guard, what it kept comes to this process.
            tree.end_below()
            os.close(held)


def _followed(cage: Cage, door: socket.socket, argv: list[str], passed: Sequence[int]) -> int:
    """The proxy listens at a socket of this machine, whose other ports need no relay."""
    tree.adoptive()
    raw = json.loads(cage.dumped())
    supervised = Supervision(raw, [door])
    child = os.fork()
    if child == 0:
        _become(argv, passed, supervised)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda number, _: os.kill(child, number))
    return supervision.ended(child, supervised)


def _become(argv: list[str], passed: Sequence[int], supervised: Supervision) -> NoReturn:
    try:
        if supervised.group is not None:
            supervised.group.join()
        for descriptor in passed:
            os.set_inheritable(descriptor, True)
        os.umask(0o022)
        os.chdir("/")
        os.execve(argv[0], argv, {})  # noqa: S606 - no shell is the point
    except OSError as error:
        os.write(2, f"The sandbox could not be made: {error}\n".encode())
    finally:
        os._exit(FAILED)


def _told(cage: Cage, umask: int, proxy: int) -> dict[str, Any]:
    ports = [*cage.ports, *([proxy] if cage.talks else [])]
    told = telling.told(cage._replace(bounds=_besides(cage.bounds)), umask, proxy)
    if cage.level == SEATBELT:
        return {**told, "argv": seatbelt.command(cage, ports), "rules": None}
    rules = landlock.rules(cage, ports)
    return {
        **told,
        "rules": {
            "reads": [str(path) for path in rules.reads],
            "writes": [str(path) for path in rules.writes],
            "ports": list(rules.ports),
        },
    }


def _with_own_places(cage: Cage, folder: Path) -> Cage:
    """A folder for temporary files and a home, where those of the environment cannot be written."""
    env = dict(cage.env)
    for name in ("HOME", "TMPDIR"):
        if not any(Path(env.get(name, "/")).is_relative_to(path) for path in cage.writes):
            env[name] = str(folder / name.lower())
            (folder / name.lower()).mkdir()
    return cage._replace(env=env, writes=(*cage.writes, folder))


def _link(cage: Cage) -> None:
    """Nothing can be mounted: what is to be found at another place is found by a link. The places
    were looked at; what is there may be the agent's own."""
    for place, source in {**cage.logins, **cage.settings}.items():
        if place != source and Path(source).is_file():
            path = Path(place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(source)


def _besides(bounds: Bounds) -> Bounds:
    """The system counts all processes and threads of the user, not those of the command."""
    if bounds.processes is None:
        return bounds
    return bounds._replace(processes=bounds.processes + _processes())


def _processes() -> int:
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                found += sum(1 for _ in (folder / "task").iterdir())
    return found
