"""Who is asking: the owner's token in its file, and tokens by their digests in the database."""

import asyncio
import hashlib
import os
import re
import secrets
from pathlib import Path

from agents_manager.api.program import Program
from agents_manager.domain.task import Actor, ActorType
from agents_manager.errors import InvalidConfig
from agents_manager.flow.ports import Store, Tx

TOKEN_FILE = "token"  # noqa: S105 - the name of the file
ADMIN = "admin"
VIA = "http"
_TOKEN = re.compile(r"[\x21-\x7e]{20,200}")


async def ensure_owner_token(program: Program, owner: str) -> str:
    """The owner's token, made at the first start and known to the database from then on."""
    path = program.settings.home / TOKEN_FILE
    token = await asyncio.to_thread(_read_or_make, path)
    digest = digest_of(token)
    now = program.services.clock.now()

    def write(tx: Tx) -> None:
        if tx.access.role_of(digest) is None:
            tx.access.add_token(digest, owner, ADMIN, now)

    await program.services.store.write(write)
    return token


def digest_of(token: str) -> str:
    """What is stored and looked up, so that neither the database nor the time it takes to answer
    tells a token."""
    return hashlib.sha256(token.encode()).hexdigest()


async def actor_of(store: Store, digest: str) -> Actor | None:
    known = await store.read(lambda tx: tx.access.role_of(digest))
    if known is None:
        return None
    name, role = known
    return Actor(type=ActorType.USER, name=name, via=VIA, admin=role == ADMIN, role=role)


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
