"""What is sent to us, bounded before it is kept and read strictly before a route sees it."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents_manager.api.faults import UnsupportedMedia
from agents_manager.domain import strict_json
from agents_manager.errors import InvalidInput, TooLarge

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Bodies:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            raise InvalidInput("The address holds a NUL character.")
        if scope["method"] not in WRITES:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        body = await _read(headers, receive)
        if body is None:
            return
        if body:
            _check(body, headers.get("content-type", ""))
        scope.setdefault("state", {})["body"] = body
        await self._app(scope, _once(body, receive), send)


async def _read(headers: Headers, receive: Receive) -> bytes | None:
    """The whole body, or None when the client went away."""
    announced = headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > MAX_BYTES:
        raise _too_large()
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            raise _too_large()
        if not message.get("more_body", False):
            return bytes(body)


def _too_large() -> TooLarge:
    return TooLarge(f"A request has at most {MAX_BYTES // 1024} KiB.")


def _check(body: bytes, content_type: str) -> None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMedia(
            f'The body is "{kind[:100]}"; send JSON, with "Content-Type: application/json".'
        )
    try:
        strict_json.loads(body.decode(), max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except UnicodeDecodeError:
        raise InvalidInput("The body is not UTF-8.") from None
    except ValueError as error:
        raise InvalidInput(f"The body cannot be read as JSON: {error}.") from None


def _once(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
