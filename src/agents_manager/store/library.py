"""Which SQLite library the program uses."""

import importlib
import importlib.util
from typing import Any


def sqlite() -> Any:
    """Debian 12's SQLite lacks what DBOS needs, so a newer one is taken where it is installed. The
    program must use one of the two only: two SQLite libraries drop each other's file locks."""
    newer = importlib.util.find_spec("pysqlite3")
    return importlib.import_module("pysqlite3.dbapi2" if newer else "sqlite3.dbapi2")
