"""Secrets that are known to this program are taken out of what it keeps, shows or sends. A value is
recognised as it is and in the forms that programs print it in; one that is spaced out or cut in
two by other text is not."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlsplit

MASK = "[redacted]"
SHORTEST = 8
PLAIN_WORD = 16
"""A shorter value that is letters alone is a word, and words stand in texts for other reasons."""
_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH)(?:_|$)", re.I
)


def secrets_of(variables: Mapping[str, str]) -> list[str]:
    """Of variables whose names say that they hold one, and passwords in addresses."""
    named = [value for name, value in variables.items() if _SECRET.search(name)]
    inside = [password for value in variables.values() if (password := _password(value))]
    return sorted({value.strip() for value in (*named, *inside) if _telling(value.strip())})


def secrets_in_value(value: str) -> list[str]:
    """What to redact of a value that is secret whatever its variable is called: the value, its
    longer lines, and the password of an address. Short values and plain words are left alone."""
    lines = [line.strip() for line in value.splitlines() if not line.startswith("-----")]
    parts = lines if len(lines) > 1 else [value.strip()]
    told = [part for part in parts if len(part) >= (PLAIN_WORD if len(lines) > 1 else SHORTEST)]
    password = _password(value)
    found = [part for part in told if len(part) >= PLAIN_WORD or not part.isalpha()]
    return [*found, *([password] if password and _telling(password) else [])]


def is_secret(name: str, value: str) -> bool:
    return bool(secrets_of({name: value}))


def _password(value: str) -> str | None:
    if "://" not in value:
        return None
    try:
        return urlsplit(value).password
    except ValueError:
        return None


def _telling(value: str) -> bool:
    """Not a path, nor a word that could be meant otherwise."""
    if len(value) < SHORTEST or not value.isprintable() or value.startswith(("/", "~", ".")):
        return False
    return len(value) >= PLAIN_WORD or not value.isalpha()


def forms(value: str) -> set[bytes]:
    """How programs print it: as it is, and encoded."""
    raw = value.encode()
    found = {
        raw,
        value[::-1].encode(),
        raw.hex().encode(),
        raw.hex().upper().encode(),
        quote(value, safe="").encode(),
        json.dumps(value)[1:-1].encode(),
        json.dumps(value, ensure_ascii=False)[1:-1].encode(),
    }
    for before in range(3):
        found |= {_within(base64.b64encode(bytes(before) + raw), before, len(raw))}
        found |= {_within(base64.urlsafe_b64encode(bytes(before) + raw), before, len(raw))}
    return {form for form in found if len(form) >= SHORTEST}


def _within(encoded: bytes, before: int, length: int) -> bytes:
    """What base64 makes of the value wherever it stands: without the characters that its neighbours
    have a part in."""
    return encoded[-(-before * 8 // 6) : (before + length) * 8 // 6]


class Redactor:
    def __init__(self, values: Iterable[str]) -> None:
        self._set(tuple(values))

    def add(self, values: Iterable[str]) -> None:
        """Redact these values, too, from now on."""
        new = [value for value in values if value not in self.values]
        if new:
            self._set((*self.values, *new))

    def _set(self, values: tuple[str, ...]) -> None:
        self.values = values
        needles = {form.decode() for value in self.values for form in forms(value)}
        # A longer one may hold a shorter one.
        self.needles = sorted(needles, key=len, reverse=True)
        self._shortest = min(map(len, self.needles), default=0)

    def text(self, text: str) -> str:
        if not self.needles or len(text) < self._shortest:
            return text
        for needle in self.needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text


NOTHING = Redactor(())
