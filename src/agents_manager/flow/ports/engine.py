"""What makes steps durable and owns the processes of agents."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from agents_manager.domain.ids import EffectId, RunId
from agents_manager.domain.run import Limits
from agents_manager.flow.ports.stores import T


class Steps(Protocol):
    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        """A small JSON value, kept once done."""
        ...


class EngineRows(Protocol):
    async def ended(self, before: datetime, limit: int) -> list[str]:
        """Workflows that were over before a time, the oldest first."""
        ...

    async def forget(self, workflows: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What an agent has to reach in a sandbox, beside its workspace, its home and its job."""

    programs: Sequence[str] = ()
    """Programs that it starts besides its own."""
    logins: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    """Files with its login, by the places where it looks for them."""
    settings: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    """Files that it reads and must not change, likewise."""
    hosts: Sequence[str] = ()
    """Names in the network, exact or as `*.example.com`."""
    addresses: Sequence[str] = ()
    """URLs that were configured, of a model server above all; they may be of this machine."""
    shown: Sequence[Path] = ()
    """Folders that are shown to it while they are filled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the detached runner starts. The directory is the job's identity: starting the same
    directory twice never starts a second process."""

    dir: Path
    run_id: RunId
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: str
    files: Mapping[str, str]
    """Further files of the job directory, by name, written before the start."""
    limits: Limits
    folders: Sequence[Path] = ()
    """Folders that must be there before the start. The agent may write to them."""
    system_prompt: str = ""
    """What is added to the agent's own system prompt, kept beside the prompt."""
    stop_signal: Literal["SIGTERM", "SIGINT"] = "SIGTERM"
    """What asks the agent politely to end."""
    needs: Needs = Needs()
    secrets: Sequence[str] = field(default=(), repr=False)
    """Values to keep out of what it prints, beside those that its environment names as secrets."""
    sandbox: Path | None = None
    """The description of the sandbox that the runner itself starts and supervises, instead of
    `argv`; None where `argv` starts it, or where there is none."""
    program: str = ""
    """The program of the agent, where the adapter knows it."""
    program_version: str | None = None
    turn_type: str = "assistant"
    """The `type` of the messages on its output that count as a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a job ended."""

    reason: str
    """`exited`, `timeout`, `stalled`, `turns` when it took too many, `cancelled`, `budget`,
    `paused` when it did not end though its run pauses, `interrupted` when the machine was cut off
    from the database, `lost` when the runner itself was killed, or `refused` when it could not read
    its job."""
    exit_code: int | None
    output_bytes: int
    truncated: bool


StopReason = Literal["cancelled", "timeout", "stalled", "budget", "interrupted", "paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """A job that goes on."""

    limits: Limits
    output_bytes: int
    age_s: float = 0.0
    """Since it was begun."""


class Runners(Protocol):
    async def adopt(self, dir: Path) -> bool:
        """Whether the directory has or had a runner already, so that nothing is to be started."""
        ...

    async def start_or_adopt(self, job: Job) -> None: ...
    async def wait(self, dir: Path) -> Ended: ...
    async def stop(self, dir: Path, reason: StopReason = "cancelled") -> None:
        """Ends the job and returns when none of its processes is left."""
        ...

    async def at_work(self, jobs: Path) -> list[Path]:
        """The directories, of those two below `jobs`, that have a runner."""
        ...

    async def pulse(self, dir: Path) -> Pulse | None:
        """None when no runner is at work there."""
        ...


Perform = Callable[[EffectId, int, Steps], Awaitable[None]]
