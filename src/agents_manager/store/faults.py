"""What a database can refuse, in one sentence each, with the way out."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from agents_manager.errors import StoreError, StoreUnavailable

_SQLITE = (
    ("database is locked", "is locked by another process; try again, or end what keeps it locked"),
    ("readonly database", "can only be read; make the file and its folder writable"),
    ("disk is full", "cannot grow because the disk is full; free some space"),
    ("unable to open database", "cannot be opened; check that its folder exists and is yours"),
    ("file is not a database", "is not a database; name another file, or restore a backup"),
    ("disk image is malformed", "is damaged; restore a backup from the folder `backups`"),
    ("disk i/o error", "cannot be read or written; check the disk"),
)
_POSTGRES = (
    ("permission denied", "does not let this user create and write tables; grant it the right"),
    ("lock timeout", "is kept busy by another process; try again"),
    ("password authentication", "does not accept the user or the password; check the address"),
    ("does not exist", "does not exist there; create it, or check the address"),
    ("no space left", "cannot grow because the server's disk is full; free some space"),
    ("read-only transaction", "can only be read; connect to the primary server"),
    ("too many", "has no connection left; raise max_connections, or close other programs"),
    ("", "cannot be reached; check that the server runs and that the address is right"),
)
_PASSES = ("database is locked", "disk is full", "lock timeout", "no space left", "too many", "")
"""What may be over by itself, or by what somebody does elsewhere, in a moment or an hour."""


@contextmanager
def named(where: str) -> Generator[None]:
    """What the database refuses leaves as a StoreError; a wrong statement of ours does not."""
    try:
        yield
    except (DataError, IntegrityError):
        raise
    except DBAPIError as error:
        # Postgres counts a missing right among the wrong statements.
        if isinstance(error, ProgrammingError) and "permission denied" not in str(error.orig):
            raise
        raise store_error(where, str(error.orig), where.startswith("postgresql")) from error


def store_error(where: str, reason: str, postgres: bool) -> StoreError:
    first = reason.strip().partition("\n")[0]
    for part, sentence in _POSTGRES if postgres else _SQLITE:
        if part in reason.lower():
            kind = StoreUnavailable if part in _PASSES else StoreError
            return kind(f'The database "{where}" {sentence}.', [first])
    return StoreError(f'The database "{where}" cannot be used: {first}.')
