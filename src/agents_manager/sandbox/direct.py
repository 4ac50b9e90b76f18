"""Starts a program in a bubblewrap sandbox from this process, without a launcher around it. It is
for programs that need neither network nor a limit that has to be watched, and that are started
often. The launcher (`launch.py`) is for agents and for the commands of a project."""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agents_manager.sandbox import bubblewrap, idmap, namespaces, telling
from agents_manager.sandbox.bubblewrap import SERVICE_ID, Cage

GIT_HELPER = Path(__file__).with_name("git_helper.py")
# Prints when it is in its own user namespace, and stays until its input ends.
NAMESPACE = (
    "import ctypes, sys; sys.stdout.write(str(ctypes.CDLL(None).unshare(0x10000000)));"
    " sys.stdout.flush(); sys.stdin.read()"
)


def start_git_helper(cage: Cage, control: int) -> tuple["subprocess.Popen[bytes]", bool]:
    """Starts the program that runs git commands in the sandbox. Also returns whether it can run one
    after the other, which takes a process namespace."""
    apart = cage.level == bubblewrap.BUBBLEWRAP
    user = str(SERVICE_ID) if apart and bubblewrap.is_root() else ""
    limits = telling.limits(cage.bounds).items() if apart else ()
    settings = (
        *(user, "apart" if apart else "beside", str(umask())),
        *(f"{name}={value}" for name, value in limits),
    )
    argv = (sys.executable, "-I", "-S", str(GIT_HELPER), *settings)
    return start(cage._replace(argv=argv), control), apart


def start(cage: Cage, control: int) -> "subprocess.Popen[bytes]":
    """Starts the command of the cage with `control` as its standard input. Call it in a thread of
    its own that waits for the process: the process is killed when that thread ends, and where this
    is root the thread moves into its own mount namespace."""
    bubblewrap.check(cage)
    if cage.level != bubblewrap.BUBBLEWRAP:
        return _popen(bubblewrap.wrapped(cage), control, ())
    program = bubblewrap.found()
    if program is None:
        raise FileNotFoundError("bubblewrap is not installed")
    given = namespaces.files()
    passed = [fd for fd in (given.filter, given.passwd) if fd is not None]
    try:
        if given.root:
            changed, shown = bubblewrap.changed(cage), bubblewrap.shown(cage)
            idmap.own(changed, shown, SERVICE_ID, _user_namespace())
        argv = (program, *bubblewrap.arguments(cage, given), "--", *cage.argv)
        return _popen(argv, control, passed)
    finally:
        for fd in passed:
            os.close(fd)


def _popen(argv: Sequence[str], control: int, passed: Sequence[int]) -> "subprocess.Popen[bytes]":
    # With an empty environment, because a process in the sandbox can read that of bubblewrap.
    return subprocess.Popen(
        argv,
        env={},
        cwd="/",
        stdin=control,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=passed,
        start_new_session=True,
        umask=0o022,
    )


@cache
def umask() -> int:
    """That of this process, which can only be read by changing it."""
    current = os.umask(0o022)
    os.umask(current)
    return current


@cache
def _user_namespace() -> int:
    """A descriptor of a user namespace in which root is the sandbox's user. Made once by a separate
    process, since a process with several threads cannot enter one."""
    child = subprocess.Popen(
        (sys.executable, "-I", "-S", "-c", NAMESPACE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={},
    )
    assert child.stdout
    try:
        if child.stdout.read(1) != b"0":
            raise OSError("user namespaces are not allowed")
        return idmap.mapped_users(child.pid, SERVICE_ID)
    finally:
        child.kill()
        child.communicate()
