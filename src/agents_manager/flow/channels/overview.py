"""The channels as people set them up: how each stands, whether it works, and who is let in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain.delivery import Delivery, DeliveryState, Stranger
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import Actor
from agents_manager.errors import AgentsManagerError, InvalidInput, NotFound, closest
from agents_manager.flow import audit
from agents_manager.flow.channels import cards
from agents_manager.flow.ports import Channel, ChannelRules, Edit, Person, Services, Tx

LATEST = 10
NOTICES = ("desktop", "push")
"""Channels where nobody answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelView:
    name: str
    enabled: bool
    trouble: str | None
    """Why it cannot be used; None where it can."""
    events: Sequence[Occasion]
    break_through: Sequence[Occasion]
    people: Mapping[str, Person]
    places: Sequence[str]
    waiting: int
    """What is still to be told."""
    sent: int
    failed: int
    error: str | None
    """What went wrong last, while it is not over."""
    strangers: Sequence[Stranger]
    """Who wrote there and is not known, the last first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    channel: str
    speaks_as: str
    places: Sequence[str]
    """Where a message was sent to."""


async def every(s: Services) -> list[ChannelView]:
    return [await one(s, name) for name in s.configs.channels(None)]


async def one(s: Services, name: str) -> ChannelView:
    rules = _rules(s, name)
    trouble = _trouble(s, name)

    def read(tx: Tx) -> tuple[Mapping[str, int], list[Delivery], list[Stranger]]:
        found = tx.deliveries
        return found.counts(name), found.latest(name, LATEST), found.strangers(name)

    counts, latest, strangers = await s.store.read(read)
    waiting = counts.get(DeliveryState.PENDING, 0) + counts.get(DeliveryState.SENDING, 0)
    wrong = [row.error for row in latest if row.state is not DeliveryState.VOID and row.error]
    return ChannelView(
        name=name,
        enabled=rules.enabled,
        trouble=trouble,
        events=[o for o in Occasion if o in rules.events],
        break_through=[o for o in Occasion if o in rules.break_through],
        people=rules.people,
        places=rules.places,
        waiting=waiting,
        sent=counts.get(DeliveryState.SENT, 0),
        failed=counts.get(DeliveryState.FAILED, 0),
        error=wrong[0] if wrong else None,
        strangers=strangers,
    )


async def test(s: Services, name: str) -> Tested:
    """Asks the platform who speaks there, and sends a message to every place."""
    _rules(s, name)
    channel = _built(s, name)
    speaks_as = await channel.check()
    places = channel.places()
    if not places:
        raise InvalidInput(
            f"{name} has nobody to send to. Let somebody in: am channel allow {name} ID NAME."
        )
    card = cards.told(s, "Agents Manager can reach you here.", ("This is a test.",), None)
    for place in places:
        await channel.send(place, card)
    return Tested(channel=name, speaks_as=speaks_as, places=places)


async def allow(s: Services, name: str, person: str, called: str, role: str, by: Actor) -> Edit:
    """Writes the person into the user's file; what they may do holds from then on."""
    _takes_people(s, name)
    key, value = _key(name, person), {"name": called, "role": role}
    edit = s.configs.changed(None, {key: value}, [])
    await audit.change_settings(s, edit, [key], by, None)
    await s.store.write(lambda tx: tx.deliveries.forget_stranger(name, person))
    return edit


async def deny(s: Services, name: str, person: str, by: Actor) -> Edit:
    people = _takes_people(s, name)
    if person not in people:
        hint = closest(person, list(people))
        raise NotFound(f'{name} knows nobody as "{person}".{hint}')
    key = _key(name, person)
    edit = s.configs.changed(None, {}, [key])
    await audit.change_settings(s, edit, [key], by, None)
    return edit


def _key(name: str, person: str) -> str:
    if '"' in person or not person.strip():
        raise InvalidInput(f"{json.dumps(person)} is no id of {name}.")
    return f'notifications.{name}.people."{person}"'


def _rules(s: Services, name: str) -> ChannelRules:
    known = s.configs.channels(None)
    if name not in known:
        hint = closest(name, list(known))
        raise NotFound(f'There is no channel "{name}".{hint} There are: {", ".join(known)}.')
    return known[name]


def _takes_people(s: Services, name: str) -> Mapping[str, Person]:
    rules = _rules(s, name)
    if name in NOTICES:
        raise InvalidInput(f"Nobody answers by {name}; there is nobody to let in.")
    return rules.people


def _trouble(s: Services, name: str) -> str | None:
    try:
        _built(s, name)
    except AgentsManagerError as error:
        return error.message
    return None


def _built(s: Services, name: str) -> Channel:
    if name not in s.channels:
        raise InvalidInput(f"{name} is not part of this program.")
    return s.channels[name]()
