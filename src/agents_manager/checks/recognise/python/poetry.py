"""Poetry: poetry.lock, or dependencies in `[tool.poetry]`."""

from agents_manager.checks.recognise.files import table
from agents_manager.checks.recognise.proposal import Machine, MissingTool, Source
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts, best
from agents_manager.checks.recognise.python.installers import Installation
from agents_manager.checks.recognise.python.interpreter import PYTHON, VENV, interpreter

LOCK = "poetry.lock"
GET = "Install it with: pipx install poetry"
IN_PROJECT = "POETRY_VIRTUALENVS_IN_PROJECT=true"
OWN = f"{VENV}/poetry"
"""The environment of Poetry itself, which must not be the project's: their packages differ."""


def install(facts: Facts, machine: Machine) -> Installation | None:
    folder = facts.folder
    locked = folder.has(LOCK)
    if not locked and not table(facts.pyproject, "tool", "poetry", "dependencies"):
        return None
    arguments, packages = _arguments(facts)
    python, missing = interpreter(machine, facts.requires_python)
    if machine.has("poetry"):
        commands = (f"{IN_PROJECT} poetry {arguments}",)
    else:
        fallback = f"{OWN}/bin/python -m poetry"
        commands = (
            f"{python} -m venv {VENV}",
            f"{PYTHON} -m venv {OWN}",
            f"{OWN}/bin/python -m pip install poetry",
            f"{IN_PROJECT} {fallback} {arguments}",
        )
        missing = [*missing, MissingTool("poetry", GET, fallback)]
    return Installation(
        tool="poetry",
        source=Source(folder.full_path(LOCK if locked else PYPROJECT)),
        commands=commands,
        inputs=tuple(folder.full_path(name) for name in (LOCK, PYPROJECT) if folder.has(name)),
        packages=packages,
        missing=missing,
        notes=() if locked else ("There is no poetry.lock, so that set-up writes one.",),
    )


def _arguments(facts: Facts) -> tuple[str, frozenset[str]]:
    always = (names for names, optional in facts.poetry_groups.values() if not optional)
    packages = frozenset[str]().union(*always)
    arguments = "install --no-interaction"
    if "pytest" in packages:
        return arguments, packages
    optional = {name: names for name, (names, _) in facts.poetry_groups.items()}
    optional |= dict(facts.groups)
    for option, known in (("--with", optional), ("--extras", facts.extras)):
        name = best([name for name, names in known.items() if "pytest" in names])
        if name is not None:
            return f"{arguments} {option} {name}", packages | known[name]
    return arguments, packages
