"""Channels as people read them."""

from collections.abc import Iterator, Sequence

from agents_manager.cli.render import Block, Line, Table, Tone, ago, one_line, title
from agents_manager.flow.channels.overview import NOTICES, ChannelView


def listing(found: Sequence[ChannelView]) -> Iterator[Block]:
    yield Table(
        ("NAME", "ON", "PEOPLE", "WAITING", "SENT", "REFUSED", "TROUBLE"),
        [
            (
                c.name,
                "yes" if c.enabled else "no",
                str(len(c.people)),
                str(c.waiting),
                str(c.sent),
                str(c.failed),
                one_line(c.trouble or c.error or "") if c.enabled else "",
            )
            for c in found
        ],
        cut=("TROUBLE",),
    )
    yield Line()
    yield Line("See one: am channel show NAME", Tone.QUIET)


def page(found: ChannelView) -> Iterator[Block]:
    yield title(f"{found.name} is {'on' if found.enabled else 'off'}")
    if found.trouble:
        yield Line(found.trouble, Tone.URGENT)
    if not found.enabled:
        yield Line(
            f"Switch it on: am config set --user notifications.{found.name}.enabled true",
            Tone.QUIET,
        )
    yield Line()
    facts = {
        "Tells": ", ".join(found.events),
        "In quiet hours": ", ".join(found.break_through) or "nothing",
        "Places": ", ".join(found.places) or "none",
        "Told": f"{found.sent} sent, {found.waiting} waiting, {found.failed} refused",
        "Last trouble": one_line(found.error or "none"),
    }
    for name, fact in facts.items():
        yield Line(f"  {name:<15} {fact}")
    yield Line()
    if found.people:
        rows = [(id, one_line(who.name), who.role) for id, who in found.people.items()]
        yield Table(("ID", "NAME", "ROLE"), rows)
    elif found.name not in NOTICES:
        yield Line(f"Nobody is let in yet: am channel allow {found.name} ID NAME", Tone.QUIET)
    if found.strangers:
        yield Line()
        yield title("Not known, and not answered")
        yield Table(
            ("ID", "CALLS THEMSELVES", "TIMES", "LAST"),
            [(x.person, one_line(x.called), str(x.times), ago(x.last_at)) for x in found.strangers],
            cut=("CALLS THEMSELVES",),
        )
        first = found.strangers[0].person
        yield Line(f"Let one in: am channel allow {found.name} {first} NAME", Tone.QUIET)
