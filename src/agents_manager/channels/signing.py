"""Signatures of requests: who made one knows the secret, and made it a moment ago."""

import hashlib
import hmac
import re
from datetime import datetime

from agents_manager.errors import Unauthenticated

MOST_AGE_S = 300
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def check(secret: str, timestamp: str, body: bytes, given: str, now: datetime) -> None:
    """Unauthenticated, with the reason; whether it came before is for the caller to find out."""
    if not _SECONDS.fullmatch(timestamp):
        raise Unauthenticated("The header X-AM-Timestamp is missing: seconds since 1970.")
    expected = signature(secret, timestamp, body)
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogateescape")):
        raise Unauthenticated("The signature X-AM-Signature does not fit.")
    if abs(now.timestamp() - int(timestamp)) > MOST_AGE_S:
        raise Unauthenticated(f"The request is more than {MOST_AGE_S} seconds old, or not yet due.")
