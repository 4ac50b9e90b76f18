"""The document that clients are generated from."""

import hashlib
import json
import re
from typing import Any

import httpx

from agents_manager.api.app import Application
from tests.api import reference

WEBHOOK = "/api/v1/forges/github/webhook"


def outputs(document: dict[str, Any]) -> set[str]:
    """The schemas that responses lead to."""
    responses = [
        response
        for operations in document["paths"].values()
        for operation in operations.values()
        for response in operation["responses"].values()
    ]
    found: set[str] = set()
    waiting = {"Error"} | _named(responses)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _named(document["components"]["schemas"][name]) - found
    return found


def _named(part: Any) -> set[str]:
    return set(re.findall(r"#/components/schemas/([^\"]+)", json.dumps(part)))


async def test_the_document_is_served_and_the_same_each_time(
    app: Application, api: httpx.AsyncClient
) -> None:
    served = (await api.get("/openapi.json")).json()
    assert served["openapi"].startswith("3.1")
    app.openapi_schema = None
    assert json.dumps(app.openapi()) == json.dumps(served)


def test_every_field_that_leaves_is_required(app: Application) -> None:
    document = app.openapi()
    names = outputs(document)
    assert all(re.fullmatch("[A-Z][A-Za-z]+", name) for name in document["components"]["schemas"])
    assert {"TaskView", "Event", "Error", "Inbox", "Transcript"} <= names
    for name in names:
        schema = document["components"]["schemas"][name]
        assert set(schema.get("properties", {})) == set(schema.get("required", [])), name
        assert not [p for p in schema.get("properties", {}).values() if "default" in p], name


def test_every_operation_has_a_name_and_says_how_it_fails(app: Application) -> None:
    document = app.openapi()
    ids: list[str] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            ids.append(operation["operationId"])
            assert re.fullmatch(r"[a-z]+(_[a-z]+)*", operation["operationId"])
            assert operation["description"], path
            assert operation["tags"]
            failures = {s: r for s, r in operation["responses"].items() if not s.startswith("2")}
            assert set(map(str, failures.values())) == {"{'$ref': '#/components/responses/Error'}"}
            keyed = any("$ref" in p for p in operation.get("parameters", []))
            secret = ("/auth/login", "/api/v1/tokens", "/api/v1/login-links", WEBHOOK)
            assert keyed == (method != "get" and path not in secret)
            if path in ("/healthz", "/readyz", "/auth/login", WEBHOOK):
                assert "security" not in operation
                continue
            assert operation["security"] == [{"token": []}, {"session": []}]
            assert {"401", "default"} <= set(failures)
    assert len(ids) == len(set(ids))


def test_the_stream_tells_what_an_event_is(app: Application) -> None:
    operation = app.openapi()["paths"]["/api/v1/events/stream"]["get"]
    content = operation["responses"]["200"]["content"]
    assert content == {"text/event-stream": {"schema": {"$ref": "#/components/schemas/Event"}}}


def test_the_reference_page_is_up_to_date(app: Application) -> None:
    assert reference.PAGE.read_text() == reference.page(app.openapi()), (
        "write it again: .venv/bin/python -m tests.api.reference"
    )


def test_the_web_app_is_typed_from_this_document(app: Application) -> None:
    said = reference.written(app.openapi())
    assert reference.DOCUMENT.read_text() == said, (
        "write it again: .venv/bin/python -m tests.api.reference && (cd web && npm run api)"
    )
    digest = hashlib.sha256(said.encode()).hexdigest()
    assert digest in reference.TYPES.read_text().partition("\n")[0], (
        "write them again: cd web && npm run api"
    )
