"""All parts together, and the small ones of the outside."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from agents_manager.domain.cost import Prices
from agents_manager.domain.registry import Registry
from agents_manager.flow.ports.agents import Agents
from agents_manager.flow.ports.channels import Browsers, Channel
from agents_manager.flow.ports.checks import Checks, Setup
from agents_manager.flow.ports.configs import Configs, ProjectFiles
from agents_manager.flow.ports.copies import Copies
from agents_manager.flow.ports.engine import EngineRows, Runners
from agents_manager.flow.ports.forges import Forges
from agents_manager.flow.ports.hosts import Here
from agents_manager.flow.ports.sandbox import Sandbox
from agents_manager.flow.ports.stores import Store
from agents_manager.flow.ports.traces import UNTOLD, Traces
from agents_manager.flow.ports.variables import PortBlocks, Variables
from agents_manager.flow.ports.workspaces import Workspaces


class Clock(Protocol):
    def now(self) -> datetime: ...


class Ids(Protocol):
    def new(self) -> str: ...


class Disk(Protocol):
    def shortage(self) -> str | None:
        """Why no agent may be started now, in a sentence; None while there is room."""
        ...

    def free_mb(self) -> int: ...


@dataclass(slots=True)
class Reachable:
    """Where this process answers HTTP; None while it does not."""

    url: str | None = None
    prepare: Callable[[], Awaitable[None]] | None = None
    """Has it ready to answer an agent at once: some do not wait for a tool at their start."""


@dataclass(slots=True)
class Heartbeat:
    """When the engine of this process last looked for work, on the clock of its loop; None where
    none runs."""

    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts a program of any size has; a client has no use for the later ones."""

    store: Store
    registry: Registry
    clock: Clock
    ids: Ids
    configs: Configs
    agents: Agents
    workspaces: Workspaces
    copies: Copies
    forge: Forges
    checks: Checks
    setup: Setup
    runners: Runners
    sandbox: Sandbox
    variables: Variables
    ports: PortBlocks
    channels: Mapping[str, Callable[[], Channel]]
    """By name; InvalidConfig where one is not set up."""
    redact: Callable[[str], str]
    """Takes the secrets that are known out of a text."""
    browsers: Callable[[], Browsers]
    """InvalidConfig where what it takes is not installed."""
    files: ProjectFiles
    templates: Mapping[str, str]
    """Prompt texts by name."""
    built_in: Mapping[str, Mapping[str, Any]]
    """Documents of the pipelines that come with the product, by id."""
    prices: Prices
    """Those that come with the product."""
    home: Path
    """The data directory."""
    here: Here | None
    """This machine, where several share the database."""
    jobs_dir: Path
    agent_homes_dir: Path
    reachable: Reachable
    heartbeat: Heartbeat
    disk: Disk
    traces: Traces = UNTOLD
    engine: EngineRows | None = None
    """What the engine remembers; None where no engine runs."""
