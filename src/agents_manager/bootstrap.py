"""The composition root: who plays which part, for the three sizes of the program.

`client` can read and write the database; `worker` also performs effects, behind the host lock.
Tests call the same functions with overrides.
"""

import asyncio
import secrets
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import structlog
from sqlalchemy import Engine

from agents_manager import built_in, environment
from agents_manager import log as log_output
from agents_manager.agents.catalog import AgentCatalog
from agents_manager.checks.command import ProjectChecks
from agents_manager.checks.running import SandboxReports
from agents_manager.checks.setup import SetupCommands
from agents_manager.checks.setup_cache import CacheLimits, SetupCache
from agents_manager.config_models import LimitsConfig
from agents_manager.documents import ProjectFiles
from agents_manager.domain import template
from agents_manager.domain.cost import Prices, PriceTable
from agents_manager.domain.host import DEAD_AFTER
from agents_manager.domain.ids import EffectId
from agents_manager.engine import host, lease, processes
from agents_manager.engine.disk import FreeSpace
from agents_manager.engine.ports import PortFiles
from agents_manager.engine.runners import DetachedRunners
from agents_manager.engine.variables import ServerVariables
from agents_manager.environment import Place
from agents_manager.errors import AgentsManagerError, InvalidConfig, InvalidInput, StoreError
from agents_manager.flow import (
    hooks,
    pipelines,
    reconcile,
    settings_watch,
    supervisor,
    surroundings,
)
from agents_manager.flow.channels.office import Office
from agents_manager.flow.cloning import Cloning
from agents_manager.flow.ports import (
    Adapters,
    Browsers,
    Channel,
    ChannelKind,
    Heartbeat,
    Here,
    Reachable,
    Services,
    Steps,
    Tools,
    Traces,
)
from agents_manager.flow.retention import sweep
from agents_manager.flow.runs import copying, traces
from agents_manager.plugins.blame import ChannelOfPlugin, blaming
from agents_manager.redaction import Redactor
from agents_manager.sandbox import keeper as sandbox_keeper
from agents_manager.sandbox.keeper import Keeper
from agents_manager.sandbox.levels import Levels
from agents_manager.scm import commits, credentials
from agents_manager.scm.copies import RemoteCopies, UrlKeys
from agents_manager.scm.credentials import Key
from agents_manager.scm.forges import ChosenForges
from agents_manager.scm.workspaces import ChosenWorkspaces
from agents_manager.settings import ConfigFiles, Settings
from agents_manager.store import versions
from agents_manager.store.database import open_database
from agents_manager.store.engines import Engines, sqlite_engine
from agents_manager.store.tx import Database

if TYPE_CHECKING:
    from starlette.types import ASGIApp


log = structlog.get_logger()

LEVELS = Levels()
"""Tried once for the process."""


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    def new(self) -> str:
        return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Program:
    settings: Settings
    services: Services
    database: Database
    over: asyncio.Queue[AgentsManagerError] = field(
        default_factory=asyncio.Queue[AgentsManagerError]
    )
    """Why it must end, once it must."""
    outdated: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when another version changed the schema, so that this program has to end."""


@asynccontextmanager
async def client(
    settings: Settings, *, works: bool = False, **overrides: Any
) -> AsyncGenerator[Program]:
    """Settings, store and flow: every command, with or without a server beside it. What `works`
    holds the host lock."""
    _make_folders(settings)
    redactor = environment.redactor()
    log_output.redact_with(redactor)
    here, others = _here(settings), partial(_others, settings, works)
    database = await asyncio.to_thread(
        open_database, settings.database, redactor=redactor, here=here, others=others
    )
    try:
        services = replace(_services(settings, database, redactor, here), **overrides)
        await pipelines.install(services)
        yield Program(settings, services, database)
    finally:
        database.close()


@asynccontextmanager
async def worker(settings: Settings, **overrides: Any) -> AsyncGenerator[Program]:
    """A client that performs effects: the dispatcher, the durable engine and their lock."""
    # Imported late: DBOS costs most of a second, and commands do not need it.
    from agents_manager.engine import durable
    from agents_manager.engine.dispatcher import Dispatcher

    _make_folders(settings)
    with host.HostLock(settings.home):
        async with client(settings, works=True, **overrides) as program:
            services = program.services
            program.database.outdated = program.outdated.set

            async def perform(effect_id: EffectId, attempt: int, steps: Steps) -> None:
                await hooks.perform(effect_id, attempt, services, steps)

            async def crashed(effect_id: EffectId, attempt: int, error: str) -> None:
                await hooks.failed(services, effect_id, attempt, error, retryable=True)

            me = host.executor_id(settings.home)
            engine = durable.build(
                perform,
                crashed,
                executor_id=me,
                engine=None if settings.database_url else _engine_file(settings.home),
                url=settings.database_url or "sqlite://",
                answers=lambda: _answers(program),
            )
            await surroundings.learn_all(services)
            services = replace(services, engine=engine, traces=_traces(services, files(settings)))
            program = replace(program, services=services)
            dispatcher = Dispatcher(services, engine, crashed)
            office = Office(services, services.here and services.here.host)
            services.store.after_commit(dispatcher.wake)
            services.store.after_commit(office.wake)
            cloning = Cloning(services, services.here) if services.here else None
            if cloning is not None:
                services.store.after_commit(cloning.wake)
            async with _lease(program, engine.let_go) as beating:
                engine.launch()
                try:
                    async with _background(
                        *beating,
                        dispatcher.run(),
                        _wake_on_change(
                            program, dispatcher.wake, *([cloning.wake] if cloning else [])
                        ),
                        supervisor.run(services),
                        sweep.run(program.services),
                        settings_watch.run(services),
                        reconcile.run(services),
                        office.run(),
                        copying.run(services),
                        traces.follow(services),
                        *([cloning.run()] if cloning else []),
                    ):
                        yield program
                finally:
                    await engine.close()
                    await asyncio.to_thread(services.traces.close)


def _traces(s: Services, configs: ConfigFiles) -> Traces:
    """Nobody is told anything unless somebody said where to."""
    try:
        said = configs.config(None).traces
    except InvalidConfig:  # Told of elsewhere.
        return s.traces
    if s.traces.on or not (said.endpoint or environment.sends_traces()):
        return s.traces
    try:
        from agents_manager.telemetry import otel
    except ModuleNotFoundError:  # The variables may be meant for other programs.
        log.warning(
            "traces.off", reason="Traces need a library: pip install 'agents-manager[otel]'."
        )
        return s.traces
    return otel.build(said.endpoint, s.redact, content=said.content)


@asynccontextmanager
async def _lease(
    program: Program, let_go: Callable[[], Awaitable[None]]
) -> AsyncGenerator[Sequence[Coroutine[Any, Any, None]]]:
    """Joins those that share the database; what is to be done to stay among them."""
    s = program.services
    if s.here is None:
        yield ()
        return
    said = cast("ConfigFiles", s.configs).config(None).host
    joining = lease.described(s, program.settings.place, said.name, said.labels)
    beats = program.database.beats()
    one = lease.Lease(s, beats, joining, let_go, program.over.put_nowait)
    try:
        await one.join()
        yield (one.run(),)
    finally:
        await asyncio.to_thread(beats.close)


def mounts(program: Program) -> "dict[str, ASGIApp]":
    """What a server answers beside the interface for people, by its first folder."""
    # Imported late, as only a server needs it.
    from agents_manager.api.gate import Tokens
    from agents_manager.api.pace import Pace
    from agents_manager.channels import hooks as answers
    from agents_manager.channels import slack_door, telegram_door
    from agents_manager.mcp import admin
    from agents_manager.mcp import server as mcp

    s = program.services
    people = Tokens(admin.app(s), s.store, s.clock, Pace(), s.configs.open_metrics)
    return {
        **for_agents(program),
        mcp.FOLDER: mcp.app(s, people),
        answers.FOLDER: answers.app(
            s, Pace().take, {"slack": slack_door.app(s), "telegram": telegram_door.app(s)}
        ),
    }


def for_agents(program: Program) -> "dict[str, ASGIApp]":
    """What the agents of this machine are answered."""
    from agents_manager.mcp import protocol, server
    from agents_manager.sandbox import gateway

    s = program.services
    s.reachable.prepare = protocol.load
    return {server.FOLDER: server.app(s), gateway.FOLDER: gateway.app(s)}


async def _answers(program: Program) -> None:
    """On SQLite the engine has a file of its own, which does not go away."""
    if program.settings.database_url is not None:
        await program.services.store.read(lambda tx: tx.events.last_id())


def _engine_file(home: Path) -> Engine:
    path = home / "engine.db"
    path.touch(mode=0o600)
    # Every transaction takes the lock of the file, so that threads had better wait in line for the
    # one connection than ask for the lock again and again.
    return sqlite_engine(path, immediate=True)


def _least_room(configs: ConfigFiles) -> int:
    """Asked all the time, so that a broken file is not told of here."""
    try:
        return configs.config(None).limits.free_disk_mb
    except InvalidConfig:
        return LimitsConfig().free_disk_mb


def _cache_limits(configs: ConfigFiles) -> CacheLimits:
    rules = configs.retention()
    size = None if rules.setup_mb is None else rules.setup_mb * 1_000_000
    return CacheLimits(bytes=size, days=rules.setup_days)


async def _wake_on_change(program: Program, *wakes: Callable[[], None]) -> None:
    """Other processes write the same database; what they leave to do is noticed here."""
    async for _ in program.database.watch():
        for wake in wakes:
            wake()
        await program.database.check_schema()


def _others(settings: Settings, works: bool, engines: Engines) -> list[str]:
    """Who else works on the database: the server of its folder, or the machines that share it."""
    if engines.path is not None:
        live = not works and host.is_live(settings.home)
        return [f"a server of {settings.home}"] if live else []
    mine = host.executor_id(settings.home) if works else None
    return versions.machines(engines, mine=mine, dead_after=DEAD_AFTER)


@asynccontextmanager
async def _background(*work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Runs beside the body and ends with it; the body's own errors pass unchanged."""
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def _here(settings: Settings) -> Here | None:
    """None where the database is this machine's alone."""
    if settings.database_url is None:
        if settings.place != Place():
            raise InvalidInput(
                "A name, labels and a capacity are for machines that share a Postgres database;"
                " there is none (AM_DATABASE_URL)."
            )
        return None
    me = host.executor_id(settings.home)
    return Here(me, settings.home / "projects", settings.place.capacity)


def _services(
    settings: Settings, database: Database, redactor: Redactor, here: Here | None
) -> Services:
    clock, ids = SystemClock(), RandomIds()
    known = built_in.known(settings.plugins)
    configs = ConfigFiles(settings.home, known.adapters, shared=here is not None)
    tools = Tools(
        store=database, clock=clock, ids=ids, configs=configs, home=settings.home, here=here
    )
    keeper = Keeper(settings.home, configs.sandbox, LEVELS)
    keys = credentials.keys(database, configs)
    channels = _channels(known.adapters, tools, configs)
    checks = ProjectChecks(
        settings.working_folder / "checks",
        commits.export,
        commits.written,
        processes.kill_marked,
        keeper.command,
        redactor,
        adapters=known.adapters,
        reports=SandboxReports(sandbox_keeper.ended, keeper.refused_by),
        cache=SetupCache(settings.home / "setup", lambda: _cache_limits(configs)),
    )
    return Services(
        store=database,
        registry=known.registry,
        clock=clock,
        ids=ids,
        configs=configs,
        agents=AgentCatalog(known.adapters, configs.agents),
        workspaces=ChosenWorkspaces(
            settings.working_folder / "worktrees", keys, keeper.start_git_helper, keeper.owner
        ),
        copies=RemoteCopies(keys, _url_keys(configs)),
        forge=ChosenForges(known.adapters, tools),
        checks=checks,
        setup=SetupCommands(
            settings.home / "setup", keeper.command, checks.installer, redactor.text
        ),
        sandbox=keeper,
        variables=ServerVariables(redactor),
        ports=PortFiles(settings.home / "ports"),
        runners=DetachedRunners(
            secrets=redactor, lease=settings.home / lease.FILE if here else None
        ),
        channels=channels,
        browsers=cast("Callable[[], Browsers]", channels["push"]),
        redact=redactor.text,
        files=ProjectFiles(known.registry),
        templates=template.checked(built_in.texts("prompts", ".md"), "prompts"),
        built_in=known.adapters.pipelines,
        prices=_prices(),
        home=settings.home,
        here=here,
        jobs_dir=settings.home / "jobs",
        agent_homes_dir=settings.home / "agents",
        reachable=Reachable(),
        heartbeat=Heartbeat(),
        disk=FreeSpace(settings.home, lambda: _least_room(configs)),
    )


def files(settings: Settings) -> ConfigFiles:
    """The configuration where no database is opened."""
    return ConfigFiles(settings.home, built_in.known(settings.plugins).adapters)


def _channels(
    adapters: Adapters, tools: Tools, configs: ConfigFiles
) -> Mapping[str, Callable[[], Channel]]:
    """Each is built when it is switched on, once; what it lacks it says then."""
    return {
        name: cache(partial(_channel, name, kind, tools, configs))
        for name, kind in adapters.channels.items()
    }


def _channel(name: str, kind: ChannelKind, tools: Tools, configs: ConfigFiles) -> Channel:
    if kind.plugin is None:
        return kind.build(tools, lambda: configs.channel(name))
    with blaming(kind.plugin, InvalidConfig):
        made = kind.build(tools, lambda: configs.channel(name))
    return ChannelOfPlugin(kind.plugin, name, made)


def _url_keys(configs: ConfigFiles) -> UrlKeys:
    """The token is for addresses of GitHub as the user's own file has it, and reaches no other."""

    async def key(url: str) -> Key | None:
        base = configs.config(None).forge.base_url
        if credentials.repository_of(url, base) is None:
            return None
        token = await asyncio.to_thread(credentials.token)
        return Key(credentials.web(base), token) if token else None

    return key


def _prices() -> Prices:
    text = resources.files("agents_manager").joinpath("prices.json").read_text(encoding="utf-8")
    return PriceTable.model_validate_json(text).models


def _make_folders(settings: Settings) -> None:
    for folder in dict.fromkeys((settings.home, settings.working_folder)):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(
                f"Cannot create the folder {folder} ({error.strerror})."
                " Set AM_HOME to another folder."
            ) from None
