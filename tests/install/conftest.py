"""The wheel that `make wheel` built, and machines that have nothing yet."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel() -> Path:
    built = sorted((ROOT / "dist").glob("*.whl"))
    assert built, "There is no wheel; run: make wheel"
    return built[-1]


@pytest.fixture
def empty(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with an empty home, and no Node. Where packages come from is as
    the machine says."""
    home = tmp_path / "ada"
    home.mkdir()
    kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "UV_", "SSL_"))}
    return {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "USER": "ada", "LANG": "C.UTF-8"}
