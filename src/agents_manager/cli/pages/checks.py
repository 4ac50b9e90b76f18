"""What lint found and how a simulation went, as people read it."""

from collections.abc import Iterator, Sequence

from agents_manager.cli.render import Block, Line, Tone, counted, title
from agents_manager.domain.finding import Finding, Severity
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.plugin import Borrowed
from agents_manager.domain.simulate import Simulation
from agents_manager.domain.simulation_told import Decided
from agents_manager.domain.task import Result


def findings(
    name: str, found: Sequence[tuple[Finding, int | None]], borrowed: Sequence[Borrowed]
) -> Iterator[Block]:
    if not found:
        yield Line(f"{name}: nothing is wrong.")
        yield from _plugins(borrowed)
        return
    for finding, line in found:
        wrong = finding.severity is Severity.ERROR
        place = f"line {line}, {finding.position}" if line else finding.position
        tone = Tone.REMOVED if wrong else Tone.URGENT
        yield Line(f"{finding.severity}: {place} ({finding.code})", tone)
        yield Line(f"  {finding.message}")
        yield Line(f"  {finding.fix}", Tone.QUIET)
    errors = sum(f.severity is Severity.ERROR for f, _ in found)
    yield Line()
    yield title(f"{counted(errors, 'error')}, {counted(len(found) - errors, 'warning')}")
    yield from _plugins(borrowed)


def _plugins(borrowed: Sequence[Borrowed]) -> Iterator[Block]:
    if borrowed:
        names = ", ".join(f"{b.kind} {b.name} ({b.plugin})" for b in borrowed)
        yield Line(f"From plugins: {names}.", Tone.QUIET)


def simulation(pipeline: Pipeline, told: Simulation) -> Iterator[Block]:
    yield title(f"{pipeline.name} from {pipeline.initial.id}")
    for decided in told.decisions:
        yield from _decision(decided)
    yield Line()
    yield title(f"Ends in {told.status}. {told.waits_for}")
    if told.not_visited:
        yield Line(f"Not visited: {', '.join(told.not_visited)}", Tone.QUIET)
    yield from _plugins(told.plugins)


def _decision(decided: Decided) -> Iterator[Block]:
    head = f"{decided.step:>3}  {decided.by}: "
    match decided.result:
        case Result.DONE if decided.transition:
            way = f"{decided.source} → {decided.to} ({decided.transition})"
            yield Line(head + way, Tone.ADDED)
        case Result.DONE:
            yield Line(f"{head}stays in {decided.to}")
        case Result.ROLLED_BACK:
            yield Line(f"{head}back from {decided.source} to {decided.to}", Tone.URGENT)
        case Result.GRANTED:
            yield Line(f"{head}rounds begin anew in {decided.to}")
        case _:
            yield Line(f"{head}stays in {decided.to}", Tone.REMOVED)
    for reason in decided.reasons:
        yield Line(f"       {reason}")
    for guard in decided.guards:
        yield Line(
            f"       {'passed' if guard.passed else 'refused'} {guard.name}: {guard.reason}",
            Tone.QUIET,
        )
    for effect in decided.effects:
        yield Line(f"       would perform {effect.name} ({effect.policy})", Tone.QUIET)
    if decided.asks:
        choices = f" [{', '.join(decided.asks.choices)}]" if decided.asks.choices else ""
        yield Line(f"       asks {decided.asks.type}: {decided.asks.summary}{choices}")
