"""The program around one sandbox: makes what bubblewrap needs, starts it, lets out what may go out,
looks at what is used, and ends as the command ended. Signals are for its process group: the command
is in it and gets them, this program and bubblewrap do not mind them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents_manager.sandbox import bubblewrap, idmap, seccomp, telling
from agents_manager.sandbox.bubblewrap import (
    BUBBLEWRAP,
    EGRESS,
    EGRESS_PORT,
    FAILED,
    SERVICE_ID,
    SPOOL,
    TROUBLE,
    Cage,
    Given,
)
from agents_manager.sandbox.telling import in_memory

INSIDE = Path(__file__).with_name("inside.py")


def main(arguments: Sequence[str]) -> None:
    told, *more = arguments
    umask = os.umask(0o077)
    try:
        text = Path(told[1:]).read_text(encoding="utf-8") if told.startswith("@") else told
        cage = Cage.loaded(text)
    except (OSError, ValueError) as error:
        sys.exit(_failed(None, error))
    try:
        code = run(replace(cage, argv=[*cage.argv, *more]), umask)
    except OSError as error:
        code = _failed(cage, error)
    sys.exit(code)


def _failed(cage: Cage | None, error: Exception) -> int:
    why = f"The sandbox could not be made: {error}"
    sys.stderr.write(f"{why}\n")
    if cage is not None and cage.log is not None:
        (cage.log / TROUBLE).write_text(why, encoding="utf-8")
    return FAILED


def run(cage: Cage, umask: int) -> int:
    bubblewrap.check(cage)
    if cage.level == BUBBLEWRAP:
        return _in_namespaces(cage, umask)
    # Imported late: most of the time it is not needed.
    from agents_manager.sandbox import alone

    return alone.run(cage, umask)


def _in_namespaces(cage: Cage, umask: int) -> int:
    program = bubblewrap.found()
    if program is None:
        raise FileNotFoundError("bubblewrap is not installed")
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    with tempfile.TemporaryDirectory(prefix="ways-", dir=cage.log) as folder:
        spool = Path(folder)
        spool.chmod(0o711)
        given = _given(cage, spool)
        told = in_memory(json.dumps(_told(cage, umask)).encode())
        argv = [program, *bubblewrap.arguments(cage, given), "--"]
        argv += [sys.executable, "-I", "-S", str(INSIDE), str(told)]
        descriptors = [told, given.filter, given.passwd]
        if given.root:
            idmap.own(bubblewrap.changed(cage), bubblewrap.shown(cage), SERVICE_ID)
        return _followed(cage, spool, argv, [fd for fd in descriptors if fd is not None])


def _followed(cage: Cage, spool: Path, argv: Sequence[str], passed: Sequence[int]) -> int:
    if not (cage.talks or cage.ports or cage.bounds.memory_mb or cage.bounds.disk_mb):
        return _started(argv, passed).wait()
    # Imported late: what neither talks nor is looked at starts faster without.
    from agents_manager.sandbox import watch

    return watch.follow(
        cage, spool, lambda group: _started(group.joined(argv) if group else argv, passed)
    )


def _started(argv: Sequence[str], passed: Sequence[int]) -> "subprocess.Popen[bytes]":
    # With an empty environment, because bubblewrap is the first process of the sandbox, whose
    # environment can be read there. By this thread, because it dies with the one that started it.
    return subprocess.Popen(argv, env={}, cwd="/", pass_fds=passed, umask=0o022)


def _given(cage: Cage, spool: Path) -> Given:
    code = seccomp.program()
    root = bubblewrap.is_root()
    return Given(
        root=root,
        spool=spool,
        filter=None if code is None else in_memory(code),
        passwd=in_memory(_users()) if root else None,
    )


def _users() -> bytes:
    known = Path("/etc/passwd").read_bytes()
    return known + f"agent:x:{SERVICE_ID}:{SERVICE_ID}:agent:/:/bin/sh\n".encode()


def _told(cage: Cage, umask: int) -> dict[str, Any]:
    ways = {port: f"{SPOOL}/{port}" for port in cage.ports}
    if cage.talks:
        ways[EGRESS_PORT] = f"{SPOOL}/{EGRESS}"
    user = SERVICE_ID if bubblewrap.is_root() else None
    return {**telling.told(cage, umask), "user": user, "ways": ways}
