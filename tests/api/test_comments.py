"""Comments over HTTP: made, answered, resolved, and shown where their code is now."""

from pathlib import Path
from typing import Any

import httpx

from agents_manager.domain.task import Task
from agents_manager.flow import artifacts
from tests.api.scenes import Scene
from tests.repos import commit, run

TEN = "".join(f"line {number}\n" for number in range(1, 11))


async def on_branch(scene: Scene, repo: Path, task: Task, files: dict[str, str | bytes]) -> str:
    """Commits on the task's branch, and brings what is on record up to that."""
    known = run(repo, "branch", "--list", "work")
    run(repo, "switch", "-q", *([] if known else ["-c"]), "work")
    made = commit(repo, files)
    run(repo, "switch", "-q", "main")
    await artifacts.refresh_change(scene.s, task, scene.project, "work", "main")
    return made


async def said(api: httpx.AsyncClient, task: Task, *places: str) -> None:
    for place in places:
        file, _, line = place.partition(":")
        form = {"text": place, "file": file, **({"line": int(line)} if line else {})}
        made = await api.post(f"/api/v1/tasks/{task.id}/comments", json=form)
        assert made.status_code == 201, made.text


async def listed(api: httpx.AsyncClient, task: Task) -> dict[str, Any]:
    found = await api.get(f"/api/v1/tasks/{task.id}/comments")
    return {one["text"]: one for one in found.json()["items"]}


async def test_a_comment_is_shown_where_its_code_is_now(
    scene: Scene, api: httpx.AsyncClient, repo: Path
) -> None:
    task = await scene.task()
    files = {"a.py": TEN, "old name.py": TEN, "gone.py": "x\n", "data": b"\0\1", "same": "s\n"}
    first = await on_branch(scene, repo, task, files)
    places = ("a.py:2", "a.py:5", "old name.py:3", "old name.py", "gone.py:1", "data:1", "same:1")
    await said(api, task, *places, "never.py:4")
    here = await listed(api, task)
    assert {(c["head_sha"], c["outdated"], c["state"]) for c in here.values()} == {
        (first, False, "open")
    }
    assert here["a.py:5"]["quote"] == "line 3\nline 4\nline 5"
    assert here["never.py:4"]["quote"] == ""

    run(repo, "switch", "-q", "work")
    run(repo, "mv", "old name.py", "new name.py")
    run(repo, "rm", "-q", "gone.py")
    await on_branch(
        scene,
        repo,
        task,
        {
            "a.py": "new 1\nnew 2\n" + TEN.replace("line 2\n", "another line\n"),
            "new name.py": f"new\n{TEN}",
            "data": b"\0\2",
        },
    )
    now = await listed(api, task)
    at = {text: (f"{c['file']}:{c['line']}", c["outdated"], c["state"]) for text, c in now.items()}
    assert at == {
        "a.py:2": ("a.py:2", True, "changed"),
        "a.py:5": ("a.py:7", False, "open"),
        "old name.py:3": ("new name.py:4", False, "open"),
        "old name.py": ("new name.py:None", False, "open"),
        "gone.py:1": ("gone.py:1", True, "changed"),
        "data:1": ("data:1", True, "open"),
        "same:1": ("same:1", False, "open"),
        "never.py:4": ("never.py:4", False, "open"),
    }
    moved = now["old name.py:3"]
    assert (moved["original_file"], moved["original_line"]) == ("old name.py", 3)
    assert now["a.py:2"]["quote"] == "line 1\nline 2"
    turned = await api.patch(f"/api/v1/tasks/{task.id}/comments/1", json={"resolved": True})
    assert (turned.json()["state"], turned.json()["outdated"]) == ("resolved", True)


async def test_a_comment_outlives_its_commit(
    scene: Scene, api: httpx.AsyncClient, repo: Path
) -> None:
    task = await scene.task()
    await on_branch(scene, repo, task, {"a.py": TEN})
    await said(api, task, "a.py:5", "a.py")
    run(repo, "branch", "-q", "-D", "work")
    await on_branch(scene, repo, task, {"a.py": f"new\n{TEN}"})
    kept = (await listed(api, task))["a.py:5"]
    assert (kept["line"], kept["outdated"], kept["state"]) == (6, False, "open"), "a rebase"

    run(repo, "reflog", "expire", "--expire=now", "--all")
    run(repo, "gc", "-q", "--prune=now")
    gone = await listed(api, task)
    assert {(c["outdated"], c["state"]) for c in gone.values()} == {(True, "open")}
    assert gone["a.py:5"]["line"] == 5
    assert gone["a.py:5"]["quote"] == "line 3\nline 4\nline 5"


async def test_a_comment_is_made_listed_answered_and_resolved(
    scene: Scene, api: httpx.AsyncClient
) -> None:
    task = await scene.task()
    base = f"/api/v1/tasks/{task.id}/comments"
    assert (await api.get(base)).json() == {"items": []}
    made = await api.post(base, json={"text": "Use the helper.", "file": "a.py", "line": 3})
    said = made.json()
    assert (made.status_code, said["number"], said["pull"]) == (201, 1, None)
    assert (said["file"], said["line"], said["resolved"]) == ("a.py", 3, False)
    for resolved in (True, True, False):
        turned = await api.patch(f"{base}/1", json={"resolved": resolved})
        state = "resolved" if resolved else "open"
        assert turned.json() == {**said, "resolved": resolved, "state": state}
    answered = await api.post(f"{base}/1/answers", json={"text": " Which one? "})
    assert answered.status_code == 201
    [answer] = answered.json()["answers"]
    assert (answer["author"], answer["text"]) == (said["author"], "Which one?")
    assert (await api.get(base)).json() == {"items": [{**said, "answers": [answer]}]}
    events = (await api.get(f"/api/v1/tasks/{task.id}/events")).json()["items"]
    kinds = [e["type"] for e in events if e["category"] == "review"]
    resolved = ["comment.resolved", "comment.resolved"]
    assert kinds == ["comment.added", *resolved, "comment.answered"]


async def test_what_is_no_comment_is_refused(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await scene.task()
    base = f"/api/v1/tasks/{task.id}/comments"
    for form, why in (
        ({"text": " "}, "text: it is empty"),
        ({"text": "a", "line": 3}, "line: it needs a file"),
        ({"text": "a", "file": "b\nc"}, "file: it must be a path, on one line"),
        (
            {"text": "a", "severity": "x"},
            'severity: there is no "x". There is: must_fix, should_fix, suggestion.',
        ),
    ):
        refused = await api.post(base, json=form)
        assert refused.status_code == 422
        assert why in refused.json()["details"]
    assert (await api.post(base, json={"text": "a", "files": []})).status_code == 422
    missing = await api.patch(f"{base}/1", json={"resolved": True})
    assert (missing.status_code, missing.json()["error"]) == (404, "CommentNotFound")
    missing = await api.post(f"{base}/1/answers", json={"text": "a"})
    assert (missing.status_code, missing.json()["error"]) == (404, "CommentNotFound")
    empty = await api.post(f"{base}/1/answers", json={"text": " "})
    assert (empty.status_code, empty.json()["details"]) == (422, ["text: it is empty"])
    assert (await api.get("/api/v1/tasks/nobody/comments")).status_code == 404
