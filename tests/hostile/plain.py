"""Plain git as its user would run it in an agent's workspace, and programs that tell on
themselves."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.repos import executable


def canary(folder: Path, name: str) -> Path:
    """A program that tells on itself, and hands on what it is given."""
    stem = name.replace(" ", "-").replace(".", "-")
    return executable(folder / f"{stem}.sh", f"touch '{folder / stem}.ran'; exec timeout 1 cat")


def ran(folder: Path) -> set[str]:
    return {file.stem for file in folder.glob("*.ran")}


def forget(folder: Path) -> None:
    """While it planted them, the agent's own git fell for those that were there already."""
    for told in folder.glob("*.ran"):
        told.unlink()


def plain_git(tree: Path, orders: Sequence[Sequence[str]]) -> None:
    asked = b"protocol=https\nhost=example.org\n\n"
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "TERM": "xterm"}
    for name in ("GIT_EDITOR", "VISUAL", "EDITOR", "GIT_ASKPASS", "SSH_ASKPASS"):
        env.pop(name, None)
    for order in orders:
        command = ["git", "-C", str(tree), *order]
        subprocess.run(command, input=asked, env=env, capture_output=True, check=False, timeout=30)
