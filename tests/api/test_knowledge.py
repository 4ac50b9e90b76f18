"""What is known over HTTP: found, looked at, cared for, drawn, and taken elsewhere."""

import json
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.domain.handoff import Handoff, Level
from agents_manager.domain.knowledge import (
    ActiveBlocker,
    Edge,
    EdgeKind,
    Node,
    NodeKind,
    NodeState,
)
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Project, Task
from agents_manager.flow import access, tasks
from agents_manager.flow.memory import looking
from agents_manager.flow.ports import Tx
from tests.api.scenes import ANSWER, Scene, told
from tests.contract.store_values import a_blocker, a_file_note, a_handoff, a_node, a_source
from tests.repos import make_repo

API = "/api/v1"


async def known(scene: Scene, task: Task, text: str, *tags: str, **fields: Any) -> Node:
    given: dict[str, Any] = {
        "project_id": task.project_id,
        "tags": tags,
        "sources": (a_source(task.id),),
        "created_at": scene.s.clock.now(),
    }
    node = a_node(scene.s.ids.new(), text=text, **{**given, **fields})
    await scene.s.store.write(lambda tx: tx.knowledge.add(node))
    return node


async def found(api: httpx.AsyncClient, **query: Any) -> list[str]:
    response = await api.get(f"{API}/knowledge/nodes", params=query)
    assert response.status_code == 200, response.text
    return [one["node"]["text"] for one in response.json()["items"]]


async def test_what_is_known_is_found_by_all_that_is_asked(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    login, search = await scene.task("Add login"), await scene.task("Add search")
    await known(scene, login, "Use AuthContext for user state", "auth", "react")
    gotcha = {"kind": NodeKind.GOTCHA, "severity": Level.HIGH}
    await known(scene, search, "The index is rebuilt at night", "search", **gotcha)
    await known(scene, login, "Tokens are refreshed twice", "auth", **gotcha)
    await known(scene, login, "Sessions are files", "auth", state=NodeState.RETIRED)

    assert await found(api, tag="auth", kind="pattern") == ["Use AuthContext for user state"]
    assert await found(api, tag="auth") == [
        "Tokens are refreshed twice",
        "Use AuthContext for user state",
    ]
    assert await found(api, tag=["auth", "react"]) == ["Use AuthContext for user state"]
    assert await found(api, q="index night") == ["The index is rebuilt at night"]
    assert await found(api, task=search.id) == ["The index is rebuilt at night"]
    assert await found(api, state="retired") == ["Sessions are files"]
    assert len(await found(api, file="src/auth")) == 3
    assert await found(api, file="docs") == []
    assert await found(api, project=scene.project.name, q="files", state="retired") == [
        "Sessions are files"
    ]

    first = (await api.get(f"{API}/knowledge/nodes", params={"limit": 2})).json()
    rest = await found(api, limit=2, cursor=first["next"])
    assert [one["node"]["text"] for one in first["items"]] + rest == await found(api)
    assert [t["title"] for t in first["items"][0]["tasks"]] == ["Add login"]
    tags = (await api.get(f"{API}/knowledge/tags")).json()["items"]
    assert tags[0]["tag"] == "auth"


async def test_what_does_not_exist_is_told_by_its_name(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    told(await api.get(f"{API}/knowledge/nodes/nowhere1"), 404, "KnowledgeNotFound")
    told(await api.get(f"{API}/knowledge/nodes?project=nope"), 404, "ProjectNotFound")
    told(await api.get(f"{API}/knowledge/nodes?task=nope1234"), 404, "TaskNotFound")
    told(await api.get(f"{API}/knowledge/nodes?cursor=nope1234"), 422, "InvalidInput")
    body = told(await api.get(f"{API}/knowledge/nodes?kind=patern"), 422, "InvalidInput")
    assert "kind" in body["details"][0]
    told(await api.post(f"{API}/blockers/nowhere1/resolve"), 404, "BlockerNotFound")
    map_ = f"{API}/projects/{scene.project.id}/knowledge/map"
    told(await api.get(f"{map_}?cursor=nope1234"), 422, "InvalidInput")


async def test_a_finding_with_its_sources_and_what_it_hangs_together_with(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await scene.task("Add login")
    one = await known(scene, task, "Cookies are safe")
    other = await known(scene, task, "Cookies are not safe")
    edge = Edge(source=other.id, target=one.id, kind=EdgeKind.CONTRADICTS)
    await scene.s.store.write(lambda tx: tx.knowledge.add_edge(edge))

    view = (await api.get(f"{API}/knowledge/nodes/{one.id[:8]}")).json()
    assert view["node"]["sources"][0]["file"] == "src/auth/jwt.ts"
    assert view["tasks"] == [{"id": task.id, "title": "Add login", "status": task.status}]
    (related,) = view["related"]
    assert (related["kind"], related["outward"]) == ("contradicts", False)
    assert related["node"]["id"] == other.id


async def test_the_drawing_is_bounded_and_whole_within_its_bounds(
    scene: Scene, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await scene.task("Add login")
    nodes = [await known(scene, task, f"Finding {n}") for n in range(4)]
    await known(scene, task, "Gone", state=NodeState.RETIRED)
    await known(scene, task, "x" * 1000)
    for source, target in pairwise(nodes):
        edge = Edge(source=source.id, target=target.id, kind=EdgeKind.ANSWERS)
        await scene.s.store.write(lambda tx, edge=edge: tx.knowledge.add_edge(edge))
    address = f"{API}/projects/{scene.project.name}/knowledge/graph"
    whole = (await api.get(address)).json()
    assert (len(whole["nodes"]), len(whole["edges"]), whole["cut"]) == (5, 3, False)
    assert max(len(node["text"]) for node in whole["nodes"]) == 200
    assert set(whole["edges"][0]) == {"from", "to", "kind"}

    monkeypatch.setattr(looking, "MOST_DRAWN", 3)
    part = (await api.get(address)).json()
    drawn = {node["id"] for node in part["nodes"]}
    assert (len(drawn), part["cut"]) == (3, True)
    assert [(e["from"], e["to"]) for e in part["edges"]] == [(nodes[2].id, nodes[3].id)]


async def blocked(scene: Scene, task: Task, *held: Task) -> ActiveBlocker:
    made = a_blocker(
        scene.s.ids.new(),
        task.id,
        project_id=scene.project.id,
        blocking_tasks=tuple(one.id for one in held),
    )
    await scene.s.store.write(lambda tx: tx.knowledge.add_blocker(made))
    return made


HANDOFF = {
    "outcome": "completed",
    "files_created": [{"path": "src/auth/jwt.ts", "purpose": "Tokens", "lines": "1-20"}],
    "suggested_next_steps": [{"step": "Add refresh", "priority": "high"}],
}


async def test_a_task_shows_its_handoff_and_what_is_in_its_way(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task, run = await scene.running("Add login")
    other = await scene.task("Add payments")
    kept = a_handoff(
        run.id, task.id, project_id=scene.project.id, handoff=Handoff.model_validate(HANDOFF)
    )
    await scene.s.store.write(lambda tx: tx.knowledge.keep_handoff(kept))
    made = await blocked(scene, task, other)

    handoff = (await api.get(f"{API}/runs/{run.id}/handoff")).json()
    assert handoff["handoff"]["suggested_next_steps"][0] == {
        "step": "Add refresh",
        "priority": "high",
        "depends_on": [],
    }
    memory = (await api.get(f"{API}/tasks/{task.id}")).json()["memory"]
    assert memory["handoff"]["handoff"] == handoff["handoff"]
    assert [b["id"] for b in memory["blockers"]] == [made.id]
    behind = (await api.get(f"{API}/tasks/{other.id}")).json()["memory"]
    assert (behind["handoff"], [b["id"] for b in behind["blockers"]]) == (None, [made.id])

    (listed,) = (await api.get(f"{API}/blockers")).json()["items"]
    assert [t["title"] for t in listed["tasks"]] == ["Add payments"]
    assert listed["told_by"]["title"] == "Add login"
    done = await api.post(f"{API}/blockers/{made.id[:8]}/resolve", json={"note": "Here they are"})
    assert done.json()["blocker"]["note"] == "Here they are"
    assert (await api.get(f"{API}/blockers")).json()["items"] == []
    assert len((await api.get(f"{API}/blockers?all=true")).json()["items"]) == 1
    assert (await api.get(f"{API}/tasks/{other.id}")).json()["memory"]["blockers"] == []


async def test_the_context_map_by_path_in_pages(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await scene.task("Add login")
    paths = ["src/auth/jwt.ts", "src/auth/jwt.ts", "src/app.ts", "src/authors.ts"]

    def write(tx: Tx) -> None:
        for number, path in enumerate(paths):
            at = scene.s.clock.now() + timedelta(seconds=number)
            of = {"project_id": scene.project.id, "task_id": task.id}
            note = a_file_note(f"note-{number}", path, description=f"Change {number}", at=at, **of)
            tx.knowledge.add_file(note)

    await scene.s.store.write(write)
    address = f"{API}/projects/{scene.project.id}/knowledge/map"

    async def lines(**query: Any) -> tuple[list[str], str | None]:
        page = (await api.get(address, params=query)).json()
        return [one["note"]["description"] for one in page["items"]], page["next"]

    assert await lines() == (["Change 2", "Change 1", "Change 0", "Change 3"], None)
    assert (await lines(under="src/auth"))[0] == ["Change 1", "Change 0"]
    first, after = await lines(limit=3)
    assert first + (await lines(limit=3, cursor=after))[0] == (await lines())[0]


async def everything(scene: Scene) -> Task:
    task = await scene.task("Add login")
    one = await known(scene, task, "Cookies are safe", "auth", used=3, helpful=2)
    gotcha = {"kind": NodeKind.GOTCHA, "severity": Level.HIGH, "state": NodeState.STALE}
    other = await known(scene, task, "Cookies are not safe: ünïcödé 🙂", **gotcha)
    await known(scene, task, "Gone", state=NodeState.RETIRED)
    edge = Edge(source=other.id, target=one.id, kind=EdgeKind.CONTRADICTS)
    await scene.s.store.write(lambda tx: tx.knowledge.add_edge(edge))
    return task


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """Without when and where it was exported, and who brought it in."""
    copy = json.loads(json.dumps({**document, "about": None}))
    for node in copy["nodes"]:
        for source in node["sources"]:
            source["by"] = source["by"].partition(", imported by")[0]
    return copy


async def export(api: httpx.AsyncClient, project: Project) -> dict[str, Any]:
    return (await api.get(f"{API}/projects/{project.id}/knowledge/export")).json()


async def bring(api: httpx.AsyncClient, project: Project, document: Any) -> httpx.Response:
    return await api.post(f"{API}/projects/{project.id}/knowledge/import", json=document)


async def test_what_is_exported_and_imported_elsewhere_is_the_same(
    scene: Scene, api: httpx.AsyncClient, tmp_path: Path
) -> None:
    await everything(scene)
    other = await tasks.add_project(scene.s, make_repo(tmp_path / "other", {"a": "b"}), None, None)
    ours = await export(api, scene.project)
    again = (await bring(api, scene.project, ours)).json()
    assert again == {"added": 0, "already_there": 3, "edges": 0, "renamed": {}}
    assert plain(await export(api, scene.project)) == plain(ours)

    done = (await bring(api, other, ours)).json()
    assert (done["added"], done["already_there"], done["edges"]) == (3, 0, 1)
    text = json.dumps(plain(ours))
    for old, new in done["renamed"].items():
        assert old != new
        text = text.replace(old, new)
    expected = json.loads(text)
    for node in expected["nodes"]:
        for source in node["sources"]:
            source["task"] = None
    theirs = await export(api, other)
    assert {one["by"] for node in theirs["nodes"] for one in node["sources"]} == {
        "scripted, imported by ann"
    }
    assert plain(theirs) == expected
    assert (await bring(api, other, ours)).json()["added"] == 0

    # Where its nodes are gone, the ids are free, and each comes back as it was.
    await api.delete(f"{API}/projects/{scene.project.id}?force=true")
    third = await tasks.add_project(scene.s, make_repo(tmp_path / "third", {"a": "b"}), None, None)
    assert (await bring(api, third, ours)).json()["renamed"] == {}
    back = await export(api, third)
    assert [node["id"] for node in back["nodes"]] == [node["id"] for node in ours["nodes"]]


async def test_a_bad_import_is_sectionwith_its_place_and_leaves_nothing(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    await everything(scene)
    ours = await export(api, scene.project)
    before = plain(ours)
    ours["nodes"].append({**ours["nodes"][0], "id": "new-node", "text": "New"})
    ours["nodes"].append({**ours["nodes"][0], "id": "bad-node", "kind": "patern"})
    body = told(await bring(api, scene.project, ours), 422, "InvalidInput")
    assert body["message"].startswith("Nothing was imported.")
    assert body["details"][0].startswith("nodes.4.kind: ")
    told(await bring(api, scene.project, {"nodes": 3}), 422, "InvalidInput")
    told(await bring(api, scene.project, [1]), 422, "InvalidInput")
    assert plain(await export(api, scene.project)) == before


async def test_who_only_looks_changes_nothing_and_members_do_not_import(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await everything(scene)
    made = await blocked(scene, task)
    ours = await export(api, scene.project)
    node = ours["nodes"][0]["id"]
    one = f"{API}/knowledge/nodes/{node}"
    writes: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", one, {"text": "Other"}),
        ("POST", f"{one}/confirm", {}),
        ("POST", f"{one}/retire", {"reason": "No"}),
        ("POST", f"{one}/contradict", {"other": ours["nodes"][1]["id"]}),
        ("POST", f"{API}/blockers/{made.id}/resolve", {}),
        ("POST", f"{API}/projects/{scene.project.id}/knowledge/import", ours),
    ]
    viewer = await access.create(scene.s, "eve", "viewer")
    member = await access.create(scene.s, "bo", "member")
    for method, path, body in writes:
        mine = {"Authorization": f"Bearer {viewer.secret}"}
        told(await api.request(method, path, json=body, headers=mine), 403, "NotAllowed")
    assert plain(await export(api, scene.project)) == plain(ours)
    mine = {"Authorization": f"Bearer {member.secret}"}
    method, path, body = writes[-1]
    told(await api.request(method, path, json=body, headers=mine), 403, "NotAllowed")
    assert (await api.post(f"{one}/confirm", headers=mine)).status_code == 200


async def test_the_section_for_agents_leaves_secrets_out(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await everything(scene)
    key = "AKIA" + "Q7WERTYUIOPASDFG"
    for number in range(30):
        await known(scene, task, f"Use key {key} for {number}")
    section = (await api.get(f"{API}/projects/{scene.project.id}/knowledge/agents-md")).text
    assert "- Cookies are safe (see: src/auth/jwt.ts)" in section
    assert "AKIA" not in section
    assert "Gone" not in section


async def answered(api: httpx.AsyncClient, prompt: Prompt, **beside: Any) -> dict[str, Any]:
    done = await api.post(f"{API}/prompts/{prompt.id}/answer", json={**ANSWER, **beside})
    assert done.status_code == 200, done.text
    return done.json()


async def test_an_answer_is_kept_as_a_decision_only_where_that_is_said(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    assert (await answered(api, await scene.asking()))["decisions"] == []
    assert await found(api, kind="decision") == []
    kept = (await answered(api, await scene.asking(title="Other"), keep=True))["decisions"]
    texts = {"Which colour? Blue", "Why? So."}
    assert {one["text"] for one in kept} == texts
    assert {tuple(s["by"] for s in one["sources"]) for one in kept} == {("ann",)}
    assert set(await found(api, kind="decision")) == texts

    third = await scene.asking(title="Third")
    wrong = await api.post(f"{API}/prompts/{third.id}/answer", json={**ANSWER, "keep": "yes"})
    told(wrong, 422, "InvalidInput")
    accepted = await api.post(f"{API}/prompts/{third.id}/accept", json={"keep": True})
    assert len(accepted.json()["decisions"]) == 2


async def test_an_answer_that_is_taken_back_takes_its_decision_with_it(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    known_before = await answered(api, await scene.asking(title="Earlier"), keep=True)
    prompt = await scene.asking()
    other = {"answers": [ANSWER["answers"][0], {"question_id": "q2", "text": "It fits."}]}
    done = await api.post(
        f"{API}/prompts/{prompt.id}/answer", json={**other, "keep": True, "delay_s": 60}
    )
    assert len(done.json()["decisions"]) == 2
    assert "Why? It fits." in await found(api, kind="decision")
    again = (await api.post(f"{API}/prompts/{prompt.id}/undo")).json()["prompt"]["id"]
    # What was decided for another task, too, stays.
    assert set(await found(api, kind="decision")) == {
        one["text"] for one in known_before["decisions"]
    }
    done = await api.post(f"{API}/prompts/{again}/answer", json={**other, "keep": True})
    assert "Why? It fits." in await found(api, kind="decision")


async def test_words_of_a_review_can_be_kept_and_what_decides_nothing_is_refused_whole(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    prompt = await scene.asking("plan_complete", {})
    address = f"{API}/tasks/{prompt.task_id}/review"
    silent = await api.post(address, json={"decision": "approved", "keep": True})
    body = told(silent, 422, "InvalidInput")
    assert "nothing to keep" in body["message"]
    assert (await api.get(f"{API}/prompts/{prompt.id}")).json()["prompt"]["status"] == "pending"
    said = {"decision": "changes_requested", "summary": "Never keep tokens in localStorage."}
    done = await api.post(address, json={**said, "keep": True})
    assert [one["text"] for one in done.json()["decisions"]] == [said["summary"]]
