"""Addresses of repositories: no password is kept of one, and two ways to one place are the same."""

import pytest

from agents_manager.domain import remote
from agents_manager.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://ada:secret@example.org/a/b.git", "https://example.org/a/b.git"),
        ("https://ghp_token@example.org/a/b.git", "https://example.org/a/b.git"),
        ("https://example.org/a/b.git?token=secret", "https://example.org/a/b.git"),
        ("ssh://git:secret@example.org:22/a/b", "ssh://git@example.org:22/a/b"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("/srv/git/b.git", "/srv/git/b.git"),
        ("http://example.org/a/b.git", None),
        ("ext::sh -c x", None),
        ("--upload-pack=x", None),
        ("-oProxyCommand=x:a", None),
        ("ssh://-oProxyCommand=x/a", None),
        ("../b.git", None),
        ("https://example.org/a\n", None),
        ("", None),
    ],
)
def test_what_is_kept_of_an_address(given: str, kept: str | None) -> None:
    assert remote.public(given) == kept
    if kept == given:
        assert remote.checked(given) == given
    else:
        with pytest.raises(InvalidInput) as refused:
            remote.checked(given)
        assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://Example.org/a/b.git", "git@example.org:a/b", True),
        ("ssh://git@example.org:22/a/b/", "https://example.org/a/b", True),
        ("file:///srv/b.git", "/srv/b", True),
        ("https://example.org/a/b", "https://example.org/a/c", False),
        ("https://example.org/a/b", "https://example.com/a/b", False),
        ("/srv/b", None, False),
    ],
)
def test_which_addresses_are_the_same(one: str, other: str | None, same: bool) -> None:
    assert remote.same(one, other) is same
    assert remote.same(None, None) is False
