"""Comments over HTTP."""

import httpx

from tests.api.scenes import Scene


async def test_a_comment_is_made_listed_and_resolved(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await scene.task()
    base = f"/api/v1/tasks/{task.id}/comments"
    assert (await api.get(base)).json() == {"items": []}
    made = await api.post(base, json={"text": "Use the helper.", "file": "a.py", "line": 3})
    said = made.json()
    assert (made.status_code, said["number"], said["pull"]) == (201, 1, None)
    assert (said["file"], said["line"], said["resolved"]) == ("a.py", 3, False)
    for resolved in (True, True, False):
        turned = await api.patch(f"{base}/1", json={"resolved": resolved})
        assert turned.json() == {**said, "resolved": resolved}
    assert (await api.get(base)).json() == {"items": [said]}
    events = (await api.get(f"/api/v1/tasks/{task.id}/events")).json()["items"]
    kinds = [e["type"] for e in events if e["category"] == "review"]
    assert kinds == ["comment.added", "comment.resolved", "comment.resolved"]


async def test_what_is_no_comment_is_refused(scene: Scene, api: httpx.AsyncClient) -> None:
    task = await scene.task()
    base = f"/api/v1/tasks/{task.id}/comments"
    for form, why in (
        ({"text": " "}, "text: it is empty"),
        ({"text": "a", "line": 3}, "line: it needs a file"),
        ({"text": "a", "file": "b\nc"}, "file: it must be a path, on one line"),
    ):
        refused = await api.post(base, json=form)
        assert refused.status_code == 422
        assert why in refused.json()["details"]
    assert (await api.post(base, json={"text": "a", "files": []})).status_code == 422
    missing = await api.patch(f"{base}/1", json={"resolved": True})
    assert (missing.status_code, missing.json()["error"]) == (404, "CommentNotFound")
    assert (await api.get("/api/v1/tasks/nobody/comments")).status_code == 404
