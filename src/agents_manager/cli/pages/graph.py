"""A pipeline as text: its statuses in order, and under each the ways out."""

from collections.abc import Iterator
from typing import Any

from agents_manager.cli.render import Block, Line, Tone, title
from agents_manager.domain.pipeline import (
    ANY_STATUS,
    Category,
    GuardSpec,
    HookSpec,
    Pipeline,
    Status,
    Transition,
)


def document(found: Pipeline) -> dict[str, Any]:
    return {
        "id": found.id,
        "version": found.version,
        "initial": found.initial.id,
        "statuses": [
            {
                "id": status.id,
                "category": status.category,
                "asks": status.prompt.type if status.prompt else None,
                "leaving": [t.id for t in found.leaving(status.id)],
            }
            for status in _ordered(found)
        ],
        "transitions": found.transitions,
    }


def page(found: Pipeline) -> Iterator[Block]:
    yield title(f"{found.name} ({found.id}, version {found.version})")
    for status in _ordered(found):
        yield Line()
        marks = ", ".join(_marks(found, status))
        yield Line(f"{status.id} ({marks})" if marks else status.id, Tone.TITLE)
        for transition in found.transitions:
            if transition.source == status.id:
                yield from _edge(transition)
    everywhere = [t for t in found.transitions if t.source == ANY_STATUS]
    if everywhere:
        yield Line()
        yield Line("* (every status that is not final)", Tone.TITLE)
        for transition in everywhere:
            yield from _edge(transition)


def _ordered(found: Pipeline) -> list[Status]:
    return sorted(found.statuses, key=lambda status: status.position)


def _marks(found: Pipeline, status: Status) -> Iterator[str]:
    if status.id == found.initial.id:
        yield "start"
    if status.awaits_human:
        yield f"waits for a person: {status.prompt.type}" if status.prompt else "waits for a person"
    if status.category is Category.FINAL:
        yield "end"


def _edge(transition: Transition) -> Iterator[Block]:
    when = transition.trigger.outcome or transition.trigger.type
    yield Line(f"  {when} → {transition.to}")
    if transition.guards:
        yield Line(f"      if {', '.join(_guard(g) for g in transition.guards)}", Tone.QUIET)
    if transition.hooks:
        yield Line(f"      then {', '.join(_hook(h) for h in transition.hooks)}", Tone.QUIET)


def _guard(guard: GuardSpec) -> str:
    return guard.name + _params(guard)


def _hook(hook: HookSpec) -> str:
    return hook.type + _params(hook)


def _params(spec: GuardSpec | HookSpec) -> str:
    told = ", ".join(f"{key} {value}" for key, value in spec.params.items())
    return f" ({told})" if told else ""
