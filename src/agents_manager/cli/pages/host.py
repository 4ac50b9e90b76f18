"""Machines as people read them."""

from collections.abc import Iterator, Sequence

from agents_manager.cli.render import Block, Line, Table, Tone, ago, one_line, short, title
from agents_manager.flow.hosts import HostView, Overview, Start, Use


def listing(found: Overview) -> Iterator[Block]:
    yield Table(
        ("NAME", "STATE", "AGENTS", "LABELS", "FREE DISK", "VERSION", "SEEN", "PROJECTS"),
        [_row(host) for host in found.hosts],
        cut=("PROJECTS",),
    )
    working = [(host.name, start) for host in found.hosts for start in host.working]
    if working:
        yield Line()
        yield title("At work")
        rows = [(name, *_what(start)) for name, start in working]
        yield Table(("HOST", "TASK", "AGENT", "PROJECT", "TITLE"), rows, cut=("TITLE",))
    limits = [*_limited("project", found.projects), *_limited("agent", found.agents)]
    if limits:
        yield Line()
        yield title("Limits")
        yield Table(("OF", "NAME", "AT WORK"), limits)
    yield Line()
    if not found.waiting:
        yield Line("No agent waits for a place.", Tone.QUIET)
        return
    yield title(f"Waiting: {found.waiting_in_all}")
    rows = [
        (*_what(start), one_line(start.why or "It begins in a moment.")) for start in found.waiting
    ]
    yield Table(("TASK", "AGENT", "PROJECT", "TITLE", "WHY"), rows, cut=("TITLE",))


def _row(host: HostView) -> tuple[str, ...]:
    room = "?" if host.free_disk_mb is None else f"{host.free_disk_mb / 1000:.0f} GB"
    return (
        f"{host.name} (here)" if host.here else host.name,
        host.state,
        f"{len(host.working)} of {host.capacity or '?'}",
        ", ".join(host.labels) or "-",
        room,
        host.version or "?",
        "-" if host.seen_at is None else ago(host.seen_at),
        one_line(", ".join(host.projects)) or "-",
    )


def _what(start: Start) -> tuple[str, ...]:
    agent = start.agent or "not chosen"
    return short(start.task_id), agent, one_line(start.project), one_line(start.title)


def _limited(of: str, uses: Sequence[Use]) -> Iterator[tuple[str, str, str]]:
    for use in uses:
        if use.most is not None:
            yield of, one_line(use.name), f"{use.working} of {use.most}"
