"""Programs of several versions on one database.

The rule: a program works only on the schema of its own version. One that is newer changes the
schema when nobody else works on it, or when somebody says so (`am database upgrade`); whoever works
on it then notices, writes nothing more and ends, while its agents go on and are adopted by the
newer program that follows it.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.exc import DBAPIError

from agents_manager.domain.host import HostState
from agents_manager.errors import SchemaInUse, SchemaMovedOn, StoreError
from agents_manager.store import migrate, schema
from agents_manager.store.engines import Engines
from agents_manager.store.faults import named

Others = Callable[[Engines], Sequence[str]]
"""Who else works on the database; asked only before its schema is changed."""

_HOST, _HOSTS = schema.host.c, schema.host.name
_REVISION = f"SELECT version_num FROM {migrate.VERSION.name}"  # noqa: S608 - a name of ours


def nobody(engines: Engines) -> Sequence[str]:
    return ()


def machines(engines: Engines, *, mine: str | None, dead_after: timedelta) -> list[str]:
    """The machines but `mine` that were seen on the database lately and have not left it, by their
    names. The schema may be an older one, which knows less of them."""
    since = datetime.now(UTC) - dead_after
    with named(engines.where), engines.reader.begin() as connection:
        looked = inspect(connection)
        known = {c["name"] for c in looked.get_columns(_HOSTS)} if looked.has_table(_HOSTS) else ()
        if not known:
            return []
        kept = [c for c in (_HOST.id, _HOST.seen_at, _HOST.name, _HOST.state) if c.name in known]
        found = connection.execute(select(*kept).order_by(_HOST.id)).mappings().all()
    return [
        row.get("name") or row["id"]
        for row in found
        if row["id"] != mine and row["seen_at"] > since and row.get("state") != HostState.LEFT
    ]


def may_change(engines: Engines, revision: str, head: str, others: Others) -> None:
    """Refuses to change a schema that others work on."""
    at_work = others(engines)
    if at_work:
        raise SchemaInUse(
            f'The database "{engines.where}" has schema {revision}, and {", ".join(at_work)} works'
            f" on it; this version of Agents Manager needs {head}. End that first, or say"
            ' "am database upgrade": servers of the older version end then, and agents go on.'
        )


def may_go_on(driver: Any, where: str, head: str = migrate.HEAD) -> None:
    """Asked in every transaction that writes, before it does."""
    found = driver.execute(_REVISION).fetchone()
    if found is None or found[0] != head:
        raise moved_on(where, found and found[0], head)


def moved_on(where: str, revision: str | None, head: str = migrate.HEAD) -> SchemaMovedOn:
    return SchemaMovedOn(
        f'The database "{where}" was brought to schema {revision or "none"} by another version of'
        f" Agents Manager; this one works with {head} and writes nothing more. Running agents go"
        " on; install the version that changed it and start that."
    )


def outdated(engines: Engines) -> SchemaMovedOn | None:
    """Whether the schema is another's; a database that cannot be asked is not."""
    try:
        revision = migrate.stored_revision(engines)
    except (StoreError, DBAPIError):
        return None
    return None if revision == migrate.HEAD else moved_on(engines.where, revision)
