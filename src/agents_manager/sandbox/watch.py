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

from agents_manager.sandbox import cgroup, tree
from agents_manager.sandbox.bubblewrap import EGRESS, FAILED, LIMIT, MEGABYTE, Bounds, Cage
from agents_manager.sandbox.egress import CHUNK, HEAD_BYTES, Proxy

EGRESS_LOG = "egress.log"
LOOK_S = 1.0
RESTS = 20
"""A look at the disk is followed by a rest that is so many times as long."""
FREE_MB = 256
"""With less room on the disk nothing may go on writing."""

Start = Callable[[cgroup.Group | None], "subprocess.Popen[bytes]"]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def follow(cage: Cage, ways: Path | socket.socket, start: Start) -> int:
    """The ways out lie in a folder that the command sees; or the proxy listens at a socket of this
    machine, whose other ports need no way."""
    return asyncio.run(_follow(cage, ways, start))


async def _follow(cage: Cage, ways: Path | socket.socket, start: Start) -> int:
    async with AsyncExitStack() as stack:
        for server in await _ways_out(cage, ways):
            await stack.enter_async_context(server)
        group = _group(cage.bounds)
        try:
            # On the main thread, like all of asyncio: bubblewrap dies with the one it began on.
            child = start(group)
            watching = asyncio.get_running_loop().create_task(_watch(cage, child.pid, group))
            await asyncio.to_thread(child.wait)
            watching.cancel()
            await asyncio.wait({watching})
            why = None if watching.cancelled() else watching.result()
            if group is not None and group.ran_out:
                why = out_of_memory(cage.bounds)
        finally:
            if group is not None:
                group.close()
    return child.returncode if why is None else _say(cage, why)


def _group(bounds: Bounds) -> cgroup.Group | None:
    """None where there is none to be had: then it is looked at what is used."""
    try:
        return cgroup.make(bounds)
    except (cgroup.Unavailable, OSError):
        return None


async def _ways_out(cage: Cage, ways: Path | socket.socket) -> list[asyncio.Server]:
    proxy = Proxy(cage.hosts, cage.private, cage.log and cage.log / EGRESS_LOG)
    if not isinstance(ways, Path):
        return [await asyncio.start_server(proxy.serve, sock=ways, limit=HEAD_BYTES)]
    servers = [await _listening(_to_port(port), ways, str(port)) for port in cage.ports]
    if cage.talks:
        servers.append(await _listening(proxy.serve, ways, EGRESS))
    return servers


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


def _say(cage: Cage, why: str) -> int:
    sys.stderr.write(f"{why}\n")
    if cage.log is not None:
        (cage.log / LIMIT).write_text(why, encoding="utf-8")
    return FAILED


# ------------------------------------------------------------------------------ what it uses


async def _watch(cage: Cage, pid: int, group: cgroup.Group | None) -> str:
    """Ends the command when it uses too much, and says what; goes on until then. What a group holds
    is not looked at."""
    loop = asyncio.get_running_loop()
    began = await asyncio.to_thread(_written, cage) or 0
    next_look = loop.time()
    while True:
        await asyncio.sleep(LOOK_S)
        why = None if group is not None else too_much_memory(pid, cage.bounds)
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
    used = sum(_memory(each) for each in (pid, *tree.below(pid))) // MEGABYTE
    if used <= bounds.memory_mb:
        return None
    return (
        f"The sandbox ended it: its processes used {used} MB of memory together, and"
        f" {bounds.memory_mb} MB are allowed (sandbox.memoryMb)."
    )


def out_of_memory(bounds: Bounds) -> str:
    return (
        f"The sandbox ended it: its processes used more than the {bounds.memory_mb} MB of memory"
        " that are allowed together (sandbox.memoryMb)."
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
    outer = (path for path in cage.writes if not any(p in cage.writes for p in path.parents))
    ahead = [str(path) for path in outer]
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
