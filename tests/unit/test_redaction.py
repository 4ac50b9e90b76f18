"""Secrets that are known do not stay in texts, in whatever form they were printed."""

import base64
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_manager.redaction import MASK, NOTHING, Redactor, secrets_in_value, secrets_of
from agents_manager.runner import Veil

SECRET = 'sk-ant-x/9+z"Q\\é7Fh3'
RAW = SECRET.encode()
PRINTED = {
    "as it is": SECRET,
    "base64": base64.b64encode(RAW).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(RAW).decode(),
    "hex": RAW.hex(),
    "HEX": RAW.hex().upper(),
    "in an address": quote(SECRET, safe=""),
    "in JSON": json.dumps(SECRET),
    "in JSON as it is": json.dumps(SECRET, ensure_ascii=False),
}


@pytest.mark.parametrize("form", PRINTED)
def test_every_form(form: str) -> None:
    printed = f"before {PRINTED[form]} behind"
    hidden = Redactor([SECRET]).text(printed)
    assert MASK in hidden
    assert PRINTED[form].strip('"=')[3:-3] not in hidden
    assert (hidden[:7], hidden[-7:]) == ("before ", " behind")
    assert NOTHING.text(printed) == printed


def test_backwards() -> None:
    assert Redactor(["abcdefgh12345678"]).text("87654321hgfedcba") == MASK


@given(before=st.binary(max_size=9), behind=st.binary(max_size=9))
def test_base64_of_more_than_the_secret(before: bytes, behind: bytes) -> None:
    """Where it stands in what was encoded changes how it looks."""
    printed = base64.b64encode(before + RAW + behind).decode()
    assert MASK in Redactor([SECRET]).text(printed)


def test_a_secret_that_holds_another_goes_whole() -> None:
    assert Redactor(["token-1234", "token-1234-5678"]).text("token-1234-5678!") == f"{MASK}!"


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("ANTHROPIC_API_KEY", "sk-ant-1234", True),
        ("github_token", "ghp_abcdef12", True),
        ("DB_PASSWORD", "correcthorsebatterystaple", True),
        ("AM_DATABASE_URL", "postgresql://am:p4ssw0rd!@db/am", True),
        ("MY_TOKEN", "short1", False),
        ("MY_SECRET", "development", False),
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh", False),
        ("KEYBOARD", "de-latin1-nodeadkeys", False),
        ("HOME_URL", "http://127.0.0.1:3000/x", False),
        ("BROKEN_URL", "http://[::1", False),
    ],
)
def test_which_variables_hold_one(name: str, value: str, hidden: bool) -> None:
    found = secrets_of({name: value})
    assert bool(found) is hidden
    assert all(one in value for one in found)


NEEDLES = ["token-1234", "token-1234-5678", "8-token-99", "aaaaaaab"]


@given(
    parts=st.lists(st.sampled_from([*NEEDLES, "token-", "1234-", "aaaa", "x", "8-t", "\n"])),
    cuts=st.lists(st.integers(0, 120)),
)
def test_what_comes_in_pieces_is_hidden_as_if_it_came_whole(
    parts: list[str], cuts: list[int]
) -> None:
    needles = sorted((n.encode() for n in NEEDLES), key=len, reverse=True)
    printed = "".join(parts).encode()
    at = sorted({0, len(printed), *(cut for cut in cuts if cut < len(printed))})
    veil = Veil(needles)
    shown = b"".join(veil.through(printed[a:b]) for a, b in pairwise(at))
    shown += veil.through(b"", last=True)
    assert not any(needle in shown for needle in needles)
    whole = Veil(needles).through(printed, last=True)
    assert shown == whole


def test_what_is_no_secret_is_shown_at_once() -> None:
    veil = Veil([b"token-1234"])
    assert veil.through(b"I write a tok") == b"I write a "
    assert veil.through(b"en.\n") == b"token.\n"
    assert Veil([]).through(b"I write a tok") == b"I write a tok"


def test_a_value_that_is_learned_later_is_redacted_too() -> None:
    redactor = Redactor(["first-secret-1"])
    assert redactor.text("second-secret-2") == "second-secret-2"
    redactor.add(["second-secret-2", "first-secret-1"])
    assert redactor.values == ("first-secret-1", "second-secret-2")
    assert redactor.text("first-secret-1 second-secret-2") == f"{MASK} {MASK}"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("shop-of-ann-1", ["shop-of-ann-1"]),
        ("production", []),
        ("x-1", []),
        ("postgres://a:hunter22@db/shop", ["postgres://a:hunter22@db/shop", "hunter22"]),
        ("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nabc\n", ["MIIEvQIBADANBgkqhkiG"]),
    ],
)
def test_what_is_redacted_of_a_value_that_is_secret_by_its_setting(
    value: str, found: list[str]
) -> None:
    assert secrets_in_value(value) == found
