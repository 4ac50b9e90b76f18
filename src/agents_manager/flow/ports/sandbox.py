"""What keeps agents, and what they wrote, apart from the rest of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agents_manager.flow.ports.agents import Turn
from agents_manager.flow.ports.engine import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How well agents are kept here."""

    level: str
    """`S3`, `S2`, `S1`, or `none` where nothing keeps them."""
    why: str
    """In a sentence."""
    way_out: str = ""
    required: bool = False
    """Whether nothing may be started that is kept less than this: it was asked for by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort:
    """What the sandbox did to a job."""

    kind: Literal["limit", "failed"]
    """A limit ended it, or there was no sandbox to start it in."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A connection that the sandbox refused."""

    place: str
    """`host:port`, on one line. It is the agent's word."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    refused: Sequence[Refusal] = ()
    more: int = 0
    """How many others there were."""
    allow: str = ""
    """The command that allows them from now on; empty if no setting does."""


class Sandbox(Protocol):
    def keeping(self) -> Keeping:
        """As it is configured, and as trying it shows. May take half a second the first time."""
        ...

    def job(self, job: Job, turn: Turn) -> Job:
        """The same job in the sandbox."""
        ...

    def cut_short(self, dir: Path) -> CutShort | None:
        """Whether the sandbox ended the job of this directory."""
        ...

    def refusals(self, dir: Path, complaints: str) -> Refusals:
        """Return the connections that the ended job of this directory was refused, given what it
        printed as errors."""
        ...
