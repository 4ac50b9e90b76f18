"""Adapters of plugins, as the flow sees them: what goes wrong in one carries the plugin's name, and
fails what was asked of it alone."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import structlog

from agents_manager.domain.card import Card
from agents_manager.domain.comment import Comment
from agents_manager.domain.names import visible
from agents_manager.domain.run import ErrorClass, Usage
from agents_manager.domain.task import MergeMethod, Project, PullRequest, Task
from agents_manager.errors import (
    AgentsManagerError,
    ChannelDown,
    InvalidConfig,
    PluginFailed,
)
from agents_manager.flow.ports import (
    Agent,
    Capabilities,
    Channel,
    Conflicted,
    Desk,
    Diagnosis,
    Job,
    Merged,
    Meter,
    OwnReview,
    Provider,
    RemoteForge,
    Said,
    Sighting,
    Turn,
)

log = structlog.get_logger()

MAX_ERROR = 500
T = TypeVar("T")


def sentence(plugin: str, error: Exception) -> str:
    what = f"{type(error).__name__}: {error}"
    told = error.message if isinstance(error, AgentsManagerError) else what
    return visible(f"The plugin {plugin} failed: {told}", MAX_ERROR)


@contextmanager
def blaming(plugin: str, kind: type[AgentsManagerError]) -> Generator[None]:
    """Errors of our own are told as they are: a plugin may raise what its port names."""
    try:
        yield
    except AgentsManagerError:
        raise
    except Exception as error:
        raise kind(sentence(plugin, error)) from error


class LostAgent:
    """An agent that cannot work, and says why."""

    capabilities = Capabilities()
    system_prompt = None
    model = None
    how_to_end = ""

    def __init__(self, why: str) -> None:
        self._why = why

    def job(self, turn: Turn) -> Job:
        raise InvalidConfig(self._why)

    def read(self, folder: Path) -> Said:
        return _failed(self._why)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return ()

    def meter(self) -> None:
        return None

    def provider(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        return Diagnosis(missing=(self._why,))


class AgentOfPlugin:
    def __init__(self, plugin: str, agent: Agent) -> None:
        self._plugin = plugin
        self._agent = agent
        self.capabilities = agent.capabilities
        self.system_prompt = agent.system_prompt
        self.model = agent.model
        self.how_to_end = agent.how_to_end

    def job(self, turn: Turn) -> Job:
        with blaming(self._plugin, InvalidConfig):
            return self._agent.job(turn)

    def read(self, folder: Path) -> Said:
        return self._or(lambda: self._agent.read(folder), _failed)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return self._or(lambda: self._agent.parse(line), lambda why: [_told(why)])

    def meter(self) -> Meter | None:
        def built() -> Meter | None:
            found = self._agent.meter()
            return found and MeterOfPlugin(self._plugin, found)

        return self._or(built, lambda _: None)

    def provider(self) -> Provider | None:
        with blaming(self._plugin, InvalidConfig):
            return self._agent.provider()

    def diagnose(self) -> Diagnosis:
        return self._or(lambda: self._agent.diagnose(), lambda why: Diagnosis(missing=(why,)))

    def _or(self, do: Callable[[], T], instead: Callable[[str], T]) -> T:
        try:
            return do()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            why = sentence(self._plugin, error)
            log.warning("plugin.failed", plugin=self._plugin, reason=why)
            return instead(why)


class MeterOfPlugin:
    """Of one that raises nothing more is known."""

    usage: Usage | None = None
    model: str | None = None

    def __init__(self, plugin: str, meter: Meter) -> None:
        self._plugin = plugin
        self._meter: Meter | None = meter

    def take(self, line: bytes) -> None:
        if self._meter is None:
            return
        try:
            self._meter.take(line)
            self.usage, self.model = self._meter.usage, self._meter.model
        except Exception as error:  # noqa: BLE001 - the run goes on
            log.warning("plugin.failed", plugin=self._plugin, reason=sentence(self._plugin, error))
            self._meter = self.usage = None


def _failed(why: str) -> Said:
    crash = ErrorClass.CRASH
    return Said(final_text="", usage=None, session=None, error=why, error_class=crash)


def _told(why: str) -> Mapping[str, Any]:
    return {"type": "output", "text": why}


class ForgeOfPlugin:
    def __init__(self, plugin: str, forge: RemoteForge) -> None:
        self._plugin = plugin
        self._forge = forge

    async def trouble(self, project: Project) -> str | None:
        try:
            return await self._forge.trouble(project)
        except Exception as error:  # noqa: BLE001 - it is a trouble
            return sentence(self._plugin, error)

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        with blaming(self._plugin, PluginFailed):
            return await self._forge.publish(project, task, branch, base, title, body)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        with blaming(self._plugin, PluginFailed):
            return await self._forge.merge(project, pull, head_sha, method)

    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        with blaming(self._plugin, PluginFailed):
            return await self._forge.comments(project, pull)

    async def look(self, project: Project, pull: PullRequest) -> Sighting:
        with blaming(self._plugin, PluginFailed):
            return await self._forge.look(project, pull)

    async def mirror(self, project: Project, pull: PullRequest, review: OwnReview) -> None:
        with blaming(self._plugin, PluginFailed):
            await self._forge.mirror(project, pull, review)


class ChannelOfPlugin:
    def __init__(self, plugin: str, name: str, channel: Channel) -> None:
        self._plugin = plugin
        self._channel = channel
        self.name = name

    def places(self) -> Sequence[str]:
        with blaming(self._plugin, ChannelDown):
            return self._channel.places()

    async def send(self, place: str, card: Card) -> str:
        with blaming(self._plugin, ChannelDown):
            return await self._channel.send(place, card)

    async def update(self, place: str, message: str, card: Card) -> None:
        with blaming(self._plugin, ChannelDown):
            await self._channel.update(place, message, card)

    async def check(self) -> str:
        with blaming(self._plugin, ChannelDown):
            return await self._channel.check()

    async def listen(self, desk: Desk) -> None:
        with blaming(self._plugin, ChannelDown):
            await self._channel.listen(desk)
