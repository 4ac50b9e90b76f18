"""What people do with findings. Each act counts the node's version up and is on the record of
decisions; who changes a version that is no longer there is refused."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents_manager.domain import event, findings, likeness
from agents_manager.domain.audit import Deed
from agents_manager.domain.handoff import Level
from agents_manager.domain.knowledge import (
    Edge,
    EdgeKind,
    Node,
    NodeKind,
    NodeState,
    Query,
    Source,
)
from agents_manager.domain.names import visible
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Actor, Project
from agents_manager.errors import Conflict, InvalidInput, closest
from agents_manager.flow import audit
from agents_manager.flow.memory import absorb
from agents_manager.flow.ports import Services, Tx

LONGEST = 2_000
SHOWN = 100
QUEUED = 100
NEWEST = 50
"""Among which it is looked for what says nearly the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToCurate:
    """What somebody should look at, and why."""

    node: Node
    reason: str
    other: Node | None
    """The one that it contradicts, or nearly says."""


def confirm(
    tx: Tx, s: Services, node: str, by: Actor, *, expect_version: int | None = None
) -> Node:
    """It holds as the project stands now. The other side of a contradiction stays in doubt."""
    found = tx.knowledge.find(node)
    now = s.clock.now()
    done = _change(
        tx,
        s,
        found,
        expect_version,
        state=NodeState.ACTIVE,
        confirmed_at=now,
        confirmed_commit=tx.knowledge.looked(found.project_id),
    )
    _note(tx, s, by, Deed.KNOWLEDGE_CONFIRMED, "confirmed", done)
    return done


def edit(
    tx: Tx, s: Services, node: str, by: Actor, *, expect_version: int | None = None, **given: Any
) -> Node:
    """`text`, `tags`, `severity` and fields of `detail`; what was said before stays with those who
    said it."""
    found = tx.knowledge.find(node)
    changed = _checked(found, given)
    if not changed:
        return found
    if "text" in changed:
        tx.knowledge.say(found.id, found.text)
    done = _change(tx, s, found, expect_version, **changed)
    before = {name: getattr(found, name) for name in changed}
    _note(tx, s, by, Deed.KNOWLEDGE_EDITED, "changed", done, before=before)
    return done


def retire(
    tx: Tx, s: Services, node: str, by: Actor, reason: str, *, expect_version: int | None = None
) -> Node:
    """Agents are not told it any more; what contradicted it alone is no longer in doubt."""
    found = tx.knowledge.find(node)
    done = _change(tx, s, found, expect_version, state=NodeState.RETIRED)
    for other in _against(tx, found):
        doubted = [one for one in _against(tx, other) if one.state is not NodeState.RETIRED]
        if other.state is NodeState.CONTRADICTED and not doubted:
            _change(tx, s, other, None, state=NodeState.ACTIVE)
    _note(tx, s, by, Deed.KNOWLEDGE_RETIRED, "retired", done, reason=reason)
    return done


def contradict(tx: Tx, s: Services, node: str, by: Actor, other: str, reason: str = "") -> Node:
    """Both are in doubt until somebody confirms one or retires the other."""
    found, against = tx.knowledge.find(node), tx.knowledge.find(other)
    if found.id == against.id:
        raise InvalidInput(f'Node "{found.id}" cannot contradict itself; name another one.')
    if found.project_id != against.project_id:
        raise InvalidInput(
            f'Nodes "{found.id}" and "{against.id}" are of different projects, so that both may'
            " hold."
        )
    for one in (found, against):
        if one.state is NodeState.RETIRED:
            raise Conflict(f'Node "{one.id}" is retired; confirm it first if it holds after all.')
    tx.knowledge.add_edge(Edge(source=found.id, target=against.id, kind=EdgeKind.CONTRADICTS))
    for one in (found, against):
        _change(tx, s, one, None, state=NodeState.CONTRADICTED)
    done = tx.knowledge.get(found.id)
    said = {"other": against.id, "reason": reason}
    _note(tx, s, by, Deed.KNOWLEDGE_CONTRADICTED, "put in doubt", done, **said)
    return done


def decide(tx: Tx, s: Services, prompt: Prompt, by: Actor) -> list[Node]:
    """Keeps the answer to a question as a decision, so that the next agent is told instead of
    asking again. Once, however often it is said."""
    decided = findings.decided(prompt.payload, prompt.response)
    if not decided:
        raise InvalidInput(
            f'Prompt "{prompt.id}" has no answer to a question, so that there is nothing to keep as'
            " a decision."
        )
    task = tx.tasks.get(prompt.task_id)
    source = Source(
        task_id=task.id,
        run_id=None,
        by=by.name or by.type.value,
        commit=tx.knowledge.looked(task.project_id),
        file=None,
        lines=None,
        words="",
        at=s.clock.now(),
    )
    kept: list[Node] = []
    for one in decided:
        known = tx.knowledge.same(task.project_id, NodeKind.DECISION, one.text)
        if known is None or all(told.task_id != task.id for told in known.sources):
            about = replace(one, tags=findings.tags(task.tags))
            known = absorb.keep(tx, s, task, about, source).node
            told = event.DecisionKept(node=known.id, text=one.text)
            tx.events.add(task.id, told, by, s.clock.now())
            _note(tx, s, by, Deed.KNOWLEDGE_DECIDED, "kept as a decision", known, prompt=prompt.id)
        if known.state is NodeState.RETIRED:
            known = _change(tx, s, known, None, state=NodeState.ACTIVE)
        asked = tx.knowledge.same(task.project_id, NodeKind.QUESTION, one.detail["question"])
        if asked is not None:
            tx.knowledge.add_edge(Edge(source=known.id, target=asked.id, kind=EdgeKind.ANSWERS))
        kept.append(known)
    return kept


def queue(tx: Tx, project: Project) -> list[ToCurate]:
    """What to look at first: what is in doubt, then what is told in vain, then what is there
    twice."""
    found = list(_doubted(tx, project))
    known = {one.node.id for one in found}
    found += [one for one in _twice(tx, project) if one.node.id not in known]
    return found[:QUEUED]


def _doubted(tx: Tx, project: Project) -> Iterator[ToCurate]:
    for node in tx.knowledge.doubtful(project.id, limit=QUEUED):
        if node.state is NodeState.CONTRADICTED:
            against = [one for one in _against(tx, node) if one.state is not NodeState.RETIRED]
            reason = "Another finding says otherwise; confirm the one that holds, retire the other."
            yield ToCurate(node=node, reason=reason, other=against[0] if against else None)
        elif node.state is NodeState.STALE:
            files = ", ".join(sorted({told.file for told in node.sources if told.file}))
            about = files or "A file that it speaks of"
            reason = f"{about} changed since; confirm it if it still holds."
            yield ToCurate(node=node, reason=reason, other=None)
        else:
            reason = f"{node.used} runs were told it, and none of them ended well."
            yield ToCurate(node=node, reason=reason, other=None)


def _twice(tx: Tx, project: Project) -> Iterator[ToCurate]:
    """Pairs of the newest findings and others, each once."""
    kinds = tuple(kind for kind in NodeKind if kind is not NodeKind.TASK)
    newest = tx.knowledge.search(Query(project_id=project.id, kinds=kinds), limit=NEWEST)
    seen: set[frozenset[str]] = set()
    for node in newest:
        query = Query(project_id=project.id, kinds=(node.kind,))
        near = tx.knowledge.ranked(query, findings.looked_for_by(node.text), limit=5)
        for other in (fit.node for fit in near):
            pair = frozenset((node.id, other.id))
            if len(pair) == 1 or pair in seen or not likeness.near(node.text, other.text):
                continue
            seen.add(pair)
            reason = "Another finding says nearly the same; retire one of them."
            yield ToCurate(node=node, reason=reason, other=other)


def _against(tx: Tx, node: Node) -> list[Node]:
    """Those that contradict it."""
    edges = [e for e in tx.knowledge.edges([node.id]) if e.kind is EdgeKind.CONTRADICTS]
    return tx.knowledge.named([e.target if e.source == node.id else e.source for e in edges])


def _change(tx: Tx, s: Services, node: Node, expected: int | None, **fields: Any) -> Node:
    version = node.version if expected is None else expected
    return tx.knowledge.update(node.id, s.clock.now(), version=version, **fields)


def _note(tx: Tx, s: Services, by: Actor, deed: Deed, verb: str, node: Node, **data: Any) -> None:
    project = tx.projects.get(node.project_id)
    what = f'{verb} the {node.kind} "{visible(node.text, SHOWN)}" of project "{project.name}"'
    audit.note(tx, s.clock.now(), by, deed, what, node=node.id, project=project.name, **data)


_DETAILS: Mapping[NodeKind, tuple[str, ...]] = {
    NodeKind.TASK: (),
    NodeKind.PATTERN: ("location",),
    NodeKind.GOTCHA: ("discovered_in", "mitigation"),
    NodeKind.DECISION: ("question", "answer", "reason"),
    NodeKind.QUESTION: ("context", "recommendation"),
}


def _checked(node: Node, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given and differs, as it is kept."""
    known = ("text", "tags", "severity", "detail")
    for name in given:
        if name not in known:
            raise InvalidInput(f'A node has no "{name}" to change.{closest(name, known)}')
    changed = dict(given)
    if node.kind is NodeKind.TASK:
        raise InvalidInput(
            "This node stands for a task; edit the task itself: am task edit"
            f" {node.sources[0].task_id if node.sources else ''}".rstrip()
            + "."
        )
    if "text" in given:
        changed["text"] = _text("text", given["text"])
    if "tags" in given:
        changed["tags"] = findings.tags(given["tags"])
    if "severity" in given:
        changed["severity"] = _severity(node, given["severity"])
    if "detail" in given:
        changed["detail"] = {**node.detail, **_detail(node, given["detail"])}
    return {name: value for name, value in changed.items() if value != getattr(node, name)}


def _text(name: str, given: object) -> str:
    said = given.strip() if isinstance(given, str) else ""
    if not said:
        raise InvalidInput(f'"{name}" needs words; to take a finding away, retire it.')
    if len(said) > LONGEST:
        raise InvalidInput(f'"{name}" has {len(said)} characters; {LONGEST} are the most.')
    return said


def _severity(node: Node, given: object) -> Level:
    if node.kind is not NodeKind.GOTCHA:
        raise InvalidInput(f"Only a gotcha has a severity, and this is a {node.kind}.")
    levels = tuple(Level)
    if given not in levels:
        raise InvalidInput(f'"{given}" is no severity; there are {", ".join(levels)}.')
    return Level(str(given))


def _detail(node: Node, given: Mapping[str, Any]) -> dict[str, str]:
    known = _DETAILS[node.kind]
    for name in given:
        if name not in known:
            fields = ", ".join(known)
            hint = closest(name, known)
            raise InvalidInput(f'A {node.kind} has no "{name}"; it has {fields}.{hint}')
    return {name: _text(name, value) for name, value in given.items()}
