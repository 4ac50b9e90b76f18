"""A Python project: chooses what installs it, and proposes its tests and linters as checks."""

import re
from collections.abc import Iterator

from agents_manager.checks.recognise.files import Folder, table
from agents_manager.checks.recognise.proposal import Machine, Proposal, ProposedCheck, Source
from agents_manager.checks.recognise.python import nox, pip, poetry, tox, uv
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts
from agents_manager.checks.recognise.python.installers import Installation
from agents_manager.checks.recognise.python.interpreter import CREATED, PYTHON

_RUFF_FILES = ("ruff.toml", ".ruff.toml")
_MYPY_FILES = ("mypy.ini", ".mypy.ini")
_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py")


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    facts = Facts.read(folder)
    if facts is None:
        return None
    installed = uv.install(facts, machine) or poetry.install(facts, machine)
    installed = installed or pip.install(facts, machine)
    if "pytest" not in installed.packages:
        by_runner = tox.propose(facts, machine) or nox.propose(facts, machine)
        if by_runner is not None:
            return by_runner
    test = _test(facts, installed)
    if test is not None and _needs_pytest(test, installed):
        installed = _with_pytest(facts, machine, installed)
    checks = [*([test] if test else []), *_linters(facts, installed)]
    return Proposal(
        ecosystem=installed.tool,
        folder=folder.path,
        source=installed.source,
        setup=installed.commands,
        setup_inputs=installed.inputs,
        checks=tuple(checks),
        build_output=CREATED,
        suffixes=(".py",),
        missing=tuple(installed.missing),
        notes=(*installed.notes, *_conflicts(facts, installed)),
        suggested=bool(checks),
    )


def _test(facts: Facts, installed: Installation) -> ProposedCheck | None:
    folder = facts.folder
    if facts.uses_pytest or "pytest" in installed.packages:
        return ProposedCheck("test", f"{PYTHON} -m pytest", _pytest_source(facts, installed))
    if folder.has("manage.py"):
        source = Source(folder.full_path("manage.py"))
        return ProposedCheck("test", f"{PYTHON} manage.py test", source, "a Django project")
    if folder.has("tests/runtests.py"):
        source = Source(folder.full_path("tests/runtests.py"))
        return ProposedCheck("test", f"{PYTHON} tests/runtests.py", source)
    modules = facts.test_modules
    if not modules:
        return None
    source = Source(folder.full_path(modules[0]))
    if facts.imports("unittest") and not facts.imports("pytest"):
        return ProposedCheck("test", f"{PYTHON} -m unittest {_discover(facts, modules)}", source)
    return ProposedCheck("test", f"{PYTHON} -m pytest", source)


def _discover(facts: Facts, modules: list[str]) -> str:
    """Returns the arguments by which unittest finds the modules."""
    start = next(
        (top for top in ("tests", "test") if any(m.startswith(f"{top}/") for m in modules)), ""
    )
    if not start:
        return "discover"
    name = re.compile(rf"{start}/(.*/)?test[^/]*\.py")
    pattern = "" if any(name.fullmatch(module) for module in modules) else " -p '*_test.py'"
    top = " -t ." if facts.folder.has(f"{start}/__init__.py") else ""
    return f"discover -s {start}{top}{pattern}"


def _pytest_source(facts: Facts, installed: Installation) -> Source:
    folder = facts.folder
    places = ((PYPROJECT, "[tool.pytest"), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]"))
    for file, text in places:
        line = folder.line_of(file, text)
        if line is not None:
            return Source(folder.full_path(file), line)
    file = folder.first(_PYTEST_FILES)
    if file is not None:
        return Source(folder.full_path(file))
    named = (
        name for name in (*facts.requirements.files, PYPROJECT) if folder.line_of(name, "pytest")
    )
    name = next(named, None)
    if name is None:
        return installed.source
    return Source(folder.full_path(name), folder.line_of(name, "pytest"))


def _needs_pytest(test: ProposedCheck, installed: Installation) -> bool:
    return test.command.endswith("-m pytest") and "pytest" not in installed.packages


def _with_pytest(facts: Facts, machine: Machine, installed: Installation) -> Installation:
    """Returns an installation that also has pytest, which the project does not declare."""
    if installed.tool == "pip":
        return pip.install(facts, machine, ("pytest",))
    by_uv = any(command.startswith("uv ") for command in installed.commands)
    add = "uv pip install pytest" if by_uv else f"{PYTHON} -m pip install pytest"
    return Installation(
        tool=installed.tool,
        source=installed.source,
        commands=(*installed.commands, add),
        inputs=installed.inputs,
        packages=installed.packages | {"pytest"},
        missing=installed.missing,
        notes=(*installed.notes, "No dependency of the project installs pytest, so set-up does."),
    )


def _linters(facts: Facts, installed: Installation) -> Iterator[ProposedCheck]:
    folder, tools = facts.folder, table(facts.pyproject, "tool")
    file = folder.first(_RUFF_FILES)
    if "ruff" in installed.packages and (file or "ruff" in tools):
        fixes = table(tools, "ruff").get("fix") is True
        line = folder.line_of(PYPROJECT, "[tool.ruff")
        source = Source(folder.full_path(file or PYPROJECT), None if file else line)
        yield ProposedCheck(
            "lint", f"{PYTHON} -m ruff check{' --no-fix' if fixes else ''} .", source
        )
    file = folder.first(_MYPY_FILES)
    targets = any(table(tools, "mypy").get(key) for key in ("files", "packages", "modules"))
    if "mypy" in installed.packages and targets:
        source = Source(folder.full_path(PYPROJECT), folder.line_of(PYPROJECT, "[tool.mypy"))
        yield ProposedCheck("type-check", f"{PYTHON} -m mypy", source)


def _conflicts(facts: Facts, installed: Installation) -> Iterator[str]:
    others = [
        lock
        for lock in ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
        if facts.folder.has(lock)
    ]
    told = [lock for lock in others if not lock.startswith(f"{installed.tool}.")]
    if told:
        yield f"There is also {' and '.join(told)}; {installed.tool} is used."
