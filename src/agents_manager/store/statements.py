"""Statements on the driver's own cursor.

SQLAlchemy builds a statement and knows its types. What it does each time that one is executed takes
several times as long as SQLite does, so a statement is compiled once, with converters from its
types, and the driver is handed the text. Statements are therefore constants, or come from a cached
function. What goes wrong leaves as SQLAlchemy's errors, as everywhere in the store.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Delete, Dialect, Insert, SelectBase, Table, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import visitors
from sqlalchemy.sql.compiler import SQLCompiler

from agents_manager import redaction
from agents_manager.redaction import Redactor

Row = list[Any]
Make = Callable[[Row], Any]
Convert = Callable[[Any], Any]
Params = Mapping[str, Any]
Write = Insert | Update | Delete
Statement = SelectBase | Write

NOTHING: Params = {}
MOST_PLANS = 1000
"""More than there are; a bound, should statements be built anew each time after all."""
INDEX_OF = "index of"
"""Names, for a table that is read as one, the table whose writes change it."""
_DIALECTS: dict[str, Dialect] = {}
"""The first of each kind. `engines` makes all of a kind alike, so that reader and writer, and one
database after the other, have their plans in common."""


class Session:
    """One transaction. What was read is kept until a table it was read from is written, so that
    nobody has to pass around what another function reads again."""

    def __init__(self, connection: Connection, redactor: Redactor = redaction.NOTHING) -> None:
        self._redactor = redactor
        self._dialect = _DIALECTS.setdefault(connection.dialect.name, connection.dialect)
        self._driver: Any = connection.connection.driver_connection
        self._kept: dict[frozenset[str], dict[tuple[Any, ...], list[Any]]] = {}

    @property
    def postgres(self) -> bool:
        return self._dialect.name == "postgresql"

    def redacted(self, text: str) -> str:
        """As it would be kept: for what is made of a text before it is written."""
        return self._redactor.text(text)

    def all(self, statement: Statement, params: Params = NOTHING, make: Make = tuple) -> list[Any]:
        """The rows, each as `make` turns it into something; a statement has one `make`."""
        plan = _plan(self._dialect, statement, tuple(params))
        if plan.writes is not None:
            return [make(row) for row in self._execute(plan, params)[0]]
        kept = self._kept.setdefault(plan.tables, {})
        key = (statement, *params.values())
        found = kept.get(key)
        if found is None:
            found = kept[key] = [make(row) for row in self._execute(plan, params)[0]]
        return found.copy()

    def one(self, statement: Statement, params: Params = NOTHING, make: Make = tuple) -> Any:
        """The first row, or None."""
        found = self.all(statement, params, make)
        return found[0] if found else None

    def scalar(self, statement: Statement, params: Params = NOTHING) -> Any:
        """The first column of the first row, or None."""
        row = self.one(statement, params)
        return None if row is None else row[0]

    def run(self, statement: Write, params: Params) -> int:
        """How many rows it changed."""
        return self._execute(_plan(self._dialect, statement, tuple(params)), params)[1]

    def _execute(self, plan: "_Plan", params: Params) -> tuple[list[Row], int]:
        if plan.writes is not None:
            for tables, kept in self._kept.items():
                if plan.writes in tables:
                    kept.clear()
        arguments = plan.arguments(params)
        if plan.writes is not None and self._redactor.needles:
            arguments = [self._redactor.text(a) if isinstance(a, str) else a for a in arguments]
        base = self._dialect.loaded_dbapi.Error
        try:
            cursor = self._driver.execute(plan.sql, arguments)
            stored = cursor.fetchall() if plan.returns else ()
        except base as error:
            raise DBAPIError.instance(plan.sql, arguments, error, base) from error
        return [plan.row(row) for row in stored], cursor.rowcount


@dataclass(frozen=True, slots=True)
class _Plan:
    sql: str
    bound: tuple[tuple[str, Convert | None], ...]
    fixed: Params
    """Values that are part of the statement."""
    converted: tuple[tuple[int, Convert], ...]
    """The columns whose stored form differs from their value."""
    returns: bool
    tables: frozenset[str]
    writes: str | None

    def arguments(self, params: Params) -> Row:
        given = {**self.fixed, **params} if self.fixed else params
        return [given[name] if to is None else to(given[name]) for name, to in self.bound]

    def row(self, stored: tuple[Any, ...]) -> Row:
        values = list(stored)
        for index, convert in self.converted:
            if values[index] is not None:
                values[index] = convert(values[index])
        return values


@lru_cache(MOST_PLANS)
def _plan(dialect: Dialect, statement: Statement, names: tuple[str, ...]) -> _Plan:
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    assert isinstance(compiled, SQLCompiler)
    state = compiled.construct_expanded_state(dict.fromkeys(names))
    assert state.positiontup is not None, "both drivers take arguments by their position"
    bound: list[tuple[str, Convert | None]] = []
    for name in state.positiontup:
        bind = compiled.binds.get(name)
        if bind is None:  # One of a list that is part of the statement.
            bound.append((name, state.processors.get(name)))
        else:
            bound.append((name, bind.type.dialect_impl(dialect).bind_processor(dialect)))
    columns = statement.exported_columns
    converters = (c.type.dialect_impl(dialect).result_processor(dialect, None) for c in columns)
    return _Plan(
        sql=state.statement,
        bound=tuple(bound),
        fixed={name: value for name, value in state.parameters.items() if name not in names},
        converted=tuple((i, convert) for i, convert in enumerate(converters) if convert),
        returns=bool(columns),
        tables=frozenset(
            t.info.get(INDEX_OF, t.name)
            for t in visitors.iterate(statement)
            if isinstance(t, Table)
        ),
        writes=str(statement.table) if isinstance(statement, Insert | Update | Delete) else None,
    )
