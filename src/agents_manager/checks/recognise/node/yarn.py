"""Yarn, classic (1) and modern (2 and later): yarn.lock or .yarnrc.yml."""

import re

from agents_manager.checks.recognise.node.manager import NodeManager
from agents_manager.checks.recognise.node.package import Package

LOCK, SETTINGS = "yarn.lock", ".yarnrc.yml"


def is_modern(package: Package) -> bool:
    said = package.manager
    if said is not None and said[0] == "yarn":
        return not said[1].startswith("1.")
    text = package.folder.text(LOCK) or ""
    if "# yarn lockfile v1" in text:
        return False
    return package.folder.has(SETTINGS) or "__metadata:" in text


def _install(package: Package) -> str:
    if not package.folder.has(LOCK):
        return "install --no-immutable" if is_modern(package) else "install --no-lockfile"
    return "install --immutable" if is_modern(package) else "install --frozen-lockfile"


def _by_npx(package: Package) -> str:
    said = package.manager
    version = said[1] if said is not None and said[0] == "yarn" else ""
    if is_modern(package):
        return f"npx --yes --package @yarnpkg/cli-dist@{version or '4'} yarn"
    return f"npx --yes yarn@{version or '1'}"


def _committed(package: Package) -> str:
    path = re.search(r"^yarnPath: *['\"]?([\w./-]+)", package.folder.text(SETTINGS) or "", re.M)
    return f"node {path[1]}" if path and package.folder.has(path[1]) else ""


def _run_everywhere(package: Package) -> str:
    modern = is_modern(package)
    return "workspaces foreach --all run test" if modern else "workspaces run test"


YARN = NodeManager(
    name="yarn",
    locks=(LOCK,),
    install=_install,
    run=lambda script: f"run {script}",
    run_everywhere=_run_everywhere,
    by_npx=_by_npx,
    get="Install it with: npm install --global yarn",
    committed=_committed,
)
