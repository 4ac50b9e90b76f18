"""What is known of a project goes out and comes in as the same, on both databases."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain import recall
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.knowledge import Edge, EdgeKind, NodeKind, NodeState
from agents_manager.domain.task import Actor, ActorType, Project
from agents_manager.errors import InvalidInput
from agents_manager.flow.memory import exchange
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from tests.contract.store_values import a_node, a_project, a_source, a_task, furnish

ANN = Actor(type=ActorType.USER, name="ann", via="cli", admin=True)
HERE, THERE = ProjectId("project-1"), ProjectId("project-2")


@pytest.fixture
async def s(tmp_path: Path, used_address: str) -> AsyncIterator[Services]:
    url = used_address if "://" in used_address else None
    async with bootstrap.client(Settings(tmp_path / "home", url)) as program:
        await program.services.store.write(_furnish)
        yield program.services


def _furnish(tx: Tx) -> None:
    furnish(tx)
    tx.projects.add(a_project(THERE, path="/elsewhere"))
    tx.tasks.add(a_task("task-9", project_id=THERE))
    tx.knowledge.add(a_node("node-1", used=3, helpful=2))
    # The words of another hand, twice told, and no longer true.
    twice = (a_source("task-1", words="Said so first"), a_source(None, run_id=None, by="ben"))
    odd = {"text": "Größe \u2028 '\"<!-- 🙂", "detail": {"location": "a b", "blocking": True}}
    tx.knowledge.add(a_node("node-2", sources=twice, state=NodeState.RETIRED, **odd))
    tx.knowledge.add_edge(Edge(source="node-2", target="node-1", kind=EdgeKind.CONTRADICTS))


async def written(s: Services, project: ProjectId) -> dict[str, Any]:
    document = await s.store.read(lambda tx: exchange.export(tx, s, tx.projects.get(project)))
    return {**json.loads(json.dumps(document)), "about": None}


async def brought(s: Services, project: ProjectId, document: dict[str, Any]) -> exchange.Imported:
    into: Project = await s.store.read(lambda tx: tx.projects.get(project))
    about = {"project": "shop", "exported_at": "2026-01-01T00:00:00Z"}
    return await exchange.import_(s, into, json.dumps({**document, "about": about}), ANN)


async def test_what_was_lost_comes_back_as_it_was(s: Services) -> None:
    ours = await written(s, HERE)
    await s.store.write(lambda tx: [tx.tasks.delete(t.id) for t in _tasks(tx)])
    assert (await written(s, HERE))["nodes"] != ours["nodes"]
    await s.store.write(lambda tx: tx.tasks.add(a_task("task-1")))
    done = await brought(s, HERE, ours)
    assert done.renamed == {}
    back = await written(s, HERE)
    expected = ours["nodes"][0]
    for source in expected["sources"]:
        source["by"] += ", imported by ann"
    assert expected in back["nodes"]
    assert back["edges"] == ours["edges"]


def _tasks(tx: Tx) -> list[Any]:
    return tx.tasks.page(project=HERE, status=None, after=None, limit=10)


async def test_another_project_gets_it_under_ids_of_its_own_and_once(s: Services) -> None:
    ours = await written(s, HERE)
    done = await brought(s, THERE, ours)
    assert (done.added, done.already_there, done.edges) == (2, 0, 1)
    assert set(done.renamed) == {"node-1", "node-2"}
    theirs = await written(s, THERE)
    text = json.dumps(theirs)
    for old, new in done.renamed.items():
        text = text.replace(new, old)
    back = json.loads(text)
    for node in back["nodes"]:
        for source in node["sources"]:
            assert source["by"].endswith(", imported by ann")
            source["by"] = source["by"].removesuffix(", imported by ann")
    for node in ours["nodes"]:
        for source in node["sources"]:
            source["task"] = None  # It is none of theirs.
    assert back == ours
    again = await brought(s, THERE, ours)
    assert (again.added, again.already_there, again.edges) == (0, 2, 0)
    assert await written(s, THERE) == theirs
    assert (await brought(s, THERE, theirs)).added == 0


async def test_a_decision_of_a_file_is_not_that_of_a_person_here(s: Services) -> None:
    said = (a_source("task-1", run_id=None, by="ben"),)
    decision = a_node("node-4", kind=NodeKind.DECISION, text="Delete the tests", sources=said)
    await s.store.write(lambda tx: tx.knowledge.add(decision))
    assert recall.by_people(decision)
    document = await written(s, HERE)
    document["nodes"][-1] |= {"id": "node-5"}
    await brought(s, HERE, document)
    node = await s.store.read(lambda tx: tx.knowledge.get("node-5"))
    assert [(one.by, one.task_id) for one in node.sources] == [("ben, imported by ann", "task-1")]
    assert not recall.by_people(node)


async def test_two_that_would_be_one_are_refused_and_nothing_is_taken(s: Services) -> None:
    ours = await written(s, HERE)
    taken = (await brought(s, THERE, ours)).renamed["node-2"]
    before = await written(s, THERE)
    ours["nodes"] += [{**ours["nodes"][0], "id": id} for id in ("node-3", taken)]
    with pytest.raises(InvalidInput, match=r"Nothing was imported\."):
        await brought(s, THERE, ours)
    assert await written(s, THERE) == before
