"""What is known of a project as a document that can be kept or given to another project."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints, ValidationError

from agents_manager.domain import strict_json
from agents_manager.domain.handoff import Level, Path, Tag
from agents_manager.domain.knowledge import Edge, EdgeKind, Node, NodeKind, NodeState, Source
from agents_manager.domain.names import visible
from agents_manager.domain.pipeline import faults
from agents_manager.domain.value import Value
from agents_manager.errors import InvalidInput

FORMAT = "agents-manager/knowledge"
VERSION = 1
MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_EDGES = 100_000
MOST_TOLD = 50
SHOWN = 60
REFUSAL = "Nothing was imported."

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{3,99}$")]
Short = Annotated[str, StringConstraints(max_length=500)]
Prose = Annotated[str, StringConstraints(max_length=20_000)]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,64}$")]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


class SourceWritten(Value):
    task: Id | None
    """None: it was brought in from elsewhere."""
    run: Id | None
    by: Short
    commit: Commit | None
    file: Path | None
    lines: Annotated[str, StringConstraints(pattern=r"^\d{1,9}-\d{1,9}$")] | None
    words: Prose
    at: AwareDatetime


class NodeWritten(Value):
    id: Id
    kind: NodeKind
    text: Annotated[Prose, StringConstraints(min_length=1)]
    detail: dict[Short, Any]
    severity: Level | None
    tags: Annotated[tuple[Tag, ...], Field(max_length=50)]
    state: NodeState
    sources: Annotated[tuple[SourceWritten, ...], Field(max_length=10_000)]
    used: Count
    helpful: Count
    created_at: AwareDatetime
    updated_at: AwareDatetime
    confirmed_at: AwareDatetime | None
    confirmed_commit: Commit | None


class EdgeWritten(Value):
    model_config = ConfigDict(populate_by_name=True)

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")
    kind: EdgeKind


class About(Value):
    project: Short
    exported_at: AwareDatetime


class Written(Value):
    format: Literal["agents-manager/knowledge"]
    version: Literal[1]
    about: About
    nodes: Annotated[tuple[NodeWritten, ...], Field(max_length=MAX_NODES)]
    edges: Annotated[tuple[EdgeWritten, ...], Field(max_length=MAX_EDGES)]


def written(about: About, nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, Any]:
    """In the order of the nodes, so that the same knowledge gives the same document."""
    places = {node.id: number for number, node in enumerate(nodes)}
    ordered = sorted(edges, key=lambda e: (places[e.source], places[e.target], e.kind))
    document = Written.model_construct(
        format=FORMAT,
        version=VERSION,
        about=about,
        nodes=tuple(_node(node) for node in nodes),
        edges=tuple(
            EdgeWritten.model_construct(source=e.source, target=e.target, kind=e.kind)
            for e in ordered
        ),
    )
    return document.model_dump(mode="json", by_alias=True)


def read(text: str) -> Written:
    """The document, or every fault in it with its place."""
    try:
        strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise InvalidInput(f"{REFUSAL} It is not valid JSON: {error}.") from None
    try:
        found = Written.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise refused(faults(error, Written)) from None
    problems = _problems(found)
    if problems:
        raise refused(problems)
    return found


def refused(problems: Sequence[str]) -> InvalidInput:
    more = len(problems) - MOST_TOLD
    told = [*problems[:MOST_TOLD], *([f"and {more} more"] if more > 0 else [])]
    return InvalidInput(f"{REFUSAL} The file is no export of knowledge, or was changed.", told)


def _problems(found: Written) -> list[str]:
    counts = Counter(node.id for node in found.nodes)
    twice = [
        f'nodes: "{visible(id, SHOWN)}" stands there {n} times' for id, n in counts.items() if n > 1
    ]
    more = [
        f"nodes.{n}.helpful: more than it was used"
        for n, node in enumerate(found.nodes)
        if node.helpful > node.used
    ]
    loose = [
        f'edges.{n}.{end}: there is no node "{visible(id, SHOWN)}" in the file'
        for n, edge in enumerate(found.edges)
        for end, id in (("from", edge.source), ("to", edge.target))
        if id not in counts
    ]
    return [*twice, *more, *loose]


def _node(node: Node) -> NodeWritten:
    return NodeWritten.model_construct(
        id=node.id,
        kind=node.kind,
        text=node.text,
        detail=dict(node.detail),
        severity=node.severity,
        tags=node.tags,
        state=node.state,
        sources=tuple(_source(source) for source in node.sources),
        used=node.used,
        helpful=node.helpful,
        created_at=node.created_at,
        updated_at=node.updated_at,
        confirmed_at=node.confirmed_at,
        confirmed_commit=node.confirmed_commit,
    )


def _source(source: Source) -> SourceWritten:
    return SourceWritten.model_construct(
        task=source.task_id,
        run=source.run_id,
        by=source.by,
        commit=source.commit,
        file=source.file,
        lines=source.lines,
        words=source.words,
        at=source.at,
    )
