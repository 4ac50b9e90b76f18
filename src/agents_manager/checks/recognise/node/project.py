"""A package.json: chooses the package manager, and proposes its scripts as checks."""

import re
from collections.abc import Iterator

from agents_manager.checks.recognise.files import Folder, text_at
from agents_manager.checks.recognise.node.bun import BUN
from agents_manager.checks.recognise.node.manager import NodeManager
from agents_manager.checks.recognise.node.npm import NPM
from agents_manager.checks.recognise.node.package import FILE, Package
from agents_manager.checks.recognise.node.pnpm import PNPM
from agents_manager.checks.recognise.node.yarn import YARN
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
    satisfies,
    shown,
)

MANAGERS = {one.name: one for one in (PNPM, YARN, BUN, NPM)}
SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
LINT = ("lint", "lint:check", "check:lint")
TYPES = ("type-check", "typecheck", "types", "check-types", "check:types", "tsc", "check")
_TEST_SCRIPT = re.compile(r"test([:-](ci|unit|units|node|run|all|e2e|integration))?")
_WATCHES = re.compile(r"--watch\b(?!=false)|(^|\s)(nodemon|chokidar)\s|vitest watch")


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    if not folder.has(FILE):
        return None
    package = Package(folder)
    manager, source, notes = _manager(package)
    program, missing = _program(package, manager, machine)
    checks = [*_tests(package, manager, program), *_lint(package, manager, program)]
    return Proposal(
        ecosystem=manager.name,
        folder=folder.path,
        source=source,
        setup=(f"{program} {manager.install(package)}",) if package.installs else (),
        setup_inputs=_inputs(package, manager),
        checks=tuple(checks),
        build_output=("node_modules",) if package.installs else (),
        suffixes=SUFFIXES,
        missing=tuple(missing),
        notes=(*notes, *_engine(package, machine), *_doubts(package)),
        suggested=bool(checks),
    )


def _manager(package: Package) -> tuple[NodeManager, Source, list[str]]:
    """Returns the package manager, the place that says so, and what contradicts it."""
    folder = package.folder
    locks = {
        name: lock
        for name, manager in MANAGERS.items()
        if (lock := folder.first(manager.locks)) is not None
    }
    said = package.manager
    if said is not None:
        name, where = said[0], Source(folder.full_path(FILE), package.line_of("packageManager"))
    elif locks:
        engines = [name for name in locks if name != "npm" and package.engine(name)]
        name = (engines or list(locks))[0]
        where = Source(folder.full_path(locks[name]))
    else:
        name, where = _without_lock(package)
    others = [folder.full_path(lock) for other, lock in locks.items() if other != name]
    notes = [f"There is also {' and '.join(others)}; {name} is used ({where})."] if others else []
    return MANAGERS[name], where, notes


def _without_lock(package: Package) -> tuple[str, Source]:
    folder = package.folder
    if folder.has("pnpm-workspace.yaml"):
        return "pnpm", Source(folder.full_path("pnpm-workspace.yaml"))
    if folder.has(".yarnrc.yml"):
        return "yarn", Source(folder.full_path(".yarnrc.yml"))
    demanded = [name for name in ("pnpm", "yarn", "bun") if package.engine(name)]
    line = package.line_of("engines") if demanded else None
    return (demanded or ["npm"])[0], Source(folder.full_path(FILE), line)


def _program(
    package: Package, manager: NodeManager, machine: Machine
) -> tuple[str, list[MissingTool]]:
    """Returns how the package manager is started here."""
    needed = "bun" if manager is BUN else "node"
    own = manager.committed(package)
    if own and machine.has("node"):
        return own, []
    if machine.has(manager.name):
        return manager.name, []
    if manager is not NPM and machine.has("npx"):
        fallback = manager.by_npx(package)
        return fallback, [MissingTool(manager.name, manager.get, fallback)]
    lacking = manager.name if needed != "node" or machine.has("node") else "node"
    get = manager.get if lacking == manager.name else "Install Node.js, which brings npm."
    return manager.name, [MissingTool(lacking, get)]


def _engine(package: Package, machine: Machine) -> Iterator[str]:
    required, here = package.engine("node"), machine.version("node")
    if required and here is not None and not satisfies(here, required):
        file = package.folder.full_path(FILE)
        yield f"{file} asks for Node.js {required}; this machine has {shown(here)}."


def _inputs(package: Package, manager: NodeManager) -> tuple[str, ...]:
    names = (FILE, *manager.locks, ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs")
    return tuple(package.folder.full_path(name) for name in names if package.folder.has(name))


def _tests(package: Package, manager: NodeManager, program: str) -> Iterator[ProposedCheck]:
    names = [
        name for name in package.scripts if _TEST_SCRIPT.fullmatch(name) and _ends(package, name)
    ]
    in_ci = [name for name in names if _runs_in_ci(package, name)]
    # A repository may have a `test` that only people run, in watch mode or with a browser.
    by_hand = in_ci and not any(name == "test" or "test" in package.calls(name) for name in in_ci)
    chosen = ["test"] if "test" in names and not by_hand else in_ci or names[:1]
    for name in chosen:
        yield _of_script(package, name, f"{program} {manager.run(name)}", name.replace(":", "-"))
    if not chosen and (everywhere := _everywhere(package, manager, program)):
        yield everywhere


def _everywhere(package: Package, manager: NodeManager, program: str) -> ProposedCheck | None:
    """Returns the tests of the workspaces, where the package above them has none."""
    folder = package.folder
    if not package.has_workspaces:
        return None
    inside = [p for p in folder.paths() if p.endswith(f"/{FILE}") and p.count("/") <= 3]
    for path in inside:
        below = Package(Folder(folder.files, folder.full_path(path.removesuffix(f"/{FILE}"))))
        if below.does_something("test"):
            source = Source(folder.full_path(path), below.line_of("test"))
            command = f"{program} {manager.run_everywhere(package)}"
            return ProposedCheck("test", command, source, "the tests of the workspaces")
    return None


def _lint(package: Package, manager: NodeManager, program: str) -> Iterator[ProposedCheck]:
    lint = next((name for name in LINT if _only_reads(package, name)), None)
    if lint is not None:
        yield _of_script(package, lint, f"{program} {manager.run(lint)}", "lint")
    types = next((name for name in TYPES if _checks_types(package, name)), None)
    if types is not None:
        yield _of_script(package, types, f"{program} {manager.run(types)}", "type-check")


def _of_script(package: Package, script: str, command: str, name: str) -> ProposedCheck:
    source = Source(package.folder.full_path(FILE), package.line_of(script))
    return ProposedCheck(name, command, source, package.scripts[script])


def _ends(package: Package, script: str) -> bool:
    return package.does_something(script) and not _WATCHES.search(package.scripts[script])


def _only_reads(package: Package, script: str) -> bool:
    return package.does_something(script) and not re.search(
        r"--(fix|write)\b", package.scripts[script]
    )


def _checks_types(package: Package, script: str) -> bool:
    command = package.scripts.get(script, "")
    checker = re.search(r"\b(vue-tsc|svelte-check)\b|\btsc\b.*--noEmit|\btsc\b.*--build", command)
    return bool(checker) and _ends(package, script)


def _runs_in_ci(package: Package, script: str) -> bool:
    """Whether a workflow of GitHub runs the script on all of the repository."""
    run = re.compile(rf"(?:npm|pnpm|yarn|bun)(?: run)? {re.escape(script)}\s*$", re.MULTILINE)
    top = Folder(package.folder.files)
    workflows = (path for path in top.paths() if path.startswith(".github/workflows/"))
    return any(run.search(top.text(path) or "") for path in workflows)


def _doubts(package: Package) -> Iterator[str]:
    for name in ("test", "lint"):
        if name in package.scripts and package.recurses(name):
            yield f'The script "{name}" of {package.folder.full_path(FILE)} calls itself.'
    declared = text_at(package.document, "scripts", "test")
    if declared and not package.does_something("test") and not package.recurses("test"):
        yield f'The script "test" of {package.folder.full_path(FILE)} is only a placeholder.'
