"""pip: requirement files, pyproject.toml, setup.py or setup.cfg."""

import shlex

from agents_manager.checks.recognise.proposal import Machine, Source
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts, best, plain_name
from agents_manager.checks.recognise.python.installers import Installation
from agents_manager.checks.recognise.python.interpreter import PYTHON, VENV, interpreter

LEGACY = ("setup.py", "setup.cfg")


def install(facts: Facts, machine: Machine, further: tuple[str, ...] = ()) -> Installation:
    """Returns how pip installs the project, its test tools and further packages."""
    folder, files = facts.folder, facts.requirements
    arguments = [part for path in files.files for part in ("-r", shlex.quote(path))]
    packages = set(files.names)
    extra, group = _extra(facts), None
    if facts.is_installable and not files.installs_project:
        arguments += ["-e", shlex.quote(f".[{extra}]") if extra else "."]
        packages |= facts.extras.get(extra or "", frozenset())
    elif not facts.is_installable and not files.files:
        arguments += [shlex.quote(one) for one in facts.dependencies]
    if not packages & {"pytest", "tox", "nox"} and (group := _group(facts)):
        arguments += ["--group", group]
        packages |= facts.groups[group]
    arguments += further
    python, missing = interpreter(machine, facts.requires_python)
    commands = [f"{python} -m venv {VENV}"]
    if group:  # Known to pip since 25.1; a new environment may have an older one.
        commands.append(f"{PYTHON} -m pip install --upgrade pip")
    if arguments:
        commands.append(f"{PYTHON} -m pip install {' '.join(arguments)}")
    inputs = [
        *files.files,
        *files.included,
        *(name for name in (PYPROJECT, *LEGACY) if folder.has(name)),
    ]
    first = next(iter(inputs), folder.names()[0] if folder.names() else "")
    return Installation(
        tool="pip",
        source=Source(folder.full_path(first)),
        commands=tuple(commands),
        inputs=tuple(folder.full_path(name) for name in inputs),
        packages=frozenset(packages | {plain_name(one) for one in further}),
        missing=missing,
    )


def _extra(facts: Facts) -> str | None:
    """Returns the extra with the test tools."""
    with_pytest = best([name for name, names in facts.extras.items() if "pytest" in names])
    usual = best([name for name in facts.extras if name in ("test", "tests", "testing", "dev")])
    return with_pytest or usual


def _group(facts: Facts) -> str | None:
    with_pytest = best([name for name, names in facts.groups.items() if "pytest" in names])
    return with_pytest or best([name for name in facts.groups if name in ("test", "tests", "dev")])
