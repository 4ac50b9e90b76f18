"""Which of the new files in a workspace are build products: dependencies, caches, compiled code and
reports that a build makes again, and that a commit should not hold."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate

FOLDERS = (
    *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"),
    *(".venv", ".eggs", "*.egg-info", ".ipynb_checkpoints", "htmlcov", "node_modules"),
    *(
        "bower_components",
        ".nyc_output",
        ".parcel-cache",
        ".turbo",
        ".next",
        ".nuxt",
        ".svelte-kit",
    ),
    *(".angular", ".gradle", ".terraform", ".dart_tool"),
)
"""Folders that are build products wherever they are."""
FILES = (
    *("*.pyc", "*.pyo", "*.class", "*.tsbuildinfo", ".coverage", ".coverage.*", "coverage.xml"),
    *("lcov.info", ".DS_Store", "Thumbs.db", "npm-debug.log*", "yarn-error.log"),
)
"""Files that are build products wherever they are."""
_PACKAGES = ("package.json", "pyproject.toml", "setup.py")
BESIDE: Mapping[str, Sequence[str]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt"),
    "dist": _PACKAGES,
    "build": (*_PACKAGES, "build.gradle", "build.gradle.kts"),
    "bin": ("*.csproj", "*.fsproj"),
    "obj": ("*.csproj", "*.fsproj"),
}
"""Folders that are build products where one of these files of a build tool is beside them."""
WITHIN: Mapping[str, Sequence[str]] = {
    "*": ("CACHEDIR.TAG",),
    "venv": ("pyvenv.cfg",),
    "env": ("pyvenv.cfg",),
    "build": ("CMakeCache.txt",),
    "coverage": ("lcov.info", "lcov-report", "coverage-final.json", "clover.xml"),
}
"""Folders that are build products where they hold one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProducts:
    """What a project leaves out of the commits of uncommitted work."""

    enabled: bool = True
    patterns: tuple[str, ...] = ()
    """Names that the project adds to the built-in list; one that ends in a slash is a folder."""
    paths: tuple[str, ...] = ()
    """Paths that are never committed, whatever the ignore rules say by then."""


BUILT_IN = BuildProducts()


def may_match(new: Iterable[str], rules: BuildProducts = BUILT_IN) -> bool:
    """Whether any of the paths could be a build product, judged by names alone."""
    names = (*FOLDERS, *FILES, *BESIDE, *WITHIN, "CACHEDIR.TAG", *_stripped(rules.patterns))
    known = re.compile("|".join(translate(name) for name in names if name != "*"))
    new = list(new)
    if not rules.paths and not rules.enabled:
        return False
    if not {*rules.paths}.isdisjoint(new):
        return True
    return rules.enabled and any(known.match(part) for path in new for part in path.split("/"))


def left_out(
    new: Iterable[str], tracked: Collection[str], rules: BuildProducts = BUILT_IN
) -> Mapping[str, str]:
    """Return the new paths that are build products, each with the file or folder it was recognised
    by. A folder ends in a slash. A folder in which files are tracked is never a build product, nor
    is a file when a tracked file beside it matches the same pattern."""
    new = list(new)
    never = {path: path for path in new if path in {*rules.paths}}
    if not rules.enabled:
        return never
    known = _Known(new, tracked)
    search = _Search(known, rules)
    found = {path: search.root(path) for path in new}
    return {**{path: root for path, root in found.items() if root is not None}, **never}


class _Known:
    """The names in each folder, and the folders in which files are tracked."""

    def __init__(self, new: Iterable[str], tracked: Collection[str]) -> None:
        self.tracked_folders: set[str] = set()
        self.tracked_names: dict[str, set[str]] = {}
        self.names: dict[str, set[str]] = {}
        for path in tracked:
            self._add(path, self.tracked_names)
            self.tracked_folders.update(_above(path))
        for path in (*tracked, *new):
            self._add(path, self.names)
            for folder in _above(path):
                self._add(folder.removesuffix("/"), self.names)

    def _add(self, path: str, to: dict[str, set[str]]) -> None:
        folder, name = _split(path)
        to.setdefault(folder, set()).add(name)


class _Search:
    def __init__(self, known: _Known, rules: BuildProducts) -> None:
        own = [pattern for pattern in rules.patterns if pattern.endswith("/")]
        self._known = known
        self._folders = (*FOLDERS, *_stripped(own))
        self._files = (*FILES, *(pattern for pattern in rules.patterns if pattern not in own))
        self._judged: dict[str, bool] = {}

    def root(self, path: str) -> str | None:
        for folder in _above(path):
            if folder not in self._judged:
                self._judged[folder] = self._is_product(folder)
            if self._judged[folder]:
                return folder
        return path if self._is_product_file(path) else None

    def _is_product(self, folder: str) -> bool:
        if folder in self._known.tracked_folders:
            return False
        above, name = _split(folder)
        if any(fnmatchcase(name, pattern) for pattern in self._folders):
            return True
        return any(
            fnmatchcase(name, known) and self._holds(place, markers)
            for place, table in ((above, BESIDE), (folder, WITHIN))
            for known, markers in table.items()
        )

    def _holds(self, folder: str, patterns: Sequence[str]) -> bool:
        names = self._known.names.get(folder, set())
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)

    def _is_product_file(self, path: str) -> bool:
        if path.endswith("/"):
            return False
        folder, name = _split(path)
        beside = self._known.tracked_names.get(folder, set())
        return any(
            fnmatchcase(name, pattern) and not any(fnmatchcase(one, pattern) for one in beside)
            for pattern in self._files
        )


def _stripped(patterns: Iterable[str]) -> list[str]:
    return [pattern.rstrip("/") for pattern in patterns]


def _split(path: str) -> tuple[str, str]:
    """The folder that a path is in, ending in a slash unless it is the top, and its name."""
    folder, slash, name = path.removesuffix("/").rpartition("/")
    return folder + slash, name


def _above(path: str) -> list[str]:
    """The folders that a path is in, the outermost first; its own when it is a folder."""
    parts = path.split("/")
    return ["/".join(parts[:end]) + "/" for end in range(1, len(parts))]
