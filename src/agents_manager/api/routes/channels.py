"""Where people are told things and answer, besides the web app."""

from fastapi import APIRouter

from agents_manager.api import forms, pages
from agents_manager.api.context import Admin, Services
from agents_manager.flow.channels import overview

router = APIRouter(prefix="/channels", tags=["channels"])


@router.get("")
async def list_channels(s: Services, _: Admin) -> pages.Channels:
    """Each with its settings, how much waits, and who wrote there and is not known."""
    return pages.Channels(items=[pages.Channel.of(one) for one in await overview.every(s)])


@router.get("/{name}")
async def get_channel(s: Services, _: Admin, name: str) -> pages.Channel:
    """One of them: telegram, slack, desktop, webhook or push."""
    return pages.Channel.of(await overview.one(s, name))


@router.post("/{name}/test")
async def send_channel_test(s: Services, _: Admin, name: str) -> pages.ChannelTest:
    """Sends a message to every place of the channel now, whether it is on or not."""
    tested = await overview.test(s, name)
    return pages.ChannelTest(speaks_as=tested.speaks_as, places=list(tested.places))


@router.put("/{name}/people/{person}")
async def allow_person(
    s: Services, by: Admin, name: str, person: str, body: forms.AllowPerson
) -> pages.Channel:
    """Lets somebody in by their id on the platform; written into the user's file."""
    await overview.allow(s, name, person, body.name, body.role, by)
    return pages.Channel.of(await overview.one(s, name))


@router.delete("/{name}/people/{person}")
async def deny_person(s: Services, by: Admin, name: str, person: str) -> pages.Channel:
    """Takes somebody off the list; what they press or write does nothing from then on."""
    await overview.deny(s, name, person, by)
    return pages.Channel.of(await overview.one(s, name))
