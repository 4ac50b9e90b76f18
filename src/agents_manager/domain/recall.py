"""Which of what a project found out a task is told: candidates scored by what the task is about,
limited by how hard it is, each with the reasons for and against it. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agents_manager.domain import findings, words
from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import Fit, Hit, LeftOut, Node, NodeKind, NodeState
from agents_manager.domain.predecessor import DISPUTED, LOW, RETIRED, STALE, line
from agents_manager.domain.task import Task

LIMITS: Mapping[str, int] = {"low": 3, "medium": 6, "high": 10}
"""Findings for a task of each complexity."""
CHARACTERS = 800
"""For each of them, on the average."""
MEMORY = 10
MEMORY_CHARACTERS = 3_000
MOST_WORDS = 12
MOST_FILES = 50
KINDS = (NodeKind.PATTERN, NodeKind.GOTCHA, NodeKind.DECISION, NodeKind.QUESTION)

TAG, FILE, WORDS, SEVERE, OWN, CONFIRMED = 2.0, 3.0, 4.0, 1.0, 1.0, 0.5
"""Points for each tag and file in common, for all words, and for what speaks for a finding by
itself."""
RANKED = 4.0
"""For what a plugin finds to fit wholly."""
FITS = 0.5
"""What a plugin finds to fit less than that has nothing from it."""
MOST_COUNTED = 4
"""Of tags and files; more of them do not make it fit better."""
FEWEST_WORDS = 2
"""That a finding has in common with the task which shares neither a tag nor a file with it."""

_FILE = re.compile(r"(?<![\w./-])(?:(?:[\w.-]+/)+[\w.-]*|[\w-][\w.-]*)\w\.[A-Za-z]\w{0,9}(?![\w/])")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a task is about."""

    task_id: TaskId
    complexity: str
    tags: tuple[str, ...]
    files: tuple[str, ...]
    words: tuple[str, ...]
    """The most telling first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    hits: tuple[Hit, ...]
    """The best first."""
    left_out: tuple[LeftOut, ...]


def about(task: Task, texts: Sequence[str], touched: Iterable[str] = ()) -> About:
    """The texts are what there is beside the task's own. Files are those that are named, and those
    that are known to be touched."""
    told = [
        task.title,
        task.objective,
        *texts,
        *task.acceptance_criteria,
        task.description,
        task.plan or "",
    ]
    named = dict.fromkeys(name for text in told for name in _FILE.findall(text))
    return About(
        task_id=task.id,
        complexity=task.complexity,
        tags=findings.tags(task.tags),
        files=tuple(dict.fromkeys([*touched, *named]))[:MOST_FILES],
        words=tuple(words.telling([_FILE.sub(" ", text) for text in told], MOST_WORDS)),
    )


def chosen(
    candidates: Iterable[Fit],
    about: About,
    *,
    told: Collection[str] = (),
    answered: Collection[str] = (),
    against: Mapping[str, Node] | None = None,
    boosts: Mapping[str, tuple[float, str]] | None = None,
) -> Chosen:
    """The best of the candidates. `told` are in the prompt already, `answered` are questions with a
    decision, `against` says what contradicts a node, `boosts` is what plugins add."""
    boosts = boosts or {}
    left: list[LeftOut] = []
    scored: list[Hit] = []
    for fit in candidates:
        node = fit.node
        reason = _refused(node, told, answered)
        hit = _scored(fit, about, boosts.get(node.id))
        if reason is None and hit is None:
            reason = "has too little in common with the task"
        if reason is not None:
            left.append(LeftOut(node=node, reason=reason))
        elif hit is not None:
            scored.append(hit)
    scored.sort(key=lambda hit: (-hit.score, hit.node.id))
    return _within(scored, left, about.complexity, against or {})


def remembered(nodes: Iterable[Node], told: Collection[str] = ()) -> Chosen:
    """What every agent of the project is told: the newest first, what did not help last."""
    hits: list[Hit] = []
    left: list[LeftOut] = []
    room = MEMORY_CHARACTERS
    for node in sorted(nodes, key=lambda n: n.updated_at, reverse=True):
        reason = _refused(node, told, ())
        if reason is not None:
            left.append(LeftOut(node=node, reason=reason))
            continue
        hits.append(Hit(node=node, score=_trust(node), why=("high severity",)))
    hits.sort(key=lambda hit: -hit.score)
    kept: list[Hit] = []
    for hit in hits:
        room -= len(sentence(hit.node)) + 1
        if len(kept) == MEMORY or room < 0:
            reason = (
                f"the memory has room for {MEMORY} findings and {MEMORY_CHARACTERS:,} characters"
            )
            left.append(LeftOut(node=hit.node, reason=reason))
            room = min(room, 0)
            continue
        kept.append(hit)
    return Chosen(hits=tuple(kept), left_out=tuple(left))


def by_people(node: Node) -> bool:
    """Whether it is a decision, and neither a run nor a file had a part in it."""
    people = (source.run_id is None and not source.imported for source in node.sources)
    return node.kind is NodeKind.DECISION and all(people)


def sentence(node: Node, against: Node | None = None) -> str:
    """A finding as a line of a list; with what contradicts it, both sides."""
    marks = [node.kind.value, *([node.severity.value] if node.severity else [])]
    if node.state is NodeState.STALE:
        marks.append(STALE)
    if node.state is NodeState.CONTRADICTED and against is None:
        marks.append(DISPUTED)
    said = f"- [{', '.join(marks)}] {_words(node)} ({node.id[:8]})"
    if against is None:
        return said
    return f"{said}\n  But: {_words(against)} ({against.id[:8]}). See which of both holds."


def _words(node: Node) -> str:
    detail = node.detail
    match node.kind:
        case NodeKind.PATTERN:
            more = f" (see: {detail['location']})" if detail.get("location") else ""
        case NodeKind.GOTCHA:
            more = f": {detail['mitigation']}" if detail.get("mitigation") else ""
        case NodeKind.QUESTION:
            advice = detail.get("recommendation")
            more = f" Nobody has answered it; recommended: {advice}" if advice else ""
        case _:
            more = f" ({detail['reason']})" if detail.get("reason") else ""
    return line(f"{node.text}{more}")


def _refused(node: Node, told: Collection[str], answered: Collection[str]) -> str | None:
    if node.state is NodeState.RETIRED:
        return RETIRED
    if node.kind is NodeKind.GOTCHA and node.severity is Level.LOW:
        return LOW
    if node.id in told:
        return "is in the prompt already"
    if node.id in answered:
        return "a decision answers it"
    return None


def _scored(fit: Fit, about: About, boost: tuple[float, str] | None) -> Hit | None:
    """None: it has too little in common with the task."""
    node = fit.node
    if not fit.tags and not fit.files and len(fit.words) < FEWEST_WORDS and boost is None:
        return None
    why = [f"tag {tag}" for tag in fit.tags] + [f"file {file}" for file in fit.files]
    why += [f"words: {', '.join(fit.words[:MOST_COUNTED])}"] if fit.words else []
    score = TAG * min(len(fit.tags), MOST_COUNTED) + FILE * min(len(fit.files), MOST_COUNTED)
    score += WORDS * fit.text
    if boost is not None:
        score += boost[0]
        why.append(boost[1])
    if node.severity is Level.HIGH:
        score += SEVERE
        why.append("high severity")
    if any(source.task_id == about.task_id for source in node.sources):
        score += OWN
        why.append("found in this task")
    if node.confirmed_at is not None:
        score += CONFIRMED
        why.append("confirmed")
    return _weighed(Hit(node=node, score=score, why=tuple(why)))


def _weighed(hit: Hit) -> Hit:
    """Less for what did not help, and half for what is stale."""
    node = hit.node
    score, why = hit.score * _trust(node), hit.why
    if node.helpful < node.used:
        why = (*why, f"helped in {node.helpful} of {node.used} runs")
    if node.state is NodeState.STALE:
        score, why = score / 2, (*why, "stale, which counts half")
    return replace(hit, score=round(score, 3), why=why)


def _trust(node: Node) -> float:
    """1 for what is new and for what always helped; towards 0 the more often it did not."""
    return (node.helpful + 2) / (node.used + 2) if node.used else 1.0


def _within(
    scored: Sequence[Hit], left: list[LeftOut], complexity: str, against: Mapping[str, Node]
) -> Chosen:
    """A finding that contradicts one above it stands beside that."""
    limit = LIMITS.get(complexity, LIMITS["medium"])
    room = limit * CHARACTERS
    kept: list[Hit] = []
    beside: set[str] = set()
    for hit in scored:
        node, other = hit.node, against.get(hit.node.id)
        length = len(sentence(node, other)) + 1
        if node.id in beside:
            continue
        if len(kept) == limit:
            reason = f"beyond the limit of {limit} for a task of {complexity} complexity"
        elif length > room:
            reason = f"no room: all findings have {limit * CHARACTERS:,} characters together"
        else:
            reason = None
            kept.append(hit)
            room -= length
            beside |= {other.id} if other else set()
        if reason is not None:
            left.append(LeftOut(node=node, reason=f"{reason} (scored {hit.score:g})"))
    return Chosen(hits=tuple(kept), left_out=tuple(left))
