"""Rows for every table there is, made from the schema: whatever is added to it has some, too."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Integer, LargeBinary, Table, insert

from agents_manager.store import schema
from agents_manager.store.columns import Json, Number, UtcTime, Words

ODD: dict[str, Any] = {"ünï": ["😀", 1e-7, 100.0, 2**60, True, None, {"b": 1, "a": "\\u0041 \\"}]}
NOON = datetime(2026, 3, 1, 12, 0, 0, 7, tzinfo=UTC)


def fill(connection: Connection, rows: int = 3) -> None:
    for table in schema.metadata.sorted_tables:
        connection.execute(insert(table), [row(table, n) for n in range(1, rows + 1)])


def row(table: Table, n: int) -> dict[str, Any]:
    made = {column.name: value(column, n) for column in table.c}
    # Of those one task has at most one at a time.
    return (
        made | {"status": f"ended {n}"} if "status" in made and table is not schema.reply else made
    )


def value(column: Column[Any], n: int) -> Any:
    """What refers to another row refers to the one of the same number."""
    for key in column.foreign_keys:
        return value(key.column, n)
    match column.type:
        case Json():
            return {**ODD, "n": n}
        case UtcTime():
            return NOON + timedelta(hours=n)
        case Words():
            return ["lock", "ünï", "lock", f"w{n}"]
        case Number():
            return n / 3
        case LargeBinary():
            return bytes([0, 255, 92, n])
        case Boolean():
            return n % 2 == 0
        case Integer():
            return n
        case _:
            # An order by bytes differs from that of a language.
            return f"{'aBÄ'[n % 3]} {column.table.name}.{column.name} {n}\ttab \\ 😀"
