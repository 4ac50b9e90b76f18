"""What Codex's own sandbox allows to the commands it runs, as one of its permission profiles."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agents_manager.agents import environment
from agents_manager.flow.ports import Turn

PROFILE = "agents_manager"
READ, WRITE, DENY = "read", "write", "deny"
SEEN = (
    *("PATH", "TERM", "GIT_*", "AM_TASK_ID", "AM_RUN_ID", "AM_MODE", "AM_PROMPT_FILE"),
    *environment.KEPT,
)
"""The variables that commands see: none that holds a key."""

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
"""What leads out of our sandbox."""


def settings(turn: Turn, scratch: Path, hidden: Iterable[Path]) -> dict[str, Any]:
    """Settings that nothing else may change. Commands have no network and see none of the
    environment but the basics."""
    if turn.kept:
        # One sandbox cannot be made inside of the other.
        return {
            "approval_policy": "never",
            "sandbox_mode": "danger-full-access",
            "shell_environment_policy": _seen(*PROXIES),
        }
    rules: dict[str, Any] = {":root": READ}
    rules |= {str(path.resolve()): DENY for path in hidden if path.exists()}
    if not turn.read_only:
        rules[":workspace_roots"] = {".": WRITE, ".git": READ, ".codex": READ}
        rules[str(scratch)] = WRITE
        rules |= {str(path): WRITE for path in turn.reach.writes if path != turn.workspace}
        rules |= {str(path): READ for path in _led(turn)}
    return {
        "approval_policy": "never",
        "default_permissions": PROFILE,
        f"permissions.{PROFILE}.filesystem": rules,
        "shell_environment_policy": _seen(),
    }


def _seen(*more: str) -> dict[str, Any]:
    return {"inherit": "all", "include_only": [*SEEN, *more]}


def _led(turn: Turn) -> list[Path]:
    """What must stay as it is inside of what may be written."""
    writes = turn.reach.writes
    return [path for path in turn.reach.reads if any(path.is_relative_to(w) for w in writes)]
