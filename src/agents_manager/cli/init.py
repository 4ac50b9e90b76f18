"""`am init`: the folder `.agents-manager` of a repository, to begin with."""

import json
from pathlib import Path
from typing import Any

import click

from agents_manager.cli.output import Output
from agents_manager.cli.render import Line
from agents_manager.cli.serve import as_json
from agents_manager.errors import InvalidInput

TESTS = {
    "package.json": "npm test",
    "pyproject.toml": "python -m pytest",
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "pom.xml": "mvn -q test",
}
"""How a project is tested, by a file that tells what it is made with."""
INSTRUCTIONS = """\
# For agents

What every agent should know about this project: how it is built and tested, what it looks like,
what not to touch.
"""


@click.command()
@click.argument("path", type=click.Path(path_type=Path, file_okay=False), default=".")
@as_json
def init(path: Path, as_json: bool) -> None:
    """Make .agents-manager with a configuration and instructions to begin with.

    What is there already is left alone.
    """
    from agents_manager.cli import session

    output = Output(as_json=as_json)
    session.run(output, lambda: _init(output, path.absolute()))


async def _init(output: Output, path: Path) -> None:
    from agents_manager import settings
    from agents_manager.scm.worktrees import Worktrees

    # The folder of worktrees is not used: only the repository is looked at.
    top, branch = await Worktrees(path).validate(path)
    folder = top / settings.PROJECT_FOLDER
    wanted = {
        folder / "config.json": json.dumps(_config(top), indent=2) + "\n",
        folder / "instructions.md": INSTRUCTIONS,
    }
    made = [file for file in wanted if not file.exists()]
    if not made:
        raise InvalidInput(f"{folder} is there already, with config.json and instructions.md.")
    folder.mkdir(exist_ok=True)
    for file in made:
        file.write_text(wanted[file], encoding="utf-8")
    document = {"repository": top, "base_branch": branch, "made": made}
    output.show(document, lambda: [*(Line(f"Made {file}") for file in made), *_next(top)])


def _config(top: Path) -> dict[str, Any]:
    command = next((c for file, c in TESTS.items() if (top / file).exists()), None)
    checks = {"test": {"command": command}} if command else {}
    return {"defaultPipeline": "feature", "pipelineByType": {}, "checks": checks}


def _next(top: Path) -> list[Line]:
    return [
        Line(),
        Line("Look at them, commit them, then register the project:"),
        Line(f"  am project add {top}"),
    ]
