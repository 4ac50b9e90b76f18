"""A list of tasks, and issues, imported as their user does it."""

from pathlib import Path

import pytest

from tests.e2e.am_program import Am
from tests.github_server import TOKEN, FakeGitHub, Served

LIST = """\
# Spring

- [ ] Paint the door
  Blue.
  - [ ] Buy paint
- [x] Look for the key
"""


@pytest.mark.slow
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
        assert len(am.json("task", "list", "--limit", "1")) == 1
        assert am.text("task", "list", "--limit", "1").endswith("--limit 2 shows them.\n")
        assert "There are more" not in am.text("task", "list", "--limit", "2")
        door, paint = tasks["Paint the door"], tasks["Buy paint"]
        assert door["task"]["dependencies"] == [paint["task"]["id"]]
        assert {row["task"]["status"] for row in tasks.values()} == {"open"}
        assert am.json("run", "list") == []
        again = am.json("task", "import", "TODO.md")
        assert {item["state"] for item in again["items"]} == {"already_there"}
        (am.repo / "more.md").write_text("- [ ] Mend the roof\n- Ask Ann\n1. Pay\n")
        shown = am.text("task", "import", "more.md", "--dry-run")
        left = '2 list items left out, because a task is a line like "- [ ] Title":'
        assert f"{left}\n  line 2: Ask Ann\n  line 3: Pay\n" in shown
        piped = am.text("task", "export", paint["task"]["id"])
        assert "Buy paint" in am.text("task", "import", "-", input=piped)


def fails(am: Am, code: int, *args: str) -> str:
    done = am(*args)
    assert done.code == code, done.out
    return done.err


@pytest.mark.slow
def test_issues_are_imported_and_the_way_back_is_shown(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    github = FakeGitHub(am.repo / ".git")
    github.issues.open(3, "Paint the door", labels=("bug",))
    github.issues.open(4, "Mend the roof")
    am.env["AM_GITHUB_TOKEN"] = TOKEN
    with Served(github) as served, am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        am.text("config", "set", "--user", "--yes", "forge.baseUrl", served.url)
        import_ = ("task", "import", "--github")
        assert "name the repository as owner/name" in fails(am, 1, *import_)
        import_ = (*import_, "acme/shop")
        shown = am.text(*import_, "--label", "bug", "--dry-run")
        assert "1 task would be made." in shown
        assert "2 tasks made, none of them started." in am.text(*import_)
        assert am.json("run", "list") == []
        github.issues.rows[3]["body"] = "Blue."
        again = am.text(*import_, "--issue", "3")
        assert "already there, changed since" in again
        assert "1 of them changed on GitHub since, and left alone." in again
        [task] = [row["task"]["id"] for row in am.json("task", "list", "--find", "door")]
        page = am.text("task", "show", task)
        assert "Issue   acme/shop#3\n        https://github.test/acme/shop/issues/3" in page
        for wrong, says in {
            ("TODO.md", "--github"): "Give a file, or --github for issues.",
            (): "Give a file, or --github for issues.",
            ("-", "--label", "bug"): "--label, --state and --issue are for --github.",
            ("--github", "--format", "md"): "--format is for files.",
        }.items():
            (am.repo / "TODO.md").write_text(LIST)
            assert says in fails(am, 2, "task", "import", *wrong)
    assert github.faults == []
