"""The document of what is known: read back it is the same, and every fault has a place."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agents_manager.domain import knowledge_document
from agents_manager.domain.handoff import Level
from agents_manager.domain.knowledge import Edge, EdgeKind, NodeKind, NodeState
from agents_manager.domain.knowledge_document import About, read, written
from agents_manager.errors import InvalidInput
from tests.contract.store_values import a_node, a_source

AT = datetime(2026, 1, 1, 12, 30, 45, 123456, tzinfo=UTC)
NODE = a_node(
    kind=NodeKind.GOTCHA,
    text="The limit is 100/min \u2028 <b>ünïcödé</b> 🙂",
    detail={"mitigation": "no", "discovered_in": "12:30", "blocking": False},
    severity=Level.HIGH,
    state=NodeState.STALE,
    sources=(a_source("task-1", words="As it was said first", at=AT),),
    used=3,
    helpful=2,
    created_at=AT,
    confirmed_at=AT,
    confirmed_commit="b" * 40,
)


def document(**changes: Any) -> dict[str, Any]:
    bare = replace(NODE, id="node-2", sources=(), confirmed_at=None)
    edge = Edge(source="node-1", target="node-2", kind=EdgeKind.CONTRADICTS)
    made = written(About(project="shop", exported_at=AT), [NODE, bare], [edge])
    return {**made, **changes}


def test_what_is_written_reads_back_as_the_same() -> None:
    made = document()
    assert read(json.dumps(made)).model_dump(mode="json", by_alias=True) == made
    first = made["nodes"][0]
    assert (first["id"], first["created_at"]) == ("node-1", "2026-01-01T12:30:45.123456Z")
    assert first["detail"] == {"mitigation": "no", "discovered_in": "12:30", "blocking": False}
    assert made["edges"] == [{"from": "node-1", "to": "node-2", "kind": "contradicts"}]


def faulty(change: dict[str, Any], source: dict[str, Any] | None = None) -> dict[str, Any]:
    made = document()
    made["nodes"][0] |= change
    made["nodes"][0]["sources"][0] |= source or {}
    return made


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (document(format="agents-manager/task"), "format: "),
        (document(version=2), "version: "),
        (document(nodes=None), "nodes: "),
        (document(node=[]), 'node: there is no key "node". Did you mean "nodes"?'),
        (faulty({"texts": "x"}), 'nodes.0.texts: there is no key "texts". Did you mean "text"?'),
        (faulty({"kind": "patern"}), "nodes.0.kind: "),
        (faulty({"text": ""}), "nodes.0.text: "),
        (faulty({"text": 3}), "nodes.0.text: "),
        (faulty({"text": "x" * 20_001}), "nodes.0.text: "),
        (faulty({"id": "no/slash"}), "nodes.0.id: "),
        (faulty({"id": "node-2"}), 'nodes: "node-2" stands there 2 times'),
        (faulty({"tags": ["Not Lower"]}), "nodes.0.tags.0: "),
        (faulty({"used": 1}), "nodes.0.helpful: more than it was used"),
        (faulty({"used": -1}), "nodes.0.used: "),
        (faulty({"created_at": "2026-01-01T00:00:00"}), "nodes.0.created_at: "),
        (faulty({}, {"file": "/etc/passwd"}), "nodes.0.sources.0.file: "),
        (faulty({}, {"file": "src/../../x"}), "nodes.0.sources.0.file: "),
        (faulty({}, {"file": ".."}), "nodes.0.sources.0.file: "),
        (faulty({}, {"lines": "all"}), "nodes.0.sources.0.lines: "),
        (faulty({}, {"commit": "--upload-pack=x"}), "nodes.0.sources.0.commit: "),
        (
            document(edges=[{"from": "node-1", "to": "gone-1", "kind": "answers"}]),
            'edges.0.to: there is no node "gone-1" in the file',
        ),
    ],
)
def test_every_fault_is_told_with_its_place(given: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(json.dumps(given))
    assert error.value.message.startswith("Nothing was imported.")
    assert any(detail.startswith(place) for detail in error.value.details), error.value.details


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1, column 2"),
        ("[" * 100, "nested deeper than"),
        ('{"format": 1, "format": 1}', 'the key "format" stands there twice'),
        ('{"x": "\\ud800"}', "half a surrogate pair"),
        ('{"x": NaN}', "NaN"),
    ],
)
def test_what_is_no_json_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read(text)


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(knowledge_document, "MAX_BYTES", 100)
    with pytest.raises(InvalidInput, match="over the limit of 100"):
        read(json.dumps(document()))


def test_many_faults_are_counted() -> None:
    made = document(edges=[{"from": "a" * 9, "to": "b" * 9, "kind": "answers"}] * 100)
    with pytest.raises(InvalidInput) as error:
        read(json.dumps(made))
    assert error.value.details[-1] == "and 150 more"
