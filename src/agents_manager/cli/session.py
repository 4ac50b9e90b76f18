"""From a command line to the program: opens the database, says who asks, runs the command and
turns what was refused into a message and an exit code. Holds the only `asyncio.run`."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, TypeVar

import click

from agents_manager.cli.output import Output
from agents_manager.errors import AgentsManagerError, ProjectNotFound, StoreError, TaskInUse

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program
    from agents_manager.domain.ids import TaskId
    from agents_manager.domain.task import Actor, Project
    from agents_manager.flow.ports import Services, Tx

P = ParamSpec("P")
T = TypeVar("T")

IDLE = 'Recorded. Nothing will run until "am serve" is started.'


@dataclass(frozen=True, slots=True)
class Desk:
    """What a command works with."""

    program: "Program"
    actor: "Actor"
    output: Output

    @property
    def services(self) -> "Services":
        return self.program.services

    async def read(self, fn: "Callable[[Tx], T]") -> T:
        return await self.services.store.read(fn)

    async def write(self, fn: "Callable[[Tx], T]") -> T:
        return await self.services.store.write(fn)

    async def project(self, name: str | None) -> "Project":
        """The project that was named, else the one that the current folder belongs to."""
        if name is not None:
            return await self.read(lambda tx: tx.projects.find(name))
        found = await self.project_here()
        if found is None:
            raise ProjectNotFound(
                f'"{Path.cwd()}" belongs to no registered project; change to one,'
                ' name it with --project, or register this one with "am project add .".'
            )
        return found

    async def project_here(self) -> "Project | None":
        here = Path.cwd()
        projects = await self.read(lambda tx: tx.projects.all())
        around = [p for p in projects if here.is_relative_to(p.path)]
        if around or not projects:
            return max(around, key=lambda p: len(p.path), default=None)
        return await self._project_of_worktree(here)

    async def _project_of_worktree(self, here: Path) -> "Project | None":
        """Return the project that the current folder is another worktree of."""
        from agents_manager.flow import tasks

        if not any((folder / ".git").is_file() for folder in (here, *here.parents)):
            return None
        return await tasks.registered(self.services, here)

    async def say_if_idle(self, task_id: "TaskId") -> None:
        """Work was left for an engine, and none is there to do it."""
        if self.has_engine():
            return
        if await self.read(lambda tx: tx.effects.open(task_id) or tx.tasks.get(task_id).starts_at):
            self.output.say(IDLE)

    async def need_engine_to_stop(self, task_ids: "Iterable[TaskId]") -> None:
        """Refuses to wait for the end of a run that nobody would bring about."""
        if self.has_engine():
            return
        for task_id in task_ids:
            live = await self.read(lambda tx, t=task_id: tx.runs.live(t))
            begun = [run.id for run in live if run.started_at is not None]
            if begun:
                raise TaskInUse(
                    f'Nothing is there to stop run {begun[0]}; start "am serve", then try again.'
                )

    def has_engine(self) -> bool:
        """On Postgres it may be on another machine."""
        from agents_manager.engine import host

        settings = self.program.settings
        return settings.database_url is not None or host.is_live(settings.home)


def command(work: Callable[Concatenate[Desk, P], Awaitable[None]]) -> Callable[P, None]:
    """An async function as a command: it gets a desk, and the command an option `--json`."""

    @functools.wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        output = Output(as_json=bool(kwargs.pop("as_json")))
        run(output, lambda: _at_desk(output, lambda desk: work(desk, *args, **kwargs)))

    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(call)


def run(output: Output, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    try:
        asyncio.run(work())
    except AgentsManagerError as error:
        _refuse(output, error)
    except OSError as error:
        if error.filename is None:
            raise
        _refuse(output, StoreError(f'"{error.filename}" cannot be used: {error.strerror}.'))
    except BaseExceptionGroup as group:
        _refuse(output, _first(group))


def keep_quiet() -> None:
    """What a command says is its result alone."""
    from agents_manager import environment, log

    log.configure(json=False, level="error", redactor=environment.redactor())


async def _at_desk(output: Output, work: Callable[[Desk], Awaitable[None]]) -> None:
    from agents_manager import bootstrap, settings
    from agents_manager.domain.task import Actor, ActorType

    keep_quiet()
    actor = Actor(type=ActorType.USER, name=settings.user_name(), via="cli", admin=True)
    async with bootstrap.client(settings.from_environment()) as program:
        await work(Desk(program, actor, output))


def _first(group: BaseExceptionGroup[BaseException]) -> AgentsManagerError:
    """The error that ended things running side by side; others only followed."""
    refused, others = group.split(AgentsManagerError)
    if refused is None:
        assert others is not None
        raise others
    error = refused.exceptions[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, AgentsManagerError)
    return error


def _refuse(output: Output, error: AgentsManagerError) -> NoReturn:
    output.fail(error)
    raise click.exceptions.Exit(1)
