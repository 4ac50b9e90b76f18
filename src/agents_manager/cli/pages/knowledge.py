"""What runs found out, as people read it."""

from collections.abc import Iterator, Mapping, Sequence

from agents_manager.cli.render import (
    Block,
    Line,
    Table,
    Tone,
    ago,
    counted,
    one_line,
    short,
    title,
)
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    EdgeKind,
    Hit,
    KeptHandoff,
    Node,
    NodeKind,
    NodeState,
)
from agents_manager.domain.task import Task
from agents_manager.flow.memory.care import ToCurate
from agents_manager.flow.memory.looking import (
    Blocked,
    Found,
    Mapped,
    NodeView,
    Recalled,
    Related,
    Teller,
)

SHOWN_STEPS = 5
BETWEEN: Mapping[tuple[EdgeKind, bool], str] = {
    (EdgeKind.FOUND_BY, True): "found by",
    (EdgeKind.FOUND_BY, False): "found",
    (EdgeKind.CONTRADICTS, True): "contradicts",
    (EdgeKind.CONTRADICTS, False): "contradicted by",
    (EdgeKind.ANSWERS, True): "answers",
    (EdgeKind.ANSWERS, False): "answered by",
    (EdgeKind.FOLLOWS, True): "follows",
    (EdgeKind.FOLLOWS, False): "followed by",
}


def listing(found: Sequence[Found], more: str = "") -> Iterator[Block]:
    """`more` says that there are more, and how to get them."""
    yield Table(
        ("ID", "KIND", "FINDING", "TAGS", "TASKS"),
        [
            (
                short(one.node.id),
                _kind(one.node),
                one.node.text,
                ", ".join(one.node.tags),
                ", ".join(named(task) for task in one.tasks),
            )
            for one in found
        ],
        cut=("FINDING", "TASKS"),
    )
    if more:
        yield Line(more, Tone.QUIET)


def nothing(hints: Sequence[str]) -> Iterator[Block]:
    yield Line(" ".join(["Nothing is known that fits.", *hints]))


def by_task(found: Sequence[Teller], more: str = "") -> Iterator[Block]:
    yield Table(
        ("TASK", "STATUS", "TITLE", "FINDINGS"),
        [
            (
                short(one.task.id),
                one.task.status,
                one.task.title,
                "; ".join(one_line(node.text) for node in one.nodes),
            )
            for one in found
        ],
        cut=("TITLE", "FINDINGS"),
    )
    if more:
        yield Line(more, Tone.QUIET)


def page(view: NodeView) -> Iterator[Block]:
    node = view.node
    yield title(one_line(node.text))
    facts = [node.id, _kind(node), view.project.name, *(f"#{tag}" for tag in node.tags)]
    yield Line(" · ".join(facts), Tone.QUIET)
    yield Line()
    for name, value in node.detail.items():
        if value not in (None, ""):
            told = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            yield Line(f"{name.replace('_', ' ').capitalize():<15}{one_line(told)}")
    yield Line(f"{'State':<15}{_state(node)}", _tone(node))
    yield Line(f"{'Used':<15}{_used(node)}")
    yield Line()
    yield title("Told by")
    yield Table(("WHO", "TASK", "RUN", "WHERE", "COMMIT", "WHEN"), _sources(view), indent=2)
    for source in node.sources:
        if source.words and source.words != node.text:
            yield Line(f'  {one_line(source.by)}: "{one_line(source.words)}"', Tone.QUIET)
    yield from _related(view.related)
    yield Line()
    for word in ("confirm", "edit", "retire", "contradict"):
        yield Line(f"am knowledge {word} {short(node.id)}", Tone.QUIET)


def mapped(found: Sequence[Mapped], under: str, more: str = "") -> Iterator[Block]:
    if not found:
        yield Line(f"No run has told of a change to {one_line(under) or 'any file'} yet.")
        return
    yield Table(
        ("FILE", "LINES", "CHANGE", "WHAT", "TASK", "WHEN"),
        [
            (
                one.note.path,
                one.note.lines,
                one.note.change,
                one.note.description,
                named(one.task) if one.task else short(one.note.task_id),
                ago(one.note.at),
            )
            for one in found
        ],
        cut=("WHAT", "TASK"),
    )
    if more:
        yield Line(more, Tone.QUIET)


def recalled(found: Recalled) -> Iterator[Block]:
    yield title(one_line(found.task.title))
    for run in found.runs:
        yield Line()
        yield title(f"Told run {short(run.run_id)} ({run.mode})")
        yield _hits(run.hits)
    if found.next is None:
        if not found.runs:
            yield Line("Nothing was known that its agents could have been told.")
        return
    yield Line()
    yield title("Told a run that begins now")
    before = ", ".join(named(task) for task in found.next.before)
    if before:
        yield Line(f"  It builds on {before}.")
    yield _hits(found.next.hits) if found.next.hits else Line("  Nothing that is known fits.")
    if found.next.left_out:
        yield Line()
        yield title("Left out")
        rows = [
            (short(x.node.id), _kind(x.node), x.node.text, x.reason) for x in found.next.left_out
        ]
        yield Table(("ID", "KIND", "FINDING", "WHY NOT"), rows, indent=2, cut=("FINDING",))


def _hits(hits: Sequence[Hit]) -> Table:
    rows = [
        (short(h.node.id), _kind(h.node), f"{h.score:.2f}", h.node.text, "; ".join(h.why))
        for h in hits
    ]
    return Table(("ID", "KIND", "SCORE", "FINDING", "WHY"), rows, indent=2, cut=("FINDING",))


def blockers(found: Sequence[Blocked]) -> Iterator[Block]:
    if not found:
        yield Line("Nothing is in the way.")
        return
    for number, one in enumerate(found):
        if number:
            yield Line()
        yield from _blocked(one)


def queue(found: Sequence[ToCurate]) -> Iterator[Block]:
    if not found:
        yield Line("There is nothing to look at.")
        return
    yield Table(
        ("ID", "KIND", "WHY", "FINDING", "OTHER"),
        [
            (
                short(one.node.id),
                _kind(one.node),
                one.reason,
                one.node.text,
                f"{short(one.other.id)} {one_line(one.other.text)}" if one.other else "",
            )
            for one in found
        ],
        cut=("FINDING", "OTHER"),
    )
    for word in ("confirm NODE", "edit NODE --text TEXT", "retire NODE --reason TEXT"):
        yield Line(f"am knowledge {word}", Tone.QUIET)


def handoff(kept: KeptHandoff) -> Iterator[Block]:
    """In short, as it stands on the page of a task."""
    note = kept.handoff
    counts = [
        (len(note.files_created) + len(note.files_modified), "file"),
        (len(note.patterns_discovered), "pattern"),
        (len(note.gotchas), "gotcha"),
        (len(note.open_questions), "open question"),
    ]
    told = ", ".join(counted(number, noun) for number, noun in counts if number)
    whole = f"{kept.completeness:.0%} complete"
    yield title("Handoff")
    yield Line(
        f"  {note.outcome}{f': {told}' if told else ''} · {whole} · run {short(kept.run_id)},"
        f" {ago(kept.at)}"
    )
    steps = note.suggested_next_steps
    if steps:
        yield Line("  Next steps, as its agent suggests:")
        yield from (Line(f"    {s.priority:<6}  {one_line(s.step)}") for s in steps[:SHOWN_STEPS])
    if len(steps) > SHOWN_STEPS:
        yield Line(f"    … {len(steps) - SHOWN_STEPS} more (--json shows all)", Tone.QUIET)


def in_the_way(found: Sequence[ActiveBlocker]) -> Iterator[Block]:
    yield title("Blockers")
    for one in found:
        yield Line(f"  {short(one.id)}  {one_line(one.blocker)}", Tone.URGENT)
        if one.suggested_resolution:
            yield Line(f"            {one_line(one.suggested_resolution)}")
    yield Line("  am knowledge resolve BLOCKER --note TEXT", Tone.QUIET)


def _blocked(one: Blocked) -> Iterator[Block]:
    told = one.blocker
    tone = Tone.QUIET if told.resolved_at else Tone.URGENT
    yield Line(f"{short(told.id)}  {one_line(told.blocker)}", tone)
    facts = {
        "Impact": told.impact,
        "Way out": told.suggested_resolution,
        "Holds up": ", ".join(named(task) for task in one.tasks),
        "Told by": f"{named(one.told_by) if one.told_by else short(told.task_id)},"
        f" {ago(told.created_at)}",
        "Resolved": f"by {told.resolved_by}, {ago(told.resolved_at)}" if told.resolved_at else "",
        "Note": told.note or "",
    }
    for name, fact in facts.items():
        if fact:
            yield Line(f"  {name:<10}{one_line(fact)}")


def _sources(view: NodeView) -> list[tuple[str, ...]]:
    tasks: Mapping[str | None, Task] = {task.id: task for task in view.tasks}
    return [
        (
            source.by,
            named(tasks[source.task_id]) if source.task_id in tasks else "",
            short(source.run_id or ""),
            f"{source.file}{f':{source.lines}' if source.lines else ''}" if source.file else "",
            (source.commit or "")[:8],
            ago(source.at),
        )
        for source in view.node.sources
    ]


def _related(found: Sequence[Related]) -> Iterator[Block]:
    # The tasks that told of it stand above already.
    others = [one for one in found if (one.kind, one.outward) != (EdgeKind.FOUND_BY, True)]
    if not others:
        return
    yield Line()
    yield title("Hangs together with")
    yield Table(
        ("HOW", "ID", "KIND", "WHAT"),
        [
            (BETWEEN[one.kind, one.outward], short(one.node.id), _kind(one.node), one.node.text)
            for one in others
        ],
        indent=2,
        cut=("WHAT",),
    )


def _kind(node: Node) -> str:
    severity = f"{node.severity} " if node.kind is NodeKind.GOTCHA and node.severity else ""
    state = f", {node.state}" if node.state is not NodeState.ACTIVE else ""
    return f"{severity}{node.kind}{state}"


def _state(node: Node) -> str:
    confirmed = f", confirmed {ago(node.confirmed_at)}" if node.confirmed_at else ""
    why = ": its file has changed since" if node.state is NodeState.STALE else ""
    return f"{node.state}{why}{confirmed}"


def _tone(node: Node) -> Tone:
    return Tone.PLAIN if node.state is NodeState.ACTIVE else Tone.URGENT


def _used(node: Node) -> str:
    if not node.used:
        return "in no prompt yet"
    return f"in the prompts of {counted(node.used, 'run')}, {node.helpful} of which ended well"


def named(task: Task) -> str:
    return f'{short(task.id)} "{one_line(task.title)}"'
