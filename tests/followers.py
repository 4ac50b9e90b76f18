"""Those who follow the events of a server, and what came to them."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit


@dataclass
class Follower:
    task: str | None
    """Whose events it follows; None: those of all."""
    ids: list[int] = field(default_factory=list[int])
    late_ms: list[float] = field(default_factory=list[float])
    """From the time that each event bears until it came."""
    there: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the stream is open: what happens from now on comes."""

    async def follow(self, address: str, bearer: str) -> None:
        """For ever, on a connection of its own: a client for people would cost more than the
        server that is looked at."""
        place = urlsplit(address)
        assert place.hostname is not None
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        of = f"?task={self.task}" if self.task else ""
        head = f"GET /api/v1/events/stream{of} HTTP/1.1\r\nHost: {place.netloc}\r\n"
        writer.write(f"{head}Authorization: {bearer}\r\n\r\n".encode())
        try:
            while line := await reader.readline():
                self._heard(line)
        finally:
            writer.close()

    def _heard(self, line: bytes) -> None:
        if line.startswith(b": open"):
            self.there.set()
        elif line.startswith(b"id: "):
            self.ids.append(int(line[4:]))
        elif line.startswith(b"data: "):
            said = line.partition(b'"time":"')[2].partition(b'"')[0].decode()
            self.late_ms.append((time.time() - datetime.fromisoformat(said).timestamp()) * 1000)

    def heard(self, first: int, last: int) -> list[int]:
        """After one event and up to another, in the order in which they came."""
        return [id for id in self.ids if first < id <= last]
