"""Between rows and values: a table's columns carry the names of a dataclass's fields, and reading
what is stored there either gives the value or names the row that is broken."""

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import (
    ColumnElement,
    Table,
    bindparam,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from agents_manager.errors import CorruptRow, InvalidInput, NotFound
from agents_manager.store.columns import Json, Unreadable, UtcTime
from agents_manager.store.statements import NOTHING, Params, Row, Session, Statement

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")
Read = Callable[[Any], Any]

SHORTEST_PREFIX = 4
SHOWN_CANDIDATES = 6
LAST_CHARACTER = "\U0010ffff"


def older(table: Table) -> ColumnElement[bool]:
    """What a listing, newest first, goes on with behind `created_at` and `id`."""
    last = tuple_(bindparam("created_at", type_=UtcTime()), bindparam("id"))
    return tuple_(table.c.created_at, table.c.id) < last


class Rows(Generic[V]):
    """The statements that every table with an `id` has, built once: building costs more than
    SQLite needs to execute them."""

    def __init__(self, table: Table, value: type[V], missing: type[NotFound], **read: Read) -> None:
        self.table = table
        self.names = [field.name for field in dataclasses.fields(value)]
        self.select = select(*(table.c[name] for name in self.names))
        self.insert = insert(table)
        self._value = value
        self._missing = missing
        self._fields: Callable[[V], tuple[Any, ...]] = attrgetter(*self.names)
        self._id = self.names.index("id")
        self._readers = [
            (index, name, read.get(name))
            for index, name in enumerate(self.names)
            if name in read or isinstance(table.c[name].type, Json | UtcTime)
        ]
        self._by_id = self.select.where(table.c.id == bindparam("b_id"))
        self._update = update(table).where(table.c.id == bindparam("b_id"))
        self._by_prefix = (
            self.select.where(table.c.id >= bindparam("low"), table.c.id < bindparam("high"))
            .order_by(table.c.id)
            .limit(SHOWN_CANDIDATES)
        )

    def value(self, row: Row) -> V:
        for index, name, read in self._readers:
            stored = row[index]
            if stored.__class__ is Unreadable:
                raise corrupt(self.table.name, row[self._id], name, stored.reason)
            if read is None or stored is None:
                continue
            try:
                row[index] = read(stored)
            except (KeyError, TypeError, ValueError) as error:
                raise corrupt(self.table.name, row[self._id], name, str(error)) from error
        return self._value(**dict(zip(self.names, row, strict=True)))

    def fields(self, value: V) -> dict[str, Any]:
        return dict(zip(self.names, self._fields(value), strict=True))

    def add(self, session: Session, value: V) -> None:
        session.run(self.insert, self.fields(value))

    def all(self, session: Session, statement: Statement, params: Params = NOTHING) -> list[V]:
        return session.all(statement, params, self.value)

    def first(self, session: Session, statement: Statement, params: Params = NOTHING) -> V | None:
        return session.one(statement, params, self.value)

    def get(self, session: Session, id: str) -> V:
        found = self.first(session, self._by_id, {"b_id": id})
        if found is None:
            raise self.not_found(id)
        return found

    def find(self, session: Session, id_or_prefix: str) -> V:
        found = self.first(session, self._by_id, {"b_id": id_or_prefix})
        if found is not None:
            return found
        if len(id_or_prefix) < SHORTEST_PREFIX:
            raise self.not_found(
                id_or_prefix, f" The beginning of an id needs {SHORTEST_PREFIX} characters or more."
            )
        bounds = {"low": id_or_prefix, "high": id_or_prefix + LAST_CHARACTER}
        rows = session.all(self._by_prefix, bounds)
        if not rows:
            raise self.not_found(id_or_prefix)
        if len(rows) > 1:
            raise InvalidInput(
                f'"{id_or_prefix}" is the beginning of several ids; give more of it.',
                [str(row[self._id]) for row in rows],
            )
        return self.value(list(rows[0]))

    def update(self, session: Session, id: str, fields: Mapping[str, Any]) -> None:
        self.check(fields)
        if session.run(self._update, {"b_id": id, **fields}) == 0:
            raise self.not_found(id)

    def check(self, fields: Mapping[str, Any]) -> None:
        """SQLAlchemy passes over parameters that name no column."""
        unknown = fields.keys() - self.table.c.keys()
        if unknown:
            raise KeyError(f"{self.table.name} has no {', '.join(sorted(unknown))}")

    def not_found(self, id: str, hint: str = "") -> NotFound:
        sentence = (self._missing.__doc__ or "").rstrip(".")
        return self._missing(f'{sentence}: "{id}".{hint}')


def violates(error: IntegrityError, index: str, columns: str) -> bool:
    """Postgres names the index that refused the row, SQLite its columns."""
    reason = str(error.orig)
    return f'"{index}"' in reason or f"UNIQUE constraint failed: {columns}" in reason


def corrupt(table: str, id: object, column: str, reason: str) -> CorruptRow:
    return CorruptRow(
        f'The column "{column}" of row "{id}" in table {table} cannot be read: {reason}. '
        "Correct the row, or restore the database from a backup."
    )
