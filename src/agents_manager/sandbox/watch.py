"""What goes on beside the command: the ways out, and a look at what it uses, once a second."""

import asyncio
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from agents_manager.sandbox.bubblewrap import EGRESS, FAILED, LIMIT, MEGABYTE, Bounds, Cage
from agents_manager.sandbox.egress import CHUNK, HEAD_BYTES, Proxy

EGRESS_LOG = "egress.log"
LOOK_S = 1.0
RESTS = 20
"""A look at the disk is followed by a rest that is so many times as long."""
FREE_MB = 256
"""With less room on the disk nothing may go on writing."""

Start = Callable[[], "subprocess.Popen[bytes]"]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def follow(cage: Cage, spool: Path, start: Start) -> int:
    return asyncio.run(_follow(cage, spool, start))


async def _follow(cage: Cage, spool: Path, start: Start) -> int:
    async with AsyncExitStack() as stack:
        if cage.talks:
            log = cage.log and cage.log / EGRESS_LOG
            proxy = Proxy(cage.hosts, cage.private, log)
            await stack.enter_async_context(await _listening(proxy.serve, spool, EGRESS))
        for port in cage.ports:
            await stack.enter_async_context(await _listening(_to_port(port), spool, str(port)))
        # On the main thread, like all of asyncio: bubblewrap dies with the thread that started it.
        child = start()
        watching = asyncio.get_running_loop().create_task(_watch(cage, child.pid))
        await _ended(child.pid)
        watching.cancel()
        await asyncio.wait({watching})
        why = None if watching.cancelled() else watching.result()
        code = child.wait()
    return code if why is None else _say(cage, why)


async def _listening(serve: Serve, folder: Path, name: str) -> asyncio.Server:
    os.chdir(folder)  # The way to a socket may have no more than a hundred letters.
    door = socket.socket(socket.AF_UNIX)
    door.bind(name)
    # The folder is closed to others; but root's command is another user.
    os.chmod(name, 0o666)  # noqa: PTH101, S103
    return await asyncio.start_unix_server(serve, sock=door, limit=HEAD_BYTES)


def _to_port(port: int) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        # Cut when the command ends; nobody awaits this, so that nobody is to be told.
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(reader, far_writer))
                both.create_task(_copy(far_reader, writer))
        far_writer.close()
        writer.close()

    return serve


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(CHUNK):
            sink.write(data)
            await sink.drain()
        sink.write_eof()


async def _ended(pid: int) -> None:
    ended = asyncio.Event()
    fd = os.pidfd_open(pid)
    loop = asyncio.get_running_loop()
    loop.add_reader(fd, ended.set)
    await ended.wait()
    loop.remove_reader(fd)
    os.close(fd)


def _say(cage: Cage, why: str) -> int:
    sys.stderr.write(f"{why}\n")
    if cage.log is not None:
        (cage.log / LIMIT).write_text(why, encoding="utf-8")
    return FAILED


# ------------------------------------------------------------------------------ what it uses


async def _watch(cage: Cage, pid: int) -> str:
    """Ends the command when it uses too much, and says what; goes on until then."""
    loop = asyncio.get_running_loop()
    began = await asyncio.to_thread(_written, cage) or 0
    next_look = loop.time()
    while True:
        await asyncio.sleep(LOOK_S)
        why = too_much_memory(pid, cage.bounds)
        if why is None and cage.bounds.disk_mb is not None and loop.time() >= next_look:
            look = loop.time()
            why = await asyncio.to_thread(too_much_disk, cage, began)
            next_look = loop.time() + RESTS * (loop.time() - look)
        if why is not None:
            os.kill(pid, signal.SIGKILL)
            return why


def too_much_memory(pid: int, bounds: Bounds) -> str | None:
    if bounds.memory_mb is None:
        return None
    used = sum(_memory(each) for each in _tree(pid)) // MEGABYTE
    if used <= bounds.memory_mb:
        return None
    return (
        f"The sandbox ended it: its processes used {used} MB of memory together, and"
        f" {bounds.memory_mb} MB are allowed (sandbox.memoryMb)."
    )


def too_much_disk(cage: Cage, before: int) -> str | None:
    now = _written(cage)
    if now is None:
        return "The sandbox ended it: it made folders that lie too deep to be looked at."
    grown = (now - before) // MEGABYTE
    allowed = cage.bounds.disk_mb
    if allowed is not None and grown > allowed:
        return (
            f"The sandbox ended it: it wrote {grown} MB, and {allowed} MB are allowed"
            " (sandbox.diskMb)."
        )
    for path in cage.writes:
        room = os.statvfs(path)
        if room.f_bavail * room.f_frsize < FREE_MB * MEGABYTE:
            return f"The sandbox ended it: the disk of {path} is nearly full."
    return None


def _tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names are all it takes
        if name.isdigit():
            with suppress(OSError, IndexError):
                told = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(told[1]), []).append(int(name))
    found, ahead = [pid], [pid]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


def _memory(pid: int) -> int:
    """Without the pages of files, which are shared and can be read again."""
    kilobytes = 0
    with suppress(OSError):
        for line in Path("/proc", str(pid), "status").read_text().splitlines():
            if line.startswith(("RssAnon:", "RssShmem:")):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024


def _written(cage: Cage) -> int | None:
    """The bytes of all that the command may write to; None where they cannot be counted."""
    total = 0
    ahead = [str(path) for path in cage.writes]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        ahead.append(entry.path)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None
    return total
