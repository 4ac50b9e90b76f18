"""Settings are changed over HTTP: shown first, written whole, and never over what somebody else
wrote meanwhile."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.api.scenes import Scene, told

API = "/api/v1"
OF_PROJECT = f"{API}/projects/shop/settings"


async def change(api: httpx.AsyncClient, address: str, **form: Any) -> dict[str, Any]:
    response = await api.patch(address, json=form)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_dry_run_writes_nothing(api: httpx.AsyncClient, scene: Scene, repo: Path) -> None:
    shown = await change(api, OF_PROJECT, set={"autoCommit": False}, dry_run=True)
    file = repo / ".agents-manager" / "config.json"
    assert (shown["file"], shown["old"], shown["written"]) == (str(file), None, False)
    assert '+  "autoCommit": false' in shown["diff"]
    assert not file.exists()
    done = await change(api, OF_PROJECT, set={"autoCommit": False}, expect=shown["fingerprint"])
    assert done["written"]
    assert file.read_text() == shown["new"]


async def test_several_changes_at_once_or_none(
    api: httpx.AsyncClient, scene: Scene, repo: Path
) -> None:
    file = repo / ".agents-manager" / "config.json"
    await change(api, OF_PROJECT, set={"autoCommit": False, "agents.codex.model": "m"})
    before = file.read_text()
    bad = {"set": {"autoPush": False, "autoCommit": "perhaps"}}
    told(await api.patch(OF_PROJECT, json=bad), 422, "InvalidConfig")
    assert file.read_text() == before
    await change(api, OF_PROJECT, set={"autoPush": False}, unset=["agents.codex.model"])
    assert json.loads(file.read_text())["autoPush"] is False
    assert "codex" not in file.read_text()


async def test_what_changed_meanwhile_is_not_written_over(
    api: httpx.AsyncClient, scene: Scene, repo: Path
) -> None:
    file = repo / ".agents-manager" / "config.json"
    shown = await change(api, OF_PROJECT, set={"autoCommit": False}, dry_run=True)
    file.parent.mkdir()
    file.write_text('{"autoPush": false}\n')
    form = {"set": {"autoCommit": False}, "expect": shown["fingerprint"]}
    told(await api.patch(OF_PROJECT, json=form), 409, "Conflict")
    assert file.read_text() == '{"autoPush": false}\n'


async def test_new_commands_are_not_trusted(api: httpx.AsyncClient, scene: Scene) -> None:
    done = await api.patch(OF_PROJECT, json={"set": {"setup": ["make deps"]}})
    assert done.status_code == 200, done.text
    assert done.json()["changed_commands"]
    assert not (await api.get(f"{API}/projects/shop")).json()["commands_trusted"]


async def test_the_file_of_the_user(api: httpx.AsyncClient, scene: Scene) -> None:
    done = await change(api, f"{API}/settings", set={"autoPush": False})
    assert Path(done["file"]) == scene.s.home / "config.json"
    assert (done["written"], done["changed_commands"]) == (True, [])
    again = await change(api, f"{API}/settings", set={"autoPush": False})
    assert (again["written"], again["diff"]) == (False, "")


async def test_bad_requests(api: httpx.AsyncClient, scene: Scene) -> None:
    told(await api.patch(OF_PROJECT, json={}), 422, "InvalidInput")
    told(await api.patch(OF_PROJECT, json={"unset": ["autoCommit"]}), 422, "InvalidInput")
    told(await api.patch(OF_PROJECT, json={"set": {"autoComit": True}}), 422, "InvalidConfig")
    told(
        await api.patch(f"{API}/projects/x/settings", json={"unset": ["a"]}), 404, "ProjectNotFound"
    )
