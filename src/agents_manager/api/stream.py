"""Live events: one reader of the log per process, and a bounded queue for each client.

A client first gets the past from the store, in pages, and joins the live events at the moment it
has caught up, so that nothing is missed and nothing comes twice.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import structlog
from starlette.responses import StreamingResponse

from agents_manager.api import schemas
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.errors import AgentsManagerError, Conflict
from agents_manager.flow.ports import Store

log = structlog.get_logger()

PAGE = 500
MAX_WAITING_BYTES = 4 * 1024 * 1024
"""What may wait for one client before it is too slow."""
PAUSE_S = 1.0
HEARTBEAT_S = 15.0
HEARTBEAT = b": still here\n\n"
GREETING = b": open\n\n"


Permit = Callable[[], Awaitable[bool]]
"""Whether whoever opened a stream may still read it."""


async def always() -> bool:
    return True


class EventStream(StreamingResponse):
    media_type = "text/event-stream"


def live(frames: AsyncGenerator[bytes]) -> EventStream:
    # Some proxies would hold events back until a buffer is full.
    return EventStream(frames, headers={"X-Accel-Buffering": "no"})


class Feed:
    def __init__(
        self,
        store: Store,
        watch: Callable[[], AsyncIterator[None]],
        *,
        heartbeat_s: float = HEARTBEAT_S,
        max_waiting_bytes: int = MAX_WAITING_BYTES,
    ) -> None:
        self._store = store
        self._watch = watch
        self.heartbeat_s = heartbeat_s
        self._max_waiting_bytes = max_waiting_bytes
        self._position = 0
        """The last event that was handed to the clients."""
        self._clients: set[_Client] = set()
        self._news = asyncio.Event()
        self._closed = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            # The store may outlive the loop, and its commits must not fail for it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._news.set)

        self._position = await self._last_id()
        self._store.after_commit(wake)
        async with asyncio.TaskGroup() as group:
            work = [group.create_task(self._tail()), group.create_task(self._notice())]
            try:
                yield
            finally:
                self.close()
                for task in work:
                    task.cancel()

    @property
    def clients(self) -> int:
        return len(self._clients)

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Ends every stream; their clients come back when there is a server again."""
        self._closed = True
        for client in self._clients:
            client.end()

    async def follow(
        self, task: TaskId | None, after: int | None, permit: Permit = always
    ) -> AsyncGenerator[bytes]:
        """The stream after an event, or from now on. Awaiting this settles where *now* is. It ends
        within a heartbeat when it is no longer permitted."""
        newest = await self._last_id()
        if after is not None and after > newest:
            raise Conflict(
                f"The log ends with event {newest}, so nothing can follow {after}; "
                "read the tasks again and follow from now."
            )
        return self._frames(task, newest if after is None else after, permit)

    async def _frames(
        self, task: TaskId | None, cursor: int, permit: Permit
    ) -> AsyncGenerator[bytes]:
        yield GREETING
        while cursor < self._position and not self._closed:
            upto, last = self._position, cursor
            page = await self._store.read(
                lambda tx, last=last: tx.events.after(last, task=task, limit=PAGE)
            )
            if page:
                cursor = page[-1].id
                yield b"".join(_frame(event) for event in page)
            if len(page) < PAGE:
                cursor = max(cursor, upto)
        # From here to the registration nothing is awaited, so no event can slip through.
        client = _Client(task, cursor, self._max_waiting_bytes)
        if self._closed:
            return
        self._clients.add(client)
        try:
            asked = time.monotonic()
            while chunk := await client.take(asked + self.heartbeat_s - time.monotonic()):
                if time.monotonic() >= asked + self.heartbeat_s:
                    if not await permit():
                        return
                    asked = time.monotonic()
                yield chunk
        finally:
            self._clients.discard(client)

    async def _notice(self) -> None:
        async for _ in self._watch():
            self._news.set()

    async def _tail(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                while page := await self._store.read(
                    lambda tx: tx.events.after(self._position, task=None, limit=PAGE)
                ):
                    self._publish(page)
            except AgentsManagerError as error:
                log.warning("stream.read_failed", reason=error.message, again_in_s=PAUSE_S)
                await asyncio.sleep(PAUSE_S)
                self._news.set()

    def _publish(self, page: Sequence[Logged]) -> None:
        for event in page if self._clients else ():
            frame = _frame(event)
            for client in self._clients:
                client.offer(event, frame)
        self._position = page[-1].id

    async def _last_id(self) -> int:
        return await self._store.read(lambda tx: tx.events.last_id())


class _Client:
    def __init__(self, task: TaskId | None, after: int, max_bytes: int) -> None:
        self._task = task
        self._after = after
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._max_bytes = max_bytes
        self._stirred = asyncio.Event()
        self._ended = False

    def offer(self, event: Logged, frame: bytes) -> None:
        if self._ended or event.id <= self._after or self._task not in (None, event.task_id):
            return
        if self._waiting and self._bytes + len(frame) > self._max_bytes:
            # Too slow. It gets what waits, comes back, and reads the rest from the store.
            self.end()
            return
        self._waiting.append(frame)
        self._bytes += len(frame)
        self._stirred.set()

    def end(self) -> None:
        self._ended = True
        self._stirred.set()

    async def take(self, patience_s: float) -> bytes:
        """What waits, or a sign of life when nothing came; nothing at the end."""
        try:
            async with asyncio.timeout(patience_s):
                await self._stirred.wait()
        except TimeoutError:
            return HEARTBEAT
        if not self._ended:
            self._stirred.clear()
        chunk = b"".join(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return chunk


def _frame(event: Logged) -> bytes:
    return f"id: {event.id}\ndata: {schemas.Event.of(event).model_dump_json()}\n\n".encode()
