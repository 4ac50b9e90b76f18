"""Uvicorn, made to end at once: it would wait for open streams, and streams never end."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from agents_manager.api.doors import Certificate

LAST_REQUESTS_S = 1
"""How long requests that were begun may take to end."""


class Listener(uvicorn.Server):
    def __init__(
        self,
        app: ASGIApp,
        started: Callable[[], None],
        ending: Callable[[], None],
        *,
        tls: Certificate | None = None,
        ends_by_signal: bool = True,
    ) -> None:
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            # Errors are answered and logged by the application; what is left is noise.
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=LAST_REQUESTS_S,
            ssl_certfile=tls.file if tls else None,
            ssl_keyfile=tls.key if tls else None,
        )
        super().__init__(config)
        self._announce = started
        self._ending = ending
        self._ends_by_signal = ends_by_signal
        self._loop = asyncio.get_running_loop()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Uvicorn sends itself the signal once more at the end, which would end the process before
        the engine is closed. Here a signal only ends the serving."""
        main = threading.current_thread() is threading.main_thread()
        if not (main and self._ends_by_signal):
            yield
            return
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self._ending)
