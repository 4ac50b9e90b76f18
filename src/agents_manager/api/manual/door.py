"""The documentation under /docs. It is open to everybody, as the web app's files are: it is the
same for all and holds no data."""

import asyncio
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager import webbuild

if TYPE_CHECKING:
    from agents_manager.api.manual.site import Site

PREFIX = "/docs"
PACKED = Path(__file__).parents[2] / "_docs"
CHECKOUT = webbuild.CHECKOUT.web.parent / "docs"
FOLDER = CHECKOUT if webbuild.CHECKOUT.has_sources else PACKED


class Docs:
    def __init__(self, app: ASGIApp, folder: Path = FOLDER) -> None:
        self._app = app
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        ours = path == PREFIX or path.startswith(f"{PREFIX}/")
        if not ours or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        address = path.removeprefix(PREFIX)
        response = await asyncio.to_thread(self._site.answer, address, scope["query_string"])
        await response(scope, receive, send)

    @cached_property
    def _site(self) -> "Site":
        # What writes the pages takes long to import, and few servers are asked for them.
        from agents_manager.api.manual.site import Site

        return Site(self._folder)
