"""The files of a commit, as recognisers read them."""

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, cast

MAX_FILE_BYTES = 1024 * 1024
"""Larger files count as present, but are not read."""
MANIFESTS = frozenset(
    {
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", ".yarnrc.yml"),
        *("pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock", "bun.lockb", "tsconfig.json"),
        *(
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "uv.lock",
            "poetry.lock",
            "tox.ini",
            "tox.toml",
        ),
        *("noxfile.py", "pytest.ini", ".pytest.ini", "pytest.toml", "ruff.toml", ".ruff.toml"),
        *("mypy.ini", ".mypy.ini", "conftest.py", "manage.py", "Makefile", "makefile"),
        *("GNUmakefile", "Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml"),
        *("go.mod", "go.sum", "go.work", "pom.xml", "mvnw", "gradlew", "build.gradle"),
        *("build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    }
)
_REQUIREMENTS = re.compile(r"(^|/)([\w.-]*requirements[\w.-]*|constraints[\w.-]*)\.(txt|in)$")
_IN_REQUIREMENTS = re.compile(r"(^|/)requirements/[\w.-]+\.(txt|in)$")
_WORKFLOW = re.compile(r"^\.github/workflows/[^/]+\.ya?ml$")
_TEST_MODULE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
_MAX_TEST_MODULES = 40


def readable(paths: Iterable[str]) -> list[str]:
    """Returns the paths whose contents recognisers may ask for."""
    wanted: list[str] = []
    test_modules = 0
    for path in sorted(paths):
        if _TEST_MODULE.search(path) and test_modules < _MAX_TEST_MODULES:
            test_modules += 1
            wanted.append(path)
        elif path.count("/") <= 3 and _is_manifest(path):
            wanted.append(path)
    return wanted


def _is_manifest(path: str) -> bool:
    patterns = (_REQUIREMENTS, _IN_REQUIREMENTS, _WORKFLOW)
    name = posixpath.basename(path)
    return name in MANIFESTS or any(pattern.search(path) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class CommittedFiles:
    """The paths of a commit, and the contents of those that were read."""

    paths: frozenset[str]
    contents: Mapping[str, bytes]
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where symbolic links lead to, by their path."""


class Folder:
    """One folder of a commit, read as text or as a document.

    Collects in `problems` what is wrong with the files that were read.
    """

    def __init__(self, files: CommittedFiles, path: str = "") -> None:
        self.files = files
        self.path = path
        self.problems: list[str] = []
        self._documents: dict[str, Mapping[str, Any]] = {}

    def full_path(self, name: str) -> str:
        return posixpath.join(self.path, name)

    def has(self, name: str) -> bool:
        """Whether the commit has this file; a link counts only if it leads to a file of it."""
        return self._target(name) is not None

    def first(self, names: Iterable[str]) -> str | None:
        return next((name for name in names if self.has(name)), None)

    def names(self) -> list[str]:
        """Returns the names of the files directly in this folder, sorted."""
        prefix = f"{self.path}/" if self.path else ""
        inside = (path.removeprefix(prefix) for path in self.files.paths if path.startswith(prefix))
        return sorted(name for name in inside if "/" not in name)

    def paths(self) -> list[str]:
        """Returns the paths of all files below this folder, relative to it, sorted."""
        prefix = f"{self.path}/" if self.path else ""
        return sorted(p.removeprefix(prefix) for p in self.files.paths if p.startswith(prefix))

    def text(self, name: str) -> str | None:
        """Returns the content with "\\n" as line ends; None if it is missing or was not read."""
        path = self._target(name)
        content = None if path is None else self.files.contents.get(path)
        if content is None:
            return None
        text = content.decode("utf-8-sig", errors="replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def line_of(self, name: str, text: str) -> int | None:
        """Returns the number of the first line that contains the text."""
        lines = (self.text(name) or "").split("\n")
        return next((number for number, line in enumerate(lines, 1) if text in line), None)

    def json(self, name: str) -> Mapping[str, Any]:
        return self._document(name, json.loads)

    def toml(self, name: str) -> Mapping[str, Any]:
        return self._document(name, tomllib.loads)

    def ini(self, name: str) -> Mapping[str, Any]:
        return self._document(name, _ini)

    def _document(self, name: str, parse: Any) -> Mapping[str, Any]:
        """Returns the parsed file; an empty document if it is missing or cannot be parsed."""
        if name in self._documents:
            return self._documents[name]
        found: object = {}
        text = self.text(name)
        if text is not None:
            try:
                found = parse(text)
            except (ValueError, RecursionError, configparser.Error) as error:
                why = str(error).split("\n")[0][:200]
                self.problems.append(f"{self.full_path(name)} cannot be read: {why}")
        elif self.has(name):
            self.problems.append(f"{self.full_path(name)} is too large to be read")
        document = _as_table(found)
        self._documents[name] = document
        return document

    def _target(self, name: str) -> str | None:
        path = self.full_path(name)
        for _ in range(8):
            if path not in self.files.links:
                return path if path in self.files.paths else None
            path = posixpath.normpath(
                posixpath.join(posixpath.dirname(path), self.files.links[path])
            )
        return None


def _ini(text: str) -> Mapping[str, Any]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {section: dict(parser.items(section)) for section in parser.sections()}


def table(document: object, *keys: str) -> Mapping[str, Any]:
    """Returns the table at these keys; an empty one if there is something else or nothing."""
    found = _as_table(document)
    for key in keys:
        found = _as_table(found.get(key))
    return found


def _as_table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def strings(value: object) -> list[str]:
    """Returns the strings of a list; an empty list for anything else."""
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[object]", value) if isinstance(item, str)]


def text_at(document: object, *keys: str) -> str:
    """Returns the text at these keys; an empty one if there is something else or nothing."""
    value = table(document, *keys[:-1]).get(keys[-1])
    return value if isinstance(value, str) else ""


def suffix(path: str) -> str:
    return PurePosixPath(path).suffix
