import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_manager.domain import names
from agents_manager.errors import InvalidInput


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        pytest.param("Add auth", "add-auth", id="plain"),
        pytest.param("  Füge: Größe/hinzu!  ", "fuge-groe-hinzu", id="accents"),
        pytest.param("Добавить", "task", id="nothing-left"),
        pytest.param("", "task", id="empty"),
        pytest.param("a" * 39 + " b", "a" * 39, id="no-dash-at-the-cut"),
        pytest.param("--upload-pack=x", "upload-pack-x", id="option"),
    ],
)
def test_slug(title: str, expected: str) -> None:
    assert names.slug(title) == expected


def test_task_branch_has_prefix_slug_and_id() -> None:
    assert names.task_branch("agent/", "Add auth", "1a2b3c4d5e") == "agent/add-auth-1a2b3c4d"


@pytest.mark.parametrize(
    "name", ["main", "agent/add-auth-1a2b3c4d", "release-1.2", "größe/ä", "user@home", "a+b,c"]
)
def test_good_branches(name: str) -> None:
    assert names.check_branch(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", "--upload-pack=x", "-x", "--output=/tmp/x", "a/-b", "a..b", "a@{1}", "@", "HEAD"),
        *("FETCH_HEAD", "ORIG_HEAD", "refs/heads/x", "0" * 40, "AB" * 32, "x" * 201, "a b"),
        *("a\nb", "a\0b", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\ud800", "a~1", "a^", "a:b"),
        *("a?", "a*", "a[b", "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a.lock", "a.lock/b"),
    ],
)
def test_bad_branches(name: str) -> None:
    with pytest.raises(InvalidInput):
        names.check_branch(name)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        pytest.param("  Fix\tit ", "Fix it", id="blanks"),
        pytest.param("Fix\n\nSigned-off-by: Eve", "Fix Signed-off-by: Eve", id="trailer"),
        pytest.param("a\r\u2028b\x1b[31m\u202ec\u200b", "a b [31m c", id="invisible"),
        pytest.param("\n\0", "untitled", id="nothing-left"),
        pytest.param("x" * 500, "x" * 199 + "…", id="long"),
    ],
)
def test_one_line(title: str, expected: str) -> None:
    assert names.one_line(title) == expected


@given(st.text())
def test_any_title_gives_a_branch_and_one_line(title: str) -> None:
    names.task_branch("agent/", title, "1a2b3c4d")
    assert len(names.one_line(title).splitlines()) == 1


@given(st.text(min_size=1, max_size=20))
def test_what_we_accept_git_accepts(name: str) -> None:
    try:
        names.check_branch(name)
    except InvalidInput:
        return
    argv = ["git", "check-ref-format", f"refs/heads/{name}"]
    assert subprocess.run(argv, cwd=Path("/"), check=False).returncode == 0
