"""Whom the gateway asks for agents that are not to know the key: as the server's environment and
the agent's settings say."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from agents_manager.errors import InvalidInput
from agents_manager.flow.ports import Provider

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC = ("POST /v1/messages", "POST /v1/messages/count_tokens")
OPENAI = ("POST /responses", "GET /models")
LONG = 16
"""A shorter key may stand in other values by chance."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def anthropic(agent: str) -> Provider:
    url = os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines()
    more = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if token := os.environ.get("ANTHROPIC_AUTH_TOKEN"):
        more["authorization"] = f"Bearer {token}"
    elif key := os.environ.get("ANTHROPIC_API_KEY"):
        more["x-api-key"] = key
    else:
        raise InvalidInput(_no_key(agent, "ANTHROPIC_API_KEY"))
    return Provider(url=_checked(agent, url), headers=_named(more), allows=ANTHROPIC)


def openai(agent: str, url: str, names: tuple[str, ...], more: Mapping[str, str]) -> Provider:
    key = next((os.environ[name] for name in names if os.environ.get(name)), None)
    if key is None:
        raise InvalidInput(_no_key(agent, names[0]))
    headers = _named({**more, "authorization": f"Bearer {key}"})
    return Provider(url=_checked(agent, url), headers=headers, allows=OPENAI)


def without(env: Mapping[str, str], provider: Provider) -> dict[str, str]:
    """The variables but for those that hold the key, whatever they are called."""
    told = provider.headers.get("x-api-key") or provider.headers["authorization"]
    key = told.removeprefix("Bearer ")
    return {
        name: value
        for name, value in env.items()
        if value != key and not (key in value and len(key) >= LONG)
    }


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name and value}


def _no_key(agent: str, name: str) -> str:
    return (
        f'Agent "{agent}" asks its model through the gateway, which needs a key: set {name} for the'
        " server. A login cannot be used there."
    )


def _checked(agent: str, url: str) -> str:
    """The key goes to this address, so it must not be read on the way."""
    try:
        parts = urlsplit(url)
        near = parts.scheme == "http" and parts.hostname in LOOPBACK
        fits = bool(parts.hostname) and (parts.scheme == "https" or near)
    except ValueError:
        fits = False
    if not fits or "?" in url or "@" in url:
        raise InvalidInput(
            f'Agent "{agent}": the gateway asks a model by an address such as {ANTHROPIC_URL},'
            f" with https and without a password, and not by {url.rpartition('@')[2][:200]}."
        )
    return url.rstrip("/")
