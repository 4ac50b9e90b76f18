"""What the doctor looks at, one thing after the other. Each look answers with a finding; one that
cannot be made is a finding, too."""

import asyncio
import os
import re
import shutil
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from agents_manager import bootstrap, settings
from agents_manager.bootstrap import Program
from agents_manager.cli.render import counted
from agents_manager.domain.plugin import Plugin
from agents_manager.domain.run import UNSANDBOXED
from agents_manager.domain.task import EffectRow, Project
from agents_manager.engine import host
from agents_manager.environment import Settings
from agents_manager.errors import AgentsManagerError, DatabaseMoved, InvalidConfig, StoreError
from agents_manager.flow import agents, pipelines, places
from agents_manager.sandbox import cgroup
from agents_manager.sandbox.keeper import Keeper, Rules
from agents_manager.scm.git import Place, branch_tip, common_dir, git
from agents_manager.store.database import schema_of
from agents_manager.store.migrate import HEAD

State = Literal["ok", "warn", "fail"]

PYTHON = (3, 11)
GIT = (2, 38)
"""Merging without a checkout began there."""
MEGABYTE = 1024 * 1024
TOO_LITTLE = 100 * MEGABYTE
LITTLE = 1024 * MEGABYTE
SYSTEMD = Path("/run/systemd/system")
LATE = timedelta(minutes=10)
SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    text: str
    way_out: str = ""


async def examine(place: Settings) -> list[Finding]:
    found = [_python(), await _git(), await _identity(), _home(place.home), _disk(place.home)]
    found += [_token(place.home / "token"), _user_config(place.home)]
    found.append(await asyncio.to_thread(_sandbox, place.home))
    found.append(await asyncio.to_thread(_limits))
    database = await asyncio.to_thread(_database, place)
    found.append(database)
    found.append(await asyncio.to_thread(_engine_database, place))
    if database.state == "ok" and _exists(place):
        async with bootstrap.client(place) as program:
            found += [one async for one in _inside(program)]
    return found


def _exists(place: Settings) -> bool:
    return place.database_url is not None or Path(place.database).exists()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < PYTHON:
        needed = ".".join(map(str, PYTHON))
        return Finding("Python", "fail", f"{version} is too old.", f"Install {needed} or newer.")
    return Finding("Python", "ok", version)


async def _git() -> Finding:
    try:
        said = (await git(Path.cwd(), "--version")).line
    except (AgentsManagerError, OSError) as error:
        return Finding("git", "fail", f"It cannot be run: {error}", "Install git.")
    version = re.search(r"\d+(\.\d+)+", said)
    number = tuple(int(part) for part in version[0].split(".")) if version else ()
    if number < GIT:
        needed = ".".join(map(str, GIT))
        return Finding("git", "fail", f"{said} is too old.", f"Install git {needed} or newer.")
    return Finding("git", "ok", said.removeprefix("git version "))


async def _identity() -> Finding:
    name = "git identity"
    try:
        known = await git(Path.cwd(), "var", "GIT_COMMITTER_IDENT", check=False)
    except (AgentsManagerError, OSError):
        return Finding(name, "warn", "It is not known without git.")
    if known.code == 0:
        return Finding(name, "ok", known.line.rpartition(">")[0] + ">")
    return Finding(
        name,
        "warn",
        "Git knows no name for you; commits are signed as Agents Manager.",
        "git config --global user.name NAME; git config --global user.email ADDRESS",
    )


def _home(home: Path) -> Finding:
    name = "data directory"
    if not home.exists():
        return Finding(name, "ok", f"{home} is made by the first command.")
    if not (home.is_dir() and os.access(home, os.W_OK | os.X_OK)):
        return Finding(name, "fail", f"{home} cannot be written.", "Set AM_HOME to another folder.")
    if stat.S_IMODE(home.stat().st_mode) & 0o022:
        text = f"Others on this machine can write to {home}."
        return Finding(name, "fail", text, f"chmod 700 {home}")
    return Finding(name, "ok", str(home))


def _disk(home: Path) -> Finding:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    text = f"{free // MEGABYTE:,} MB are free at {there}."
    if free >= LITTLE:
        return Finding("disk", "ok", text)
    way = "Make room; am task clean removes the workspaces of finished tasks."
    return Finding("disk", "fail" if free < TOO_LITTLE else "warn", f"Only {text}", way)


def _token(path: Path) -> Finding:
    if not path.exists():
        return Finding("token", "ok", "It is made when the server starts.")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        text = f"{path} has mode {mode:o}: others on this machine can read it."
        return Finding("token", "fail", text, f"chmod 600 {path}; delete it if it was read.")
    return Finding("token", "ok", f"{path} is readable by you alone.")


def _user_config(home: Path) -> Finding:
    try:
        settings.ConfigFiles(home).config(None)
    except InvalidConfig as error:
        return _broken("user settings", error)
    path = home / "config.json"
    return Finding("user settings", "ok", str(path) if path.exists() else "None; all defaults.")


def _sandbox(home: Path) -> Finding:
    """By trying it."""
    try:
        rules = settings.ConfigFiles(home).sandbox()
    except InvalidConfig:
        rules = Rules()
    keeping = Keeper(home, lambda: rules, bootstrap.LEVELS).keeping()
    if keeping.level != UNSANDBOXED and not keeping.required:
        return Finding("sandbox", "ok", f"{keeping.level}. {keeping.why}", keeping.way_out)
    text = f"{keeping.why} Agents would work with your rights, once you consent."
    if keeping.required:
        text = f"{keeping.why} No agent is started, as sandbox.level asks for more."
    return Finding("sandbox", "fail" if keeping.required else "warn", text, keeping.way_out)


def _limits() -> Finding:
    """By trying it, too."""
    why = cgroup.probe()
    if why is None:
        return Finding("limits", "ok", "Memory and processes are held by control groups.")
    text = f"Memory is looked at once a second: {why}."
    return Finding("limits", "ok", text, cgroup.WAY_OUT if SYSTEMD.exists() else "")


def _broken(name: str, error: AgentsManagerError) -> Finding:
    text = " ".join([error.message, *error.details])
    way = "Correct the file. A server that read it before goes on with what it said then."
    return Finding(name, "fail", text, way)


def _database(place: Settings) -> Finding:
    if not _exists(place):
        return Finding("database", "ok", f"{place.database} is made by the first command.")
    try:
        revision = schema_of(place.database)
    except DatabaseMoved as error:
        return Finding("database", "fail", error.message, "Set AM_DATABASE_URL.")
    except AgentsManagerError as error:
        file = place.database_url is None
        way = "am restore FILE" if file else "Look at AM_DATABASE_URL and whether Postgres runs."
        return Finding("database", "fail", error.message, way)
    if revision == HEAD:
        return Finding("database", "ok", f"Reachable, at schema {revision}.")
    if revision is None or revision < HEAD:
        text = f"At schema {revision or 'none'}; this version uses {HEAD}."
        return Finding("database", "warn", text, "The next command brings it up to date.")
    text = f"At schema {revision}, which this version ({HEAD}) does not know."
    return Finding("database", "fail", text, "Install the newer version that wrote it.")


def _engine_database(place: Settings) -> Finding:
    name, path = "engine database", place.home / "engine.db"
    if place.database_url is not None:
        return Finding(name, "ok", "In the same Postgres database.")
    if not path.exists():
        return Finding(name, "ok", "It is made when the server starts.")
    try:
        schema_of(path)
    except StoreError as error:
        way = "Stop the server, move the file away and start it: effects are performed again."
        return Finding(name, "fail", error.message, way)
    return Finding(name, "ok", str(path))


async def _inside(program: Program) -> AsyncIterator[Finding]:
    """What the database tells."""
    yield await _clock(program)
    live = program.settings.database_url is None and host.is_live(program.settings.home)
    yield await _server(program, live=live)
    yield await _stuck(program, live=live)
    for plugin in program.services.registry.plugins:
        yield _plugin(plugin)
    for project in await program.services.store.read(lambda tx: tx.projects.all()):
        yield await _project(program, project)


def _plugin(plugin: Plugin) -> Finding:
    name = f"plugin {plugin.package}"
    if plugin.error is None:
        return Finding(name, "ok", plugin.title)
    way_out = "Repair or remove the package, or leave it out by AM_PLUGINS; see: am plugin list"
    return Finding(name, "warn", f"{plugin.trouble}.", way_out)


async def _clock(program: Program) -> Finding:
    now = datetime.now(UTC)
    newest = await program.services.store.read(
        lambda tx: tx.tasks.page(project=None, status=None, after=None, limit=1)
    )
    last = newest[0].created_at if newest else now
    if last > now + SKEW:
        text = (
            f"It is {now:%Y-%m-%d %H:%M} UTC here, but the newest task is of {last:%Y-%m-%d %H:%M}."
        )
        return Finding("clock", "warn", text, "Set the clock; what is due would wait until then.")
    return Finding("clock", "ok", f"{now:%Y-%m-%d %H:%M:%S} UTC")


async def _server(program: Program, *, live: bool) -> Finding:
    if program.settings.database_url is not None:
        return Finding("server", "ok", "On Postgres it may run on another machine.")
    if live:
        return Finding("server", "ok", "One works on this data directory.")
    waiting = len(await program.services.store.read(lambda tx: tx.effects.open()))
    if waiting:
        wait = "1 effect waits" if waiting == 1 else f"{waiting} effects wait"
        return Finding("server", "warn", f"None runs, and {wait} for one.", "am serve")
    return Finding("server", "ok", "None runs, and nothing waits for one.")


async def _stuck(program: Program, *, live: bool) -> Finding:
    """Effects that a server that runs should have performed."""
    since = datetime.now(UTC) - LATE
    found = await program.services.store.read(lambda tx: tx.effects.open())
    late = [e for e in found if e.due_at < since and not _may_take_long(e)]
    if live and late:
        kinds = ", ".join(sorted({e.kind for e in late}))
        number = counted(len(late), "effect")
        text = f"{number} should have been performed ten minutes ago or longer: {kinds}."
        way = f"Start the server anew; am task why {late[0].task_id} says more."
        return Finding("effects", "fail", text, way)
    return Finding("effects", "ok", f"{len(found)} open, none stuck.")


def _may_take_long(effect: EffectRow) -> bool:
    """Agents may wait for a free place, and checks take the time they take."""
    checking = effect.kind == "run_checks" and effect.status == "started"
    return checking or effect.kind == "start_agent"


async def _project(program: Program, project: Project) -> Finding:
    name, s = f"project {project.name}", program.services
    if why := places.away(s, project):
        return Finding(name, "warn", why, f"am project show {project.name}")
    try:
        await s.workspaces.validate(Path(project.path))
        place = Place(git_dir=await common_dir(Path(project.path)))
        if not await branch_tip(place, project.base_branch):
            text = f'{project.path} has no branch "{project.base_branch}", the base of its tasks.'
            return Finding(name, "fail", text, f"git branch {project.base_branch}")
    except AgentsManagerError as error:
        way = f"Bring the repository back, or: am project remove {project.name}"
        return Finding(name, "fail", error.message, way)
    try:
        config = s.configs.of(project)
    except InvalidConfig as error:
        return _broken(name, error)
    trouble = await s.forge.trouble(project)
    if trouble:
        return Finding(name, "fail", f"Its forge, {config.forge.type}, cannot be used.", trouble)
    wrong = [line for file in await pipelines.files_of(s, project) for line in file.errors]
    if wrong:
        return Finding(name, "fail", f"A pipeline file is broken: {wrong[0]}", "am pipeline list")
    changed = agents.changes(project, config)
    if changed:
        way = f"Look at them, then: am project trust {project.name}"
        return Finding(name, "warn", f"Its commands are not trusted: {'; '.join(changed)}.", way)
    return Finding(name, "ok", project.path)
