"""What the page about plugins shows is what the example has."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "plugins.md").read_text()
EXAMPLE = ROOT / "examples" / "plugin"
FILES = [EXAMPLE / "pyproject.toml", *EXAMPLE.rglob("*.py")]
SHOWN = re.findall(r"^( *)```(?:python|toml)\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("shown", SHOWN)
def test_each_line_stands_in_one_file_in_this_order(shown: tuple[str, str]) -> None:
    indent, text = shown
    lines = [line.removeprefix(indent) for line in text.splitlines() if line.strip()]
    assert any(_holds(path.read_text().splitlines(), lines) for path in FILES), text


def _holds(there: list[str], lines: list[str]) -> bool:
    rest = iter(there)
    return all(line in rest for line in lines)


def test_every_kind_is_on_the_page() -> None:
    assert len(SHOWN) > 8
    for method in re.findall(r"add\.(\w+)\(", (EXAMPLE / "house_rules/__init__.py").read_text()):
        assert re.search(rf"^## An? {method}$", PAGE, re.MULTILINE), method
