"""Runs a program under ptrace and dies before the n-th of its system calls that change files; the
kernel then kills the program and its children with it. With 0 it lets them live, and counts.

    tracer.py N COUNT-FILE PROGRAM [ARGUMENT...]
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

TRACEME, SYSCALL, SETOPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
MARK_SYSCALLS, FORK, VFORK, CLONE, EXIT_KILL = 1, 2, 4, 8, 0x100000
SYSCALL_STOP = signal.SIGTRAP | 0x80
WAIT_ALL = 0x40000000
ENTRY = 1

# The numbers of openat, and of creat, rename, link, unlink, mkdir, rmdir, symlink and their kin.
NUMBERS = {
    "x86_64": (257, {82, 83, 84, 85, 86, 87, 88, 258, 263, 264, 265, 266, 316}),
    "aarch64": (56, {34, 35, 36, 37, 38, 276}),
}
OPENAT, CHANGES = NUMBERS[os.uname().machine]


class SyscallInfo(ctypes.Structure):
    _fields_ = (
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    )


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


def ptrace(request: int, pid: int, address: int = 0, value: int = 0) -> None:
    if LIBC.ptrace(request, pid, address, value) < 0 and ctypes.get_errno() != 3:
        raise OSError(ctypes.get_errno(), "ptrace is not allowed here")


def changes_files(pid: int) -> bool:
    info = SyscallInfo()
    ptrace(GET_SYSCALL_INFO, pid, ctypes.sizeof(info), ctypes.addressof(info))
    if info.op != ENTRY:
        return False
    creates = info.number == OPENAT and bool(info.arguments[2] & os.O_CREAT)
    return creates or info.number in CHANGES


def start(argv: list[str]) -> int:
    pid = os.fork()
    if pid == 0:
        ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp(argv[0], argv)
    os.waitpid(pid, 0)
    ptrace(SETOPTIONS, pid, 0, MARK_SYSCALLS | FORK | VFORK | CLONE | EXIT_KILL)
    return pid


def signal_to_pass_on(status: int) -> int:
    """Stops of the tracing itself are not signals that the program was sent."""
    number = os.WSTOPSIG(status)
    ours = status >> 16 or number in (SYSCALL_STOP, signal.SIGTRAP, signal.SIGSTOP)
    return 0 if ours else number


def trace(wanted: int, root: int) -> tuple[int, int]:
    """Exit code of the program, and how many calls changed files."""
    code, count = 0, 0
    ptrace(SYSCALL, root)
    while True:
        try:
            pid, status = os.waitpid(-1, WAIT_ALL)
        except ChildProcessError:
            return code, count
        if os.WIFSTOPPED(status):
            count += os.WSTOPSIG(status) == SYSCALL_STOP and changes_files(pid)
            if wanted and count == wanted:
                os.kill(os.getpid(), signal.SIGKILL)
            ptrace(SYSCALL, pid, 0, signal_to_pass_on(status))
        elif pid == root:
            code = os.waitstatus_to_exitcode(status)


def main(wanted: str, log: str, *argv: str) -> int:
    code, count = trace(int(wanted), start(list(argv)))
    with open(log, "w", encoding="utf-8") as file:  # noqa: PTH123 - as lean as it can be
        file.write(str(count))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
