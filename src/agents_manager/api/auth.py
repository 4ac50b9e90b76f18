"""The owner's token in its file, and the links by which people log in."""

import asyncio
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents_manager.api.program import Program
from agents_manager.domain.task import SYSTEM, Actor, ActorType
from agents_manager.errors import InvalidConfig
from agents_manager.flow import access
from agents_manager.flow.ports import Key, KeyKind, Services, Tx

TOKEN_FILE = "token"  # noqa: S105 - the name of the file
_TOKEN = re.compile(r"[\x21-\x7e]{20,200}")


@dataclass(frozen=True, slots=True)
class Link:
    """Opens a session in the browser it is opened in, once."""

    url: str
    code: str
    expires_at: datetime


async def ensure_owner_token(program: Program, owner: str) -> str:
    """The owner's token, made at the first start and known to the database from then on."""
    path = program.settings.home / TOKEN_FILE
    token = await asyncio.to_thread(_read_or_make, path)
    digest = access.digest_of(token)
    now = program.services.clock.now()

    def write(tx: Tx) -> None:
        if tx.access.find(digest) is None:
            tx.access.add_token(digest, owner, access.ADMIN, now, kind=KeyKind.OWNER)
            key = tx.access.find(digest)
            assert key is not None
            access.told_made(tx, now, at_the_machine(owner), key)

    await program.services.store.write(write)
    return token


async def owner_link(program: Program, owner: str, address: str) -> Link:
    """For the owner of the data directory, who needs no token to prove it."""
    digest = access.digest_of(await ensure_owner_token(program, owner))
    key = await program.services.store.read(lambda tx: tx.access.find(digest))
    assert key is not None
    return await link(program.services, key, address, at_the_machine(owner))


def at_the_machine(owner: str) -> Actor:
    """The owner of the data directory, who started this program."""
    return Actor(type=ActorType.USER, name=owner, via="cli", admin=True)


async def link(s: Services, key: Key, address: str, by: Actor) -> Link:
    made = await access.login_code(s, key, by)
    # Behind the #, so that no server, proxy or log on the way gets to see it.
    return Link(f"{address}/login#{made.code}", made.code, made.expires_at)


async def revoke(s: Services, id: str, by: Actor = SYSTEM) -> Key:
    """The owner's token is made anew at the next start, or by the next `am login`."""
    key = await access.revoke(s, id, by)
    if key.kind is KeyKind.OWNER:
        await asyncio.to_thread(_forget, s.home / TOKEN_FILE, key.digest)
    return key


def _forget(path: Path, digest: str) -> None:
    with suppress(OSError, UnicodeDecodeError):
        if access.digest_of(path.read_text(encoding="ascii").strip()) == digest:
            path.unlink()


def _read_or_make(path: Path) -> str:
    try:
        token = path.read_text(encoding="ascii").strip()
        path.chmod(0o600)
    except FileNotFoundError:
        return _make(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"The token in {path} cannot be read: {error}.") from None
    if not _TOKEN.fullmatch(token):
        raise InvalidConfig(f"{path} does not hold a token; delete it, and a new one is made.")
    return token


def _make(path: Path) -> str:
    token = f"am_{secrets.token_urlsafe(32)}"
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{token}\n")
        new.replace(path)
    except OSError as error:
        raise InvalidConfig(f"The token cannot be kept in {path}: {error.strerror}.") from None
    return token
