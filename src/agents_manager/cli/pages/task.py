"""Tasks as people read them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from agents_manager.cli.pages import knowledge as knowledge_page
from agents_manager.cli.pages import prompt as prompt_page
from agents_manager.cli.pages import run as run_page
from agents_manager.cli.render import (
    Block,
    Line,
    Table,
    Tone,
    ago,
    counted,
    excerpt,
    one_line,
    short,
    title,
)
from agents_manager.domain.event import Logged, ToolUsed
from agents_manager.domain.event.happening import Level
from agents_manager.domain.issue import reference
from agents_manager.domain.pipeline import Status
from agents_manager.domain.task import ArtifactType, History, Project, PullState, Result, Task
from agents_manager.flow.liveness import Mover
from agents_manager.flow.pipelines import plain
from agents_manager.flow.views import TaskView

SHOWN_LINES = 12
TOOL = ToolUsed.category
MOST_TOOLS = 5
"""How many tools a line of calls names."""
TONES = {Level.WARNING: Tone.URGENT, Level.ERROR: Tone.REMOVED}

Listed = tuple[Task, Project, Status, Mover]


def listing(rows: Sequence[Listed], more: str) -> Iterator[Block]:
    if not rows:
        yield Line("There are no tasks here.")
        return
    yield Table(
        ("ID", "STATUS", "TITLE", "NEXT", "PROJECT", "CHANGED"),
        [
            (short(t.id), s.title, t.title, mover.text, project.name, ago(t.updated_at))
            for t, project, s, mover in rows
        ],
        cut=("TITLE", "NEXT"),
    )
    if more:
        yield Line(more, Tone.QUIET)


def page(view: TaskView, events: Sequence[Logged]) -> Iterator[Block]:
    task = view.task
    yield title(one_line(task.title))
    facts = [
        task.id,
        view.project.name,
        f"pipeline {plain(task.pipeline_id)} {task.pipeline_version}",
    ]
    facts += [task.type, f"{task.priority} priority", *(f"#{tag}" for tag in task.tags)]
    yield Line(" · ".join(facts), Tone.QUIET)
    yield Line()
    yield Line(f"Status  {view.status.title} ({task.status})")
    alarm = Tone.URGENT if view.next_mover.kind == "nobody" else Tone.PLAIN
    yield Line(f"Next    {one_line(view.next_mover.text)}", alarm)
    yield Line(f"Why     {one_line(view.why)}", Tone.QUIET)
    if task.agent:
        model = f", model {one_line(task.model)}" if task.model else ""
        yield Line(f"Agent   {one_line(task.agent)}{model}")
    yield from _places(view)
    if view.skipped_checks:
        yield Line(f"Checks  skipped for this task: {', '.join(view.skipped_checks)}")
    yield from _questions(view)
    yield from _described(task)
    yield from _phases(view)
    yield from _moves(view)
    if view.runs:
        yield Line()
        yield title("Runs")
        yield run_page.table(view.runs, indent=2)
    yield from _memory(view)
    yield Line()
    yield title("Latest events")
    yield from event_lines(events, indent=2)


def event_lines(
    events: Sequence[Logged], *, indent: int = 0, tools: bool = False
) -> Iterator[Line]:
    """Yield a line for each event; calls of tools that follow each other are one, unless `tools`
    asks for all of them."""
    for kind, group in groupby(events, key=lambda e: e.category == TOOL and not tools):
        if kind:
            calls = list(group)
            yield _event_line(calls[-1], _calls(calls), indent, Tone.QUIET)
            continue
        for event in group:
            tone = Tone.QUIET if event.category == TOOL else TONES.get(event.level, Tone.PLAIN)
            yield _event_line(event, event.summary, indent, tone)


def _event_line(event: Logged, text: str, indent: int, tone: Tone) -> Line:
    return Line(f"{' ' * indent}{ago(event.time):>12}  {one_line(text)}", tone)


def _calls(calls: Sequence[Logged]) -> str:
    """Return how often which tool was called."""
    left_out = sum(call.data.get("count", 0) for call in calls)
    named = Counter(call.data["name"] for call in calls if "name" in call.data)
    failed = sum(call.data.get("ok") is False for call in calls)
    which = ", ".join(f"{name} {count}" for name, count in named.most_common(MOST_TOOLS))
    others = ", …" if len(named) > MOST_TOOLS else ""
    how = f" ({failed} failed)" if failed else ""
    told = counted(named.total() + left_out, "tool call")
    return f"{told}: {which}{others}{how}" if which else told


def history(entries: Sequence[History]) -> Iterator[Block]:
    if not entries:
        yield Line("The task was not moved yet.")
        return
    yield Table(
        ("WHEN", "MOVE", "BY", "TRIGGER", "RESULT", "WHY"),
        [
            (
                ago(e.time),
                f"{e.source} -> {e.to}" if e.source != e.to else e.source,
                e.actor.name or e.actor.type.value,
                e.outcome or e.trigger,
                e.result.value,
                e.reason or _refusals(e),
            )
            for e in entries
        ],
    )


def _refusals(entry: History) -> str:
    if entry.result is not Result.REFUSED:
        return ""
    return " ".join(g.reason for g in entry.guards if not g.passed)


def _places(view: TaskView) -> Iterator[Line]:
    source = reference(view.artifacts)
    if source is not None:
        yield Line(f"Issue   {source}")
        yield Line(f"        {one_line(source.url)}")
    branches = [a for a in view.artifacts if a.type is ArtifactType.BRANCH]
    if branches:
        yield Line(f"Branch  {branches[0].label} from {branches[0].data['base']}")
    pull = view.pull
    if pull is not None:
        merged = (
            f" as {pull.merge_sha[:8]}"
            if pull.state is PullState.MERGED and pull.merge_sha
            else f" at {pull.head_sha[:8]}"
        )
        checks = f", checks {pull.checks}" if pull.checks else ""
        yield Line(f"Pull    #{pull.number} into {pull.base_branch}, {pull.state}{merged}{checks}")
        if pull.url:
            yield Line(f"        {one_line(pull.url)}")


def _phases(view: TaskView) -> Iterator[Block]:
    if view.phases:
        yield Line()
        yield title("Phases")
        rows = [(str(p.number), p.name, p.status.value) for p in view.phases]
        yield Table(("NUMBER", "NAME", "STATUS"), rows, indent=2)


def _memory(view: TaskView) -> Iterator[Block]:
    if view.memory.handoff:
        yield Line()
        yield from knowledge_page.handoff(view.memory.handoff)
    if view.memory.blockers:
        yield Line()
        yield from knowledge_page.in_the_way(view.memory.blockers)


def _questions(view: TaskView) -> Iterator[Line]:
    for prompt in view.prompts:
        yield Line()
        asked = f"Question {short(prompt.id)} ({prompt.type}), {ago(prompt.created_at)}"
        yield Line(asked, Tone.URGENT)
        yield Line(f"  am prompt show {short(prompt.id)}")
        for way in prompt_page.ways(prompt, view.task):
            yield Line(f"  {way}")


def _described(task: Task) -> Iterator[Line]:
    parts = {"Objective": task.objective, "Description": task.description, "Plan": task.plan}
    for heading, text in parts.items():
        if text and text.strip():
            yield Line()
            yield title(heading)
            yield from excerpt(text, SHOWN_LINES, indent=2, prose=True)
    if task.acceptance_criteria:
        yield Line()
        yield title("Done when")
        yield from (Line(f"  - {one_line(c)}") for c in task.acceptance_criteria)


def _moves(view: TaskView) -> Iterator[Block]:
    if not view.moves:
        return
    yield Line()
    yield title("Moves by hand")
    yield Table(
        ("TO", "MOVE", "NOW"),
        [
            (m.to, m.label, "possible" if m.allowed else "no: " + " ".join(m.reasons))
            for m in view.moves
        ],
        indent=2,
    )
    yield Line(f"  am task move {short(view.task.id)} STATUS", Tone.QUIET)
