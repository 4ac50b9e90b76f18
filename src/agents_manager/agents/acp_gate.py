"""What an agent may do that asks before it does it. As for Claude Code: in the workspace what the
mode allows, elsewhere nothing, unless a person says so. It is no sandbox: not every agent asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from agents_manager.agents import bounds
from agents_manager.domain.run import RUNS_COMMANDS

READS = ("read", "search", "think", "fetch")
CHANGES = ("edit", "delete", "move")
COMMAND = "execute"
SWITCH = "switch_mode"
OUR_TOOLS = (
    *("report_outcome", "ask_human", "save_handoff", "search_knowledge", "propose_split"),
    "request_loop_back",
)


class Policy(StrEnum):
    WORKSPACE = "workspace"
    """What stays in the workspace is allowed, and a person is asked for the rest."""
    ASK = "ask"
    """A person is asked for every change and every command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    workspace: Path
    mode: str
    read_only: bool
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What an agent asks for; all of it is its own word."""

    kind: str
    title: str
    paths: Sequence[str] = ()


class Ruling(StrEnum):
    ALLOWED = "allowed"
    REFUSED = "refused"
    ASKED = "asked"


def rule(wish: Wish, rules: Rules) -> tuple[Ruling, str]:
    """And why, in words for the agent or for the person who is asked."""
    if wish.kind in READS or (
        wish.kind == "other" and any(tool in wish.title for tool in OUR_TOOLS)
    ):
        return Ruling.ALLOWED, ""
    if wish.kind == SWITCH:
        return Ruling.REFUSED, "The mode of a session is set by the run."
    if rules.read_only and not (wish.kind == COMMAND and rules.mode in RUNS_COMMANDS):
        return Ruling.REFUSED, f'A run in the mode "{rules.mode}" only reads.'
    if wish.kind in CHANGES:
        return _change(wish, rules)
    if rules.policy is Policy.ASK:
        return Ruling.ASKED, "Every command and every change is asked for."
    if wish.kind == COMMAND:
        return Ruling.ALLOWED, ""
    return Ruling.ASKED, "It is not known what this does."


def _change(wish: Wish, rules: Rules) -> tuple[Ruling, str]:
    why = [outside(path, rules.workspace) for path in wish.paths]
    found = next((reason for reason in why if reason), None)
    if found:
        return Ruling.ASKED, found
    if not wish.paths:
        return Ruling.ASKED, "It does not say which file it would change."
    if rules.policy is Policy.ASK:
        return Ruling.ASKED, "Every command and every change is asked for."
    return Ruling.ALLOWED, ""


def outside(path: str, workspace: Path) -> str | None:
    """Why a file is not to be written; None for one in the workspace that is not git's own."""
    place = path if path.startswith("/") else str(workspace / path)
    return bounds.unwritable(place, workspace)
