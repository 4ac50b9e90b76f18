"""How many secrets of the lists the search finds, and how many known ones the redaction takes out
of what was printed, whole and in pieces."""

import base64
import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote

from agents_manager.checks import secrets as rules
from agents_manager.flow.ports import Written
from agents_manager.redaction import MASK, Redactor
from agents_manager.runner import Veil
from tests.hostile import secret_lists

SHA = "0" * 40


@dataclass(frozen=True)
class Recall:
    missed: Mapping[str, int]
    tried: int
    false: Mapping[str, int]
    harmless: int

    @property
    def found(self) -> float:
        return 1 - sum(self.missed.values()) / self.tried

    @property
    def wrong(self) -> float:
        return sum(self.false.values()) / self.harmless


def finds(text: str) -> bool:
    return bool(rules.search(Written(messages=((SHA, text),), patch="", cut=False)))


def recall(*, held_out: bool = True) -> Recall:
    secrets = list(secret_lists.secrets(held_out=held_out))
    harmless = list(secret_lists.look_alikes(held_out=held_out))
    return Recall(
        missed=_counted(one.kind for one in secrets if not finds(one.text)),
        tried=len(secrets),
        false=_counted(kind for kind, text in harmless if finds(text)),
        harmless=len(harmless),
    )


def _counted(kinds: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind in kinds:
        found[kind] = found.get(kind, 0) + 1
    return found


def printed(value: str) -> dict[str, str]:
    """As programs print it."""
    raw = value.encode()
    return {
        "as it is": value,
        "reversed": value[::-1],
        "base64": base64.b64encode(raw).decode(),
        "base64 behind a byte": base64.b64encode(b":" + raw + b"\n").decode(),
        "base64 behind two": base64.b64encode(b"u:" + raw + b"\n").decode(),
        "base64 for addresses": base64.urlsafe_b64encode(raw).decode(),
        "hex": raw.hex(),
        "HEX": raw.hex().upper(),
        "address": quote(value, safe=""),
        "JSON": json.dumps(value)[1:-1],
    }


def known_values() -> list[str]:
    values = {one.value for one in secret_lists.secrets(held_out=True, of_each=1)}
    odd = ['pa"ss\\wörd-7/+%', "käse und brot 12345"]
    return sorted(v for v in values if "\n" not in v) + odd


def seen_through(form: str, redactor: Redactor, lot: random.Random) -> tuple[bool, bool]:
    """Whether the form is hidden when it comes whole, and when it comes in pieces."""
    text = f"said: {form} and went on"
    whole = redactor.text(text)
    data = text.encode()
    cuts = sorted(
        {0, len(data), *(lot.randrange(1, len(data)) for _ in range(lot.randrange(1, 9)))}
    )
    veil = Veil([needle.encode() for needle in redactor.needles])
    pieces = b"".join(veil.through(data[a:b]) for a, b in pairwise(cuts))
    pieces += veil.through(b"", last=True)
    return _hidden(whole, form), _hidden(pieces.decode(), form)


def _hidden(shown: str, form: str) -> bool:
    """Base64 shares its outermost characters with what stands around."""
    return MASK in shown and form.strip("=")[3:-3] not in shown


def redaction() -> tuple[int, list[str]]:
    """How many forms of known values were tried, whole and in pieces, and which were not hidden."""
    values, lot = known_values(), random.Random(secret_lists.HELD_OUT_SEED)
    tried, missed = 0, list[str]()
    for value in values:
        redactor = Redactor([value])
        for name, form in printed(value).items():
            for how, hidden in zip(
                ("whole", "in pieces"), seen_through(form, redactor, lot), strict=True
            ):
                tried += 1
                if not hidden:
                    missed.append(f"{name}, {how}")
    return tried, missed
