"""Packages that are really installed, as far as Python can tell: a module and its metadata in a
folder of the path."""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

GROUP = "agents_manager.plugins"
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plugin"


def install(
    site: Path, package: str, entry_points: Mapping[str, str], modules: Mapping[str, str]
) -> None:
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source)
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    rows = "\n".join(f"{name} = {target}" for name, target in entry_points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{rows}\n")


def install_example(site: Path) -> None:
    """The plugin of `examples/`, by what its own files say."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    source = (EXAMPLE / "house_rules.py").read_text()
    install(site, project["name"], project["entry-points"][GROUP], {"house_rules": source})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that packages can be installed into; what is imported from it is forgotten."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [p.stem for p in folder.glob("*.py")]:
        sys.modules.pop(name, None)
