"""The program that runs the lanes tells a flaky test from a broken one."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FAILS_FIRST = """
from pathlib import Path

def test_flaky():
    marker = Path(__file__).with_suffix(".seen")
    seen = marker.exists()
    marker.touch()
    assert seen
"""


@pytest.fixture
def lanes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("lanes", REPOSITORY / "scripts" / "test.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "lanes", module)
    spec.loader.exec_module(module)
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "WORKERS", 0)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return module


def write(root: Path, text: str) -> None:
    (root / "tests" / "unit" / "test_it.py").write_text(text)


def test_a_test_that_passes_the_second_time_is_listed_as_flaky(
    lanes: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, FAILS_FIRST + "\ndef test_good(): pass\n")
    assert lanes.main(["unit"]) == 0
    printed = capsys.readouterr().out
    assert "tests.unit.test_it::test_flaky" in printed
    assert "2 passed, 0 failed" in printed


def test_a_test_that_fails_twice_fails_the_run(
    lanes: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, FAILS_FIRST + "\ndef test_broken(): assert False\n")
    assert lanes.main(["unit"]) == 1
    assert "1 passed, 1 failed" in capsys.readouterr().out


def test_more_than_a_few_failures_are_not_run_again(
    lanes: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flaky = FAILS_FIRST.replace("def test_flaky():", "def test_flaky(n):")
    parametrized = flaky.replace(
        "def test_flaky", "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_flaky"
    ).replace('".seen"', 'f".{n}"')
    write(tmp_path, parametrized)
    assert lanes.main(["unit"]) == 1
    assert "0 passed, 4 failed" in capsys.readouterr().out
