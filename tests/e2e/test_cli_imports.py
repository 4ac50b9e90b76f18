"""A list of tasks, imported as its user does it."""

from pathlib import Path

from tests.e2e.am_program import Am

LIST = """\
# Spring

- [ ] Paint the door
  Blue.
  - [ ] Buy paint
- [x] Look for the key
"""


def test_a_list_is_shown_then_imported_then_there(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        (am.repo / "TODO.md").write_text(LIST)
        shown = am.text("task", "import", "TODO.md", "--dry-run")
        assert "would be made" in shown
        assert "2 tasks would be made; 1 checked off and skipped." in shown
        assert am.json("task", "list") == []
        assert "2 tasks made, none of them started" in am.text("task", "import", "TODO.md")
        tasks = {row["task"]["title"]: row for row in am.json("task", "list")}
        door, paint = tasks["Paint the door"], tasks["Buy paint"]
        assert door["task"]["dependencies"] == [paint["task"]["id"]]
        assert {row["task"]["status"] for row in tasks.values()} == {"open"}
        assert am.json("run", "list") == []
        again = am.json("task", "import", "TODO.md")
        assert {item["state"] for item in again["items"]} == {"already_there"}
        piped = am.text("task", "export", paint["task"]["id"])
        assert "Buy paint" in am.text("task", "import", "-", input=piped)
