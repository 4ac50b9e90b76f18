"""Third-party notices: what is used is listed, with its licence, and what is not used is not."""

from pathlib import Path

import pytest

from agents_manager.cli import licenses
from scripts import notices


def test_what_the_package_needs_and_brings_is_listed() -> None:
    assert list(notices.outdated()) == []
    found = {p.name: p for p in licenses.packages()}
    assert {"dbos", "pydantic", "claude-agent-sdk", "react", "@xyflow/react"} <= found.keys()
    assert {"pytest", "vite", "agents-manager"}.isdisjoint(found)
    assert (found["react"].of, found["react"].licence) == ("npm", "MIT")
    assert "Permission is hereby granted" in found["react"].text
    assert all(p.licence and p.text for p in found.values())


def test_another_version_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = notices.FILE.read_text()
    [line] = [one for one in text.splitlines() if one.startswith("react ")]
    other = tmp_path / notices.FILE.name
    other.write_text(text.replace(line, line.replace("react ", "react 0")))
    monkeypatch.setattr(notices, "FILE", other)
    told = list(notices.outdated())
    assert len(told) == 2
    assert all("react" in one and "make notices" in one for one in told)
