"""The example plugin as a wheel: built and installed by pip into a folder of its own, its tests run
there, and `am` finds it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed import EXAMPLE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_the_example_is_installed_and_passes_the_suites_that_are_shipped(tmp_path: Path) -> None:
    site, wheels = tmp_path / "site", tmp_path / "wheels"
    build = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "-q"]
    pip(tmp_path, "wheel", *build, "-w", str(wheels), str(EXAMPLE))
    [wheel] = wheels.glob("am_house_rules-1.0-*.whl")
    pip(tmp_path, "install", "--no-deps", "-q", "--target", str(site), str(wheel))
    env = {**os.environ, "PYTHONPATH": str(site), "AM_HOME": str(tmp_path / "home")}
    am = str(Path(sys.executable).with_name("am"))
    [plugin] = json.loads(python(tmp_path, am, "plugin", "list", "--json", env=env))
    assert plugin["error"] is None
    assert plugin["agents"] == ["parrot"]
    suite = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(EXAMPLE / "pyproject.toml")]
    told = python(tmp_path, *suite, str(EXAMPLE / "tests"), env=env)
    assert " passed" in told
    assert not {"failed", "error", "skipped"} & set(told.split())


def pip(folder: Path, *arguments: str) -> None:
    python(folder, "-m", "pip", *arguments, env=dict(os.environ))


def python(folder: Path, *arguments: str, env: dict[str, str]) -> str:
    argv = [sys.executable, *arguments]
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
