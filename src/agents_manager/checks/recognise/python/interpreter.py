"""Which Python creates a project's virtual environment."""

from agents_manager.checks.recognise.proposal import Machine, MissingTool, satisfies, shown

VENV = ".venv"
PYTHON = f"{VENV}/bin/python"
INTERPRETERS = ("python3", *(f"python3.{minor}" for minor in range(15, 8, -1)))
"""In the order in which they are tried."""
CREATED = (VENV, "__pycache__", ".pytest_cache")


def interpreter(machine: Machine, required: str) -> tuple[str, list[MissingTool]]:
    """Returns the first interpreter that meets a requirement such as ">=3.12", and what is missing
    if there is none."""
    for program in INTERPRETERS:
        version = machine.version(program)
        if machine.has(program) and (version is None or satisfies(version, required)):
            return program, []
    here = machine.version("python3")
    told = f"This machine has Python {shown(here)}." if here else "This machine has none."
    install = f"{told} Install it, for example with your package manager or with: uv python install"
    return "python3", [MissingTool(f"Python {required}".strip(), install)]


def minor_version(machine: Machine, program: str) -> str:
    """Returns a version such as "3.12"; an empty text if it is not known."""
    version = machine.version(program)
    return shown(version[:2]) if version else ""
