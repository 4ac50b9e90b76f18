"""Blocks of TCP ports for tasks. A block is a symbolic link in the data directory that has the name
of its first port and points to its task: created in one step, it survives restarts."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from zlib import crc32

FIRST, PAST = 20_000, 32_760
"""Below the ports that systems hand out by themselves."""
BLOCK = 10


class PortFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def owners(self) -> Mapping[int, str]:
        found: dict[int, str] = {}
        with suppress(FileNotFoundError):
            for link in self._folder.iterdir():
                with suppress(OSError):
                    if link.name.isdecimal():
                        found[int(link.name)] = str(link.readlink())
        return found

    def assign(self, task: str) -> int | None:
        owners = self.owners()
        for port, owner in sorted(owners.items()):
            if owner == task:
                return port
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        blocks = (PAST - FIRST) // BLOCK
        # Two data directories of one machine begin their search at different places.
        start = crc32(f"{self._folder}\0{task}".encode())
        for offset in range(blocks):
            port = FIRST + (start + offset) % blocks * BLOCK
            if port not in owners and _is_free(port) and self._claim(port, task):
                return port
        return None

    def release(self, task: str) -> None:
        for port, owner in self.owners().items():
            if owner == task:
                (self._folder / str(port)).unlink(missing_ok=True)

    def _claim(self, port: int, task: str) -> bool:
        try:
            (self._folder / str(port)).symlink_to(task)
        except FileExistsError:
            return False
        return True


def _is_free(first: int) -> bool:
    """Whether no program listens on any port of the block."""
    try:
        for port in range(first, first + BLOCK):
            with socket.socket() as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(("", port))
    except OSError:
        return False
    return True
