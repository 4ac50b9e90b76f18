"""`am licenses`: what others wrote that this program needs or brings, and under which licences."""

import re
from dataclasses import dataclass
from pathlib import Path

import click

from agents_manager.cli.output import Output
from agents_manager.cli.render import Line, Table, lines
from agents_manager.cli.serve import as_json
from agents_manager.errors import NotFound

FILE = Path(__file__).parents[1] / "third-party-notices.txt"
"""Made by scripts/notices.py."""
LINE, THIN = "=" * 80, "-" * 80
_HEAD = re.compile(r"(\S+) (\S+) \((\w+)\): (.*)")


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    of: str
    licence: str
    text: str


@click.command()
@click.argument("package", required=False)
@as_json
def licenses(package: str | None, as_json: bool) -> None:
    """List the packages of others that this program needs, with their licences.

    With the name of one, the text of its licence.
    """
    from agents_manager.cli import session

    output = Output(as_json=as_json)

    async def show() -> None:
        known = packages()
        if package is None:
            rows = [(p.name, p.version, p.of, p.licence) for p in known]
            listed = [{"name": n, "version": v, "of": o, "licence": li} for n, v, o, li in rows]
            columns = ("PACKAGE", "VERSION", "OF", "LICENCE")
            output.show(listed, lambda: [Table(columns, rows), Line(), Line(f"Texts: {FILE}")])
            return
        found = [p for p in known if p.name == package]
        if not found:
            raise NotFound(f'There is no package "{package}"; "am licenses" lists them.')
        output.show(found, lambda: lines(found[0].text))

    session.run(output, show)


def packages() -> list[Package]:
    found: list[Package] = []
    for part in FILE.read_text(encoding="utf-8").split(f"{LINE}\n")[1:]:
        heads, _, text = part.partition(f"{THIN}\n")
        for head in _HEAD.finditer(heads):
            found.append(Package(head[1], head[2], head[3], head[4], text.strip()))
    return found
