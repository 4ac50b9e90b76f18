"""Answers for `connect` where a command has the machine's own network. A rule of Landlock names a
port and not an address, so that any machine that listens at the proxy's port could be reached. The
kernel therefore asks here: the address is copied, looked at, and what is of this machine and was
granted is connected from outside."""

import ctypes
import errno
import fcntl
import ipaddress
import os
import select
import socket
import struct
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

RECEIVE, ANSWER, STILL_ASKED = 0xC0502100, 0xC0182101, 0x40082102
ASKED = struct.Struct("=QII iIQ 6Q")
ANSWERED = struct.Struct("=Qqii")
GET_DESCRIPTOR = 438
LONGEST = 128
"""No address is longer."""


def serve(listener: int, ports: Collection[int]) -> None:
    """As long as there is somebody who could ask."""
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    while any(happened & select.POLLIN for _, happened in waiting.poll()):
        asked = bytearray(ASKED.size)
        with suppress(FileNotFoundError):  # Who asked is gone by now.
            fcntl.ioctl(listener, RECEIVE, asked)
            # Each by itself: a connection may have to wait.
            threading.Thread(target=_answer, args=(listener, bytes(asked), ports)).start()


def _answer(listener: int, asked: bytes, ports: Collection[int]) -> None:
    number, pid, _, _, _, _, descriptor, where, size, *_ = ASKED.unpack(asked)
    try:
        error = _connected(listener, number, pid, descriptor, where, size, ports)
    except (OSError, ValueError, OverflowError) as trouble:
        error = getattr(trouble, "errno", None) or errno.EFAULT
    with suppress(OSError):
        fcntl.ioctl(listener, ANSWER, ANSWERED.pack(number, 0, -error, 0))


def _connected(
    listener: int,
    number: int,
    pid: int,
    descriptor: int,
    where: int,
    size: int,
    ports: Collection[int],
) -> int:
    """The number of the error; 0 where it is connected."""
    if not 0 < size <= LONGEST:
        return errno.EINVAL
    with Path("/proc", str(pid), "mem").open("rb", buffering=0) as memory:
        memory.seek(where)
        address = memory.read(size)
    status = Path("/proc", str(pid), "status").read_text()
    process = os.pidfd_open(int(status.partition("Tgid:")[2].split()[0]))
    try:
        # What was read is of who asked, and not of another that has its number by now.
        fcntl.ioctl(listener, STILL_ASKED, struct.pack("=Q", number))
        if not granted(address, ports):
            return errno.EACCES
        return _from_outside(process, descriptor, address)
    finally:
        os.close(process)


def _from_outside(process: int, descriptor: int, address: bytes) -> int:
    libc: Any = ctypes.CDLL(None, use_errno=True)
    mine = libc.syscall(GET_DESCRIPTOR, process, descriptor & 0xFFFFFFFF, 0)
    if mine < 0:
        return ctypes.get_errno()
    try:
        done = libc.connect(mine, address, len(address))
        return 0 if done == 0 else ctypes.get_errno()
    finally:
        os.close(mine)


def granted(address: bytes, ports: Collection[int]) -> bool:
    """Whether it is a port of this machine's own that may be reached."""
    family = int.from_bytes(address[:2], "little")
    try:
        if family == socket.AF_INET:
            host = ipaddress.ip_address(address[4:8])
        elif family == socket.AF_INET6:
            long = ipaddress.IPv6Address(address[8:24])
            host = long.ipv4_mapped or long
        else:
            return False
    except ValueError:
        return False
    near = host in (ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address("::1"))
    return near and int.from_bytes(address[2:4], "big") in ports
