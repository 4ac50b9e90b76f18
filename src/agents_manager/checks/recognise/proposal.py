"""What recognisers return: set-up commands and checks, with the reason for each."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """The programs that checks can start on this machine."""

    versions: Mapping[str, Version | None] = field(default_factory=dict[str, "Version | None"])
    """By the name of the program; None if it does not say its version."""
    broken: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a program on PATH printed that does not start, by its name."""

    def has(self, program: str) -> bool:
        return program in self.versions

    def version(self, program: str) -> Version | None:
        return self.versions.get(program)


@dataclass(frozen=True, slots=True)
class Source:
    """The place in the repository that a proposal is based on."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ProposedCheck:
    name: str
    command: str
    source: Source
    reason: str = ""
    """What the source says, for example the script that the command runs."""


@dataclass(frozen=True, slots=True)
class MissingTool:
    """A program that the repository needs and that checks cannot start on this machine."""

    program: str
    install: str
    """A sentence that says how to get it."""
    fallback: str = ""
    """The program that the proposed commands use instead; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The set-up and checks of one ecosystem in one folder."""

    ecosystem: str
    folder: str = ""
    source: Source
    setup: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] = ()
    """The files that decide whether set-up must run again."""
    checks: tuple[ProposedCheck, ...] = ()
    build_output: tuple[str, ...] = ()
    """The folders that set-up and checks create."""
    suffixes: tuple[str, ...] = ()
    """How source files of this ecosystem end."""
    missing: tuple[MissingTool, ...] = ()
    notes: tuple[str, ...] = ()
    """Conflicts and doubts, each a sentence."""
    suggested: bool = True
    """Whether it is used unless a person decides otherwise; the notes say why not."""

    @property
    def blockers(self) -> list[MissingTool]:
        """The missing programs that nothing replaces."""
        return [tool for tool in self.missing if not tool.fallback]

    @property
    def title(self) -> str:
        return f"{self.ecosystem} in {self.folder}" if self.folder else self.ecosystem


_COMPARISON = re.compile(r"(>=|<=|==|~=|!=|>|<|\^|~|=)?\s*v?(\d+(?:\.(?:\d+|[*x]))*)")


def satisfies(version: Version, requirement: str) -> bool:
    """Whether a version meets a requirement such as ">=3.10,<4", "^20 || >=22" or "20.x".

    Parts that are not understood are taken as met.
    """
    plain = re.sub(r"(\S+)\s+-\s+(\S+)", r">=\1 <=\2", requirement)
    return any(_meets_all(version, option) for option in plain.split("||"))


def _meets_all(version: Version, option: str) -> bool:
    return all(_meets(version, sign or "=", bound) for sign, bound in _COMPARISON.findall(option))


def _meets(version: Version, sign: str, bound: str) -> bool:
    wanted = tuple(int(part) for part in bound.split(".") if part.isdigit())
    here = version[: len(wanted)] + (0,) * (len(wanted) - len(version))
    match sign:
        case ">=":
            return here >= wanted
        case ">":
            return here > wanted
        case "<=":
            return here <= wanted
        case "<":
            return here < wanted
        case "==" | "=":
            return here == wanted
        case "!=":
            return here != wanted
        case "^":
            return here >= wanted and here[0] == wanted[0]
        case "~":
            return here >= wanted and here[:2] == wanted[:2]
        case _:  # "~=": all parts but the last are fixed.
            fixed = max(len(wanted) - 1, 1)
            return here >= wanted and here[:fixed] == wanted[:fixed]


def shown(version: Version) -> str:
    return ".".join(map(str, version))


def in_folder(folder: str, commands: Sequence[str]) -> tuple[str, ...]:
    """Returns the commands as they are run from the top of the repository."""
    return tuple(f"cd {shlex.quote(folder)} && {c}" if folder else c for c in commands)
