"""Programs that tests need and that a machine may lack: root installs Debian's package; anyone else
gets the tests marked as not run, and a failure in CI."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

T = TypeVar("T")

LOCK = Path(tempfile.gettempdir()) / "agents-manager-install.lock"


def have(package: str, find: Callable[[], T | None]) -> T:
    """What `find` finds, at once or after the package was installed."""
    found = find() or _install(package, find)
    if found is None:
        missing(f"{package} is not installed: sudo apt-get install {package}")
    return found


def missing(reason: str) -> NoReturn:
    """Ends the test as not run, or as failed in CI, where every part must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def _install(package: str, find: Callable[[], T | None]) -> T | None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None
    # RUNLEVEL=1 keeps a package from starting a server of its own.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not find():
            for command in (
                ["apt-get", "update", "-qq"],
                ["apt-get", "install", "-qq", "-y", "--no-install-recommends", package],
            ):
                subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return find()
