"""Packages that are really installed, as far as Python can tell: a module and its metadata in a
folder of the path."""

import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = "house_rules"
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
    """The plugin of `examples/`, by what its own files say; as pip would, but quickly."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / PACKAGE, site / PACKAGE)
    install(site, project["name"], project["entry-points"][GROUP], {})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that packages can be installed into; what is imported from it is forgotten."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    packages = (PACKAGE, *(path.stem for path in folder.glob("*.py")))
    for name in [name for name in sys.modules if name.partition(".")[0] in packages]:
        del sys.modules[name]
