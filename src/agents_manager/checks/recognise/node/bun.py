"""Bun: bun.lock or bun.lockb."""

from agents_manager.checks.recognise.node.manager import NodeManager
from agents_manager.checks.recognise.node.package import Package

LOCKS = ("bun.lock", "bun.lockb")


def _install(package: Package) -> str:
    locked = package.folder.first(LOCKS)
    return "install --frozen-lockfile" if locked else "install --no-save"


def _by_npx(package: Package) -> str:
    said = package.manager
    return f"npx --yes bun@{said[1] if said is not None and said[0] == 'bun' else '1'}"


BUN = NodeManager(
    name="bun",
    locks=LOCKS,
    install=_install,
    run=lambda script: f"run {script}",
    run_everywhere=lambda _: "run --filter '*' test",
    by_npx=_by_npx,
    get="Install it with: npm install --global bun",
)
