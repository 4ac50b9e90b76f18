"""Changing settings from the command line: seen first, checked first, written whole."""

import json
from pathlib import Path

from tests.e2e.am_program import Am


def test_settings_are_changed_where_it_is_said_and_nowhere_else(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    own, mine = am.repo / ".agents-manager" / "config.json", am.home / "config.json"
    usual = json.loads(mine.read_text())
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        seen = am("config", "set", "checks.test.command", "make test")
        assert (seen.code, seen.out) == (1, "")
        assert '+      "command": "make test"' in seen.err
        assert "Nothing was written; give --yes to write it." in seen.err
        assert not own.exists()
        wrong = am("config", "set", "chekcs.test.command", "x", "--yes")
        assert wrong.code == 1
        assert 'Did you mean "checks"?' in wrong.err
        assert not own.exists()
        set_ = am("config", "set", "checks.test.command", "make test", "--yes")
        assert (set_.code, set_.out) == (0, f"Wrote {own}.\n")
        assert "am project trust shop" in set_.err
        assert json.loads(own.read_text()) == {"checks": {"test": {"command": "make test"}}}
        shown = am.text("project", "show")
        assert 'checks.test is new: "make test"' in shown
        assert 'checks.test is new: "make test"' in am("project", "trust").err
        am.text("config", "set", "checks.test.command", "make all", "--yes")
        assert 'checks.test was "make test", is "make all"' in am("doctor").out
        before = own.read_text()
        am.text("config", "set", "limits.host", "3", "--user", "--yes")
        assert json.loads(mine.read_text())["limits"] == {"host": 3}
        assert own.read_text() == before
        again = am.text("config", "set", "limits.host", "3", "--user")
        assert "says so already" in again
        am.text("config", "unset", "limits.host", "--user", "--yes")
        assert json.loads(mine.read_text()) == usual
        own.write_text("{")
        broken = am("config", "show")
        assert broken.code == 1
        assert "goes on with what it said then" in broken.err
        assert str(own) in broken.err
