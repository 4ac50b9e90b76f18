"""Copies of SQLite databases: made while others write, and looked at before they are used."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents_manager.errors import SchemaTooNew, StoreError
from agents_manager.store import library, marks
from agents_manager.store.engines import BUSY_TIMEOUT_S
from agents_manager.store.faults import store_error
from agents_manager.store.migrate import HEAD, VERSION


def copy(source: Path, target: Path) -> None:
    """One state of the database, whatever is written to it meanwhile."""
    marks.refuse(source)
    target.touch(mode=0o600)
    with _opened(source) as connection:
        connection.execute("VACUUM INTO ?", [str(target)])


def check(path: Path) -> None:
    """Refuses a file that is damaged, or no database of ours, or of a newer version."""
    with _opened(path) as connection:
        [told] = connection.execute("PRAGMA quick_check(1)").fetchone()
        if told != "ok":
            raise StoreError(f'The database "{path}" is damaged: {told}.')
        try:
            query = f"SELECT version_num FROM {VERSION.name}"  # noqa: S608 - a name of ours
            [revision] = connection.execute(query).fetchone()
        except library.sqlite().Error:
            raise StoreError(f'"{path}" is no database of Agents Manager.') from None
    if revision > HEAD:
        raise SchemaTooNew(
            f"The database has schema {revision}, which this version of Agents Manager does not "
            "know; install the newer version that wrote it."
        )


@contextmanager
def _opened(path: Path) -> Generator[Any]:
    sqlite = library.sqlite()
    try:
        connection = sqlite.connect(str(path), timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()
    except sqlite.Error as error:
        raise store_error(str(path), str(error), postgres=False) from error
