"""What a shell offers for an identifier: names from the database, read quickly and in silence.
Whatever goes wrong, nothing is offered, and nothing is made."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from agents_manager.cli.render import SHOWN_ID, one_line

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

Names = Iterable[tuple[str, str]]
"""What may stand there, and what it is."""


def _offers(look: "Callable[[str], Names]") -> "Complete":
    def complete(
        ctx: "click.Context", param: "click.Parameter", incomplete: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        try:
            found = dict(look(incomplete))
        except Exception:  # noqa: BLE001 - a shell that waits for names is no place to complain
            return []
        fitting = {name: told for name, told in found.items() if name.startswith(incomplete)}
        return [CompletionItem(name, help=one_line(told)) for name, told in fitting.items()]

    return complete


def _identified(query: str) -> "Complete":
    """Things by as much of their ids as tables show, with their words or the titles of their
    tasks."""

    def look(incomplete: str) -> Names:
        cut = SHOWN_ID if len(incomplete) <= SHOWN_ID else None
        return ((str(row[0])[:cut], str(row[1])) for row in _rows(query))

    return _offers(look)


def _rows(query: str) -> Sequence[Sequence[Any]]:
    from agents_manager import environment
    from agents_manager.store import glimpse

    return glimpse.rows(environment.from_environment().database, getattr(glimpse, query))


def _pipelines(incomplete: str) -> Names:
    # A project's own pipeline has the project behind its name, which nobody types there.
    return ((str(row[0]).partition("@")[0], "") for row in _rows("PIPELINES"))


def _statuses(incomplete: str) -> Names:
    for (document,) in _rows("DOCUMENTS"):
        read = json.loads(document) if isinstance(document, str) else document
        yield from ((s["id"], s.get("label", "")) for s in read["statuses"])


tasks = _identified("TASKS")
prompts = _identified("PROMPTS")
runs = _identified("RUNS")
nodes = _identified("NODES")
blockers = _identified("BLOCKERS")
hosts = _offers(lambda incomplete: ((row[0], row[1]) for row in _rows("HOSTS")))
schedules = _offers(lambda incomplete: ((row[0], row[1]) for row in _rows("SCHEDULES")))
projects = _offers(lambda incomplete: ((row[0], row[1]) for row in _rows("PROJECTS")))
pipelines = _offers(_pipelines)
statuses = _offers(_statuses)
tags = _offers(lambda incomplete: ((row[0], f"{row[1]} findings") for row in _rows("TAGS")))
