"""A user without any rights, as whom root runs tests again."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from agents_manager.sandbox.bubblewrap import found
from tests import sandboxes

NOBODY = 65534
ROOT = Path(__file__).parents[1]
PATIENCE_S = 600


# Covers a folder that only its owner may enter, and shows the part of it that is needed.
OPENED = """
set -e
mkdir "$3/shown"
mount --bind "$2" "$3/shown"
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir -p "$2"
mount --bind "$3/shown" "$2"
umount "$3/shown"
shift 3
exec "$@"
"""
# Hides bubblewrap from this user alone.
HIDDEN = 'mount --bind /dev/null "$1"; shift; exec "$@"'


def run_tests(*arguments: str, bubblewrap: bool = True) -> "subprocess.CompletedProcess[str]":
    """Runs pytest with these arguments as a plain user, who has an empty home. If Python is in a
    home that others may not enter, it is shown to this user alone. Without `bubblewrap`, there is
    none for this user."""
    sandboxes.installed_for_another()
    home = Path(tempfile.mkdtemp(prefix="am-plain-"))
    try:
        os.chown(home, NOBODY, NOBODY)
        temp = [f"--basetemp={home}/tests", "-p", "no:cacheprovider"]
        names = ("PATH", "PYTHONPATH", "AM_SLOW_TESTS")
        environment = {
            **{name: os.environ[name] for name in names if name in os.environ},
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        prefix = _prefix(home) if bubblewrap else [*_hiding(), *_prefix(home)]
        if not bubblewrap:
            environment[sandboxes.WITHOUT] = "yes"
        return subprocess.run(
            [*prefix, sys.executable, "-m", "pytest", "-q", *temp, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _prefix(home: Path) -> list[str]:
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    python = Path(sys.base_prefix)
    closed = [each for each in reversed(python.parents) if not each.stat().st_mode & 0o001]
    if not closed:
        return user
    opened = ["sh", "-c", OPENED, "sh", str(closed[0]), str(python), str(home)]
    return ["unshare", "--mount", *opened, *user]


def _hiding() -> list[str]:
    program = found()
    assert program is not None
    return ["unshare", "--mount", "sh", "-c", HIDDEN, "sh", str(Path(program).resolve())]
