"""`am backup` and `am restore`: the databases of the data directory in one file."""

import asyncio
import json
import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from agents_manager.cli.output import Output
from agents_manager.cli.render import Line
from agents_manager.cli.serve import as_json
from agents_manager.errors import InvalidInput

if TYPE_CHECKING:
    from agents_manager.environment import Settings

MAIN = "agents-manager.db"
ENGINE = "engine.db"
MANIFEST = "manifest.json"
PLAIN = ("config.json", "host-id")
"""Small files that belong to the data. The token does not: it is a secret, and made anew."""
FORMAT = "agents-manager/backup"
VERSION = 1
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, KeyError, TypeError, ValueError)
"""What the reading of a damaged archive, or of none, may raise."""
BESIDE = ("", "-wal", "-shm", ".moved")
KNOWN = frozenset({MANIFEST, MAIN, ENGINE, *PLAIN})
LONGEST_MANIFEST = 64 * 1024
LONGEST_LIST = 64 * 1024
LONGEST_END = 128 * 1024
"""Of the end of the file, where the list is named; a comment behind it has at most half of that."""
END_OF_ARCHIVE, END_OF_LARGE_ARCHIVE = b"PK\x05\x06", b"PK\x06\x06"
MOST_RATIO = 200
"""Databases shrink to a tenth or so, empty ones to a hundredth."""
SMALL = 128 * 1024
"""What unpacks to 200 times this is looked at no closer."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@as_json
def backup(file: Path | None, as_json: bool) -> None:
    """Keep the databases and the settings in one file, also while a server runs.

    Repositories, with all branches and snapshots, are yours to keep; workspaces and transcripts are
    left out.
    """
    from agents_manager import environment
    from agents_manager.cli import session

    output = Output(as_json=as_json)
    place = environment.from_environment()
    session.run(output, lambda: asyncio.to_thread(_back_up, output, place, file))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--force", is_flag=True, help="Put what is there aside.")
@as_json
def restore(file: Path, force: bool, as_json: bool) -> None:
    """Bring the databases of a backup back. Refused while a server runs."""
    from agents_manager import environment
    from agents_manager.cli import session

    output = Output(as_json=as_json)
    place = environment.from_environment()
    session.keep_quiet()
    session.run(output, lambda: asyncio.to_thread(_restore, output, place, file, force=force))


def _back_up(output: Output, place: "Settings", file: Path | None) -> None:
    from agents_manager.store import copies

    _refuse_postgres(place, 'pg_dump --format=custom --file=agents-manager.dump "$AM_DATABASE_URL"')
    now = datetime.now(UTC)
    target = (file or Path(f"agents-manager-{now:%Y%m%dT%H%M%SZ}.zip")).absolute()
    if target.exists():
        raise InvalidInput(f"{target} is there already; name another file.")
    if not (place.home / MAIN).exists():
        raise InvalidInput(f"There is no database in {place.home} yet.")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        # The engine's first: what it does not know yet is started, and looks before it leaps; what
        # it took for done without our record would count as a failed attempt.
        for name in (ENGINE, MAIN):
            if (place.home / name).exists():
                copies.copy(place.home / name, Path(folder) / name)
        made = _pack(Path(folder), place.home, now)
        made.replace(target)
    size = target.stat().st_size
    document = {"file": target, "bytes": size, "created_at": now}
    output.show(document, lambda: [Line(f"Kept {place.home} in {target} ({size // 1024:,} KB).")])


def _pack(folder: Path, home: Path, now: datetime) -> Path:
    made = folder / "backup.zip"
    made.touch(mode=0o600)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "created_at": now.isoformat(),
        "home": str(home),
    }
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=2))
        for name in (ENGINE, MAIN):
            if (folder / name).exists():
                archive.write(folder / name, name)
        for name in PLAIN:
            if (home / name).exists():
                archive.write(home / name, name)
    return made


def _restore(output: Output, place: "Settings", file: Path, *, force: bool) -> None:
    from agents_manager.engine import host
    from agents_manager.store import copies

    _refuse_postgres(place, 'pg_restore --clean --dbname="$AM_DATABASE_URL" agents-manager.dump')
    place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (
        host.HostLock(place.home),
        tempfile.TemporaryDirectory(dir=place.home) as folder,
    ):
        known = [n for n in (MAIN, ENGINE, *PLAIN) if (place.home / n).exists()]
        if known and not force:
            raise InvalidInput(
                f"In {place.home} there is data already: {', '.join(known)}. To put it aside and"
                " use the backup instead, add --force."
            )
        manifest = _unpack(file, Path(folder))
        copies.check(Path(folder) / MAIN)
        aside = _aside(place.home) if known else None
        _note(Path(folder), place.home, file, manifest["created_at"], aside)
        _put_aside(place.home, known, aside)
        for name in (MAIN, ENGINE, *PLAIN):
            if (Path(folder) / name).exists():
                (Path(folder) / name).replace(place.home / name)
    document = {"file": file.absolute(), "home": place.home, "put_aside": aside, **manifest}
    text = f"Restored {place.home} as it was at {manifest['created_at']}."
    output.show(document, lambda: [Line(text)])
    if aside:
        output.say(f"What was there lies in {aside}.")


def _unpack(file: Path, folder: Path) -> dict[str, Any]:
    """Takes out what belongs to a backup, by its names, and nothing else."""
    try:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            _check_sizes(archive, folder)
            manifest = cast("dict[str, Any]", json.loads(archive.read(MANIFEST)))
            if manifest["format"] != FORMAT:
                raise InvalidInput(f"{file} is no backup of Agents Manager.")
            if manifest["version"] != VERSION:
                raise InvalidInput(
                    f"{file} is a backup of another kind ({manifest['version']}) than this version"
                    f" of Agents Manager reads ({VERSION}); install the version that wrote it."
                )
            for name in (KNOWN - {MANIFEST}) & set(archive.namelist()):
                (folder / name).touch(mode=0o600)
                with archive.open(name) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except DAMAGE:
        raise InvalidInput(f"{file} is no backup of Agents Manager, or is damaged.") from None
    if not (folder / MAIN).exists():
        raise InvalidInput(f"{file} holds no database.")
    return {"created_at": str(manifest["created_at"])}


def _check_directory(file: Path) -> None:
    """How long the list of what it holds is, before it is read: a small file can name millions."""
    with file.open("rb") as archive:
        size = archive.seek(0, os.SEEK_END)
        archive.seek(max(0, size - LONGEST_END))
        end = archive.read()
    at = end.rfind(END_OF_ARCHIVE)
    listed = struct.unpack_from("<L", end, at + 12)[0] if 0 <= at <= len(end) - 22 else 0
    larger = end.rfind(END_OF_LARGE_ARCHIVE)
    if 0 <= larger <= len(end) - 56:
        listed = max(struct.unpack_from("<Q", end, larger + 40)[0], 0)
    if not 0 < listed <= LONGEST_LIST:
        raise zipfile.BadZipFile


def _check_sizes(archive: zipfile.ZipFile, folder: Path) -> None:
    """What it says that it unpacks to is also all that is unpacked of it."""
    held = [archive.getinfo(name) for name in archive.namelist() if name in KNOWN]
    if archive.getinfo(MANIFEST).file_size > LONGEST_MANIFEST or len(held) > len(KNOWN):
        raise zipfile.BadZipFile
    total = sum(part.file_size for part in held)
    packed = sum(part.compress_size for part in held)
    if total > MOST_RATIO * max(packed, SMALL):
        raise InvalidInput(f"{archive.filename} unpacks to {total:,} bytes, which no backup does.")
    free = shutil.disk_usage(folder).free
    if total > free:
        raise InvalidInput(
            f"{archive.filename} unpacks to {total:,} bytes, and {folder.parent} has room for"
            f" {free:,}."
        )


def _note(folder: Path, home: Path, file: Path, created_at: str, aside: Path | None) -> None:
    """Into the database of the backup, before it is put in the place of the other."""
    from agents_manager import environment, settings
    from agents_manager.domain.audit import Deed
    from agents_manager.domain.task import Actor, ActorType
    from agents_manager.flow import audit
    from agents_manager.store.database import open_database

    by = Actor(type=ActorType.USER, name=settings.user_name(), via="cli", admin=True)
    rest = f"; what was there lies in {aside}" if aside else ""
    summary = f"restored the data of {created_at} from {file.absolute()}{rest}"
    now, kept = datetime.now(UTC), home / "backups"
    database = open_database(folder / MAIN, backups=kept, redactor=environment.redactor())
    try:
        asyncio.run(
            database.write(
                lambda tx: audit.note(
                    tx, now, by, Deed.DATA_RESTORED, summary, created_at=created_at
                )
            )
        )
    finally:
        database.close()


def _aside(home: Path) -> Path:
    return home / "backups" / f"before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


def _put_aside(home: Path, names: list[str], aside: Path | None) -> None:
    if aside is None:
        return
    aside.mkdir(mode=0o700, parents=True)
    for name in [f"{n}{end}" for n in names for end in BESIDE]:
        if (home / name).exists():
            (home / name).replace(aside / name)


def _refuse_postgres(place: "Settings", instead: str) -> None:
    if place.database_url is not None:
        raise InvalidInput(f"The database is Postgres, which has its own way: {instead}")
