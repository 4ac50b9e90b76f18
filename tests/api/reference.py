"""Writes docs/reference/http.md and web/openapi.json from the OpenAPI document:
python -m tests.api.reference (then `npm run api` in web/ for the types of the web app)"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from agents_manager import bootstrap
from agents_manager.api.app import build
from agents_manager.api.doors import doors
from agents_manager.api.stream import Feed
from agents_manager.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "http.md"
DOCUMENT = ROOT / "web" / "openapi.json"
TYPES = ROOT / "web" / "src" / "api" / "schema.d.ts"

HEAD = """\
# HTTP

Generated from the OpenAPI document, which a running server gives at `/openapi.json`. Do not edit.

```sh
am serve                       # http://127.0.0.1:4100
TOKEN=$(cat ~/.agents-manager/token)
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4100/api/v1/tasks
curl -N -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4100/api/v1/events/stream
```

- The server listens on loopback only, unless it has a certificate. Open are `/healthz`,
  `/readyz`, `/auth/login`, the files of the web app and the documentation under `/docs`; every
  other address wants a token (the owner's is in the file `token` of the data directory) or the
  cookie of a session. Requests under another host name get 421, requests from pages of another
  origin 403; so do those with a cookie that change something and do not say that they come from
  our own pages.
- Bodies are JSON of at most 1 MiB, read strictly: a key that stands there twice, `NaN`, a number
  beyond 64 bits, NUL, half a surrogate pair and more than 32 levels are refused. Unknown fields and
  parameters are refused by name.
- Every error is `{"error": "<class>", "message": "…", "details": ["place: what"]}`. Every answer
  has the header `X-Request-Id`, under which the server's log tells of the request.
- A write may carry an `Idempotency-Key`. The same request under the same key is answered again,
  with the header `Idempotency-Replayed: true`, and not repeated; another request under it gets 409.
  What was refused for its form (422) or failed on the server's side may be sent again.
- Listings are `{"items": […], "next": …}`; give `next` back to read on, until it is null.
- Times are UTC, in ISO 8601, ending in `Z`.
- The stream sends each event as `id: <event id>` and `data: <event as JSON>`. It goes on after the
  event named by the header `Last-Event-ID` or by `after`, and from now on without either. A comment
  every 15 seconds keeps it open.
"""


def written(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def page(document: dict[str, Any]) -> str:
    lines = [HEAD]
    tag = None
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                lines += [f"## {tag.capitalize()}", ""]
            lines += _operation(method.upper(), path, operation, document)
    return "\n".join(lines).rstrip() + "\n"


def _operation(
    method: str, path: str, operation: dict[str, Any], document: dict[str, Any]
) -> list[str]:
    lines = [f"### {method} {path}", "", " ".join(operation["description"].split()), ""]
    given = [p for p in operation.get("parameters", []) if p.get("in") in ("query", "header")]
    lines += [f"- `{p['name']}` ({p['in']}): {_kind(p['schema'])}" for p in given]
    body = operation.get("requestBody")
    if body:
        lines += _body(body["content"]["application/json"], document)
    status, success = next(iter(operation["responses"].items()))
    kind, content = next(iter(success["content"].items()))
    lines += [f"- {status}: {kind}{_model(content.get('schema', {}))}", ""]
    return lines


def _body(content: dict[str, Any], document: dict[str, Any]) -> list[str]:
    schema = content["schema"]
    options = [s for s in schema.get("anyOf", [schema]) if "$ref" in s]
    if not options:
        return [
            "- body: an answer in the form of the prompt's type, see the examples in the document"
        ]
    name = options[0]["$ref"].rpartition("/")[2]
    form = document["components"]["schemas"][name]
    required = form.get("required", [])
    return [
        f"- body `{field}`{'' if field in required else ', optional'}: {_kind(part)}"
        for field, part in form["properties"].items()
    ]


def _kind(schema: dict[str, Any]) -> str:
    kinds = [s for s in schema.get("anyOf", [schema]) if s.get("type") != "null"]
    first = kinds[0]
    if first.get("type") == "array":
        return f"list of {_kind(first['items'])}"
    limits = [
        f"{word} {int(first[key])}"
        for key, word in (("minimum", "from"), ("maximum", "to"), ("maxLength", "length up to"))
        if key in first and first[key] < 2**63 - 1
    ]
    default = schema.get("default")
    if default not in (None, "", []):
        limits.append(f"default {str(default).lower() if isinstance(default, bool) else default}")
    return ", ".join([str(first.get("type", "any")), *limits])


def _model(schema: dict[str, Any]) -> str:
    return f", `{schema['$ref'].rpartition('/')[2]}`" if "$ref" in schema else ""


async def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        async with bootstrap.client(Settings(Path(scratch), None)) as program:
            feed = Feed(program.services.store, program.database.watch)
            document = build(program.services, feed, doors("localhost", 4100)).openapi()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(document))
    DOCUMENT.write_text(written(document))


if __name__ == "__main__":
    asyncio.run(main())
