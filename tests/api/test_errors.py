"""Whatever goes wrong has one shape, and says what to do."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from agents_manager.api import bodies
from agents_manager.api.app import Application
from agents_manager.flow import hooks
from tests.api.scenes import Scene, told

TASKS = "/api/v1/tasks"

BROKEN_JSON = {
    "nothing": b" ",
    "cut off": b'{"title": "x"',
    "two documents": b"{} {}",
    "single quotes": b"{'title': 'x'}",
    "a comment": b'{"title": "x" /* no */}',
    "a key twice": b'{"title": "x", "title": "y"}',
    "a key twice, deep": b'{"tags": [{"a": 1, "a": 2}]}',
    "NaN": b'{"title": NaN}',
    "infinity": b'{"title": -Infinity}',
    "a float beyond all": b'{"title": 1e999}',
    "a number beyond 64 bits": b'{"title": 9223372036854775808}',
    "a number of a million digits": b'{"title": ' + b"9" * 500_000 + b"}",
    "half a surrogate pair": b'{"title": "\\ud800"}',
    "half a pair as a key": b'{"\\udfff": 1}',
    "NUL": b'{"title": "a\\u0000b"}',
    "too deep": b'{"tags": ' + b"[" * 32 + b"]" * 32 + b"}",
    "very deep": b"[" * 500_000,
    "not UTF-8": b'{"title": "\xff"}',
    "UTF-16": '{"title": "x"}'.encode("utf-16"),
}


@pytest.mark.parametrize("body", BROKEN_JSON.values(), ids=BROKEN_JSON.keys())
async def test_json_is_read_strictly(api: httpx.AsyncClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    told(await api.post(TASKS, content=body, headers=headers), 422, "InvalidInput")


WRONG_FORM: dict[str, tuple[Any, list[str]]] = {
    "no body": (None, ["body:"]),
    "a list": ([], ["body:"]),
    "a text": ("x", ["body:"]),
    "fields missing": ({}, ["project:", "title:"]),
    "an unknown field": ({"project": "p", "title": "t", "titel": "t"}, ["titel: there is no"]),
    "wrong types": ({"project": 1, "title": True, "tags": "a"}, ["project:", "title:", "tags:"]),
    "a wrong item": ({"project": "p", "title": "t", "tags": ["a", 2]}, ["tags.1:"]),
    "null": ({"project": "p", "title": None}, ["title:"]),
    "too many": ({"project": "p", "title": "t", "tags": ["a"] * 51}, ["tags:"]),
}


@pytest.mark.parametrize(("body", "places"), WRONG_FORM.values(), ids=WRONG_FORM.keys())
async def test_each_wrong_field_is_named(
    api: httpx.AsyncClient, body: Any, places: list[str]
) -> None:
    content = None if body is None else json.dumps(body)
    response = await api.post(TASKS, content=content, headers={"Content-Type": "application/json"})
    details = told(response, 422, "InvalidInput")["details"]
    assert [any(d.startswith(p) for d in details) for p in places] == [True] * len(places), details
    assert len(details) == len(places)


@pytest.mark.parametrize(
    ("title", "said"), [("  ", "title: a task needs"), ("x" * 201, "title: at most 200")]
)
async def test_the_flow_has_its_say_in_the_same_form(
    api: httpx.AsyncClient, scene: Scene, title: str, said: str
) -> None:
    response = await api.post(TASKS, json={"project": scene.project.name, "title": title})
    assert told(response, 422, "InvalidInput")["details"][0].startswith(said)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=ten", "limit"),
        ("limit=9999999999999999999999", "limit"),
        ("stauts=open", "stauts"),
        ("cursor=nothing", "cursor"),
        ("/x/events?after_seq=2147483648", "after_seq"),
        ("/x/events?after_seq=-1", "after_seq"),
    ],
)
async def test_wrong_parameters_are_named(api: httpx.AsyncClient, query: str, place: str) -> None:
    path = query if "?" in query else f"?{query}"
    details = told(await api.get(f"{TASKS}{path}"), 422, "InvalidInput")["details"]
    assert len(details) == 1
    assert details[0].startswith(place)


@pytest.mark.parametrize("path", ["/x", "/api/v1", "/api/v2/tasks", "/api/v1/tasks/"])
async def test_an_unknown_address(api: httpx.AsyncClient, path: str) -> None:
    assert "/openapi.json" in told(await api.get(path), 404, "NotFound")["message"]


async def test_a_wrong_method(api: httpx.AsyncClient) -> None:
    response = await api.delete(TASKS)
    assert "DELETE /api/v1/tasks" in told(response, 405, "MethodNotAllowed")["message"]
    assert response.headers["allow"]


UNKNOWN = {
    "GET /projects/nowhere": "ProjectNotFound",
    "POST /projects/nowhere/trust": "ProjectNotFound",
    "GET /pipelines/nowhere": "PipelineNotFound",
    "GET /pipelines/feature?version=99": "PipelineNotFound",
    "GET /tasks?project=nowhere": "ProjectNotFound",
    "GET /tasks/nowhere": "TaskNotFound",
    "POST /tasks/nowhere/start": "TaskNotFound",
    "POST /tasks/nowhere/grant": "TaskNotFound",
    "GET /tasks/nowhere/history": "TaskNotFound",
    "GET /tasks/nowhere/events": "TaskNotFound",
    "GET /tasks/nowhere/diff": "TaskNotFound",
    "GET /tasks/nowhere/file": "TaskNotFound",
    "GET /prompts/nowhere": "PromptNotFound",
    "POST /prompts/nowhere/accept": "PromptNotFound",
    "GET /runs?task=nowhere": "TaskNotFound",
    "GET /runs/nowhere": "RunNotFound",
    "GET /runs/nowhere/prompt": "RunNotFound",
    "GET /runs/nowhere/checks": "RunNotFound",
    "GET /runs/nowhere/left-out": "RunNotFound",
    "GET /runs/nowhere/handoff": "RunNotFound",
    "GET /runs/nowhere/transcript": "RunNotFound",
    "GET /runs/nowhere/output": "RunNotFound",
    "POST /runs/nowhere/stop": "RunNotFound",
    "GET /events/stream?task=nowhere": "TaskNotFound",
}


async def test_an_unknown_id_is_named(api: httpx.AsyncClient) -> None:
    for request_line, error in UNKNOWN.items():
        method, path = request_line.split(" ")
        message = told(await api.request(method, f"/api/v1{path}"), 404, error)["message"]
        assert '"nowhere"' in message or '"feature"' in message


async def test_an_unknown_id_with_a_body_is_named(api: httpx.AsyncClient) -> None:
    for path, body, error in [
        ("/tasks", {"project": "nowhere", "title": "t"}, "ProjectNotFound"),
        ("/tasks/nowhere/move", {"to": "done"}, "TaskNotFound"),
        ("/tasks/nowhere/review", {"decision": "approved"}, "TaskNotFound"),
        ("/prompts/nowhere/answer", {}, "PromptNotFound"),
    ]:
        response = await api.post(f"/api/v1{path}", json=body)
        assert '"nowhere"' in told(response, 404, error)["message"]


async def test_an_address_with_nul_is_refused(api: httpx.AsyncClient) -> None:
    told(await api.get("/api/v1/tasks/a%00b"), 422, "InvalidInput")
    told(await api.get("/api/v1/tasks?status=a%00b"), 422, "InvalidInput")


async def test_too_much_is_refused_before_it_is_read(api: httpx.AsyncClient) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 65536
            yield b" " * 65536

    headers = {"Content-Type": "application/json"}
    told(await api.post(TASKS, content=endless(), headers=headers), 413, "TooLarge")
    assert read <= bodies.MAX_BYTES + 2 * 65536
    announced = {**headers, "Content-Length": str(bodies.MAX_BYTES + 1)}
    told(await api.post(TASKS, content=b"{}", headers=announced), 413, "TooLarge")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_only_json_is_taken(api: httpx.AsyncClient, kind: str) -> None:
    response = await api.post(TASKS, content=b'{"title": "x"}', headers={"Content-Type": kind})
    told(response, 415, "UnsupportedMedia")


async def test_what_nobody_expected_is_logged_and_not_told(
    app: Application, api: httpx.AsyncClient
) -> None:
    @app.get("/broken")
    async def broken() -> None:  # pyright: ignore[reportUnusedFunction]
        raise RuntimeError("the secret of the house")

    with capture_logs([merge_contextvars]) as logged:
        response = await api.get("/broken")
    message = told(response, 500, "AgentsManagerError")["message"]
    assert "secret" not in response.text
    request = response.headers["x-request-id"]
    assert message.endswith(f"under request {request}.")
    line = {"request": request, "method": "GET", "path": "/broken"}
    assert [one["event"] for one in logged if line.items() <= one.items()] == [
        "api.failed",
        "api.refused",
    ]
    assert logged[0]["exc_info"]


async def test_a_refusal_is_found_in_the_log_by_its_request(api: httpx.AsyncClient) -> None:
    with capture_logs([merge_contextvars]) as logged:
        answers = [await api.get(path) for path in ("/api/v1/tasks/none", "/api/v1/tasks/none")]
    requests = [answer.headers["x-request-id"] for answer in answers]
    assert len({*requests}) == 2
    assert [(one["request"], one["status"], one["error"]) for one in logged] == [
        (request, 404, "TaskNotFound") for request in requests
    ]


async def test_an_effect_that_failed_is_found_in_the_log_by_its_task_and_run(scene: Scene) -> None:
    task, run = await scene.running(pipeline="simple")
    ids = {"task": task.id, "run": run.id, "effect": run.effect_id}
    with capture_logs() as logged:
        await hooks.failed(scene.s, run.effect_id, 1, "The disk is full.", retryable=True)
        await hooks.failed(scene.s, run.effect_id, 2, "The disk is full.", retryable=False)
    assert [one["event"] for one in logged if ids.items() <= one.items()] == [
        "effect.tried_again",
        "effect.failed",
    ]
