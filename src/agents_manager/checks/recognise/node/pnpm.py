"""pnpm: pnpm-lock.yaml or pnpm-workspace.yaml."""

import re

from agents_manager.checks.recognise.node.manager import NodeManager
from agents_manager.checks.recognise.node.package import Package

LOCK = "pnpm-lock.yaml"
MAJOR_BY_LOCK = {"5": "7", "6": "8", "9": "9"}
"""The major version that reads a lock file, by that of the lock file."""


def _install(package: Package) -> str:
    locked = package.folder.has(LOCK)
    return "install --frozen-lockfile" if locked else "install --no-lockfile"


def _by_npx(package: Package) -> str:
    said = package.manager
    if said is not None and said[0] == "pnpm":
        return f"npx --yes pnpm@{said[1]}"
    lock = re.search(
        r"^lockfileVersion: *['\"]?(\d+)", package.folder.text(LOCK) or "", re.MULTILINE
    )
    major = MAJOR_BY_LOCK.get(lock[1]) if lock else None
    return f"npx --yes pnpm@{major}" if major else "npx --yes pnpm"


PNPM = NodeManager(
    name="pnpm",
    locks=(LOCK,),
    install=_install,
    run=lambda script: "test" if script == "test" else f"run {script}",
    run_everywhere=lambda _: "--recursive --if-present run test",
    by_npx=_by_npx,
    get="Install it with: npm install --global pnpm",
)
