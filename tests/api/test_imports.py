"""Lists of tasks, and issues, over HTTP."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.scenes import Scene, told
from tests.github_server import TOKEN, FakeGitHub, Served, Trouble
from tests.unit.test_task_file import TEXT

IMPORT = "/api/v1/tasks/import"
LIST = {
    "project": "shop",
    "format": "md",
    "text": "- [ ] Door\n- [x] Roof\n- Ask Ann\n",
    "source": "a.md",
}


async def titles(api: httpx.AsyncClient) -> list[str]:
    return [task["title"] for task in (await api.get("/api/v1/tasks")).json()["items"]]


async def test_a_list_is_imported(api: httpx.AsyncClient, scene: Scene) -> None:
    shown = (await api.post(IMPORT, json={**LIST, "dry_run": True})).json()
    [item] = shown["items"]
    assert (item["state"], item["task_id"], shown["skipped"]) == ("to_make", None, 1)
    assert shown["left_out"] == [{"place": "line 3", "text": "Ask Ann"}]
    assert shown["left_out_count"] == 1
    assert await titles(api) == []
    made = (await api.post(IMPORT, json=LIST)).json()["items"][0]
    assert (made["state"], made["place"], made["pipeline"]) == ("made", "line 1", "feature")
    again = (await api.post(IMPORT, json=LIST)).json()["items"][0]
    assert (again["state"], again["task_id"]) == ("already_there", made["task_id"])
    task = (await api.get(f"/api/v1/tasks/{made['task_id']}")).json()
    assert (task["task"]["status"], task["runs"]) == ("open", [])


async def test_a_task_file_goes_out_and_in(api: httpx.AsyncClient, scene: Scene) -> None:
    made = (await api.post(IMPORT, json={**LIST, "text": TEXT})).json()["items"][0]
    assert (made["state"], made["note"], made["left_out"]) == ("made", False, ["9c0d"])
    url = f"/api/v1/tasks/{made['task_id']}/file"
    file = await api.get(url)
    assert file.headers["content-type"] == "text/markdown; charset=utf-8"
    assert file.text.startswith("# Task 1a2b3c4d: Search by tag\n")
    assert file.text.partition("## Objective")[2] == TEXT.partition("## Objective")[2]
    other = {**LIST, "text": file.text.replace("Search by tag", "Other")}
    again = (await api.post(IMPORT, json=other)).json()["items"][0]
    copied = (await api.get(f"/api/v1/tasks/{again['task_id']}/file")).text
    assert copied == other["text"]


WRONG: dict[str, tuple[dict[str, Any], int, str, str]] = {
    "a fault in it": ({"text": "- [ ]"}, 422, "InvalidInput", "line 1: title: a task needs"),
    "a wrong task file": (
        {"text": TEXT.replace("- Type", "- Tipe")},
        422,
        "InvalidInput",
        'there is no metadata \\"Tipe\\". Did you mean \\"Type\\"?',
    ),
    "no such format": ({"format": "xls"}, 422, "InvalidInput", "format:"),
    "no such project": ({"project": "shpo"}, 404, "ProjectNotFound", "shpo"),
    "an unknown field": ({"titel": "x"}, 422, "InvalidInput", "titel"),
}


@pytest.mark.parametrize(("change", "status", "name", "says"), WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_import_is_refused(
    api: httpx.AsyncClient,
    scene: Scene,
    change: dict[str, Any],
    status: int,
    name: str,
    says: str,
) -> None:
    refused = await api.post(IMPORT, json={**LIST, **change})
    told(refused, status, name)
    assert says in refused.text
    assert await titles(api) == []


ISSUES = f"{IMPORT}/github"


async def test_issues_are_imported(
    api: httpx.AsyncClient, scene: Scene, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    github = FakeGitHub(repo / ".git")
    github.issues.open(3, "Door", labels=("bug",))
    github.issues.open(4, "Roof")
    asked = {"project": "shop", "repository": github.name, "labels": ["bug"]}
    with Served(github) as served:
        config = scene.s.home / "config.json"
        said = {**json.loads(config.read_text()), "forge": {"baseUrl": served.url}}
        config.write_text(json.dumps(said))
        shown = (await api.post(ISSUES, json={**asked, "dry_run": True})).json()
        assert [(i["place"], i["state"]) for i in shown["items"]] == [("#3", "to_make")]
        made = (await api.post(ISSUES, json=asked)).json()["items"][0]
        task = (await api.get(f"/api/v1/tasks/{made['task_id']}")).json()
        assert (task["task"]["status"], task["runs"]) == ("open", [])
        [link] = task["artifacts"]
        assert link["data"]["url"] == "https://github.test/acme/shop/issues/3"
        github.issues.rows[3]["title"] = "Doors"
        again = (await api.post(ISSUES, json=asked)).json()["items"][0]
        assert (again["state"], again["changed"]) == ("already_there", True)

        told(await api.post(ISSUES, json={**asked, "issues": [3]}), 422, "InvalidInput")
        told(await api.post(ISSUES, json={**asked, "repository": "x"}), 422, "InvalidInput")
        told(await api.post(ISSUES, json={**asked, "lables": []}), 422, "InvalidInput")
        github.trouble = Trouble(401, "Bad credentials")
        told(await api.post(ISSUES, json=asked), 409, "HookFailed")
        github.trouble = Trouble(503, "Away")
        told(await api.post(ISSUES, json=asked), 502, "ForgeUnavailable")
    assert await titles(api) == ["Door"]
    assert github.faults == []
