"""The PATH of the user's login shell, where package managers put the programs of agents. Start-up
files of shells print, start programs and hang; none of that may reach a run."""

import os
import pwd
import secrets
import select
import signal
import subprocess
import time
from contextlib import suppress
from functools import cache

PATIENCE_S = 5.0
MAX_BYTES = 1024 * 1024
KEPT = ("HOME", "USER", "LOGNAME", "LANG")
WAYS = (("-l", "-i", "-c"), ("-l", "-c"))
"""Many set their PATH in files that only an interactive shell reads; where one hangs, a plain login
shell is asked."""


@cache
def path() -> str:
    """Asked once in the life of a process. What only our own PATH has comes last."""
    return search_path(os.environ.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell)


def search_path(shell: str, *, patience_s: float = PATIENCE_S) -> str:
    """The folders in order, absolute ones only: others would be looked for in the worktree."""
    found = next((p for way in WAYS if (p := _ask([shell, *way], patience_s))), "")
    folders = f"{found}:{os.environ.get('PATH', os.defpath)}".split(":")
    return ":".join(dict.fromkeys(f for f in folders if f.startswith("/")))


def _ask(shell: list[str], patience_s: float) -> str | None:
    mark = secrets.token_hex(16)
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    try:
        process = subprocess.Popen(
            [*shell, f"echo {mark}; printenv PATH; echo {mark}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=env | {"SHELL": shell[0], "TERM": "dumb", "PATH": os.defpath},
            start_new_session=True,
        )
    except OSError:
        return None
    assert process.stdout is not None
    try:
        return _between(process.stdout.fileno(), mark.encode(), patience_s)
    finally:
        # The group goes in any case, and so do those who would hold the pipe.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def _between(fd: int, mark: bytes, patience_s: float) -> str | None:
    """The one line between the marks; None when it did not come in time."""
    deadline = time.monotonic() + patience_s
    said = b""
    while len(said) < MAX_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None
        piece = os.read(fd, 64 * 1024)
        said += piece
        parts = said.split(mark + b"\n")
        if len(parts) == 3:
            return parts[1].strip().decode(errors="replace")
        if not piece:
            return None
    return None
