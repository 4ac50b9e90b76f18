"""What the doctor looks at, one thing after the other. Each look answers with a finding; one that
cannot be made is a finding, too."""

import asyncio
import os
import re
import shutil
import stat
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agents_manager import bootstrap, environment, settings
from agents_manager.bootstrap import Program
from agents_manager.cli import fixes, running
from agents_manager.cli.findings import Finding, fail, ok, warn
from agents_manager.cli.render import counted, one_line, short
from agents_manager.domain.plugin import Plugin
from agents_manager.domain.run import UNSANDBOXED
from agents_manager.domain.task import EffectRow, Project
from agents_manager.engine import host
from agents_manager.environment import Settings
from agents_manager.errors import AgentsManagerError, DatabaseMoved, InvalidConfig, StoreError
from agents_manager.flow import agents, liveness, pipelines, places
from agents_manager.flow.ports import ProjectConfig, Tx
from agents_manager.sandbox import bubblewrap, cgroup
from agents_manager.sandbox.keeper import Keeper, Rules
from agents_manager.scm.git import Place, branch_tip, common_dir, git
from agents_manager.settings import ConfigFiles
from agents_manager.store.database import schema_of
from agents_manager.store.migrate import HEAD

PYTHON = (3, 11)
GIT = (2, 38)
"""Merging without a checkout began there."""
MEGABYTE = 1024 * 1024
TOO_LITTLE = 100 * MEGABYTE
LITTLE = 1024 * MEGABYTE
SYSTEMD = Path("/run/systemd/system")
LATE = timedelta(minutes=10)
SKEW = timedelta(minutes=1)
NAMED = 5
"""Stuck tasks that are named."""
NEVER_TOLD = "-doctor-"
"""In the id of no notice."""


async def examine(place: Settings) -> list[Finding]:
    found = [_python(), await _git(), await _identity(), _home(place.home), _disk(place.home)]
    configs = bootstrap.files(place)
    found += [_token(place.home / "token"), _user_config(configs, place.home)]
    found.append(await asyncio.to_thread(_sandbox, configs, place.home))
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
        again = f"uv tool install --python {needed} {fixes.PACKAGE}"
        return fail("Python", f"{version} is too old; {needed} or newer is needed.", again)
    return ok("Python", version)


async def _git() -> Finding:
    try:
        said = (await git(Path.cwd(), "--version")).line
    except (AgentsManagerError, OSError) as error:
        return fail("git", f"It cannot be run: {error}", fixes.install("git"))
    version = re.search(r"\d+(\.\d+)+", said)
    number = tuple(int(part) for part in version[0].split(".")) if version else ()
    if number < GIT:
        needed = ".".join(map(str, GIT))
        text = f"{said} is too old; {needed} or newer is needed."
        return fail("git", text, fixes.install("git"))
    return ok("git", said.removeprefix("git version "))


async def _identity() -> Finding:
    name = "git identity"
    try:
        known = await git(Path.cwd(), "var", "GIT_COMMITTER_IDENT", check=False)
    except (AgentsManagerError, OSError):
        return warn(name, "It is not known without git.", fixes.install("git"))
    if known.code == 0:
        return ok(name, known.line.rpartition(">")[0] + ">")
    return warn(
        name,
        "Git knows no name for you; commits are signed as Agents Manager.",
        'git config --global user.name "NAME"',
        "git config --global user.email ADDRESS",
    )


def _home(home: Path) -> Finding:
    name = "data directory"
    if not home.exists():
        return ok(name, f"{home} is made by the first command.")
    if not (home.is_dir() and os.access(home, os.W_OK | os.X_OK)):
        return fail(name, f"{home} cannot be written.", *fixes.own(home))
    if stat.S_IMODE(home.stat().st_mode) & 0o022:
        text = f"Others on this machine can write to {home}."
        return fail(name, text, f"chmod 700 {fixes.quoted(home)}")
    return ok(name, str(home))


def _disk(home: Path) -> Finding:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    text = f"{free // MEGABYTE:,} MB are free at {there}."
    if free >= LITTLE:
        return ok("disk", text)
    told = fail if free < TOO_LITTLE else warn
    way = "Workspaces of finished tasks can go, and what is old; the rest is yours to find."
    return told("disk", f"Only {text}", "am task clean", "am gc", way_out=way)


def _token(path: Path) -> Finding:
    if not path.exists():
        return ok("token", "It is made when the server starts.")
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        text = f"{path} has mode {mode:o}: others on this machine can read it."
        way = "If it may have been read: delete it, and the server makes another when it starts."
        return fail("token", text, f"chmod 600 {fixes.quoted(path)}", way_out=way)
    return ok("token", f"{path} is readable by you alone.")


def _user_config(configs: ConfigFiles, home: Path) -> Finding:
    try:
        configs.config(None)
    except InvalidConfig as error:
        return _broken("user settings", error, home / settings.CONFIG)
    path = home / settings.CONFIG
    return ok("user settings", str(path) if path.exists() else "None; all defaults.")


def _sandbox(configs: ConfigFiles, home: Path) -> Finding:
    """By trying it."""
    try:
        rules = configs.sandbox()
    except InvalidConfig:
        rules = Rules()
    keeping = Keeper(home, lambda: rules, bootstrap.LEVELS).keeping()
    if keeping.level != UNSANDBOXED and not keeping.required:
        return ok("sandbox", f"{keeping.level}. {keeping.why}", keeping.way_out)
    fix = fixes.sandbox(wanted=rules.level, there=bubblewrap.found() is not None)
    if keeping.required:
        text = f"{keeping.why} No agent is started, as sandbox.level asks for more."
        return fail("sandbox", text, *fix, way_out=keeping.way_out)
    text = f"{keeping.why} Agents would work with your rights, once you consent."
    return warn("sandbox", text, *fix, way_out=keeping.way_out)


def _limits() -> Finding:
    """By trying it, too."""
    why = cgroup.probe()
    if why is None:
        return ok("limits", "Memory and processes are held by control groups.")
    text = f"Memory is looked at once a second: {why}."
    return ok("limits", text, cgroup.WAY_OUT if SYSTEMD.exists() else "")


def _broken(name: str, error: AgentsManagerError, file: Path) -> Finding:
    text = " ".join([error.message, *error.details])
    way = "A server that read it before goes on with what it said then."
    return fail(name, text, fixes.edit(file), way_out=way)


def _database(place: Settings) -> Finding:
    if not _exists(place):
        return ok("database", f"{place.database} is made by the first command.")
    try:
        revision = schema_of(place.database)
    except DatabaseMoved as error:
        return fail("database", error.message, "export AM_DATABASE_URL=ADDRESS")
    except AgentsManagerError as error:
        if place.database_url is None:
            return fail("database", error.message, "am restore FILE --force")
        return fail("database", error.message, 'pg_isready --dbname="$AM_DATABASE_URL"')
    if revision == HEAD:
        return ok("database", f"Reachable, at schema {revision}.")
    if revision is None or revision < HEAD:
        text = f"At schema {revision or 'none'}; this version uses {HEAD}."
        way = "The next command does it, too, where no other program works on the database."
        return warn("database", text, "am database upgrade", way_out=way)
    text = f"At schema {revision}, which this version ({HEAD}) does not know."
    return fail("database", text, fixes.upgrade())


def _engine_database(place: Settings) -> Finding:
    name, path = "engine database", place.home / "engine.db"
    if place.database_url is not None:
        return ok(name, "In the same Postgres database.")
    if not path.exists():
        return ok(name, "It is made when the server starts.")
    try:
        schema_of(path)
    except StoreError as error:
        away = f"mv {fixes.quoted(path)} {fixes.quoted(path)}.broken"
        way = "With the server stopped; effects that it did not finish are performed again."
        return fail(name, error.message, away, "am serve", way_out=way)
    return ok(name, str(path))


async def _inside(program: Program) -> AsyncIterator[Finding]:
    """What the database tells."""
    yield await _clock(program)
    live = program.settings.database_url is None and host.is_live(program.settings.home)
    yield await _server(program, live=live)
    yield await _stuck(program, live=live)
    yield await _stuck_tasks(program)
    for plugin in program.services.registry.plugins:
        yield _plugin(plugin)
    for project in await program.services.store.read(lambda tx: tx.projects.all()):
        yield await _project(program, project)


def _plugin(plugin: Plugin) -> Finding:
    name = f"plugin {plugin.package}"
    if plugin.error is None:
        return ok(name, plugin.title)
    way = "Or leave it out: AM_PLUGINS names those that are used."
    return warn(name, f"{plugin.trouble}.", fixes.uninstall(plugin.package), way_out=way)


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
        return warn("clock", text, fixes.clock(), way_out="What is due would wait until then.")
    return ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC")


async def _server(program: Program, *, live: bool) -> Finding:
    if program.settings.database_url is not None:
        return ok("server", "On Postgres it may run on another machine.")
    if live:
        return ok("server", "One works on this data directory.")
    waiting = len(await program.services.store.read(lambda tx: tx.effects.open()))
    if waiting:
        wait = "1 effect waits" if waiting == 1 else f"{waiting} effects wait"
        return warn("server", f"None runs, and {wait} for one.", "am serve")
    return ok("server", "None runs, and nothing waits for one.")


async def _stuck(program: Program, *, live: bool) -> Finding:
    """Effects that a server that runs should have performed."""
    since = datetime.now(UTC) - LATE
    found = await program.services.store.read(lambda tx: tx.effects.open())
    late = [e for e in found if e.due_at < since and not _may_take_long(e)]
    if live and late:
        kinds = ", ".join(sorted({e.kind for e in late}))
        number = counted(len(late), "effect")
        text = f"{number} should have been performed ten minutes ago or longer: {kinds}."
        way = "First end the server, with Ctrl-C or am service remove; agents go on meanwhile."
        return fail("effects", text, "am serve", f"am task why {late[0].task_id}", way_out=way)
    return ok("effects", f"{len(found)} open, none stuck.")


async def _stuck_tasks(program: Program) -> Finding:
    """Tasks that no person, agent or timer will move, whether somebody was told of them or not."""

    def read(tx: Tx) -> list[str]:
        found = liveness.stranded(tx, datetime.now(UTC), told=NEVER_TOLD)
        return [f'"{one_line(tx.tasks.get(one).title)}" ({short(one)})' for one in found]

    named = await program.services.store.read(read)
    if not named:
        return ok("tasks", "None is stuck.")
    shown = ", ".join(named[:NAMED]) + (", …" if len(named) > NAMED else "")
    first = named[0].rpartition("(")[2].rstrip(")")
    text = f"{counted(len(named), 'task')} cannot be moved by anybody: {shown}."
    return warn("tasks", text, f"am task why {first}", way_out="It shows the ways to continue.")


def _may_take_long(effect: EffectRow) -> bool:
    """Agents may wait for a free place, and checks take the time they take."""
    checking = effect.kind == "run_checks" and effect.status == "started"
    return checking or effect.kind == "start_agent"


async def _project(program: Program, project: Project) -> Finding:
    name, s = f"project {project.name}", program.services
    if why := places.away(s, project):
        away = f"git clone {fixes.quoted(project.remote or 'ADDRESS')} {fixes.quoted(project.path)}"
        return warn(name, why, away)
    try:
        await s.workspaces.validate(Path(project.path))
        place = Place(git_dir=await common_dir(Path(project.path)))
        if not await branch_tip(place, project.base_branch):
            text = f'{project.path} has no branch "{project.base_branch}", the base of its tasks.'
            at = fixes.quoted(project.path)
            return fail(name, text, f"git -C {at} branch {fixes.quoted(project.base_branch)}")
    except AgentsManagerError as error:
        way = "Bring the repository back, or let the project go."
        gone = f"am project remove {fixes.quoted(project.name)}"
        return fail(name, error.message, gone, way_out=way)
    try:
        config = s.configs.of(project)
    except InvalidConfig as error:
        return _broken(name, error, Path(project.path, settings.PROJECT_FOLDER, settings.CONFIG))
    return (
        await _forge(program, project, config)
        or await _pipelines(program, project)
        or _trust(project, config)
        or await _variables(program, project, config)
        or ok(name, project.path)
    )


async def _forge(program: Program, project: Project, config: ProjectConfig) -> Finding | None:
    try:
        answer = await asyncio.to_thread(
            running.ask, program.settings.home, f"/projects/{project.id}/forge"
        )
    except running.ServerSilent as error:
        return warn(f"project {project.name}", error.message, "am service status")
    asked = await program.services.forge.trouble(project) if answer is None else answer["trouble"]
    trouble: str | None = asked
    if trouble is None:
        return None
    who = "the running server" if answer is not None else "this shell"
    text = f"Its forge, {config.forge.type}, cannot be used by {who}."
    fix = "export AM_GITHUB_TOKEN=TOKEN"
    if "token" not in trouble:
        fix = f"git -C {fixes.quoted(project.path)} remote add origin ADDRESS"
    local = f"am config set --project {fixes.quoted(project.name)} forge.type local"
    return fail(f"project {project.name}", text, fix, local, way_out=trouble)


async def _pipelines(program: Program, project: Project) -> Finding | None:
    for file in await pipelines.files_of(program.services, project):
        if file.errors:
            text = f"A pipeline file is broken: {file.errors[0]}"
            look = f"am pipeline lint {fixes.quoted(file.path)}"
            return fail(f"project {project.name}", text, look, fixes.edit(file.path))
    return None


async def _variables(program: Program, project: Project, config: ProjectConfig) -> Finding | None:
    found = await asyncio.to_thread(program.services.variables.read, config.variables)
    if not found.missing:
        return None
    lacking = [v for v in config.variables if v.name not in found.values and not v.optional]
    fix = [
        f"export {v.entry}=VALUE"
        if v.source == "environment"
        else f"keyring set {environment.KEYRING_SERVICE} {v.entry}"
        for v in lacking
    ]
    way = "This command does not see the environment of a server that was started elsewhere."
    text = f"Its runs lack variables (setting env): {', '.join(v.name for v in lacking)}."
    return warn(f"project {project.name}", text, *fix, way_out=way)


def _trust(project: Project, config: ProjectConfig) -> Finding | None:
    changed = agents.changes(project, config)
    if not changed:
        return None
    text = f"Its commands are not trusted: {'; '.join(changed)}."
    trust = f"am project trust {fixes.quoted(project.name)}"
    return warn(f"project {project.name}", text, trust, way_out="Look at them first.")
