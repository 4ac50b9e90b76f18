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
LINKS = ("HEAD", "commondir", "config.worktree", "gitdir")
"""Of a worktree's own part of the repository: where it belongs, and which branch it is on."""


def settings(turn: Turn, scratch: Path, hidden: Iterable[Path]) -> dict[str, Any]:
    """Settings that nothing else may change. Commands have no network and see none of the
    environment but the basics."""
    rules: dict[str, Any] = {":root": READ}
    rules |= {str(path.resolve()): DENY for path in hidden if path.exists()}
    if not turn.read_only:
        rules[":workspace_roots"] = {".": WRITE, ".git": READ, ".codex": READ}
        rules[str(scratch)] = WRITE
        rules |= _committing(turn)
    return {
        "approval_policy": "never",
        "default_permissions": PROFILE,
        f"permissions.{PROFILE}.filesystem": rules,
        "shell_environment_policy": {"inherit": "all", "include_only": list(SEEN)},
    }


def _committing(turn: Turn) -> dict[str, str]:
    """What a commit writes: objects, the branch, and the worktree's index and logs. Hooks,
    configuration and other branches stay as they are; so does what leads git elsewhere."""
    own = _own_folder(turn.workspace)
    if own is None:
        return {}
    common = own.parent.parent
    branch = Path("refs/heads") / (turn.run.branch or "")
    rules = {str(common / "objects"): WRITE, str(common / "objects/info"): READ, str(own): WRITE}
    rules |= {str(own / name): READ for name in LINKS}
    if branch.parent == Path("refs/heads"):
        return rules  # Git locks a branch beside it, and beside this one lie all the others.
    for folder in (common / branch.parent, common / "logs" / branch.parent):
        folder.mkdir(parents=True, exist_ok=True)
        rules[str(folder)] = WRITE
    return rules


def _own_folder(workspace: Path) -> Path | None:
    """The worktree's own folder in its repository, if the two name each other."""
    try:
        named = (workspace / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        own = Path(named)
        back = (own / "gitdir").read_text(encoding="utf-8").strip()
        agree = Path(back).samefile(workspace / ".git") and own.parent.name == "worktrees"
    except (OSError, UnicodeDecodeError):
        return None
    return own if agree else None
