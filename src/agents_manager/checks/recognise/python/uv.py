"""uv: uv.lock."""

from agents_manager.checks.recognise.files import strings, table
from agents_manager.checks.recognise.proposal import Machine, MissingTool, Source
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts, best, plain_name
from agents_manager.checks.recognise.python.installers import Installation
from agents_manager.checks.recognise.python.interpreter import PYTHON, VENV, interpreter

LOCK = "uv.lock"
GET = "Install it with: pipx install uv"


def install(facts: Facts, machine: Machine) -> Installation | None:
    if not facts.folder.has(LOCK):
        return None
    sync, packages = _sync(facts)
    missing: list[MissingTool] = []
    if machine.has("uv"):
        commands = (f"uv {sync}",)
    else:
        python, missing = interpreter(machine, facts.requires_python)
        fallback = f"{PYTHON} -m uv"
        # Without --inexact it would remove itself.
        commands = (
            f"{python} -m venv {VENV}",
            f"{PYTHON} -m pip install uv",
            f"{fallback} {sync} --inexact",
        )
        missing = [*missing, MissingTool("uv", GET, fallback)]
    inputs = (LOCK, PYPROJECT, ".python-version")
    return Installation(
        tool="uv",
        source=Source(facts.folder.full_path(LOCK)),
        commands=commands,
        inputs=tuple(facts.folder.full_path(name) for name in inputs if facts.folder.has(name)),
        packages=packages,
        missing=missing,
    )


def _sync(facts: Facts) -> tuple[str, frozenset[str]]:
    """Returns the arguments, with the group or extra that has the test runner, and the packages."""
    settings = table(facts.pyproject, "tool", "uv")
    said = settings.get("default-groups", ["dev"])
    default = list(facts.groups) if said == "all" else strings(said)
    packages = frozenset[str]().union(*(facts.groups.get(name, frozenset()) for name in default))
    packages |= frozenset(map(plain_name, strings(settings.get("dev-dependencies"))))
    arguments = "sync --frozen"
    if "pytest" in packages:
        return arguments, packages
    for option, known in (("--group", facts.groups), ("--extra", facts.extras)):
        name = best([name for name, names in known.items() if "pytest" in names])
        if name is not None:
            return f"{arguments} {option} {name}", packages | known[name]
    return arguments, packages
