"""Questions to the server that runs on this data directory. Only the server knows what its own
environment holds, such as tokens and keys; the shell of a command may hold others."""

import json
import urllib.request
from pathlib import Path
from typing import Any

from agents_manager.errors import ExternalError

ANSWER_S = 10.0


class ServerSilent(ExternalError):
    """The running server does not answer."""


def ask(home: Path, path: str) -> Any | None:
    """Returns the answer of the server at an address below `/api/v1`, or None if no server with an
    HTTP interface runs on this data directory."""
    from agents_manager.api.server import address_of
    from agents_manager.engine import host

    address = address_of(home) if host.is_live(home) else None
    if address is None:
        return None
    try:
        return get(f"{address}/api/v1{path}", home / "token")
    except (OSError, ValueError) as error:
        raise ServerSilent(
            f"The server at {address} does not answer {path}: {error}. See am service status."
        ) from None


def get(url: str, token: Path) -> Any:
    """Returns the JSON at an address of the own server, asked with the owner's token."""
    request = urllib.request.Request(url)  # noqa: S310 - its own address
    request.add_header("Authorization", f"Bearer {token.read_text(encoding='ascii').strip()}")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=ANSWER_S) as answer:
        return json.load(answer)
