"""GitHub's published description of its API (OpenAPI 3.0), as the measure of what is sent to it and
of what a server for tests answers. `make test-github` fetches it."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema import Draft4Validator, FormatChecker
from jsonschema.validators import extend
from referencing import Registry
from referencing.jsonschema import DRAFT4

ADDRESS = "urn:github"
API_VERSION = "2022-11-28"
EXCUSED = re.compile(r"answer\.\d+\.(original_)?line: None is not of type 'integer'")
"""What GitHub does and does not say: a comment on a whole file, or on lines that are gone, has
none."""
FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time", ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


def _unless_null(keyword: Any) -> Any:
    """`nullable` is a word of OpenAPI, and holds for all that stands beside it."""

    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        null = instance is None and schema.get("nullable")
        return () if null else keyword(validator, value, instance, schema)

    return checked


_ALL = {
    name: keyword if name == "$ref" else _unless_null(keyword)
    for name, keyword in Draft4Validator.VALIDATORS.items()
}
WHOLE = extend(Draft4Validator, _ALL)
PART = extend(Draft4Validator, {**_ALL, "oneOf": _ALL["anyOf"], "required": lambda *_: ()})
"""Holds also for an answer that leaves something out."""


@dataclass(frozen=True)
class Operation:
    method: str
    template: str
    values: Mapping[str, Any]
    description: "Description"

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"

    def request_faults(self, query: str, headers: Mapping[str, str], body: bytes) -> Iterator[str]:
        wanted = {"x-github-api-version": API_VERSION, "accept": "application/vnd.github+json"}
        for name, value in wanted.items():
            if headers.get(name) != value:
                yield f"{name} is {headers.get(name)!r}"
        known = {p["name"]: p for p in self._parameters if p["in"] == "query"}
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name not in known:
                yield f"there is no query {name}"
            else:
                schema = known[name]["schema"]
                yield from self.description.faults(f"query {name}", _typed(value, schema), schema)
        yield from self._body_faults(headers, body)

    def _body_faults(self, headers: Mapping[str, str], body: bytes) -> Iterator[str]:
        content = self.values.get("requestBody", {}).get("content", {})
        if not content:
            if body:
                yield "it takes no body"
            return
        if headers.get("content-type") not in content:
            yield f"content-type is {headers.get('content-type')!r}"
        schema = content["application/json"]["schema"]
        sent = json.loads(body)
        yield from self.description.faults("body", sent, schema)
        yield from self.description.unknown("body", sent, [schema])

    @property
    def _parameters(self) -> list[Mapping[str, Any]]:
        return [self.description.meant(one) for one in self.values.get("parameters", ())]

    def response_faults(self, status: int, value: Any) -> Iterator[str]:
        """Of an answer that may leave things out, and must not add any."""
        if not 200 <= status < 300:
            return
        known = self.values["responses"].get(str(status))
        if known is None:
            yield f"it never answers with status {status}"
            return
        schema = self.description.meant(known)["content"]["application/json"]["schema"]
        yield from self.description.faults("answer", value, schema, PART)
        yield from self.description.unknown("answer", value, [schema])

    def example(self) -> tuple[int, Any]:
        """The answer that GitHub shows where all went well."""
        status = min(code for code in self.values["responses"] if code.startswith("2"))
        answer = self.description.meant(self.values["responses"][status])
        examples = answer["content"]["application/json"]["examples"]
        first = next(iter(examples.values()))
        return int(status), self.description.meant(first.get("value", first))


class Description:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._registry = Registry[Any]().with_resource(ADDRESS, DRAFT4.create_resource(document))
        self._templates = [(_pattern(path), path) for path in document["paths"]]

    def operation(self, method: str, path: str) -> Operation | None:
        """A path that is written out before one with a place for anything."""
        found = [path_ for pattern, path_ in self._templates if pattern.fullmatch(path)]
        for template in sorted(found, key=lambda one: one.count("{")):
            values = self._document["paths"][template].get(method.lower())
            if values is not None:
                return Operation(method, template, values, self)
        return None

    def exchange_faults(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        status: int,
        value: Any,
    ) -> list[str]:
        parts = urlsplit(url)
        operation = self.operation(method, unquote(parts.path))
        if operation is None:
            return [f"{method} {parts.path}: GitHub has no such address"]
        found = [*operation.request_faults(parts.query, headers, body)]
        found += operation.response_faults(status, value)
        return [f"{operation.name}: {fault}" for fault in found if not EXCUSED.fullmatch(fault)]

    def meant(self, value: Any) -> Any:
        """What a reference leads to."""
        while isinstance(value, dict) and "$ref" in value:
            place = self._document
            for part in value["$ref"].removeprefix("#/").split("/"):
                place = place[part]
            value = place.get("value", place) if "/examples/" in value["$ref"] else place
        return value

    def faults(
        self, place: str, value: Any, schema: Mapping[str, Any], by: Any = WHOLE
    ) -> Iterator[str]:
        rooted = _rooted(schema)
        checker = by(rooted, registry=self._registry, format_checker=FORMATS)
        for error in checker.iter_errors(value):
            where = "".join(f".{part}" for part in error.absolute_path)
            yield f"{place}{where}: {error.message[:200]}"

    def unknown(self, place: str, value: Any, schemas: Sequence[Any]) -> Iterator[str]:
        """Fields that the description does not have."""
        flat = [*self._branches(schemas)]
        if isinstance(value, list):
            items = [one["items"] for one in flat if "items" in one]
            for item in value:
                yield from self.unknown(f"{place}[]", item, items)
        if not isinstance(value, dict):
            return
        if any(one.get("additionalProperties") for one in flat):
            return
        for name, inner in value.items():
            known = [one["properties"][name] for one in flat if name in one.get("properties", {})]
            if not known:
                yield f"{place}.{name}: there is no such field"
            else:
                yield from self.unknown(f"{place}.{name}", inner, known)

    def _branches(self, schemas: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
        for schema in map(self.meant, schemas):
            yield schema
            for several in ("allOf", "anyOf", "oneOf"):
                yield from self._branches(schema.get(several, ()))


def _pattern(path: str) -> re.Pattern[str]:
    """A reference to a branch has slashes in it."""
    parts = re.split(r"(\{[^}]+\})", path)
    last = "(.+)" if path.startswith("/repos/{owner}/{repo}/git/") else "([^/]+)"
    return re.compile("".join(last if p.startswith("{") else re.escape(p) for p in parts))


def _rooted(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: f"{ADDRESS}{value}" if key == "$ref" else _rooted(value)
            for key, value in schema.items()
        }
    return [_rooted(one) for one in schema] if isinstance(schema, list) else schema


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    whole = schema.get("type") == "integer" and value.lstrip("-").isdecimal()
    return int(value) if whole else value


@cache
def published() -> Description | None:
    """None where nobody asks for it: then the fake GitHub is held to its own rules alone."""
    path = os.environ.get("AM_GITHUB_DESCRIPTION")
    return Description(json.loads(Path(path).read_bytes())) if path else None
