"""The built wheel holds all of the product, and pip installs it where there is nothing."""

import json
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import document

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_it_holds_the_web_app_the_documentation_and_the_notices(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "agents_manager/_ui/index.html" in names
    assert "agents_manager/_docs/first-five-minutes.md" in names
    assert "agents_manager/third-party-notices.txt" in names
    assert not [name for name in names if name.startswith(("tests/", "web/", "examples/"))]


def test_pip_installs_it_and_it_serves(wheel: Path, empty: dict[str, str], tmp_path: Path) -> None:
    made = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    pip = [made / "bin" / "python", "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(pip, env=empty, check=True)
    am = made / "bin" / "am"
    told = subprocess.run([am, "--version"], env=empty, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("am, version ")
    doctor = subprocess.run([am, "doctor", "--json"], env=empty, capture_output=True, text=True)
    wrong = [c for c in json.loads(doctor.stdout)["checks"] if c["state"] == "fail"]
    assert wrong == []
    listed = subprocess.run([am, "licenses"], env=empty, capture_output=True, text=True, check=True)
    assert "pydantic" in listed.stdout
    with subprocess.Popen(
        [am, "serve", "--port", "0", "--json"],
        env=empty,
        stdout=subprocess.PIPE,
        text=True,
    ) as serving:
        try:
            _look(document(serving)["address"])
        finally:
            serving.terminate()


def _look(address: str) -> None:
    page = _got(f"{address}/")
    assert '<div id="root">' in page
    script = page.partition('src="')[2].partition('"')[0]
    assert len(_got(f"{address}/{script.lstrip('./')}")) > 1000
    assert "The first five minutes" in _got(f"{address}/docs/first-five-minutes")


def _got(address: str) -> Any:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(address, timeout=60) as answer:
        return answer.read().decode()
