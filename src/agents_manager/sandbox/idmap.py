"""For root: the command becomes another user, and yet finds what it was granted as its own. The
kernel shows it to it so (mounts with mapped ids), in a view of the file system that is this
process's own. On the disk everything stays root's."""

import ctypes
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

NEW_MOUNTS, NEW_USERS = 0x20000, 0x10000000
PRIVATE = 0x4000 | 1 << 18
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
CLONE, CLOSE_ON_EXEC = 1, os.O_CLOEXEC
HERE, EMPTY_PATH = -100, 0x1000
FROM_DESCRIPTOR = 0x4
MAPPED = 0x100000


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("users", ctypes.c_uint64),
    )


def own(
    paths: Iterable[Path], also: Iterable[Path], user: int, namespace: int | None = None
) -> None:
    """Makes the files that root owns in `paths` belong to `user`, in the view of the calling thread
    and of what it starts. `also` is left as it is where the file system cannot do that. `namespace`
    is a user namespace from `mapped_users`; without one, it is made."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    _checked(libc.unshare(NEW_MOUNTS), "a view of the file system of its own")
    _checked(libc.mount(None, b"/", None, PRIVATE, None), "a view of the file system of its own")
    users = _users(libc, user) if namespace is None else namespace
    # All are opened before the first is put in its place: what is mapped cannot be mapped again.
    opened = [(path, _mapped(libc, path, users)) for path in dict.fromkeys(paths)]
    for path in dict.fromkeys(also):
        with suppress(OSError):
            opened.append((path, _mapped(libc, path, users)))
    for path, tree in sorted(opened, key=lambda pair: len(pair[0].parts)):
        place = os.fsencode(path)
        moved = libc.syscall(MOVE_MOUNT, tree, b"", HERE, place, FROM_DESCRIPTOR)
        _checked(moved, f"{path} for another user")
        os.close(tree)
    if namespace is None:
        os.close(users)


def mapped_users(process: int, user: int) -> int:
    """Maps root to the user in the user namespace of a process, and returns a descriptor of that
    namespace, which outlives the process."""
    for name in ("uid_map", "gid_map"):
        Path("/proc", str(process), name).write_text(f"0 {user} 1\n")
    return os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)


def _mapped(libc: Any, path: Path, users: int) -> int:
    tree = libc.syscall(OPEN_TREE, HERE, os.fsencode(path), CLONE | CLOSE_ON_EXEC)
    _checked(tree, f"{path} for another user")
    wanted = _Attributes(MAPPED, 0, 0, users)
    size = ctypes.sizeof(wanted)
    done = libc.syscall(MOUNT_SETATTR, tree, b"", EMPTY_PATH, ctypes.byref(wanted), size)
    if done < 0:
        number = ctypes.get_errno()
        os.close(tree)
        ctypes.set_errno(number)
    _checked(done, f"{path} for another user")
    return tree


def _users(libc: Any, user: int) -> int:
    """A handle on a namespace in which root is the user; it outlives the process it is made of."""
    ready, made = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(made, b"y" if libc.unshare(NEW_USERS) == 0 else b"n")
        signal.pause()
        os._exit(0)
    try:
        if os.read(ready, 1) != b"y":
            raise OSError("user namespaces are not allowed")
        return mapped_users(child, user)
    finally:
        os.close(ready)
        os.close(made)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"as root there is no {what}: {os.strerror(number)}")
