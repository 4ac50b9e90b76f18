"""What the search for secrets finds, what it leaves alone, and what it says. The secrets here are
put together when the test runs, so that nobody's scanner finds them in this file."""

import random
import string
import time

import pytest

from agents_manager.checks import secrets
from agents_manager.flow.ports import Written

DRAWN = random.Random(7)
LETTERS = string.ascii_letters + string.digits


def drawn(length: int, of: str = LETTERS) -> str:
    return "".join(DRAWN.choice(of) for _ in range(length))


HEX = "0123456789abcdef"
FOUND = {
    "AWS access key": "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "private key, plain": "-----BEGIN " + "PRIVATE KEY-----",
    "GitHub": "gh" + "p_" + drawn(36),
    "GitHub, fine-grained": "github" + "_pat_" + drawn(82),
    "GitLab": "gl" + "pat-" + drawn(20),
    "Slack": "xo" + "xb-" + drawn(12, string.digits) + "-" + drawn(24),
    "Slack webhook": "https://hooks.slack"
    + ".com/services/T"
    + drawn(8)
    + "/B"
    + drawn(8)
    + "/X"
    + drawn(23),
    "Anthropic": "sk-" + "ant-api03-" + drawn(93),
    "Anthropic, by login": "sk-" + "ant-oat01-" + drawn(93),
    "OpenAI": "sk-" + "proj-" + drawn(74),
    "Stripe": "sk" + "_live_" + drawn(24),
    "Google": "AI" + "za" + drawn(35),
    "npm": "npm" + "_" + drawn(36),
    "PyPI": "pypi" + "-AgEIcHlwaS5vcmc" + drawn(60),
    "SendGrid": "SG" + "." + drawn(22) + "." + drawn(43),
    "Hugging Face": "hf" + "_" + drawn(34, string.ascii_letters),
    "Telegram": drawn(9, "123456789") + ":AA" + drawn(33),
    "JSON web token": "ey" + "J" + drawn(30) + ".ey" + "J" + drawn(60) + "." + drawn(43),
    "assigned": f'aws_secret_access_key = "{drawn(40)}"',
    "assigned, unquoted": f"DATADOG_API_KEY={drawn(32, HEX)}",
    "assigned, YAML": f"  client-secret: {drawn(32)}",
    "assigned, JSON": f'{{"accessToken": "{drawn(48)}"}}',
    "assigned, Ruby": f"'app_password' => '{drawn(20)}'",
    "address": f"postgres://app:{drawn(14)}@db.internal/prod",
    "header": f'curl -H "Authorization: Bearer {drawn(40)}"',
    "netrc": f"machine api.acme.io login ada password {drawn(12)}",
    "New Relic": "NR" + "AK-" + drawn(27, string.ascii_uppercase),
}
LEFT_ALONE = [
    'token = os.environ["GITHUB_TOKEN"]',
    "API_KEY=${API_KEY}",
    'password = "change-me-please-1"',
    'api_key: "<your api key>"',
    "secret = secrets.token_urlsafe(32)",
    "token: str | None = None",
    "const accessToken = getAccessTokenFromStore1(session)",
    "postgres://user:password@host/db",
    "postgres://app:test123@localhost/db",
    "AK" + "IAIOSFODNN7EXAMPLE",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    '"integrity": "sha512-9Y2vmK3Zr0m3Qm9Jt8Z4yQ=="',
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "-----BEGIN PUBLIC KEY-----",
    "The token is kept in the keyring, and its password too.",
    "max_tokens: 4096",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    'private_key_path = "/etc/ssl/private/server-2026.key"',
    "password_hash_algorithm = 'argon-two'",
]


def added(*lines: str, path: str = "a.py") -> Written:
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
    return Written(messages=(), patch=f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}", cut=False)


@pytest.mark.parametrize("kind", FOUND)
def test_secrets_are_found_and_never_shown(kind: str) -> None:
    secret = FOUND[kind]
    found = secrets.search(added("x = 1", f"{secret}", "y = 2"))
    assert {f.where for f in found} == {"a.py:2"}
    told = secrets.told(found, "b" * 40)
    assert "a.py:2: " in told
    parts = [part for part in secret.replace('"', " ").split() if len(part) > 11]
    assert not any(part in told for part in parts)
    assert not any(part[4:] in told for part in parts)


@pytest.mark.parametrize("line", LEFT_ALONE)
def test_what_only_speaks_of_secrets_is_left_alone(line: str) -> None:
    assert secrets.search(added(line)) == []


def test_only_what_was_added_counts_wherever_it_stands() -> None:
    token = FOUND["GitHub"]
    patch = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
        f"@@ -3 +2,0 @@\n-{token}\n"
        f"@@ -9,0 +9,3 @@\n+++ b/y\n+{token}\n++++\n"
        "diff --git a/z b/z\n--- a/z\n+++ /dev/null\n"
        f"@@ -1 +0,0 @@\n-{token}\n"
        "diff --cc m\nindex 1,2..3\n--- a/m\n+++ b/m\n"
        f"@@@ -1,1 -1,1 +1,3 @@@\n  both\n++{token}\n- {token}\n +mine\n"
        "\\ No newline at end of file\n"
    )
    found = secrets.search(Written(messages=[("a" * 40, f"Use {token}")], patch=patch, cut=False))
    assert [f.where for f in found] == ["commit aaaaaaaa, message", "x:10", "m:2"]


def test_what_was_not_searched_is_not_passed() -> None:
    (finding,) = secrets.search(Written(messages=(), patch="", cut=True))
    assert "longer than can be searched" in finding.what


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "token" * 200_000,
        "sk-ant-" * 140_000,
        "secret = " * 110_000,
        "eyJ" + "a" * 500 + ".eyJ" * 200_000,
        "a://" * 250_000,
        "x:" * 500_000,
        "-----BEGIN " * 90_000,
    ],
    ids=lambda text: text[:9],
)
def test_no_text_makes_the_search_slow(text: str) -> None:
    """A megabyte each; what grows by the square would take minutes."""
    began = time.monotonic()
    secrets.search(added(text))
    assert time.monotonic() - began < 20


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("nothing here", "nothing here"),
        ("a AKIAQYLPMN5HHHFPZAM2 b", "a [redacted] b"),
        (f"key:\n{PEM}\nrest", "key:\n[redacted]\nrest"),
        (PEM.removesuffix("-----END RSA PRIVATE KEY-----"), "[redacted]"),
        ("bot 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1 x", "bot [redacted] x"),
        ("mail 0123456789abcdef0123456789abcdef-us12.", "mail [redacted]."),
        ('{"apiKey": "x8Kq-2Lm9-Zp4R"}', '{"apiKey": "[redacted]"}'),
        ("AKIAQYLPMN5HHHFPZAM2,AKIAQYLPMN5HHHFPZAM2", "[redacted],[redacted]"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(text: str, masked: str) -> None:
    assert secrets.masked(text) == masked
