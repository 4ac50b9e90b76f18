"""The adapters that there are, by their names: what is built in, and what plugins bring."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from agents_manager.domain.task import Project
from agents_manager.flow.ports.agents import Agent
from agents_manager.flow.ports.channels import Channel
from agents_manager.flow.ports.checks import CheckSaid, CheckWork
from agents_manager.flow.ports.config_bases import AgentConfig, ChannelConfig
from agents_manager.flow.ports.configs import Configs
from agents_manager.flow.ports.forges import Forge, OutsideForge
from agents_manager.flow.ports.hosts import Here
from agents_manager.flow.ports.services import Clock, Ids
from agents_manager.flow.ports.stores import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What forges and channels are made with."""

    store: Store
    clock: Clock
    ids: Ids
    configs: Configs
    home: Path
    """The data directory."""
    here: Here | None
    """This machine, where several share the database."""


class RemoteForge(OutsideForge, Protocol):
    """A forge that is not this program."""

    async def trouble(self, project: Project) -> str | None:
        """What keeps it from working, with the way out, by looking alone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """`agents.<name>.adapter` of a configuration file."""

    config: type[AgentConfig]
    build: Callable[[str, Any], Agent]
    """Given the name and the settings of an agent."""
    profiles: tuple[str, ...] = ()
    """Names of agents that say their adapter and, with it, their `profile`."""
    plugin: str | None = None
    """Where it comes from; None of what is built in, here and below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeKind:
    """`forge.type`."""

    build: Callable[[Tools], Forge]
    settings: type[BaseModel] | None = None
    """The model of `forge.settings`."""
    plugin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelKind:
    """`notifications.<name>`."""

    config: type[ChannelConfig]
    build: Callable[[Tools, Callable[[], Any]], Channel]
    """Given what says its settings as they are at that time."""
    plugin: str | None = None


Check = Callable[[CheckWork], Awaitable[CheckSaid]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckKind:
    """`checks.<name>.kind`."""

    run: Check
    settings: type[BaseModel] | None = None
    """The model of `checks.<name>.settings`."""
    plugin: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Adapters:
    agents: Mapping[str, AgentKind] = field(default_factory=dict[str, AgentKind])
    forges: Mapping[str, ForgeKind] = field(default_factory=dict[str, ForgeKind])
    channels: Mapping[str, ChannelKind] = field(default_factory=dict[str, ChannelKind])
    checks: Mapping[str, CheckKind] = field(default_factory=dict[str, CheckKind])
    pipelines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Documents by their ids."""
    lost: str = ""
    """What is wrong with plugins that could not be used, in sentences. A name that nobody knows may
    be of one of them."""

    @cached_property
    def said_by_name(self) -> Mapping[str, Mapping[str, str]]:
        """What the name of an agent says by itself."""
        said = {name: {"adapter": name} for name in self.agents}
        for adapter, kind in self.agents.items():
            said |= {name: {"adapter": adapter, "profile": name} for name in kind.profiles}
        return said

    @cached_property
    def ready(self) -> Mapping[str, AgentConfig]:
        """Agents that need no configuration."""
        found: dict[str, AgentConfig] = {}
        for name, said in self.said_by_name.items():
            try:
                found[name] = self.agents[said["adapter"]].config.model_validate(said)
            except ValidationError:  # It has to be told something first.
                continue
        return found

    @cached_property
    def plugin_keys(self) -> frozenset[str]:
        """What agents of plugins can be told beyond what every agent can, in either notation."""
        return frozenset(
            key
            for kind in self.agents.values()
            if kind.plugin
            for name, told in kind.config.model_fields.items()
            if name not in AgentConfig.model_fields
            for key in (name, told.alias or name)
        )

    def missing(self, what: str) -> str:
        return f"{what} {self.lost}".strip()
