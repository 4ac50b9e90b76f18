"""The token for GitHub: from the environment or the system's keyring, and only for the addresses it
belongs to. It is kept nowhere, and no message holds it."""

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agents_manager import environment
from agents_manager.errors import HookFailed
from agents_manager.flow.ports import Configs, ForgeRules, Store

ENTRY = "github"
ENTERPRISE = "/api/v3"
WAY = f"set AM_GITHUB_TOKEN, or: keyring set {environment.KEYRING_SERVICE} {ENTRY}"
_TOKEN = re.compile(r"[\x21-\x7e]{1,500}")
_REMOTE = re.compile(
    r"(?:(?:https?|ssh)://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+)?/|(?:[^/@:]*@)?(?P<scp>[^/:]+):)"
    r"(?P<path>[A-Za-z0-9_-]+/[A-Za-z0-9._-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True, slots=True)
class Key:
    """What git sends along to addresses that begin with `url`."""

    url: str
    token: str = field(repr=False)

    @property
    def setting(self) -> tuple[str, str]:
        pair = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        return f"http.{self.url}/.extraHeader", f"Authorization: Basic {pair}"


Keys = Callable[[Path], Awaitable[Key | None]]
"""What a repository's remote is asked with, besides what git itself knows."""


def keys(store: Store, configs: Configs) -> Keys:
    """The token is for projects on GitHub; the remotes of others are asked with what git knows."""

    async def key(repo: Path) -> Key | None:
        project = await store.read(lambda tx: tx.projects.by_path(str(repo)))
        rules = configs.of(project).forge if project else ForgeRules()
        if rules.type != ENTRY:
            return None
        found = await asyncio.to_thread(token)
        return Key(web(rules.base_url), found) if found else None

    return key


async def no_key(repo: Path) -> Key | None:
    return None


def token() -> str | None:
    """May ask the desktop, so not on the loop."""
    found = environment.github_token() or environment.from_keyring(ENTRY)[0]
    if found is not None and not _TOKEN.fullmatch(found.strip()):
        raise HookFailed(f"The GitHub token holds characters that no token has; {WAY}.")
    return found and found.strip()


def web(base_url: str) -> str:
    """Where the repositories themselves are, given the address of the API."""
    parts = urlsplit(base_url)
    host = parts.netloc if parts.path == ENTERPRISE else parts.netloc.removeprefix("api.")
    return f"{parts.scheme}://{host}"


def repository_of(remote_url: str, base_url: str) -> str | None:
    """`owner/name`; None where the remote is another place."""
    found = _REMOTE.fullmatch(remote_url)
    if found is None or (found["host"] or found["scp"]).lower() != urlsplit(web(base_url)).hostname:
        return None
    return found["path"]
