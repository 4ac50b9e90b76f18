"""The commands of `am pipeline` that look at one before tasks walk it: what is wrong with it, how
it decides, and how it hangs together."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents_manager.cli import completing, files, pipeline_versions, session
from agents_manager.cli.session import Desk

if TYPE_CHECKING:
    from agents_manager.documents import Document
    from agents_manager.domain.finding import Finding
    from agents_manager.domain.pipeline import Pipeline
    from agents_manager.domain.registry import Registry

HOW_TO = """A simulation needs a script: a JSON or YAML list of steps. Give it with --script FILE.

  - start
  - outcome: {name: needs_info, payload: {question: "Which colour?"}}
  - answer: {answers: [{question_id: q1, text: "Blue."}]}
  - outcome: pr_ready
  - review: approved

Other steps: move, error, choose, fail. docs/how-to/write-a-pipeline.md has them all."""
_ENDINGS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Looked:
    name: str
    pipeline: "Pipeline | None"
    """None when the document is no pipeline; the findings say why."""
    findings: "list[Finding]"
    lines: Callable[[], Mapping[str, int]]
    registry: "Registry"


@click.command()
@click.argument("pipeline", metavar="PIPELINE|FILE|-", shell_complete=completing.pipelines)
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def lint(desk: Desk, pipeline: str, version: int | None) -> None:
    """Find what is wrong with a pipeline, saved or in a file. Errors make the exit code 1."""
    from agents_manager.cli.pages import checks
    from agents_manager.domain.finding import errors
    from agents_manager.domain.pipeline import line_of

    looked = await _look(desk, pipeline, version)
    lines = looked.lines()
    placed = [(finding, line_of(finding.position, lines)) for finding in looked.findings]
    wrong = errors(looked.findings)
    borrowed = looked.registry.borrowed(looked.pipeline) if looked.pipeline else []
    document = {
        "pipeline": looked.name,
        "errors": len(wrong),
        "warnings": len(looked.findings) - len(wrong),
        "findings": [{**_fields(finding), "line": line} for finding, line in placed],
        "plugins": borrowed,
    }
    desk.output.show(document, lambda: checks.findings(looked.name, placed, borrowed))
    if wrong:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("pipeline", metavar="PIPELINE|FILE", shell_complete=completing.pipelines)
@click.option("--script", metavar="FILE|-", help="The steps, as a JSON or YAML list.")
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def simulate(desk: Desk, pipeline: str, script: str | None, version: int | None) -> None:
    """Walk a pipeline by a script of outcomes and answers, and print each decision.

    No agent is started, no repository is touched, and nothing is kept.
    """
    from agents_manager.cli.pages import checks as pages
    from agents_manager.domain import simulate as simulation
    from agents_manager.domain import simulation_script
    from agents_manager.flow import pipelines

    if script is None:
        raise click.UsageError(HOW_TO)
    looked = await _look(desk, pipeline, version)
    found = _sound(looked)
    steps = simulation_script.parse(_read(script).value)
    checks = pipelines.has_checks(desk.services, await desk.project_here())
    told = simulation.simulate(found, looked.registry, steps, checks=checks)
    desk.output.show(told, lambda: pages.simulation(found, told))


@click.command()
@click.argument("pipeline", metavar="PIPELINE|FILE|-", shell_complete=completing.pipelines)
@click.option("--version", type=click.IntRange(min=1), help="The newest unless given.")
@session.command
async def graph(desk: Desk, pipeline: str, version: int | None) -> None:
    """Show how a pipeline hangs together, status by status."""
    from agents_manager.cli.pages import graph as pages

    found = _sound(await _look(desk, pipeline, version))
    desk.output.show(pages.document(found), lambda: pages.page(found))


async def _look(desk: Desk, name: str, version: int | None) -> Looked:
    """A pipeline by its name, or from a file when the argument looks like one."""
    from agents_manager.domain import lint as linter
    from agents_manager.flow.registries import registry_of

    here = await desk.project_here()
    registry = registry_of(desk.services, here) if here else desk.services.registry
    if name == "-" or name.endswith(_ENDINGS) or "/" in name:
        if version is not None:
            raise click.UsageError("A file has no versions; leave --version out.")
        document = _read(name)
        found, findings = linter.check_document(document.value, registry, where=name)
        return Looked(name, found, findings, document.lines, registry)
    stored = await pipeline_versions.stored_id(desk, name)
    found = await desk.read(lambda tx: tx.pipelines.get(stored, version))
    label = f"{name}, version {found.version}"
    return Looked(label, found, linter.check(found, registry), dict[str, int], registry)


def _sound(looked: Looked) -> "Pipeline":
    """The pipeline, if it can be read and everything it names is known."""
    from agents_manager.domain.pipeline import located
    from agents_manager.errors import InvalidPipeline

    unreadable = ("shape", "unknown_name", "bad_params")
    broken = [f for f in looked.findings if f.code in unreadable]
    if looked.pipeline is None or broken:
        told = [f"{f.position}: {f.message}" for f in broken]
        raise InvalidPipeline(f"{looked.name} has errors.", located(told, looked.lines()))
    return looked.pipeline


def _read(name: str) -> "Document":
    if name == "-":
        return files.document(sys.stdin.buffer)
    with Path(name).open("rb") as file:
        return files.document(file)


def _fields(finding: "Finding") -> dict[str, Any]:
    return {field.name: getattr(finding, field.name) for field in fields(finding)}
