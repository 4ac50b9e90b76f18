"""`am channel`: where people are told things and answer, besides the web app and this one."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from agents_manager.cli import session
from agents_manager.cli.render import Line
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents_manager.flow.channels.overview import ChannelView

name_argument = click.argument("name", metavar="NAME")


@click.group()
def channel() -> None:
    """Set up Telegram, Slack, the desktop, a webhook and browsers, and see how they stand."""


@channel.command("list")
@session.command
async def list_channels(desk: Desk) -> None:
    """List the channels: which are on, which can be used, what waits."""
    from agents_manager.cli.pages import channel as pages
    from agents_manager.flow.channels import overview

    found = await _as_the_server_sees(desk, await overview.every(desk.services))
    desk.output.show(found, lambda: pages.listing(found))


@channel.command()
@name_argument
@session.command
async def show(desk: Desk, name: str) -> None:
    """Show a channel: its people and places, what it tells, and who knocked in vain."""
    from agents_manager.cli.pages import channel as pages
    from agents_manager.flow.channels import overview

    [found] = await _as_the_server_sees(desk, [await overview.one(desk.services, name)])
    desk.output.show(found, lambda: pages.page(found))


async def _as_the_server_sees(
    desk: Desk, found: "Sequence[ChannelView]"
) -> "Sequence[ChannelView]":
    """With the trouble that the running server has, which sends the messages with its own tokens.
    Without a server, as the environment of this command has it."""
    from agents_manager.cli import running

    home = desk.program.settings.home
    try:
        answer = await asyncio.to_thread(running.ask, home, "/channels")
    except running.ServerSilent as error:
        desk.output.say(f"{error.message} Shown with the tokens of this shell.")
        return found
    if answer is None:
        return found
    troubles: dict[str, str | None] = {one["name"]: one["trouble"] for one in answer["items"]}
    return [replace(one, trouble=troubles.get(one.name, one.trouble)) for one in found]


@channel.command()
@name_argument
@session.command
async def test(desk: Desk, name: str) -> None:
    """Send a message to every place of a channel now, whether it is on or not."""
    from agents_manager.flow.channels import overview

    tested = await overview.test(desk.services, name)
    sent = f"Sent a message to {', '.join(tested.places)} as {tested.speaks_as}."
    desk.output.show(tested, lambda: [Line(sent)])


@channel.command()
@name_argument
@click.argument("id")
@click.argument("person", metavar="PERSON")
@click.option(
    "--role", default="admin", show_default=True, help="admin may do everything, viewer only look."
)
@session.command
async def allow(desk: Desk, name: str, id: str, person: str, role: str) -> None:
    """Let somebody in who has this ID on the platform, and is called PERSON in the record.

    `am channel show` lists the ids of those who wrote and were not known.
    """
    from agents_manager.flow.channels import overview

    edit = await overview.allow(desk.services, name, id, person, role, desk.actor)
    text = f"{person} ({id}) may answer by {name} now, with the role {role}: {edit.path}"
    document = {"channel": name, "id": id, "name": person, "role": role, "file": edit.path}
    desk.output.show(document, lambda: [Line(text)])


@channel.command()
@name_argument
@click.argument("id")
@session.command
async def deny(desk: Desk, name: str, id: str) -> None:
    """Take somebody off the list; what they press or write does nothing from then on."""
    from agents_manager.flow.channels import overview

    edit = await overview.deny(desk.services, name, id, desk.actor)
    text = f"{id} is told nothing by {name} any more, and cannot answer: {edit.path}"
    document = {"channel": name, "id": id, "file": edit.path}
    desk.output.show(document, lambda: [Line(text)])
