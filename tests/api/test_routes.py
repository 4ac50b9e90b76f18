"""Projects, pipelines, tasks and runs, as a client sees them."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.domain import event
from agents_manager.domain.handoff import Handoff, HandoffOutcome
from agents_manager.domain.knowledge import KeptHandoff
from agents_manager.domain.run import AgentError, ErrorClass, RunStatus
from agents_manager.domain.task import SYSTEM, Artifact, ArtifactType, Project
from agents_manager.flow import remedies
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import close, lifecycle
from tests.api.scenes import OWNER, Scene, told
from tests.repos import commit, make_repo, sha

API = "/api/v1"


async def test_a_repository_is_registered_and_shown(api: httpx.AsyncClient, repo: Path) -> None:
    response = await api.post(f"{API}/projects", json={"path": str(repo)})
    assert response.status_code == 201
    project = response.json()
    assert (project["name"], project["path"], project["base_branch"]) == ("shop", str(repo), "main")
    assert project["commands_trusted"] is True
    assert project["created_at"].endswith("Z")
    assert (await api.get(f"{API}/projects/shop")).json() == project
    assert (await api.get(f"{API}/projects")).json() == {"items": [project], "next": None}
    twice = await api.post(f"{API}/projects", json={"path": str(repo)})
    assert "already registered" in told(twice, 409, "ProjectExists")["message"]


async def test_only_a_repository_can_be_registered(
    api: httpx.AsyncClient, tmp_path: Path, own_home: Path
) -> None:
    missing = await api.post(f"{API}/projects", json={"path": str(tmp_path / "nowhere")})
    told(missing, 422, "InvalidRepository")
    relative = await api.post(f"{API}/projects", json={"path": "shop"})
    assert told(relative, 422, "InvalidInput")["details"] == ["path: give the absolute path"]


async def test_changed_commands_are_trusted_anew(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    def configure(text: str) -> None:
        folder = repo / ".agents-manager"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(text)

    url = f"{API}/projects/{project.id}"
    configure(json.dumps({"checks": {"test": {"command": "make test"}}}))
    shown = (await api.get(url)).json()
    assert shown["commands_trusted"] is False
    assert shown["changed_commands"] == ['checks.test is new: "make test"']
    assert (await api.post(f"{url}/trust")).json()["commands_trusted"] is True
    assert (await api.get(url)).json()["commands_trusted"] is True
    configure('{"chekcs": {}}')
    shown = (await api.get(url)).json()
    assert (shown["config_kept"], shown["commands_trusted"]) == (True, True)
    assert any("chekcs" in line for line in shown["config_errors"])
    told(await api.post(f"{url}/trust"), 422, "InvalidConfig")


async def test_pipelines_are_shown_as_they_are_written(api: httpx.AsyncClient) -> None:
    listed = (await api.get(f"{API}/pipelines")).json()["items"]
    assert {"feature", "simple"} <= {p["id"] for p in listed}
    feature = (await api.get(f"{API}/pipelines/feature")).json()
    assert feature == next(p for p in listed if p["id"] == "feature")
    assert (await api.get(f"{API}/pipelines/feature?version=1")).json() == feature
    start = next(t for t in feature["transitions"] if t["from"] == "open")
    assert (start["to"], start["trigger"]) == ("planning", {"type": "manual", "outcome": None})


async def test_a_task_is_created_and_shown(api: httpx.AsyncClient, project: Project) -> None:
    body = {
        "project": project.name,
        "title": " Add  search ",
        "description": "Find things.",
        "tags": ["ui"],
        "acceptance_criteria": ["It finds things"],
        "objective": "Nobody scrolls.",
    }
    response = await api.post(f"{API}/tasks", json=body)
    assert response.status_code == 201
    task = response.json()
    assert (task["title"], task["status"], task["version"]) == ("Add search", "open", 1)
    view = (await api.get(f"{API}/tasks/{task['id'][:6]}")).json()
    assert view["task"] == task
    assert view["project"] == {"id": project.id, "name": project.name}
    assert view["status"]["category"] == "open"
    assert view["next_mover"]["kind"] == "person"
    assert {m["to"]: m["allowed"] for m in view["moves"]}["planning"] is True
    events = (await api.get(f"{API}/tasks/{task['id']}/events")).json()
    assert [e["type"] for e in events["items"]] == ["task.created"]
    assert events["items"][0]["actor"] == {
        "type": "user",
        "name": OWNER,
        "run": None,
        "via": "http",
    }


async def test_tasks_are_listed_in_pages(api: httpx.AsyncClient, scene: Scene) -> None:
    made = [(await scene.task(f"Task {n}")).id for n in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    pages = 0
    while pages == 0 or cursor:
        params: dict[str, Any] = {"limit": 2, "project": scene.project.name, "status": "open"}
        page = await api.get(f"{API}/tasks", params=params | ({"cursor": cursor} if cursor else {}))
        seen += [t["id"] for t in page.json()["items"]]
        cursor = page.json()["next"]
        pages += 1
    assert seen == made[::-1]
    assert pages == 3
    empty = (await api.get(f"{API}/tasks?status=done")).json()
    assert empty == {"items": [], "next": None}


async def test_a_task_is_started_and_a_second_start_refused(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task = await scene.task()
    started = (await api.post(f"{API}/tasks/{task.id}/start")).json()
    assert (started["task"]["status"], started["stopping_run"]) == ("planning", None)
    run = (await api.get(f"{API}/runs?task={task.id}&live=true")).json()["items"][0]
    assert (run["mode"], run["status"]) == ("plan", "queued")
    again = await api.post(f"{API}/tasks/{task.id}/start")
    told(again, 409, "TransitionRefused")
    history = (await api.get(f"{API}/tasks/{task.id}/history")).json()["items"]
    assert (history[0]["from"], history[0]["to"]) == ("open", "planning")
    assert history[0]["result"] == "done"


async def test_a_move_is_checked_against_the_version_and_the_graph(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task = await scene.task()
    url = f"{API}/tasks/{task.id}/move"
    stale = await api.post(url, json={"to": "cancelled", "expect_version": 7})
    told(stale, 409, "StaleTask")
    nowhere = await api.post(url, json={"to": "done"})
    assert '"planning"' in told(nowhere, 409, "TransitionRefused")["message"]
    moved = await api.post(url, json={"to": "cancelled", "expect_version": 1, "reason": "No need"})
    assert moved.json()["task"]["status"] == "cancelled"


async def test_a_running_task_is_moved_by_stopping_first(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task, run = await scene.running()
    moved = (await api.post(f"{API}/tasks/{task.id}/move", json={"to": "cancelled"})).json()
    assert (moved["task"]["status"], moved["stopping_run"]) == ("planning", run.id)


async def test_a_run_is_stopped(api: httpx.AsyncClient, scene: Scene) -> None:
    task, run = await scene.running()
    stopping = (await api.post(f"{API}/runs/{run.id}/stop")).json()
    assert (stopping["task"]["id"], stopping["stopping_run"]) == (task.id, run.id)


async def test_a_run_that_waits_is_tried_again_at_once(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task, run = await scene.running()
    error = AgentError(error="Killed.", error_class=ErrorClass.INTERRUPTED)
    await scene.s.store.write(lambda tx: close.fail(tx, scene.s, run.id, error))
    waits = (await api.get(f"{API}/runs", params={"task": task.id, "live": True})).json()["items"]
    again = await api.post(f"{API}/runs/{waits[0]['id']}/retry")
    assert (again.status_code, again.json()["status"]) == (200, "queued")
    mover = (await api.get(f"{API}/tasks/{task.id}")).json()["next_mover"]
    assert mover["kind"] == "run"
    refused = await api.post(f"{API}/runs/{run.id}/retry")
    assert (refused.status_code, refused.json()["error"]) == (409, "TransitionRefused")


async def test_an_ended_run_cannot_be_stopped(api: httpx.AsyncClient, scene: Scene) -> None:
    prompt = await scene.asking()
    response = await api.post(f"{API}/runs/{prompt.run_id}/stop")
    assert "already ended" in told(response, 409, "TransitionRefused")["message"]


async def test_rounds_are_granted(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    assert (await api.post(f"{API}/tasks/{task.id}/grant")).json()["id"] == task.id
    history = (await api.get(f"{API}/tasks/{task.id}/history")).json()["items"]
    assert history[-1]["result"] == "granted"


async def test_events_are_listed_after_a_number(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    for n in range(5):
        await scene.note(task, f"Note {n}")
    url = f"{API}/tasks/{task.id}/events"
    first = (await api.get(f"{url}?limit=4")).json()
    assert [e["seq"] for e in first["items"]] == [1, 2, 3, 4]
    rest = (await api.get(f"{url}?after_seq={first['next']}")).json()
    assert [e["summary"] for e in rest["items"]] == ["Note 3", "Note 4"]
    assert rest["next"] is None


async def test_the_prompt_of_a_run_is_plain_text(api: httpx.AsyncClient, scene: Scene) -> None:
    _, run = await scene.running()
    early = await api.get(f"{API}/runs/{run.id}/prompt")
    assert "no prompt" in told(early, 404, "NotFound")["message"]
    text = "Do <b>this</b>: ünïcode"
    await scene.s.store.write(lambda tx: tx.runs.update(run.id, prompt=text))
    response = await api.get(f"{API}/runs/{run.id}/prompt")
    assert response.text == text
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "prompt" not in (await api.get(f"{API}/runs/{run.id}")).json()
    later = f"{API}/runs/{run.id}/prompt?turn=2"
    assert "has no turn 2; it has had 1." in told(await api.get(later), 404, "NotFound")["message"]
    folder = lifecycle.job_dir(scene.s, run.id, 2)
    folder.mkdir(parents=True)
    (folder / "asked.md").write_text("Once more.")
    assert (await api.get(later)).text == "Once more."
    before = f"{API}/runs/{run.id}/prompt?turn=0"
    assert "Nothing was added" in told(await api.get(before), 404, "NotFound")["message"]
    folder.with_name("1").mkdir()
    (folder.with_name("1") / "system.md").write_text("Speak plainly.")
    assert (await api.get(before)).text == "Speak plainly."


async def test_what_checks_said_is_read_round_by_round(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    _, run = await scene.running()
    url = f"{API}/runs/{run.id}/checks"
    assert (await api.get(url)).json() == {"run_id": run.id, "rounds": []}
    said = {"name": "test", "passed": False, "severity": "error", "how": "exit code 1"}
    rounds = [[{**said, "output": "No.", "seconds": 0.5}], [{**said, "output": "", "seconds": 1.0}]]
    for turn, results in zip((1, 3), rounds, strict=True):
        folder = lifecycle.job_dir(scene.s, run.id, turn)
        folder.mkdir(parents=True)
        (folder / "checks.json").write_text(json.dumps(results))
    assert (await api.get(url)).json()["rounds"] == rounds


async def test_build_products_left_out_of_a_commit_are_listed(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task, run = await scene.running()
    url = f"{API}/runs/{run.id}/left-out"
    assert (await api.get(url)).json() == {"run_id": run.id, "paths": [], "more": 0}
    paths = [f"{number}/node_modules/" for number in range(201)]
    found = event.ProductsLeftOut.from_run(run.id, paths)
    now = scene.s.clock.now()
    await scene.s.store.write(lambda tx: tx.events.add(task.id, found, SYSTEM, now))
    assert (await api.get(url)).json() == {"run_id": run.id, "paths": paths[:200], "more": 1}


async def test_a_handoff_is_shown_or_what_was_wrong_with_it(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task, run = await scene.running()
    url = f"{API}/runs/{run.id}/handoff"
    none = {"handoff": None, "source": None, "completeness": None, "violations": []}
    assert (await api.get(url)).json() == {"run_id": run.id, **none}
    fault = {"field": "outcome", "wrong": "it is missing", "right": "outcome"}
    refused = event.HandoffRefused(run=run.id, violations=(fault,))
    now = scene.s.clock.now()
    await scene.s.store.write(lambda tx: tx.events.add(task.id, refused, SYSTEM, now))
    assert (await api.get(url)).json()["violations"] == [fault]
    kept = KeptHandoff(
        run_id=run.id,
        task_id=task.id,
        project_id=task.project_id,
        handoff=Handoff(outcome=HandoffOutcome.COMPLETED),
        source="tool",
        completeness=0.2,
        at=now,
    )
    await scene.s.store.write(lambda tx: tx.knowledge.keep_handoff(kept))
    shown = (await api.get(url)).json()
    assert (shown["source"], shown["completeness"]) == ("tool", 0.2)
    assert shown["handoff"]["outcome"] == "completed"
    assert shown["handoff"]["files_created"] == []


async def test_a_transcript_is_read_in_parts(api: httpx.AsyncClient, scene: Scene) -> None:
    _, run = await scene.running()
    url = f"{API}/runs/{run.id}/transcript"
    before = (await api.get(url)).json()
    assert (before["text"], before["size"], before["turns"]) == ("", 0, 0)
    assert before["live"] is True
    said = "Grüße, 世界! 🎉\n" * 50
    folder = lifecycle.job_dir(scene.s, run.id, 1)
    folder.mkdir(parents=True)
    (folder / "output").write_bytes(said.encode() + b"\xff")
    ended = scene.s.clock.now()
    await scene.s.store.write(lambda tx: tx.runs.update(run.id, status="failed", ended_at=ended))
    read, offset = "", 0
    while True:
        part = (await api.get(url, params={"offset": offset, "limit": 7})).json()
        assert len(part["text"].encode(errors="replace")) <= 9
        read += part["text"]
        if part["next_offset"] == offset:
            break
        offset = part["next_offset"]
    assert read == said + "\ufffd"
    assert offset == part["size"]
    missing = await api.get(url, params={"turn": 2})
    assert "has no turn 2" in told(missing, 404, "NotFound")["message"]


async def test_a_diff_is_plain_text(
    api: httpx.AsyncClient, scene: Scene, repo: Path, tmp_path: Path
) -> None:
    task = await scene.task()
    url = f"{API}/tasks/{task.id}/diff"
    assert "no diff" in told(await api.get(url), 404, "NotFound")["message"]
    base = sha(repo)
    head = commit(repo, {"page.html": "<script>alert(1)</script>\n"})
    artifact = Artifact(
        id="a1",
        task_id=task.id,
        run_id=None,
        type=ArtifactType.DIFF,
        key="change",
        label="+1 -0",
        data={"base_sha": base, "head_sha": head},
        created_at=scene.s.clock.now(),
    )
    await scene.s.store.write(lambda tx: tx.tasks.add_artifact(artifact))
    response = await api.get(url)
    assert "+<script>alert(1)</script>" in response.text
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_project_whose_name_is_taken_needs_another(
    api: httpx.AsyncClient, project: Project, tmp_path: Path
) -> None:
    other = make_repo(tmp_path / "elsewhere" / "shop")
    told(await api.post(f"{API}/projects", json={"path": str(other)}), 409, "ProjectExists")
    named = await api.post(f"{API}/projects", json={"path": str(other), "name": "shop 2"})
    assert named.status_code == 201


@pytest.mark.parametrize("limit", [1, 2])
async def test_runs_are_listed_newest_first(
    api: httpx.AsyncClient, scene: Scene, limit: int
) -> None:
    runs = [(await scene.running(f"Task {n}"))[1].id for n in range(3)]
    listed = (await api.get(f"{API}/runs?limit={limit}")).json()["items"]
    assert [r["id"] for r in listed] == runs[::-1][:limit]


async def test_settings_are_told_with_their_sources(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    url = f"{API}/projects/{project.id}/settings"
    file = repo / ".agents-manager" / "config.json"
    file.parent.mkdir()
    file.write_text('{\n "branchPrefix": "x/"\n}')
    items = {one.pop("key"): one for one in (await api.get(url)).json()["items"]}
    assert items["branchPrefix"] == {
        "value": "x/",
        "layer": "project",
        "file": str(file),
        "line": 2,
    }
    assert items["limits.host"] == {"value": 8, "layer": "default", "file": None, "line": None}
    file.write_text('{"branchPrfix": "y/"}')
    kept = (await api.get(url)).json()
    assert "line 1" in kept["errors"][1]
    assert {one.pop("key"): one for one in kept["items"]} == items
    told(await api.get(f"{API}/projects/nowhere/settings"), 404, "ProjectNotFound")


async def test_a_run_is_started_by_hand(api: httpx.AsyncClient, scene: Scene) -> None:
    task, run = await scene.running()
    url = f"{API}/tasks/{task.id}/runs"
    assert run.id in told(await api.post(url), 409, "TransitionRefused")["message"]
    idle = await scene.task("Idle")
    told(await api.post(f"{API}/tasks/{idle.id}/runs"), 409, "TransitionRefused")

    def end(tx: Tx) -> None:
        tx.runs.update(run.id, status=RunStatus.CANCELLED)
        tx.effects.update(run.effect_id, status="cancelled")
        remedies.after_stop(tx, scene.s, task.id, "Ann stopped it.")

    await scene.s.store.write(end)
    unknown = told(await api.post(url, json={"mode": "paln"}), 422, "InvalidInput")
    assert 'Did you mean "plan"?' in unknown["message"]
    told(await api.post(url, json={"agent": "nobody"}), 422, "AgentNotFound")
    asked = await scene.s.store.read(lambda tx: tx.prompts.pending(task.id))
    assert len(asked) == 1
    wrong = told(await api.post(url, json={"settings": {"timout": 5}}), 422, "InvalidInput")
    assert 'Did you mean "timeout"?' in wrong["details"][0]
    order = {"mode": "investigate", "agent": "scripted", "model": "small"}
    again = (await api.post(url, json={**order, "settings": {"timeout": 5000}})).json()
    assert {name: again[name] for name in order} == order
    assert again["overrides"] == {
        "role": {},
        "task": {},
        "hook": {},
        "run": {"timeout": 5000, "model": "small"},
    }
    assert again["status"] == "queued"
    assert await scene.s.store.read(lambda tx: tx.prompts.pending(task.id)) == []
