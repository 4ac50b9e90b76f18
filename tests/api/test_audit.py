"""Every decision that is no event of a task leaves an entry: who, what, when, from where."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import DBAPIError

from agents_manager.api.app import Application
from agents_manager.api.gate import COOKIE
from agents_manager.bootstrap import Program
from agents_manager.domain.audit import Deed, Entry
from agents_manager.domain.task import Project, Task
from agents_manager.flow import access, audit
from agents_manager.flow.ports import Tx
from agents_manager.store import append_only
from tests.api.scenes import OWNER, PORT, Scene, told
from tests.contract.store_values import a_blocker, a_node, a_source
from tests.repos import make_repo

API = "/api/v1"
OF_TASK = "an event of its task says who did it"
UNRECORDED = {
    "POST /api/v1/pipelines/lint": "changes nothing",
    "POST /api/v1/pipelines/simulate": "changes nothing",
    "POST /api/v1/forges/github/webhook": "decides nothing: it only has a pull request looked at",
    "POST /api/v1/channels/{name}/test": "changes nothing",
    **dict.fromkeys(
        (
            "POST /api/v1/hosts/{host}/drain",
            "POST /api/v1/hosts/{host}/resume",
            "DELETE /api/v1/hosts/{host}",
        ),
        "needs machines that share a database: tests/integration/test_host_views.py",
    ),
    "POST /api/v1/push": "concerns the browser that asks, and nobody else",
    "DELETE /api/v1/push": "concerns the browser that asks, and nobody else",
    "POST /api/v1/tasks": OF_TASK,
    "POST /api/v1/tasks/import": OF_TASK,
    "POST /api/v1/tasks/import/github": OF_TASK,
    "PATCH /api/v1/tasks/{task_id}": OF_TASK,
    "POST /api/v1/tasks/start": OF_TASK,
    "POST /api/v1/tasks/{task_id}/artifacts/collect": OF_TASK,
    "POST /api/v1/tasks/{task_id}/comments": OF_TASK,
    "PATCH /api/v1/tasks/{task_id}/comments/{number}": OF_TASK,
    "POST /api/v1/tasks/{task_id}/comments/{number}/answers": OF_TASK,
    "POST /api/v1/tasks/{task_id}/documents/{name}/commit": OF_TASK,
    "POST /api/v1/tasks/{task_id}/grant": OF_TASK,
    "POST /api/v1/tasks/{task_id}/move": OF_TASK,
    "PUT /api/v1/tasks/{task_id}/start-time": OF_TASK,
    "POST /api/v1/tasks/{task_id}/phases/order": OF_TASK,
    "POST /api/v1/tasks/{task_id}/phases/{number}/skip": OF_TASK,
    "POST /api/v1/tasks/{task_id}/race": OF_TASK,
    "POST /api/v1/tasks/{task_id}/race/pick": OF_TASK,
    "POST /api/v1/tasks/{task_id}/retry-hook": OF_TASK,
    "POST /api/v1/tasks/{task_id}/review": OF_TASK,
    "POST /api/v1/tasks/{task_id}/runs": OF_TASK,
    "POST /api/v1/tasks/{task_id}/snapshots/{number}/restore": OF_TASK,
    "DELETE /api/v1/tasks/{task_id}/skipped-checks/{check}": OF_TASK,
    "POST /api/v1/tasks/{task_id}/start": OF_TASK,
    "POST /api/v1/runs/{run_id}/retry": OF_TASK,
    "POST /api/v1/runs/{run_id}/stop": OF_TASK,
    # What an answer grants beyond its task: tests/integration/test_permissions.py, test_budgets.py.
    "POST /api/v1/prompts/{prompt_id}/accept": OF_TASK,
    "POST /api/v1/prompts/{prompt_id}/answer": OF_TASK,
    "POST /api/v1/prompts/{prompt_id}/undo": OF_TASK,
}


@dataclass
class Office:
    """The owner at work, and a browser of theirs."""

    api: httpx.AsyncClient
    scene: Scene
    folder: Path
    done: dict[str, Deed] = field(default_factory=dict[str, Deed])

    async def entries(self) -> list[Entry]:
        return await self.scene.s.store.read(lambda tx: audit.page(tx, limit=100))

    async def does(self, operation: str, deed: Deed, path: str = "", **sent: Any) -> Any:
        """Sends it, and looks for an entry of the deed by whoever sent it."""
        method, _, route = operation.partition(" ")
        before = {entry.id for entry in await self.entries()}
        response = await self.api.request(method, path or route, **sent)
        assert response.status_code < 300, (operation, response.text)
        new = [entry for entry in await self.entries() if entry.id not in before]
        if [(e.what, e.who, e.address) for e in new] == [(deed, OWNER, "127.0.0.1")]:
            self.done[operation] = deed
        return response.json()


def operations(app: Application) -> set[str]:
    return {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if method.upper() not in ("GET", "HEAD")
    }


async def everything(office: Office, token: str) -> set[str]:
    """Every operation that decides something, in an order that works."""
    does, tried = office.does, set[str]()
    s, project = office.scene.s, office.scene.project
    repo = make_repo(office.folder / "other", {"a": "b"})
    wanted: list[tuple[str, Deed, str, dict[str, Any]]] = []

    def then(operation: str, deed: Deed, path: str = "", **sent: Any) -> None:
        tried.add(operation)
        wanted.append((operation, deed, path, sent))

    of, one = f"{API}/projects/{project.id}", "{project_id}"
    then(f"POST {API}/projects", Deed.PROJECT_ADDED, json={"path": str(repo)})
    change = {"set": {"budgets.taskUsd": 5}}
    then(f"PATCH {API}/settings", Deed.SETTINGS_CHANGED, json=change)
    ours = f"PATCH {API}/projects/{one}/settings"
    then(ours, Deed.SETTINGS_CHANGED, f"{of}/settings", json=change)
    people, ann = f"{API}/channels/{{name}}/people/{{person}}", f"{API}/channels/slack/people/U1"
    then(f"PUT {people}", Deed.SETTINGS_CHANGED, ann, json={"name": "ann"})
    then(f"DELETE {people}", Deed.SETTINGS_CHANGED, ann)
    then(f"POST {API}/projects/{one}/trust", Deed.PROJECT_TRUSTED, f"{of}/trust")
    remote = {"remote": "git@example.org:a/b.git"}
    then(f"PATCH {API}/projects/{one}", Deed.REMOTE_SET, of, json=remote)
    then(f"POST {API}/projects/{one}/consent", Deed.CONSENT_GIVEN, f"{of}/consent")
    then(f"DELETE {API}/projects/{one}/consent", Deed.CONSENT_WITHDRAWN, f"{of}/consent")
    document = (await office.api.get(f"{API}/pipelines/simple/document")).json()
    then(f"POST {API}/pipelines", Deed.PIPELINE_SAVED, json={**document, "id": "mine"})
    migrate = f"POST {API}/pipelines/{{pipeline_id}}/migrate"
    then(migrate, Deed.PIPELINE_MIGRATED, f"{API}/pipelines/mine/migrate", json={"apply": True})
    then(f"POST {API}/login-links", Deed.LOGIN_LINK)
    then(f"POST {API}/tokens", Deed.TOKEN_MADE, json={"name": "eve", "role": "viewer"})
    other = await access.create(s, "bo", "member")
    revoke = f"DELETE {API}/tokens/{{token_id}}"
    then(revoke, Deed.TOKEN_REVOKED, f"{API}/tokens/{other.key.id}")
    then(f"POST {API}/retention", Deed.RETENTION_APPLIED)
    task = await office.scene.task()
    for operation, deed, path, sent in await _of_knowledge(office, task):
        then(operation, deed, path, json=sent)
    for operation, deed, path, sent in _of_schedules(project):
        then(operation, deed, path, json=sent)
    then(f"DELETE {API}/tasks/{{task_id}}", Deed.TASK_DELETED, f"{API}/tasks/{task.id}")
    then(f"DELETE {API}/projects/{one}", Deed.PROJECT_REMOVED, of, params={"force": True})
    then("POST /auth/login", Deed.LOGIN, json={"token": token})
    for operation, deed, path, sent in wanted:
        await does(operation, deed, path, **sent)
    return tried | {await _log_out(office)}


async def _of_knowledge(office: Office, task: Task) -> list[tuple[str, Deed, str, dict[str, Any]]]:
    of = {"project_id": task.project_id}
    source = (a_source(task.id),)

    def write(tx: Tx) -> None:
        for id, text in (("node-1", "Tokens expire"), ("node-2", "The cache is warm")):
            tx.knowledge.add(a_node(id, text=text, sources=source, **of))
        tx.knowledge.add_blocker(a_blocker("blocker-1", task.id, blocking_tasks=(), **of))

    await office.scene.s.store.write(write)
    at = f"{API}/projects/{task.project_id}/knowledge"
    document = (await office.api.get(f"{at}/export")).json()
    document["nodes"].append({**document["nodes"][0], "id": "node-3", "text": "Newer"})
    one, node = f"{API}/knowledge/nodes/{{node_id}}", f"{API}/knowledge/nodes/node-1"
    all_of = f"{API}/projects/{{project_id}}/knowledge"
    blocker, resolve = f"{API}/blockers/{{blocker_id}}", f"{API}/blockers/blocker-1/resolve"
    other = {"other": "node-2"}
    return [
        (f"POST {one}/confirm", Deed.KNOWLEDGE_CONFIRMED, f"{node}/confirm", {}),
        (f"PATCH {one}", Deed.KNOWLEDGE_EDITED, node, {"text": "Tokens expire soon"}),
        (f"POST {one}/contradict", Deed.KNOWLEDGE_CONTRADICTED, f"{node}/contradict", other),
        (f"POST {one}/retire", Deed.KNOWLEDGE_RETIRED, f"{node}/retire", {"reason": "No"}),
        (f"POST {all_of}/import", Deed.KNOWLEDGE_IMPORTED, f"{at}/import", document),
        (f"POST {blocker}/resolve", Deed.BLOCKER_RESOLVED, resolve, {}),
    ]


def _of_schedules(project: Project) -> list[tuple[str, Deed, str, dict[str, Any]]]:
    every, one, tidy = f"{API}/schedules", f"{API}/schedules/{{schedule_id}}", f"{API}/schedules/T"
    new = {"project": project.id, "name": "T", "rule": "weekdays", "task": {"title": "Tidy"}}
    return [
        (f"POST {every}", Deed.SCHEDULE_ADDED, every, new),
        (f"PATCH {one}", Deed.SCHEDULE_EDITED, tidy, {"start": True}),
        (f"POST {one}/run", Deed.SCHEDULE_RUN, f"{tidy}/run", {}),
        (f"POST {one}/pause", Deed.SCHEDULE_PAUSED, f"{tidy}/pause", {}),
        (f"POST {one}/resume", Deed.SCHEDULE_RESUMED, f"{tidy}/resume", {}),
        (f"DELETE {one}", Deed.SCHEDULE_REMOVED, tidy, {}),
    ]


async def _log_out(office: Office) -> str:
    del office.api.headers["Authorization"]
    office.api.headers["Origin"] = f"http://127.0.0.1:{PORT}"
    assert office.api.cookies.get(COOKIE)
    await office.does("POST /auth/logout", Deed.LOGOUT)
    return "POST /auth/logout"


@pytest.fixture
def office(api: httpx.AsyncClient, scene: Scene, tmp_path: Path) -> Office:
    return Office(api, scene, tmp_path)


async def test_every_route_that_decides_leaves_an_entry(
    office: Office, app: Application, token: str
) -> None:
    tried = await everything(office, token)
    assert tried == office.done.keys()
    assert operations(app) == tried | UNRECORDED.keys()
    assert not tried & UNRECORDED.keys()


async def test_without_the_record_the_walk_notices(
    office: Office, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "note", lambda *_, **__: None)
    assert await everything(office, token)
    assert office.done == {}


async def test_refused_logins_are_counted_and_bounded(
    office: Office, stranger: httpx.AsyncClient, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "am_this-is-not-a-token-of-anybody"
    stranger.headers["Authorization"] = f"Bearer {secret}"
    for _ in range(audit.REFUSED_LOGINS + 5):
        told(await stranger.get(f"{API}/projects"), 401, "Unauthenticated")
    del stranger.headers["Authorization"]
    wrong = await stranger.post("/auth/login", json={"token": secret})
    told(wrong, 401, "Unauthenticated")
    found = [entry for entry in await office.entries() if entry.what == Deed.LOGIN_REFUSED]
    assert len(found) == audit.REFUSED_LOGINS
    assert {(e.who, e.address) for e in found} == {("somebody", "127.0.0.1")}
    assert "not listed" in found[0].summary
    assert "not listed" not in found[1].summary
    assert secret not in repr(found)
    monkeypatch.setattr(audit, "REFUSED_LOGINS", 1000)
    await stranger.post("/auth/login", json={"token": secret})
    found = [entry for entry in await office.entries() if entry.what == Deed.LOGIN_REFUSED]
    assert len(found) == 21


async def test_the_record_is_listed_filtered_paged_and_exported(
    api: httpx.AsyncClient, scene: Scene
) -> None:
    for name in ("=1+1", "bo", "cy"):
        await api.post(f"{API}/tokens", json={"name": name, "role": "viewer"})
    first = (await api.get(f"{API}/audit?what=token&who={OWNER}&limit=2")).json()
    assert [e["summary"] for e in first["items"]] == [
        "made a token for cy with the role viewer",
        "made a token for bo with the role viewer",
    ]
    assert set(first["items"][0]["data"]) == {"token", "role", "kind"}
    rest = (await api.get(f"{API}/audit?what=token&cursor={first['next']}&limit=2")).json()
    assert [e["what"] for e in rest["items"]] == ["token.made"] * 2
    assert rest["next"] is None
    assert (await api.get(f"{API}/audit?who=nobody")).json() == {"items": [], "next": None}
    assert len((await api.get(f"{API}/audit?since=1h")).json()["items"]) == 5
    table = await api.get(f"{API}/audit/export?what=token.made")
    assert table.headers["content-type"].startswith("text/csv")
    assert "attachment" in table.headers["content-disposition"]
    assert len(table.text.splitlines()) == 5
    told(await api.get(f"{API}/audit?what=tokens.made"), 422, "InvalidInput")
    told(await api.get(f"{API}/audit?since=soon"), 422, "InvalidInput")
    told(await api.get(f"{API}/audit?cursor=x"), 422, "InvalidInput")


async def test_only_an_admin_reads_it(program: Program, stranger: httpx.AsyncClient) -> None:
    for role in ("member", "viewer"):
        made = await access.create(program.services, "bo", role)
        stranger.headers["Authorization"] = f"Bearer {made.secret}"
        for path in ("audit", "audit/export"):
            told(await stranger.get(f"{API}/{path}"), 403, "NotAllowed")


async def test_nobody_changes_what_is_in_it(program: Program, scene: Scene) -> None:
    """Not even a program that has the database open."""
    with program.database.engines.writer.connect() as connection:
        for statement in ("DELETE FROM am_audit", "UPDATE am_audit SET who = 'nobody'"):
            with pytest.raises(DBAPIError, match=append_only.REFUSAL):
                connection.exec_driver_sql(statement)
        connection.exec_driver_sql("DROP TRIGGER am_audit_no_delete")
        assert connection.exec_driver_sql("DELETE FROM am_audit").rowcount > 0
        connection.rollback()
