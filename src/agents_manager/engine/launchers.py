"""The programs that keep a server or a worker going for its user: systemd's user manager on Linux,
launchd on macOS. Both are asked by their own programs."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agents_manager.engine import units
from agents_manager.engine.units import Unit
from agents_manager.errors import AgentsManagerError

LINE = 2000
"""Bytes of a long one."""
PATIENCE_S = 90
"""Longer than a stop may take."""


class LauncherFailed(AgentsManagerError):
    """The program that keeps services going refused."""


@dataclass(frozen=True, slots=True)
class State:
    enabled: bool
    """It starts by itself."""
    running: bool
    pid: int | None
    says: str
    """In the words of the launcher."""


class Launcher(Protocol):
    @property
    def log_command(self) -> str:
        """How its log is read; takes the name of the unit."""
        ...

    def path(self, name: str) -> Path: ...
    def text(self, unit: Unit) -> str: ...
    def check(self) -> None:
        """LauncherFailed where it cannot be used."""
        ...

    def start(self, name: str) -> None:
        """From the file as it is now, also where another ran before; and at every start of the
        session from now on."""
        ...

    def stop(self, name: str) -> None: ...
    def forget(self, name: str) -> None:
        """After its file was removed."""
        ...

    def state(self, name: str) -> State: ...
    def log(self, name: str, most: int) -> str:
        """Its last lines; nothing where there are none."""
        ...

    def note(self) -> str | None:
        """What the user has to know about when it runs."""
        ...


class Systemd:
    log_command = "journalctl --user -u {name}"

    def __init__(self, config: Path) -> None:
        self._folder = config / "systemd" / "user"

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.service"

    def text(self, unit: Unit) -> str:
        return units.systemd(unit)

    def check(self) -> None:
        _program(
            "systemctl",
            'This machine has no systemd; have "am serve" started by what it has instead.',
        )
        self._systemctl("show-environment", trouble=_no_session)

    def start(self, name: str) -> None:
        self._systemctl("daemon-reload")
        self._systemctl("enable", f"{name}.service")
        self._systemctl("restart", f"{name}.service")

    def stop(self, name: str) -> None:
        self._systemctl("disable", "--now", f"{name}.service")

    def forget(self, name: str) -> None:
        self._systemctl("daemon-reload")

    def state(self, name: str) -> State:
        wanted = ("UnitFileState", "ActiveState", "SubState", "MainPID", "NRestarts")
        asked = [f"--property={one}" for one in wanted]
        told = self._systemctl("show", f"{name}.service", *asked)
        found: dict[str, str] = {}
        for line in told.splitlines():
            name, _, value = line.partition("=")
            found[name] = value
        active = found.get("ActiveState", "unknown")
        restarts = found.get("NRestarts", "0")
        again = f", started again {restarts} times" if restarts not in ("", "0") else ""
        return State(
            enabled=found.get("UnitFileState") == "enabled",
            running=active == "active",
            pid=int(found.get("MainPID") or 0) or None,
            says=f"{active} ({found.get('SubState', 'unknown')}){again}",
        )

    def log(self, name: str, most: int) -> str:
        if shutil.which("journalctl") is None:
            return ""
        wanted = ("--user", "--unit", name, "--lines", str(most), "--output", "cat", "--no-pager")
        return _run("journalctl", *wanted).stdout

    def note(self) -> str | None:
        user = str(os.getuid())
        if shutil.which("loginctl") is None:
            return None
        told = _run("loginctl", "show-user", user, "--property=Linger")
        if told.returncode == 0 and told.stdout.strip() == "Linger=yes":
            return None
        return (
            "It starts when you log in and ends when you log out. To have it run from the start of"
            " the machine on: loginctl enable-linger"
        )

    def _systemctl(self, *args: str, trouble: Callable[[str], str] | None = None) -> str:
        return _asked("systemctl", "--user", *args, trouble=trouble)


def _no_session(said: str) -> str:
    return (
        f"The user manager of systemd cannot be reached ({said}). Log in as this user, not by su or"
        ' sudo; on a machine without log-ins: "loginctl enable-linger", then log in again.'
    )


_PID = re.compile(r"^\s*pid = (\d+)$", re.M)
_STATE = re.compile(r"^\s*state = (.+)$", re.M)


class Launchd:
    def __init__(self, home: Path, log: Path) -> None:
        self._folder = home / "Library" / "LaunchAgents"
        self._domain = f"gui/{os.getuid()}"
        self._log = log
        self.log_command = f"tail {log}"

    def path(self, name: str) -> Path:
        return self._folder / f"{name}.plist"

    def text(self, unit: Unit) -> str:
        return units.launchd(unit)

    def check(self) -> None:
        _program("launchctl", "This machine has no launchd.")

    def start(self, name: str) -> None:
        if self._printed(name) is not None:
            _asked("launchctl", "bootout", f"{self._domain}/{name}")
        _asked("launchctl", "enable", f"{self._domain}/{name}")
        _asked("launchctl", "bootstrap", self._domain, str(self.path(name)))

    def stop(self, name: str) -> None:
        if self._printed(name) is not None:
            _asked("launchctl", "bootout", f"{self._domain}/{name}")

    def forget(self, name: str) -> None:
        """It does not look at the folder before the next log-in."""

    def state(self, name: str) -> State:
        told = self._printed(name)
        if told is None:
            return State(enabled=False, running=False, pid=None, says="not loaded")
        pid, state = _PID.search(told), _STATE.search(told)
        says = state[1] if state else "unknown"
        running = says == "running"
        return State(enabled=True, running=running, pid=int(pid[1]) if pid else None, says=says)

    def log(self, name: str, most: int) -> str:
        """Server and worker of a data directory never run beside each other, and write one file."""
        if not self._log.is_file():
            return ""
        with self._log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most * LINE))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-most:])

    def note(self) -> str | None:
        return "It starts when you log in and ends when you log out."

    def _printed(self, name: str) -> str | None:
        told = _run("launchctl", "print", f"{self._domain}/{name}")
        return told.stdout if told.returncode == 0 else None


def _program(name: str, otherwise: str) -> None:
    if shutil.which(name) is None:
        raise LauncherFailed(otherwise)


def _asked(*argv: str, trouble: Callable[[str], str] | None = None) -> str:
    ran = _run(*argv)
    if ran.returncode != 0:
        said = " ".join((ran.stderr or ran.stdout).split())[:500]
        said = said.removesuffix(".") or f"exit code {ran.returncode}"
        told = trouble(said) if trouble else f'"{" ".join(argv)}" failed: {said}.'
        raise LauncherFailed(told)
    return ran.stdout


def _run(*argv: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LauncherFailed(
            f'"{" ".join(argv)}" did not end within {PATIENCE_S} seconds.'
        ) from None
