"""Where a task can be moved, and what its work changes, over HTTP."""

from pathlib import Path
from typing import Any

import httpx

from agents_manager.domain.change import looks_generated
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import artifacts
from agents_manager.flow.ports import Tx
from tests.api.scenes import Scene, told
from tests.contract.store_values import a_prompt, a_run, later
from tests.repos import commit, run, sha

API = "/api/v1/tasks"
ODD = b"caf\xe9 \t.txt".decode(errors="surrogateescape")


async def get(api: httpx.AsyncClient, address: str, **params: Any) -> Any:
    response = await api.get(f"{API}/{address}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


async def test_every_status_says_whether_it_can_be_entered(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    blocked = await scene.task("Blocked", dependencies=[(await scene.task("First")).id])
    found = {t["status"]: t for t in (await get(api, f"{blocked.id}/targets"))["items"]}
    assert list(found)[:3] == ["open", "planning", "needs_info"]
    assert found["open"]["current"]
    assert found["open"]["reasons"] == ["The task is there already."]
    assert not found["planning"]["allowed"]
    assert found["planning"]["reasons"] == ['It waits for "First".']
    assert found["cancelled"]["allowed"]
    assert found["cancelled"]["reasons"] == []
    assert found["merging"]["reasons"] == [
        'There is no move from "open" to "merging" in pipeline "feature". '
        'Possible from here: "planning", "cancelled".'
    ]


async def test_a_target_says_no_where_the_move_is_refused(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    task, live = await scene.running()
    targets = (await get(api, f"{task.id}/targets"))["items"]
    for target in sorted(targets, key=lambda t: t["allowed"]):
        if target["current"]:
            continue
        moved = await api.post(f"{API}/{task.id}/move", json={"to": target["status"]})
        assert moved.status_code == (200 if target["allowed"] else 409), target
        if target["allowed"]:
            assert target["stops_run"] == (moved.json()["stopping_run"] == live.id)
        else:
            assert target["reasons"][0] == moved.json()["message"]
    assert [t["status"] for t in targets if t["allowed"]] == ["cancelled"]


async def worked(scene: Scene, repo: Path) -> tuple[Task, str, str]:
    """A task with two commits, the first of which was reviewed."""
    task = await scene.task()
    names = {"move me.txt": "a\nb\nc\nd\n" * 9, "gone": "x\n", "data": b"\0\1", "-n": "one\n"}
    commit(repo, names, "Before")
    run(repo, "checkout", "-q", "-b", "work")
    (repo / "move me.txt").rename(repo / ":moved")
    (repo / "gone").unlink()
    (repo / "data").write_bytes(b"\0\2")
    first = commit(repo, {"-n": "two\n", "uv.lock": "1\n"}, "First")
    second = commit(repo, {"-n": "three\n", ODD: "odd\n"}, "Second")
    run(repo, "checkout", "-q", "main")
    await artifacts.refresh_change(scene.s, task, scene.project, "work", "main")
    said = {"decision": "changes_requested", "summary": "Nearly.", "comments": []}

    def write(tx: Tx) -> None:
        reviewed: dict[str, Any] = {
            "type": PromptType.REVIEW,
            "status": PromptStatus.RESPONDED,
            "payload": {"head_sha": first},
            "response": said,
            "responded_by": "ann",
            "responded_at": later(1),
        }
        tx.prompts.add(a_prompt("review", task.id, **reviewed))
        tx.prompts.add(a_prompt("open", task.id, **{**reviewed, "status": "superseded"}))
        ended: dict[str, Any] = {"status": RunStatus.COMPLETED, "outcome": "approved"}
        ended |= {"project_id": scene.project.id, "head_sha": second, "ended_at": later(9)}
        tx.runs.add(a_run("r", task.id, mode="review", **ended))

    await scene.s.store.write(write)
    return task, first, second


async def test_files_and_rounds(api: httpx.AsyncClient, scene: Scene, repo: Path) -> None:
    task, first, second = await worked(scene, repo)
    found = await get(api, f"{task.id}/changes")
    assert (found["base_sha"], found["head_sha"]) == (sha(repo), second)
    files = {f["path"]: f for f in found["files"]}
    told_of = {
        name: (f["status"], f["additions"], f["deletions"], f["binary"], f["generated"])
        for name, f in files.items()
    }
    assert told_of == {
        "-n": ("modified", 1, 1, False, False),
        ":moved": ("renamed", 0, 0, False, False),
        "gone": ("deleted", 0, 1, False, False),
        "data": ("modified", None, None, True, False),
        "uv.lock": ("added", 1, 0, False, True),
        "caf\ufffd \t.txt": ("added", 1, 0, False, False),
    }
    assert files[":moved"]["old_path"] == "move me.txt"
    assert [
        (r["number"], r["by"], r["agent"], r["verdict"], r["head_sha"]) for r in found["rounds"]
    ] == [
        (1, "ann", False, "changes_requested", first),
        (2, "scripted", True, "approved", second),
    ]


async def test_what_changed_since_a_review(
    api: httpx.AsyncClient, scene: Scene, repo: Path
) -> None:
    task, first, _ = await worked(scene, repo)
    found = await get(api, f"{task.id}/changes", since=1)
    assert (found["base_sha"], found["since"]) == (first, 1)
    assert {f["path"] for f in found["files"]} == {"-n", "caf\ufffd \t.txt"}
    one = await get(api, f"{task.id}/changes/file", path="-n", since=1)
    assert (one["old_text"], one["new_text"]) == ("two\n", "three\n")
    assert "-two\n+three\n" in one["diff"]
    told(await api.get(f"{API}/{task.id}/changes?since=7"), 404, "NotFound")
    told(await api.get(f"{API}/{task.id}/changes?since=0"), 422, "InvalidInput")


async def test_one_file(api: httpx.AsyncClient, scene: Scene, repo: Path) -> None:
    task, _, _ = await worked(scene, repo)
    moved = await get(api, f"{task.id}/changes/file", path=":moved")
    assert moved["old_text"] == moved["new_text"]
    assert "rename from move me.txt\nrename to :moved" in moved["diff"]
    data = await get(api, f"{task.id}/changes/file", path="data")
    assert (data["old_text"], data["new_text"], data["cut"]) == (None, None, False)
    odd = await get(api, f"{task.id}/changes/file", path="caf\ufffd \t.txt")
    assert (odd["old_text"], odd["new_text"]) == (None, "odd\n")
    gone = await get(api, f"{task.id}/changes/file", path="gone")
    assert (gone["old_text"], gone["new_text"]) == ("x\n", None)
    for path in ("README.md", "../README.md", "--output=/tmp/x", "*"):
        params = {"path": path}
        told(await api.get(f"{API}/{task.id}/changes/file", params=params), 404, "NotFound")


async def test_nothing_was_committed(api: httpx.AsyncClient, scene: Scene) -> None:
    task = await scene.task()
    found = await get(api, f"{task.id}/changes")
    nothing = {"base_sha": None, "head_sha": None, "since": None}
    assert found == {**nothing, "rounds": [], "files": []}
    told(await api.get(f"{API}/{task.id}/changes?since=1"), 404, "NotFound")


def test_names_of_what_programs_write() -> None:
    for path in ("package-lock.json", "a/uv.lock", "x.min.js", "vendor/a.go", "a_pb2.py"):
        assert looks_generated(path), path
    for path in ("a.py", "lock.py", "vendor", "minjs", "package.json"):
        assert not looks_generated(path), path
