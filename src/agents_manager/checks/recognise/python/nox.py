"""nox: noxfile.py."""

import ast

from agents_manager.checks.recognise.proposal import Machine, Proposal, ProposedCheck, Source
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts
from agents_manager.checks.recognise.python.interpreter import (
    CREATED,
    PYTHON,
    VENV,
    interpreter,
    minor_version,
)

FILE = "noxfile.py"
SESSIONS = ("tests", "test", "pytest", "unit", "unit_tests", "unittests")


def propose(facts: Facts, machine: Machine) -> Proposal | None:
    """Returns a proposal that has nox create its own environment and run the tests in it."""
    session = _session(facts)
    if session is None:
        return None
    name, line, pythons = session
    folder = facts.folder
    python, missing = interpreter(machine, facts.requires_python)
    version = minor_version(machine, python)
    only = f" -p {version}" if version and version in pythons else ""
    run = f"{PYTHON} -m nox -s {name}{only} -r"
    return Proposal(
        ecosystem="nox",
        folder=folder.path,
        source=Source(folder.full_path(FILE), line),
        setup=(
            f"{python} -m venv {VENV}",
            f"{PYTHON} -m pip install nox",
            f"{run} --install-only",
        ),
        setup_inputs=tuple(folder.full_path(f) for f in (FILE, PYPROJECT) if folder.has(f)),
        checks=(
            ProposedCheck(
                "test", run, Source(folder.full_path(FILE), line), f'the session "{name}" of nox'
            ),
        ),
        build_output=(*CREATED, ".nox"),
        suffixes=(".py",),
        missing=tuple(missing),
    )


def _session(facts: Facts) -> tuple[str, int, list[str]] | None:
    """Returns the name, the line and the Python versions of the session that runs the tests."""
    try:
        module = ast.parse(facts.folder.text(FILE) or "")
    except (SyntaxError, ValueError, RecursionError):
        facts.folder.problems.append(f"{facts.folder.full_path(FILE)} is not valid Python")
        return None
    found: dict[str, tuple[str, int, list[str]]] = {}
    for function in module.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if "session" in ast.unparse(decorator).partition("(")[0]:
                options = _options(decorator)
                name = options.get("name", [function.name])[0]
                found[name] = (name, function.lineno, options.get("python", []))
    return next((found[name] for name in SESSIONS if name in found), None)


def _options(decorator: ast.expr) -> dict[str, list[str]]:
    """Returns the texts that the options of a decorator hold, as far as they are literal."""
    if not isinstance(decorator, ast.Call):
        return {}
    options: dict[str, list[str]] = {}
    for keyword in decorator.keywords:
        nodes = (
            keyword.value.elts
            if isinstance(keyword.value, ast.List | ast.Tuple)
            else [keyword.value]
        )
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if keyword.arg and texts:
            options[keyword.arg] = texts
    return options
