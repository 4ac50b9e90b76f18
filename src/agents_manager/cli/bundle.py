"""`am doctor --bundle`: what somebody else needs to find a fault, in one file. No prompts, code,
transcripts, titles or questions; and whatever looks like a secret is taken out of the rest."""

import json
import platform
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agents_manager import bootstrap, environment, redaction
from agents_manager.checks import secrets
from agents_manager.cli import background, present
from agents_manager.cli.findings import Finding
from agents_manager.domain.event import Logged
from agents_manager.domain.run import Run
from agents_manager.environment import Settings
from agents_manager.errors import AgentsManagerError, InvalidConfig, InvalidInput
from agents_manager.flow import operation
from agents_manager.flow.ports import Services, Setting, Tx
from agents_manager.redaction import MASK, Redactor
from agents_manager.store import library
from agents_manager.store.database import schema_of
from agents_manager.store.migrate import HEAD, SCRIPTS

FORMAT, VERSION = "agents-manager/bundle", 1
PACKAGES = ("agents-manager", "dbos", "fastapi", "psycopg", "pydantic", "sqlalchemy", "uvicorn")
MOST_LINES, MOST_EVENTS, MOST_RUNS = 1000, 500, 100
LONGEST = 300
"""Of an error or a setting: what is longer is prose or output."""
TOLD = frozenset({"hook.failed", "hook.retried"})
"""Events whose error is ours or git's, and not what an agent said."""
OF_RUN = (
    *("id", "task_id", "agent", "mode", "model", "status", "attempt", "sandbox", "cost_usd"),
    *("created_at", "started_at", "ended_at"),
)
LEFT_OUT = "Prompts, code, transcripts, questions, titles and what agents said are not in it."


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Made:
    file: Path
    bytes: int
    parts: Sequence[Mapping[str, Any]]
    """Each by its name, what it is and its size."""


async def make(place: Settings, findings: Sequence[Finding], file: str) -> Made:
    now = datetime.now(UTC)
    target = _target(file or f"agents-manager-bundle-{now:%Y%m%dT%H%M%SZ}.zip")
    clean = _cleaning(place)
    parts = [Part(part.name, part.what, clean(part.text)) for part in await _parts(place, findings)]
    return _packed(target, parts, now)


def _target(file: str) -> Path:
    target = Path(file).absolute()
    if target.exists():
        raise InvalidInput(f"{target} is there already; name another file.")
    return target


def _packed(target: Path, parts: Sequence[Part], now: datetime) -> Made:
    listed = [{"name": p.name, "what": p.what, "bytes": len(p.text.encode())} for p in parts]
    manifest = {"format": FORMAT, "version": VERSION, "created_at": now, "left_out": LEFT_OUT}
    target.touch(mode=0o600)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", _json({**manifest, "files": listed}))
        for part in parts:
            archive.writestr(part.name, part.text)
    return Made(target, target.stat().st_size, listed)


def _cleaning(place: Settings) -> Callable[[str], str]:
    """What is known to be secret, then what looks like it; and the user's folder by its short
    name."""
    known = Redactor({*environment.redactor().values, *_kept_secrets(place)})
    mine = str(Path.home())

    def clean(text: str) -> str:
        text = secrets.masked(known.text(text))
        return text if len(mine) <= 1 else text.replace(mine, "~")

    return clean


def _kept_secrets(place: Settings) -> list[str]:
    """Of files that hold nothing else, and of settings whose names say so."""
    kept = [place.home / "token", place.home / background.SECRETS]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in kept if path.is_file()]
    lines = [line.rpartition("=")[2].strip(" '\"") for text in texts for line in text.splitlines()]
    try:
        found = bootstrap.files(place).explain(None)
    except InvalidConfig:
        found = []
    lines += [str(one.value) for one in found if _is_secret(one)]
    return [line for line in lines if len(line) >= redaction.SHORTEST]


async def _parts(place: Settings, findings: Sequence[Finding]) -> list[Part]:
    parts = [
        Part("versions.json", "versions of the program, its libraries and the system", _versions()),
        Part("doctor.json", "what am doctor says", _json(findings)),
        Part("database.json", "kind and schema of the database", _database(place)),
        Part("settings.json", "settings in effect, without secrets and prose", _user(place)),
        Part("log.txt", f"the last {MOST_LINES} lines of the service's log", _log(place)),
    ]
    if any(one.name == "database" and one.state != "ok" for one in findings):
        return parts
    if not _exists(place):
        return parts
    async with bootstrap.client(place) as program:
        s = program.services
        return parts + await s.store.read(lambda tx: _of_database(tx, s))


def _of_database(tx: Tx, s: Services) -> list[Part]:
    newest = tx.events.last_id()
    events = tx.events.after(max(0, newest - MOST_EVENTS), task=None, limit=MOST_EVENTS)
    runs = tx.runs.page(task=None, live=False, after=None, limit=MOST_RUNS)
    projects = [_settings(s.configs.explain, project) for project in tx.projects.all()]
    return [
        Part("counts.json", "how much there is of everything", _counts(tx, s)),
        Part("events.json", "kinds and times of the last events", _json(list(map(_event, events)))),
        Part("effects.json", "work that is not done, with its errors", _effects(tx)),
        Part("runs.json", "how the last runs went", _json(list(map(_run, runs)))),
        Part("projects.json", "settings in effect in each project, likewise", _json(projects)),
    ]


def _versions() -> str:
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    sqlite = library.sqlite().sqlite_version
    told = {"python": sys.version, "platform": platform.platform(), "sqlite": sqlite}
    return _json({**told, "packages": found})


def _database(place: Settings) -> str:
    known = sorted(path.stem for path in (SCRIPTS / "versions").glob("[0-9]*.py"))
    told: dict[str, Any] = {"head": HEAD, "migrations": known, "schema": None}
    told["kind"] = "sqlite" if place.database_url is None else "postgres"
    if not _exists(place):
        return _json(told)
    try:
        told["schema"] = schema_of(place.database)
    except AgentsManagerError as error:
        told["error"] = error.message
    return _json(told)


def _exists(place: Settings) -> bool:
    return place.database_url is not None or Path(place.database).exists()


def _user(place: Settings) -> str:
    return _json(_settings(bootstrap.files(place).explain, None))


def _settings(explain: Callable[[Any], Sequence[Setting]], project: Any) -> list[Any]:
    try:
        found = explain(project)
    except InvalidConfig as error:
        return [error.message, *error.details]
    return [{"key": one.key, "value": _value(one), "layer": one.layer} for one in found]


def _value(one: Setting) -> Any:
    """Of an address its server alone: many hold a key behind it."""
    if _is_secret(one):
        return MASK
    if not isinstance(one.value, str):
        return one.value
    if "://" in one.value:
        return f"{urlsplit(one.value).scheme}://{urlsplit(one.value).hostname}/…"
    if one.key == "instructions" or len(one.value) > LONGEST:
        return f"[{len(one.value)} characters]"
    return one.value


def _is_secret(one: Setting) -> bool:
    return isinstance(one.value, str) and redaction.is_secret(one.key.rpartition(".")[2], one.value)


def _counts(tx: Tx, s: Services) -> str:
    found = operation.counts(tx, s.clock.now())
    # Pairs are no keys in JSON.
    effects = {" ".join(pair): number for pair, number in found.effects.items()}
    deliveries = {" ".join(pair): number for pair, number in found.deliveries.items()}
    return _json({**asdict(found), "effects": effects, "deliveries": deliveries})


def _event(one: Logged) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in ("id", "task_id", "seq", "time", "type", "level")}
    error = one.data.get("error") if one.type in TOLD else None
    return {**told, "error": error[:LONGEST]} if error else told


def _effects(tx: Tx) -> str:
    names = ("id", "task_id", "kind", "status", "attempt", "due_at")
    told = [
        {**{name: getattr(one, name) for name in names}, "error": (one.error or "")[:LONGEST]}
        for one in tx.effects.open()
    ]
    return _json(told)


def _run(run: Run) -> dict[str, Any]:
    told = {one.name: getattr(run, one.name) for one in fields(Run) if one.name in OF_RUN}
    return {**told, "error_class": run.error.error_class if run.error else None}


def _log(place: Settings) -> str:
    names = (background.SERVER, background.WORKER)
    launcher = background.launcher(place)
    texts = [launcher.log(name, MOST_LINES) for name in names]
    return "\n".join(text for text in texts if text.strip()) or "There is no log of a service.\n"


def _json(thing: object) -> str:
    return json.dumps(present.value(thing), indent=1, ensure_ascii=False) + "\n"
