"""Which new files count as build products."""

import re
from pathlib import Path

import pytest

from agents_manager.domain.build_products import (
    BESIDE,
    FILES,
    FOLDERS,
    WITHIN,
    BuildProducts,
    left_out,
    may_match,
)


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("__pycache__/a.pyc", "__pycache__/"),
        ("src/shop/__pycache__/a.pyc", "src/shop/__pycache__/"),
        ("web/node_modules/left-pad/index.js", "web/node_modules/"),
        (".venv/bin/python", ".venv/"),
        (".pytest_cache/README.md", ".pytest_cache/"),
        ("shop.egg-info/PKG-INFO", "shop.egg-info/"),
        ("htmlcov/index.html", "htmlcov/"),
        ("old.pyc", "old.pyc"),
        ("docs/.DS_Store", "docs/.DS_Store"),
        (".coverage", ".coverage"),
        (".coverage.host.123", ".coverage.host.123"),
        ("node_modules/inner/", "node_modules/"),
    ],
)
def test_names_that_are_always_build_products(path: str, root: str) -> None:
    assert left_out([path, "src/new.py"], {"README.md"}) == {path: root}
    assert may_match([path])


@pytest.mark.parametrize(
    "path",
    [
        *("src/new.py", ".coveragerc", "target/main.rs", "dist/app.js", "build/steps.md"),
        *("bin/deploy", "env/prod.yml", "coverage/plan.md", "vendor/lib.go", "node_modules"),
        *("my__pycache__/a", "src/dist", "obj/cube.obj", "out/index.html"),
    ],
)
def test_other_names_are_work(path: str) -> None:
    assert left_out([path], {"README.md"}) == {}


@pytest.mark.parametrize(
    ("path", "marker", "root"),
    [
        ("target/debug/shop", "Cargo.toml", "target/"),
        ("core/target/classes/A", "core/pom.xml", "core/target/"),
        ("dist/app.js", "package.json", "dist/"),
        ("build/lib/shop.py", "setup.py", "build/"),
        ("app/bin/App.dll", "app/App.csproj", "app/bin/"),
    ],
)
def test_an_ambiguous_folder_beside_its_build_tool(path: str, marker: str, root: str) -> None:
    assert left_out([path], {marker}) == {path: root}
    assert left_out([path], {f"elsewhere/{marker}"}) == {}


@pytest.mark.parametrize(
    ("folder", "marker"),
    [
        ("venv", "pyvenv.cfg"),
        ("coverage", "lcov.info"),
        ("build", "CMakeCache.txt"),
        ("cache-of-a-tool", "CACHEDIR.TAG"),
    ],
)
def test_an_ambiguous_folder_that_holds_a_marker(folder: str, marker: str) -> None:
    path = f"{folder}/deep/file"
    assert left_out([path, f"{folder}/{marker}"], set())[path] == f"{folder}/"
    assert left_out([path], set()) == {}


def test_a_folder_in_which_files_are_tracked_is_no_build_product() -> None:
    new = ["dist/b.js", "node_modules/x/new.js", "src/__pycache__/a.pyc"]
    tracked = {"package.json", "dist/a.js", "node_modules/x/old.js", "src/a.py"}
    assert left_out(new, tracked) == {"src/__pycache__/a.pyc": "src/__pycache__/"}


def test_a_file_beside_a_tracked_one_like_it_is_work() -> None:
    assert left_out(["tests/b.pyc", "b.pyc"], {"tests/a.pyc"}) == {"b.pyc": "b.pyc"}


def test_a_project_adds_names_and_switches_the_list_off() -> None:
    new = ["a.min.js", "generated/a.py", "src/generated", "b.js"]
    rules = BuildProducts(patterns=("*.min.js", "generated/"))
    assert left_out(new, set(), rules) == {"a.min.js": "a.min.js", "generated/a.py": "generated/"}
    assert may_match(["a.min.js"], rules)
    off = BuildProducts(enabled=False)
    assert left_out(["a.pyc"], set(), off) == {}
    assert not may_match(["a.pyc"], off)


def test_the_documentation_names_the_whole_list() -> None:
    page = Path("docs/concepts/workspaces.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`\n]+)`", page.partition("## Build products")[2]))
    markers = {marker for table in (BESIDE, WITHIN) for name in table for marker in table[name]}
    reports = {*WITHIN["coverage"]}
    gradle = {"build.gradle", "build.gradle.kts"}
    assert {*FOLDERS, *FILES, *BESIDE, *markers} - reports - gradle <= named
