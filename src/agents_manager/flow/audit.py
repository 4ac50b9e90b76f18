"""The one way into the record of decisions, always in the transaction of the decision itself."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from agents_manager.domain.audit import AREAS, DEEDS, LONGEST, Deed, Entry
from agents_manager.domain.names import visible
from agents_manager.domain.task import Actor
from agents_manager.errors import InvalidInput, closest
from agents_manager.flow.ports import Edit, Services, Store, Tx

PAGE = 500
REFUSED_LOGINS = 20
"""Refused log-ins that are written down within an hour: whoever tries more fills no disk."""
HOUR = timedelta(hours=1)


def note(tx: Tx, now: datetime, by: Actor, what: Deed, summary: str, **data: Any) -> None:
    """`summary` goes on behind the name of who did it, and holds no secret."""
    tx.audit.add(
        time=now,
        who=by.name or by.type,
        via=by.via,
        address=by.address,
        what=what,
        summary=visible(summary, LONGEST),
        data=data,
    )


async def refused_login(store: Store, now: datetime, by: Actor, how: str) -> None:
    """Reads first: somebody without a token makes us write only a few times an hour."""

    def seen(tx: Tx) -> int:
        return tx.audit.count(Deed.LOGIN_REFUSED, now - HOUR)

    if await store.read(seen) >= REFUSED_LOGINS:
        return

    def write(tx: Tx) -> None:
        number = seen(tx) + 1
        rest = "; more within the hour are not listed" if number >= REFUSED_LOGINS else ""
        if number <= REFUSED_LOGINS:
            note(tx, now, by, Deed.LOGIN_REFUSED, f"was refused with {how}{rest}")

    await store.write(write)


async def change_settings(
    s: Services, edit: Edit, keys: list[str], by: Actor, project: str | None
) -> None:
    """Writes the file last, so that none is changed without an entry."""
    whose = f'of project "{project}"' if project else "of the user"
    summary = f"changed settings {whose}: {', '.join(keys)}"

    def write(tx: Tx) -> None:
        # Without the values: they may be secrets that nobody else knows of.
        said = {"file": str(edit.path), "keys": keys, "project": project}
        note(tx, s.clock.now(), by, Deed.SETTINGS_CHANGED, summary, **said)
        s.configs.write(edit)

    await s.store.write(write)


def page(
    tx: Tx,
    *,
    since: datetime | None = None,
    who: str | None = None,
    what: str | None = None,
    before: int | None = None,
    limit: int,
) -> list[Entry]:
    """The newest first; `what` is a deed, or the word before its dot for all of that kind."""
    if what is not None and what not in DEEDS | AREAS:
        known = ", ".join(sorted(AREAS))
        meant = closest(what, sorted(DEEDS | AREAS))
        raise InvalidInput(f'"{what[:50]}" is not recorded; there are {known}.{meant}')
    return tx.audit.page(since=since, who=who, what=what, before=before, limit=limit)


def every(tx: Tx, *, since: datetime | None, who: str | None, what: str | None) -> Iterator[Entry]:
    before: int | None = None
    while found := page(tx, since=since, who=who, what=what, before=before, limit=PAGE):
        yield from found
        before = found[-1].id
