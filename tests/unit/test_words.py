"""Texts as they are looked for."""

import pytest

from agents_manager.domain import words


def test_names_in_code_are_found_whole_and_by_their_parts() -> None:
    found = words.indexed("Use AuthContext.getCurrentUser() in my_file, HTTPServer and Größe")
    assert found[:4] == ["use", "authcontext", "auth", "context"]
    assert {"getcurrentuser", "current", "myfile", "file", "http", "server", "grosse"} <= set(found)


def test_a_search_asks_for_each_name_once() -> None:
    assert words.asked("getUser getuser, GETUSER! src/a.py") == ["getuser", "src", "a", "py"]
    assert words.asked('"*:^&|!<->\\\x00 \ud800') == []


def test_telling_words_leave_out_what_says_nothing() -> None:
    assert words.telling(["Use the token of a user", "token refresh"], 3) == [
        "token",
        "user",
        "refresh",
    ]


def test_words_have_bounds() -> None:
    assert max(map(len, words.indexed("x" * 500 + " y_" + "z" * 500))) == words.LONGEST
    assert len(words.indexed("a " * 5000)) == words.MOST


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("A  limit.", "a limit", True),
        ("`A limit`", "A limit", True),
        ("A limit of -1", "A limit of 1", False),
        ("x < 5", "x > 5", False),
    ],
)
def test_what_is_the_same_but_for_its_looks(one: str, other: str, same: bool) -> None:
    assert (words.fingerprint(one) == words.fingerprint(other)) is same
