"""`am login` and `am token`: who gets in over HTTP."""

from typing import TYPE_CHECKING

import click

from agents_manager.cli import session
from agents_manager.cli.output import terminal
from agents_manager.cli.render import Line, Table, Tone, ago, short
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents_manager.api.auth import Link
    from agents_manager.flow.ports import Key

SILENT = 'No server runs on this data directory; start "am serve", then open the link.'


@click.command()
@session.command
async def login(desk: Desk) -> None:
    """Make a link that logs in a browser: once, within ten minutes."""
    from agents_manager import settings
    from agents_manager.api import auth, server
    from agents_manager.engine import host

    home = desk.program.settings.home
    address = server.address_of(home) if host.is_live(home) else None
    if address is None:
        desk.output.say(SILENT)
    where = address or f"http://127.0.0.1:{settings.DEFAULT_PORT}"
    link = await auth.owner_link(desk.program, settings.user_name(), where)
    desk.output.show(link, lambda: _link(link))


@click.group()
def token() -> None:
    """See, make and revoke tokens and the sessions of browsers."""


@token.command("list")
@session.command
async def list_tokens(desk: Desk) -> None:
    """List tokens and sessions; never what they are."""
    from agents_manager.flow import access

    found = await access.tokens(desk.services)
    desk.output.show([about(key) for key in found], lambda: [_table(found)])


@token.command()
@click.argument("name")
@click.option(
    "--role", default="member", show_default=True, help="admin may do everything, viewer only look."
)
@session.command
async def create(desk: Desk, name: str, role: str) -> None:
    """Make a token for a person or a program; it is shown this once."""
    from agents_manager.flow import access

    made = await access.create(desk.services, name, role, desk.actor)
    document = {"token": made.secret, "about": about(made.key)}
    desk.output.show(document, lambda: _made(made.secret))


@token.command()
@click.argument("id")
@session.command
async def revoke(desk: Desk, id: str) -> None:
    """Revoke a token and end its sessions, or end one session."""
    from agents_manager.api import auth

    key = await auth.revoke(desk.services, id, desk.actor)
    text = f"Revoked the {_kind(key)} of {key.name}; it lets nobody in any more."
    desk.output.show(about(key), lambda: [Line(text)])


def about(key: "Key") -> dict[str, object]:
    """Without the digest, which nobody needs."""
    told = {"id": key.id, "kind": key.kind, "name": key.name, "role": key.role}
    times = {"created_at": key.created_at, "used_at": key.used_at, "expires_at": key.expires_at}
    return {**told, **times}


def _link(link: "Link") -> list[Line]:
    lines = [Line(link.url), Line("It works once, for ten minutes.", Tone.QUIET)]
    if not terminal():
        return lines
    from agents_manager.api import qr

    return [*lines, Line(), *(Line(row) for row in qr.text(link.url))]


def _table(keys: "Sequence[Key]") -> Table:
    rows = [
        [
            *(short(key.id), key.kind, key.name, key.role, ago(key.created_at)),
            ago(key.used_at) if key.used_at else "never",
            f"{key.expires_at:%Y-%m-%d}" if key.expires_at else "",
        ]
        for key in keys
    ]
    return Table(["ID", "KIND", "NAME", "ROLE", "MADE", "LAST USED", "EXPIRES"], rows)


def _kind(key: "Key") -> str:
    return "session" if key.kind == "session" else "token"


def _made(secret: str) -> list[Line]:
    return [Line(secret), Line("Keep it now: it is not shown again.", Tone.QUIET)]
