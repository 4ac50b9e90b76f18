"""What a handoff tells, as nodes have it, and what becomes of one that was known before."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents_manager.domain import likeness, words
from agents_manager.domain.document import MAX_PATH
from agents_manager.domain.handoff import Handoff, Level
from agents_manager.domain.knowledge import Node, NodeKind, NodeState

LONGEST_TAG = 50
MOST_TAGS = 20
UNHELPED = frozenset(
    {"needs_info", "no_changes", "cannot_reproduce", "conflicts_detected", "merge_failed"}
)
"""Outcomes of a run that did not get on with what it was told."""
_PLACE = re.compile(
    r"`?(?P<path>[\w@+.-]+(?:/[\w@+.-]+)*)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?`?"
)
_SUFFIX = re.compile(r"\w\.[A-Za-z]\w{0,9}$")
_NO_TAG = re.compile(r"[^\w]+")
_SEVERITY = (Level.LOW, Level.MEDIUM, Level.HIGH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    kind: NodeKind
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    severity: Level | None = None
    tags: tuple[str, ...] = ()
    file: str | None = None
    lines: str | None = None


def of(handoff: Handoff, task_tags: Sequence[str]) -> Iterator[Finding]:
    about = tags(task_tags)
    for pattern in handoff.patterns_discovered:
        file, lines = place(pattern.location)
        yield Finding(
            kind=NodeKind.PATTERN,
            text=pattern.pattern,
            detail={"location": pattern.location},
            tags=tags(pattern.applies_to) or about,
            file=file,
            lines=lines,
        )
    for gotcha in handoff.gotchas:
        file, lines = place(gotcha.discovered_in)
        yield Finding(
            kind=NodeKind.GOTCHA,
            text=gotcha.issue,
            detail={"discovered_in": gotcha.discovered_in, "mitigation": gotcha.mitigation},
            severity=gotcha.severity,
            tags=about,
            file=file,
            lines=lines,
        )
    for asked in handoff.open_questions:
        yield Finding(
            kind=NodeKind.QUESTION,
            text=asked.question,
            detail={
                "context": asked.context,
                "recommendation": asked.recommendation,
                "blocking": asked.blocking,
            },
            tags=about,
        )


def decided(payload: Mapping[str, Any], response: Mapping[str, Any] | None) -> list[Finding]:
    """What people answered to questions, chose of options, or said of a piece of work."""
    if response is None:
        return []
    if "questions" in payload:
        given = {answer["question_id"]: answer for answer in response.get("answers", ())}
        asked = [q for q in payload["questions"] if q["id"] in given]
        return [
            _decision(q["question"], q.get("context"), given[q["id"]], "option", "text")
            for q in asked
        ]
    if "options" in payload and "summary" in payload:
        labels = {option["id"]: option["label"] for option in payload["options"]}
        chosen = {**response, "option": labels.get(response.get("option_id"))}
        return [_decision(payload["summary"], None, chosen, "option", "text", "instructions")]
    if "decision" in response and response.get("summary"):
        said = {"question": "", "answer": response["summary"], "reason": "said in a review"}
        return [Finding(kind=NodeKind.DECISION, text=response["summary"], detail=said)]
    return []


def _decision(asked: str, context: str | None, answer: Mapping[str, Any], *parts: str) -> Finding:
    said = ". ".join(str(answer[part]) for part in parts if answer.get(part))
    return Finding(
        kind=NodeKind.DECISION,
        text=f"{asked} {said}",
        detail={"question": asked, "answer": said, "reason": context or ""},
    )


def tags(given: Sequence[str]) -> tuple[str, ...]:
    """Lower case, with hyphens: those of tasks are anything that people wrote."""
    made = (_NO_TAG.sub("-", tag.casefold()).strip("-_")[:LONGEST_TAG] for tag in given)
    return tuple(dict.fromkeys(tag for tag in made if tag))[:MOST_TAGS]


def place(location: str) -> tuple[str | None, str | None]:
    """The file and the lines that words about a place name, if they are nothing but that."""
    found = _PLACE.fullmatch(location.strip())
    if found is None or len(found["path"]) > MAX_PATH:
        return None, None
    path = found["path"]
    odd = path.startswith("-") or any(part in (".", "..") for part in path.split("/"))
    if odd or not ("/" in path or _SUFFIX.search(path)):
        return None, None
    first, last = found["first"], found["last"]
    return path, f"{first}-{last or first}" if first else None


def nearest(finding: Finding, known: Sequence[Node]) -> Node | None:
    """The node that says the same already; another kind never does."""
    return next(
        (n for n in known if n.kind is finding.kind and likeness.alike(n.text, finding.text)), None
    )


def merged(node: Node, finding: Finding) -> dict[str, Any]:
    """What changes on a node that was found again: it is worse than thought, or about more; and it
    holds, where only its file had changed."""
    changed: dict[str, Any] = {}
    about = tuple(dict.fromkeys((*node.tags, *finding.tags)))[:MOST_TAGS]
    if about != node.tags:
        changed["tags"] = about
    told = {name: value for name, value in finding.detail.items() if value}
    detail = {**told, **{name: value for name, value in node.detail.items() if value}}
    if any(name not in node.detail or not node.detail[name] for name in told):
        changed["detail"] = detail
    if finding.severity and _rank(finding.severity) > _rank(node.severity):
        changed["severity"] = finding.severity
    if node.state is NodeState.STALE:
        changed["state"] = NodeState.ACTIVE
    return changed


def _rank(severity: Level | None) -> int:
    return -1 if severity is None else _SEVERITY.index(severity)


def looked_for_by(text: str) -> list[str]:
    """A few words that what says the same must have: long ones, as these are rare."""
    return sorted(words.telling([text], words.MOST), key=lambda word: (-len(word), word))[:6]


Changed = Mapping[str, frozenset[str] | None]
"""By commit, the files that are others now; None: the commit is gone, so that nobody can say."""


def commits(nodes: Sequence[Node]) -> list[str]:
    """Those that the files of nodes are to be held against."""
    found = (commit for node in nodes for commit, _ in _places(node) if commit)
    return list(dict.fromkeys(found))


def is_stale(node: Node, changed: Changed) -> bool:
    """Every file that it was found in is another since; what nobody can say counts as that."""
    places = _places(node)
    return bool(places) and all(_is_other(changed, commit, file) for commit, file in places)


def _is_other(changed: Changed, commit: str | None, file: str) -> bool:
    since = changed.get(commit) if commit else None
    return since is None or file in since


def _places(node: Node) -> list[tuple[str | None, str]]:
    """Files, each with the commit that it was last known to hold at."""
    return [(node.confirmed_commit or told.commit, told.file) for told in node.sources if told.file]
