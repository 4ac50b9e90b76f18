"""What a Python project says about itself: its dependencies, and how it is tested."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from agents_manager.checks.recognise.files import Folder, strings, table, text_at

PYPROJECT = "pyproject.toml"
MANIFESTS = (PYPROJECT, "setup.py", "setup.cfg", "tox.ini", "tox.toml", "noxfile.py", "manage.py")
PREFERRED = ("test", "tests", "testing", "dev", "develop", "development", "ci", "all")
"""The names of groups and extras with test tools, the likeliest first."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py", "tests/conftest.py")
_REQUIREMENTS = re.compile(
    r"(?:(?P<kind>dev|test|tests|testing)[-_.])?requirements"
    r"(?:[-_.](?P<use>dev|develop|development|test|tests|testing|ci))?\.txt"
)
_IN_FOLDER = re.compile(r"(?:requirements|tests?/requirements)/(\w+)\.txt|tests?/requirements\.txt")
_INCLUDE = re.compile(r"^(?:-r|--requirement)[ =]*(\S+)", re.MULTILINE)
_OWN = re.compile(r"^(?:-e|--editable)?[ =]*\.(?:\[[^\]]*\])?\s*(?:#.*)?$", re.MULTILINE)


def plain_name(requirement: str) -> str:
    """Returns the normalized name of the package in a requirement."""
    found = _NAME.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


@dataclass(frozen=True)
class Requirements:
    """Requirement files that are installed together."""

    files: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    """The files that these include."""
    names: frozenset[str] = frozenset()
    installs_project: bool = False
    """Whether one of them contains the project itself, as in `-e .`."""


@dataclass(frozen=True)
class Facts:
    folder: Folder
    pyproject: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def read(cls, folder: Folder) -> "Facts | None":
        """Returns None if there is no Python project in the folder."""
        found = folder.first(MANIFESTS) or any(_REQUIREMENTS.fullmatch(n) for n in folder.names())
        return cls(folder, folder.toml(PYPROJECT)) if found else None

    @property
    def requires_python(self) -> str:
        said = text_at(self.pyproject, "project", "requires-python")
        cfg = text_at(self.folder.ini("setup.cfg"), "options", "python_requires")
        return said or text_at(self.pyproject, "tool", "poetry", "dependencies", "python") or cfg

    @property
    def backend(self) -> str:
        return text_at(self.pyproject, "build-system", "build-backend")

    @property
    def is_installable(self) -> bool:
        built = bool(table(self.pyproject, "build-system"))
        legacy = self.folder.has("setup.py") or "metadata" in self.folder.ini("setup.cfg")
        return built or legacy

    @cached_property
    def dependencies(self) -> list[str]:
        return strings(table(self.pyproject, "project").get("dependencies"))

    @cached_property
    def groups(self) -> Mapping[str, frozenset[str]]:
        """The names of the packages in each group of `[dependency-groups]`, with those of the
        groups it includes."""
        return {name: self._group(name, ()) for name in table(self.pyproject, "dependency-groups")}

    def _group(self, name: str, above: tuple[str, ...]) -> frozenset[str]:
        entries = table(self.pyproject, "dependency-groups").get(name)
        names: set[str] = set()
        for entry in cast("list[object]", entries) if isinstance(entries, list) else []:
            included = text_at(entry, "include-group")
            if isinstance(entry, str):
                names.add(plain_name(entry))
            elif included and included not in above:
                names |= self._group(included, (*above, name))
        return frozenset(names)

    @cached_property
    def extras(self) -> Mapping[str, frozenset[str]]:
        """The names of the packages in each extra, with those of the extras it includes."""
        declared = dict(table(self.pyproject, "project", "optional-dependencies"))
        for name, lines in table(self.folder.ini("setup.cfg"), "options.extras_require").items():
            declared[name] = str(lines or "").split("\n")
        own = plain_name(text_at(self.pyproject, "project", "name"))
        return {name: _extra(declared, name, own, ()) for name in declared}

    @cached_property
    def poetry_groups(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        """The names of the packages in each of Poetry's groups, and whether it is optional."""
        poetry = table(self.pyproject, "tool", "poetry")
        groups = {
            name: (frozenset(map(plain_name, table(group, "dependencies"))), "optional" in group)
            for name in table(poetry, "group")
            if (group := table(poetry, "group", name))
        }
        old = frozenset(map(plain_name, table(poetry, "dev-dependencies")))
        return {**groups, **({"dev": (old, False)} if old else {})}

    @cached_property
    def requirements(self) -> Requirements:
        """The requirement files for tests, or those for development, with the main one."""
        kinds: dict[str, list[str]] = {"test": [], "dev": [], "main": []}
        for path in self.folder.paths():
            if (kind := _kind(path)) is not None:
                kinds[kind].append(path)
        chosen = [*(kinds["test"] or kinds["dev"]), *kinds["main"]]
        included = {name for path in chosen for name in self._includes(path, ())}
        files = tuple(path for path in chosen if path not in included)
        further = tuple(sorted(name for name in included if self.folder.has(name)))
        texts = [self.folder.text(path) or "" for path in (*files, *further)]
        lines = (line for text in texts for line in text.split("\n"))
        names = frozenset(plain_name(line) for line in lines if _NAME.match(line.strip()))
        return Requirements(files, further, names, any(_OWN.search(text) for text in texts))

    def _includes(self, path: str, above: tuple[str, ...]) -> set[str]:
        parent = path.rpartition("/")[0]
        names = _INCLUDE.findall(self.folder.text(path) or "")
        found = {f"{parent}/{name}" if parent else name for name in names}
        if len(above) < 8:
            for name in found - {path, *above}:
                found = found | self._includes(name, (*above, path))
        return found

    @property
    def uses_pytest(self) -> bool:
        ini = self.folder.ini
        return (
            "pytest" in table(self.pyproject, "tool")
            or bool(self.folder.first(_PYTEST_FILES))
            or "tool:pytest" in ini("setup.cfg")
            or "pytest" in ini("tox.ini")
        )

    @property
    def test_modules(self) -> list[str]:
        """The paths of the test modules, without those of examples."""
        found = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
        apart = re.compile(r"^(examples?|docs?|vendor|\.|node_modules)")
        return [p for p in self.folder.paths() if found.search(p) and not apart.match(p)]

    def imports(self, module: str) -> bool:
        """Whether one of the test modules imports it."""
        line = re.compile(rf"^\s*(from {module}\b|import .*\b{module}\b)", re.MULTILINE)
        return any(line.search(self.folder.text(path) or "") for path in self.test_modules)


def best(names: Sequence[str]) -> str | None:
    """Returns the likeliest of some groups or extras."""
    order = {name: number for number, name in enumerate(PREFERRED)}
    return min(names, key=lambda name: order.get(name, len(order)), default=None)


def _extra(
    declared: Mapping[str, object], name: str, own: str, above: tuple[str, ...]
) -> frozenset[str]:
    names: set[str] = set()
    entries = declared.get(name)
    for entry in strings(entries):
        names.add(plain_name(entry))
        further = re.match(r"[\w.-]+\s*\[([^\]]*)\]", entry)
        if further and plain_name(entry) == own:
            for other in (part.strip() for part in further[1].split(",")):
                if other not in (name, *above):
                    names |= _extra(declared, other, own, (*above, name))
    return frozenset(names)


def _kind(path: str) -> str | None:
    """Returns what a requirement file is for; None if it is none, or one for something else."""
    if named := _REQUIREMENTS.fullmatch(path):
        use = named["use"] or named["kind"] or "main"
    elif inside := _IN_FOLDER.fullmatch(path):
        use = inside[1] or "test"
    else:
        return None
    if use in ("main", "base", "requirements"):
        return "main"
    if use in ("test", "tests", "testing", "ci"):
        return "test"
    return "dev" if use in ("dev", "develop", "development", "local") else None
