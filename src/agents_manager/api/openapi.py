"""The OpenAPI document: generated, then completed with what every operation has in common."""

from typing import Any, cast

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from agents_manager.api import schemas
from agents_manager.api.bodies import WRITES
from agents_manager.api.gate import COOKIE, OPEN_PATHS
from agents_manager.api.idempotency import HEADER, UNKEPT

TITLE = "Agents Manager"
DESCRIPTION = (
    "Every error has the same shape. Writes may carry an `Idempotency-Key`: sent again under the "
    "same key, a request is answered again and not repeated."
)
KEY = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "Any text of up to 200 visible characters; a new one for each action.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
FASTAPI_OWN = ("HTTPValidationError", "ValidationError")


def document(routes: list[BaseRoute], version: str) -> dict[str, Any]:
    made = get_openapi(title=TITLE, version=version, description=DESCRIPTION, routes=routes)
    components = made.setdefault("components", {})
    known = components.setdefault("schemas", {})
    for name in FASTAPI_OWN:
        known.pop(name, None)
    known["Error"] = schemas.Error.model_json_schema(mode="serialization")
    components["schemas"] = dict(sorted(known.items()))
    components["responses"] = {"Error": _error()}
    components["parameters"] = {HEADER: KEY}
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
    }
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _complete(operation, path, method.upper())
    return made


def _complete(operation: dict[str, Any], path: str, method: str) -> None:
    parameters = cast("list[dict[str, Any]]", operation.get("parameters", []))
    failures = {"default"}
    if path not in OPEN_PATHS:
        failures.add("401")
        operation["security"] = [{"token": []}, {"session": []}]
    if method in WRITES:
        failures |= {"409", "413", "415"}
    if parameters or "requestBody" in operation:
        failures.add("422")
    if any(parameter["in"] == "path" for parameter in parameters):
        failures.add("404")
    if method in WRITES and path not in UNKEPT:
        operation["parameters"] = [*parameters, {"$ref": f"#/components/parameters/{HEADER}"}]
    for content in operation["responses"]["200"]["content"].values() if method == "GET" else ():
        if "$ref" in content["schema"]:
            # FastAPI calls whatever is not JSON a string.
            content["schema"].pop("type", None)
    for status in sorted(failures):
        operation["responses"][status] = {"$ref": "#/components/responses/Error"}


def _error() -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {
        "description": "What went wrong, and the way out.",
        "content": {"application/json": {"schema": schema}},
    }
