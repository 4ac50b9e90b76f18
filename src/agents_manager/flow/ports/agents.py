"""The programs that do the work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from agents_manager.domain.run import READ_ONLY_MODES, RUNS_COMMANDS, ErrorClass, Run, Usage
from agents_manager.domain.task import (
    Project,
    Task,
)
from agents_manager.flow.ports.engine import Job
from agents_manager.flow.ports.mcp_servers import ServerState
from agents_manager.flow.ports.workspaces import NOTHING, Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an agent's output amounts to."""

    final_text: str
    usage: Usage | None
    """None: unknown."""
    session: str | None
    session_lost: bool = False
    """Whether the session to go on with was gone, so that another was begun."""
    structured: Any = None
    """The outcome by the agent's native structured output, `{"outcome": …, "payload": …}`, as
    untrusted as its text; None where there is none."""
    error: str | None = None
    error_class: ErrorClass | None = None
    usage_refused: str | None = None
    """Why what it said about its usage is not believed."""
    model: str | None = None
    """The model that it says it asked."""
    complete: bool = True
    """Whether the last turn ended as the agent's own protocol says, rather than being cut off."""
    ends_clearly: bool = True
    """Whether the agent would have said that its last response was cut off or blocked. No outcome
    is inferred from the end of one that would not."""
    resets_at: datetime | None = None
    """With an error that comes from a limit: when that ends, where the provider says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """All that an agent adapter may know about the turn it is to take."""

    run: Run
    task: Task
    project: Project
    prompt: str
    number: int
    """1 for the run itself; more where the agent is asked again."""
    fix: int
    """The how many-th time it is asked to mend what failed checks found; 0: it is not."""
    visit: int
    """How many runs of this mode the task had before."""
    workspace: Path
    dir: Path
    """Of this turn alone: what the job brings along, what the agent said, how it ended."""
    home: Path
    """For what an agent keeps between the runs of a task, sessions above all. A job that wants it
    names it among its `folders`."""
    session: str | None
    """The session to go on with."""
    fresh_prompt: str
    """What is said instead of the prompt where that session is gone: all of it, with what was said
    before."""
    offered: Sequence[str] = ()
    """The outcomes that are possible."""
    reach: Reach = NOTHING
    """What its work in the workspace takes."""
    report: "Endpoint | None" = None
    """Where the agent can report its outcome while it runs; None where nobody listens."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The variables of the project's runs, also those that hold secrets."""
    gateway: "Endpoint | None" = None
    """Where it asks its model in the place of the provider, and the key for that; None: the
    provider itself, with the user's own."""

    @property
    def read_only(self) -> bool:
        return self.run.mode in READ_ONLY_MODES

    @property
    def only_reads(self) -> bool:
        """Whether it neither changes files nor runs the project."""
        return self.read_only and self.run.mode not in RUNS_COMMANDS

    @property
    def kept(self) -> bool:
        """Whether a sandbox of ours is around the agent."""
        return self.run.kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Something of ours, for one turn; the token opens nothing else."""

    url: str
    token: str
    takes_s: float = 60.0
    """How long it may take to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Where the model of an agent is, for agents that are not to know the key."""

    url: str
    """What stands before the path."""
    headers: Mapping[str, str] = field(repr=False)
    """With the key."""
    allows: Sequence[str]
    """What may be asked, as `POST /v1/messages`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an adapter's agent can do beyond running and printing."""

    resumes: bool = False
    """Go on with an earlier session."""
    structured_output: bool = False
    """Deliver its outcome as data that fits a schema."""
    mcp: bool = False
    """Call tools of ours while it runs."""
    reports_cost: bool = False
    """Say what a run cost."""
    read_only_modes: bool = False
    """Be kept from changing files in modes that only read."""
    harmless: bool = False
    """Do nothing but play a script of ours, so that nobody has to consent to it."""
    system_prompt: bool = False
    """Take what is added to its own system prompt; others are told it in the prompt."""
    interrupts: bool = False
    """End in order when asked politely, and say how far it got."""
    asks_permission: bool = False
    """Ask a person while it runs whether it may do something."""
    reads_instructions: bool = False
    """Read AGENTS.md in the workspace, which nothing keeps it from."""
    ignores_model: bool = False
    """Work without a model, or with one that cannot be chosen for a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether an agent could work here and now. Holds no secret: only whether there is one."""

    program: str | None = None
    """Where its program lies."""
    version: str | None = None
    missing: Sequence[str] = ()
    """What keeps it from working, each with the way to get it."""
    doubts: Sequence[str] = ()
    """What may keep it from working."""
    servers: Sequence[ServerState] = ()
    """Its MCP servers, if they were tried."""


class Meter(Protocol):
    """Listens to one turn for what it used so far."""

    def take(self, line: bytes) -> None: ...
    @property
    def usage(self) -> Usage | None:
        """None while nothing is known, and when it said what cannot be."""
        ...

    @property
    def model(self) -> str | None: ...


class Agent(Protocol):
    @property
    def capabilities(self) -> Capabilities: ...
    @property
    def system_prompt(self) -> str | None: ...
    @property
    def model(self) -> str | None:
        """The model that runs get which name none; None where the agent itself decides."""
        ...

    @property
    def how_to_end(self) -> str:
        """How the agent reports its outcome, as a part of its prompt; empty if it ends its final
        message with an outcome block."""
        ...

    def job(self, turn: Turn) -> Job:
        """What is to be started; InvalidInput when it cannot be."""
        ...

    def read(self, folder: Path) -> Said:
        """What the output in a job's directory amounts to, whatever it holds."""
        ...

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        """One line of output as messages for people: `assistant` and `output` with `text`,
        `tool_use` with `name` and `input`, `tool_result` with `name`, `ok` and the `text` that it
        returned (both with the `id` of the call, if the agent has one), `usage`, `result` with
        `text` or `error`."""
        ...

    def meter(self) -> Meter | None:
        """None where it tells only at its end what it used."""
        ...

    def provider(self) -> Provider | None:
        """Whom the gateway asks in its place; None where it asks its model itself. InvalidInput
        when it could not be asked."""
        ...

    def diagnose(self) -> Diagnosis:
        """What is there and what is missing, by looking; nothing is sent anywhere."""
        ...


class Agents(Protocol):
    def get(self, name: str, project: Project | None, settings: Mapping[str, Any] = ...) -> Agent:
        """The agent as the files configure it, but for the settings that are given."""
        ...

    async def try_servers(
        self, name: str, project: Project | None, variables: Mapping[str, str]
    ) -> Sequence[ServerState]:
        """Tries the MCP servers of an agent; starts those that are programs."""
        ...

    def known(self, project: Project | None) -> Mapping[str, Agent]:
        """Every agent by its name; without a project, those that every project has."""
        ...
