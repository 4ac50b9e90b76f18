"""npm: package-lock.json or npm-shrinkwrap.json, or no lock file at all."""

from agents_manager.checks.recognise.node.manager import NodeManager
from agents_manager.checks.recognise.node.package import Package

LOCKS = ("package-lock.json", "npm-shrinkwrap.json")


def _install(package: Package) -> str:
    if package.folder.first(LOCKS):
        return "ci"
    # A lock file that set-up leaves behind would be committed as the agent's work.
    return "install --no-package-lock"


NPM = NodeManager(
    name="npm",
    locks=LOCKS,
    install=_install,
    run=lambda script: "test" if script == "test" else f"run {script}",
    run_everywhere=lambda _: "test --workspaces --if-present",
    by_npx=lambda _: "",
    get="Install Node.js, which brings npm.",
)
