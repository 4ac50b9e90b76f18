"""What is printed on a parcel."""

import hashlib
import hmac
import os
from pathlib import Path

import idna

NAME = "PARCEL_SIGNING_KEY"
ENV_FILE = Path(__file__).parents[1] / ".env"


def signing_key() -> str:
    """Return the signing key from the environment or from `.env`."""
    lines = ENV_FILE.read_text(encoding="utf-8").splitlines() if ENV_FILE.exists() else []
    known = {name: value for name, _, value in (line.partition("=") for line in lines)}
    return os.environ.get(NAME) or known[NAME]


def tracking_address(domain: str) -> str:
    """Return the web address of a shop's tracking page, with its name in ASCII."""
    return f"https://{idna.encode(domain).decode()}/track"


def sign(address: str) -> str:
    """Return the signature that is printed on a label."""
    return hmac.new(signing_key().encode(), address.encode(), hashlib.sha256).hexdigest()
