"""A filter of system calls, assembled by hand: a list of what is denied is short, and a library
would have to be there on a bare machine. The kernel reads it from the file that bubblewrap is
given."""

import ctypes
import errno
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

ALLOW = 0x7FFF0000
KILL = 0x80000000
ERRNO = 0x00050000
ASK = 0x7FC00000
"""A process outside is asked, and answers in the place of the kernel."""

# Where the data that a filter looks at has its parts.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16

LOAD, AND, RETURN = 0x20, 0x54, 0x06
IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x15, 0x35, 0x45

SET_FILTER = 1
LISTENER, UNDISTURBED = 8, 32
"""Give back what questions come by; and no signal takes one back that was read."""

X32 = 0x40000000
"""On x86_64 the same calls have further numbers, from here on."""
NEW_NAMESPACES = 0x7E020000
"""All flags of `clone` that make one: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Type into the terminal, and what a console offers beside it."""
SET_ID = 0o6000
"""Modes with which a program runs as its owner or group, whoever starts it."""
CREATES = 0o100
SET_MODE = {
    **{"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2},
    **{"creat": 1, "mknod": 1, "mknodat": 2},
}
"""Which argument is the mode."""
OPENS = {"open": 1, "openat": 2}
"""Which argument are the flags; the mode comes behind them, and counts where a file is created."""
FAMILIES = (1, 2, 10, 16)
"""Of sockets: unix, IPv4, IPv6, netlink. What else there is, VM sockets above all, is not of the
network namespace."""

UNIX, INTERNET = 1, (2, 10)
STREAM, KIND = 1, 0xF
"""A kind of socket, and the bits that say it."""
TCP = (0, 6)
"""Protocols of a stream. Others than TCP, such as MPTCP, are not seen by Landlock."""
FAST_OPEN = 0x20000000
SENDS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""Which argument are the flags: one of them connects on the way."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

MISSING = ("clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""As on an older kernel: programs then do without. What these are asked for lies in memory, where
no filter sees it."""
DENIED = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"),
    *("bpf", "perf_event_open", "userfaultfd", "lookup_dcookie"),
    *("keyctl", "add_key", "request_key"),
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "name_to_handle_at", "open_by_handle_at"),
    *("unshare", "setns", "swapon", "swapoff", "reboot", "acct", "quotactl", "quotactl_fd"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("syslog", "vhangup", "iopl", "ioperm", "modify_ldt", "nfsservctl", "uselib"),
    *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname"),
    *("setdomainname", "memfd_secret"),
)

ALONE = ("listen", "shmget", "shmat", "semget", "msgget", "mq_open")
"""Denied where no namespace is around the command: who listens can be reached from outside, and
shared memory is that of the machine."""

# fmt: off
NUMBERS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "open": 2, "ioctl": 16, "shmget": 29, "shmat": 30, "socket": 41, "connect": 42,
        "sendto": 44, "sendmsg": 46, "listen": 50, "socketpair": 53, "clone": 56, "semget": 64,
        "msgget": 68, "creat": 85, "chmod": 90, "fchmod": 91, "ptrace": 101, "syslog": 103,
        "mknod": 133, "uselib": 134, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155,
        "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165,
        "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
        "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
        "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212, "clock_settime": 227,
        "mq_open": 240, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
        "openat": 257, "mknodat": 259, "fchmodat": 268, "unshare": 272, "perf_event_open": 298,
        "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305,
        "sendmmsg": 307, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
        "kcmp": 312, "finit_module": 313, "seccomp": 317, "kexec_file_load": 320, "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "lookup_dcookie": 18, "ioctl": 29, "mknodat": 33, "umount2": 39, "mount": 40,
        "pivot_root": 41, "nfsservctl": 42, "chroot": 51, "fchmod": 52, "fchmodat": 53,
        "openat": 56, "vhangup": 58, "quotactl": 60, "acct": 89, "unshare": 97, "kexec_load": 104,
        "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116,
        "ptrace": 117, "reboot": 142, "sethostname": 161, "setdomainname": 162, "settimeofday": 170,
        "adjtimex": 171, "mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194, "shmat": 196,
        "socket": 198, "socketpair": 199, "listen": 201, "connect": 203, "sendto": 206,
        "sendmsg": 211, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220,
        "swapon": 224, "swapoff": 225, "perf_event_open": 241, "prlimit64": 261,
        "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
        "sendmmsg": 269, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "finit_module": 273, "seccomp": 277, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}
ALIKE: Mapping[str, int] = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "openat2": 437, "pidfd_getfd": 438, "mount_setattr": 442, "quotactl_fd": 443,
    "memfd_secret": 447, "fchmodat2": 452,
}
"""Newer calls have one number everywhere."""
# fmt: on


def program(machine: str = "", *, alone: bool = False) -> bytes | None:
    """The filter for this machine; None where there is none for its kind of processor. It denies
    more where it is alone: without namespaces around the command."""
    machine = machine or os.uname().machine
    if machine not in ARCHITECTURES:
        return None
    numbers = {**NUMBERS[machine], **ALIKE}
    lines: list[tuple[int, int, int, int]] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (IF_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
    ]
    lines += _refused(numbers, MISSING, errno.ENOSYS)
    lines += _refused(numbers, DENIED, errno.EPERM)
    lines += _on(numbers["clone"], 0, [(IF_ANY_BIT, 0, 1, NEW_NAMESPACES), _error(errno.EPERM)])
    for request in (TIOCSTI, TIOCLINUX):
        lines += _on(numbers["ioctl"], 1, [(IF_EQUAL, 0, 1, request), _error(errno.EPERM)])
    if alone:
        lines += _without_namespaces(numbers)
    for call in ("socket", "socketpair"):
        lines += _on(numbers[call], 0, _other_than(FAMILIES, errno.EAFNOSUPPORT))
    for call, mode in SET_MODE.items():
        if call in numbers:
            lines += _on(numbers[call], mode, [(IF_ANY_BIT, 0, 1, SET_ID), _error(errno.EPERM)])
    for call, flags in OPENS.items():
        if call in numbers:
            lines += _on(numbers[call], flags, _creating(flags + 1))
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *line) for line in lines)


def load(code: bytes | None) -> int:
    """Holds this process to the filter, and all that it starts. What questions come by is for a
    process that is not."""
    if code is None:
        raise OSError(f"there is no filter of system calls for {os.uname().machine}")
    libc: Any = ctypes.CDLL(None, use_errno=True)
    lines = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(lines))
    call = NUMBERS[os.uname().machine]["seccomp"]
    listener = libc.syscall(call, SET_FILTER, LISTENER | UNDISTURBED, ctypes.byref(program))
    if listener < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the filter of system calls is refused: {os.strerror(number)}")
    return int(listener)


class _Program(ctypes.Structure):
    _fields_ = (("lines", ctypes.c_ushort), ("first", ctypes.c_void_p))


def _without_namespaces(numbers: Mapping[str, int]) -> list[tuple[int, int, int, int]]:
    """Sockets are for TCP alone, and in pairs: by one with a name the desktop, Docker or the SSH
    agent could be asked to do something outside. A limit is set for oneself only."""
    lines = _refused(numbers, ALONE, errno.EPERM)
    lines += [(IF_EQUAL, 0, 1, numbers["connect"]), (RETURN, 0, 0, ASK)]
    lines += _on(numbers["socket"], 0, _other_than(INTERNET, errno.EACCES))
    kind = [(AND, 0, 0, KIND), *_other_than((STREAM,), errno.EACCES)]
    lines += _on(numbers["socket"], 1, kind)
    lines += _on(numbers["socket"], 2, _other_than(TCP, errno.EACCES))
    lines += _on(numbers["socketpair"], 0, _other_than((UNIX,), errno.EACCES))
    lines += _on(numbers["prlimit64"], 0, _other_than((0,), errno.EPERM))
    for call, flags in SENDS.items():
        fast = [(IF_ANY_BIT, 0, 1, FAST_OPEN), _error(errno.EACCES)]
        lines += _on(numbers[call], flags, fast)
    return lines


def _error(number: int) -> tuple[int, int, int, int]:
    return (RETURN, 0, 0, ERRNO | number)


def _refused(
    numbers: Mapping[str, int], names: Sequence[str], number: int
) -> list[tuple[int, int, int, int]]:
    known = [numbers[name] for name in names if name in numbers]
    return [line for call in known for line in ((IF_EQUAL, 0, 1, call), _error(number))]


def _on(
    call: int, argument: int, lines: Sequence[tuple[int, int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """Looks at the lower half of an argument of one call; all else goes on with its number."""
    inner = [(LOAD, 0, 0, ARGUMENTS + 8 * argument), *lines, (LOAD, 0, 0, NUMBER)]
    return [(IF_EQUAL, 0, len(inner), call), *inner]


def _creating(mode: int) -> list[tuple[int, int, int, int]]:
    return [
        (IF_ANY_BIT, 0, 3, CREATES),
        (LOAD, 0, 0, ARGUMENTS + 8 * mode),
        (IF_ANY_BIT, 0, 1, SET_ID),
        _error(errno.EPERM),
    ]


def _other_than(values: Sequence[int], number: int) -> list[tuple[int, int, int, int]]:
    left = len(values)
    tests = [(IF_EQUAL, left - index, 0, value) for index, value in enumerate(values)]
    return [*tests, _error(number)]
