"""Reads a package.json and what stands beside it."""

import re
from collections.abc import Mapping
from typing import Any

from agents_manager.checks.recognise.files import Folder, table, text_at

FILE = "package.json"
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies")
_LIFECYCLE = ("preinstall", "install", "postinstall", "prepare")
_NO_TEST = re.compile(r"no tests?( specified| yet|s? to run)?\b", re.IGNORECASE)
_NOTHING = re.compile(r"(echo\b[^&|;]*|exit \d+|true|false|:)", re.IGNORECASE)
_CALL = re.compile(
    r"\b(?P<program>npm|pnpm|yarn|bun)\s+(?P<options>(?:-\S+\s+)*)"
    r"(?P<run>(?:run|run-script)\s+)?(?:-\S+\s+)*"
    r"(?P<script>[\w:.-]+)(?P<rest>[^&|;]*)"
)
_ELSEWHERE = re.compile(
    r"(^|\s)(-r|-w|-C|-F|-A|--recursive|--workspaces?|--filter|--prefix|--cwd|--dir)\b"
)
_COMMAND_SEPARATOR = re.compile(r"&&|\|\||;|\|")


class Package:
    """A package.json. Broken parts count as missing."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.document: Mapping[str, Any] = folder.json(FILE)
        scripts = table(self.document, "scripts")
        self.scripts = {name: s for name, s in scripts.items() if isinstance(s, str)}

    @property
    def manager(self) -> tuple[str, str] | None:
        """The name and the version that `packageManager` says."""
        said = re.match(
            r"(npm|pnpm|yarn|bun)@(\d[\w.-]*)", text_at(self.document, "packageManager")
        )
        return (said[1], said[2]) if said else None

    @property
    def has_workspaces(self) -> bool:
        return bool(self.document.get("workspaces")) or self.folder.has("pnpm-workspace.yaml")

    @property
    def installs(self) -> bool:
        """Whether anything has to be installed before scripts can run."""
        return (
            self.has_workspaces
            or any(table(self.document, key) for key in _DEPENDENCIES)
            or any(name in self.scripts for name in _LIFECYCLE)
        )

    def depends_on(self, name: str) -> bool:
        return any(name in table(self.document, key) for key in _DEPENDENCIES)

    def engine(self, name: str) -> str:
        return text_at(self.document, "engines", name)

    def does_something(self, script: str) -> bool:
        """Whether a script is more than a placeholder such as npm's "no test specified", and does
        not only call itself."""
        command = self.scripts.get(script, "").strip()
        parts = [part.strip() for part in _COMMAND_SEPARATOR.split(command)]
        if not command or all(not part or _NOTHING.fullmatch(part) for part in parts):
            return False
        if _NO_TEST.search(command) and re.search(r"\bexit 1\b", command):
            return False
        return not self.recurses(script)

    def recurses(self, script: str) -> bool:
        """Whether the script calls itself, directly or by way of others, without an end."""
        return self._reaches(script, script, set())

    def _reaches(self, start: str, goal: str, seen: set[str]) -> bool:
        for called in self.calls(start):
            if called == goal:
                return True
            if called not in seen:
                seen.add(called)
                if self._reaches(called, goal, seen):
                    return True
        return False

    def calls(self, script: str) -> list[str]:
        """Returns the scripts of this package that a script runs in this folder."""
        called: list[str] = []
        for part in _COMMAND_SEPARATOR.split(self.scripts.get(script, "")):
            if re.match(r"\s*cd\s", part):
                break
            for call in _CALL.finditer(part):
                elsewhere = _ELSEWHERE.search(call["options"]) or _ELSEWHERE.search(call["rest"])
                if call["program"] == "bun" and not call["run"]:
                    continue  # `bun test` is Bun's own test runner.
                name = "test" if call["script"] in ("t", "tst") else call["script"]
                if name in self.scripts and not elsewhere:
                    called.append(name)
        return called

    def line_of(self, script: str) -> int | None:
        return self.folder.line_of(FILE, f'"{script}":') or self.folder.line_of(FILE, f'"{script}"')
