"""What is, or would be, removed from the machine and what stays, as people read it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agents_manager.cli.render import Block, Line, Tone, counted, one_line, title

if TYPE_CHECKING:
    from agents_manager.cli.belongings import Found, Repository

SHOWN = 5


def page(found: "Found", *, done: bool) -> Iterator[Block]:
    yield title("Removed:" if done else "Would be removed:")
    yield from (Line(f"  {path}") for path in found.files)
    if not found.files:
        yield Line("  nothing; there is nothing of ours on this machine")
    yield from (Line(f"  {why}", Tone.URGENT) for why in found.busy)
    if found.strange:
        yield title("Not ours, and left:")
        yield from (Line(f"  {path}") for path in found.strange)
    if found.database:
        yield title(f"The database at {found.database} stays, as other machines may use it:")
        yield Line("  dropdb NAME", Tone.QUIET)
    for repository in found.repositories:
        yield from _repository(repository, done=done)
    yield Line()
    yield Line("The program itself: uv tool uninstall agents-manager", Tone.QUIET)
    yield Line("  or: pip uninstall agents-manager", Tone.QUIET)


def _repository(one: "Repository", *, done: bool) -> Iterator[Block]:
    yield Line()
    if one.trouble:
        yield Line(f'Project "{one.project}" at {one.path}: {one_line(one.trouble)}', Tone.URGENT)
        return
    yield title(f"Left in {one.path}:" if done else f"Would be left in {one.path}:")
    if one.workspaces and not done:
        yield Line(f"  {counted(len(one.workspaces), 'workspace')} would go, unsaved work is kept")
    for trace in one.traces:
        if trace.what == "workspaces" and not done:
            continue
        names = ", ".join(trace.names[:SHOWN])
        more = f" and {len(trace.names) - SHOWN} more" if len(trace.names) > SHOWN else ""
        yield Line(f"  {trace.what}: {names}{more}")
        yield Line(f"    $ {trace.remove}", Tone.QUIET)
    if not one.traces:
        yield Line("  nothing")
