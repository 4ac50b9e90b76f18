"""The web app's files. They are open to everybody: they hold no data, and the login is one of
them. A request only ever names one of the files that were found, so no path can lead elsewhere."""

import asyncio
import html
import os
from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager import webbuild
from agents_manager.api.doors import RESERVED, Doors
from agents_manager.errors import NotFound

INDEX = "/index.html"
ASSETS = "/assets/"
BASE = '<base href="/">'
FOREVER = "public, max-age=31536000, immutable"
"""The name of an asset holds a digest of its content."""
ASK_AGAIN = "no-cache"
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
OTHER = "application/octet-stream"
MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Agents Manager</title></head>
<body><h1>The web app is not built</h1>
<p>The server runs, and answers the command line and HTTP. For the pages, run this{where},
then load this page again:</p>
<pre>{command}</pre></body></html>
"""
REINSTALL = "pip install --force-reinstall agents-manager"


class Ui:
    def __init__(self, app: ASGIApp, doors: Doors, folder: Path) -> None:
        self._app = app
        self._doors = doors
        self._folder = folder
        self._seen: tuple[int, int] | None = None
        self._files: Mapping[str, Path] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = None
        if scope["method"] in ("GET", "HEAD"):
            response = await self._answer(scope["path"], Headers(scope=scope))
        await (response or self._app)(scope, receive, send)

    async def _answer(self, path: str, headers: Headers) -> Response | None:
        """None: the address is not one of the web app."""
        if path.startswith(ASSETS):
            file = self._found().get(path)
            if file is None:
                raise NotFound(f'There is no "{path[:100]}".')
            return await _file(file, FOREVER)
        if path in ("/", INDEX):
            return await self._index(headers)
        if path.lstrip("/").partition("/")[0] in RESERVED:
            return None
        if file := self._found().get(path):
            return await _file(file, ASK_AGAIN)
        wanted = "text/html" in headers.get("accept", "")
        return await self._index(headers) if wanted else None

    async def _index(self, headers: Headers) -> Response:
        file = self._found().get(INDEX)
        if file is None:
            return _missing()
        base = html.escape(self._doors.base(headers.get("host", "")))
        page = (await _content(file)).decode()
        text = page.replace(BASE, f'<base href="{base}/">', 1)
        return Response(text, headers={"Cache-Control": ASK_AGAIN}, media_type="text/html")

    def _found(self) -> Mapping[str, Path]:
        """Looked up again when the app was built anew, which puts another folder in its place."""
        try:
            now = self._folder.stat()
        except OSError:
            return {}
        if self._seen != (now.st_ino, now.st_mtime_ns):
            self._files = _files(self._folder)
            self._seen = (now.st_ino, now.st_mtime_ns)
        return self._files


def _files(folder: Path) -> dict[str, Path]:
    """By address. A link could lead out of the folder, so none is followed."""
    found: dict[str, Path] = {}
    for where, _, names in os.walk(folder):
        for path in (Path(where, name) for name in names):
            if path.is_file() and not path.is_symlink() and path.name != webbuild.FINGERPRINT:
                found[f"/{path.relative_to(folder).as_posix()}"] = path
    return found


async def _file(path: Path, caching: str) -> Response:
    kind = TYPES.get(path.suffix, OTHER)
    return Response(await _content(path), headers={"Cache-Control": caching}, media_type=kind)


async def _content(path: Path) -> bytes:
    try:
        return await asyncio.to_thread(path.read_bytes)
    except OSError:
        # The app was built anew at this moment.
        raise NotFound(f'There is no "{path.name}" any more; load the page again.') from None


def _missing() -> Response:
    checkout = webbuild.CHECKOUT
    command, where = REINSTALL, ""
    if checkout.has_sources:
        command, where = webbuild.COMMAND, f" in {html.escape(str(checkout.web.parent))}"
    page = MISSING.format(where=where, command=command)
    return Response(page, 503, {"Cache-Control": ASK_AGAIN}, "text/html")
